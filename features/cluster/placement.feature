Feature: Placements decide where runtime nodes execute

  Scenario Outline: what a rule requires together runs on one node, also after that node is gone
    Given a cluster of <nodes> nodes
    And domain "grid_<id>"
    And the operator runs each of:
      """
      CREATE SCHEMA reading (site STRING);
      CREATE RELAY raw SCHEMA reading UNBRANCHED;
      CREATE RELAY clean SCHEMA reading UNBRANCHED;
      CREATE RELAY late SCHEMA reading UNBRANCHED;
      BEGIN;
      CREATE JUNCTION check FROM raw UNBRANCHED TO clean INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG;
      CREATE PLACEMENT apart FROM raw TO check SUGGEST SEPARATION;
      COMMIT;
      CREATE JUNCTION keep FROM clean UNBRANCHED TO late INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG;
      START;
      """
    Then relay raw and junction check have different owners
    When the operator runs:
      """
      CREATE PLACEMENT local FROM raw TO late REQUIRE COLOCATION RANK 1
      """
    Then it succeeds
    And it says "quiesce level: ENTITY_PAUSE"
    And relay raw and junction check have one owner
    And junction check and junction keep have one owner
    And relay clean and relay late have one owner
    When the owner of junction check is killed
    Then the owner of junction check changes within 20s
    And relay raw and junction check have one owner
    And junction check and junction keep have one owner
    When the operator runs:
      """
      DROP PLACEMENT local
      """
    Then it succeeds
    And it says "quiesce level: DYNAMIC"
    And junction check and junction keep have one owner

    Examples:
      | nodes |
      | 3     |

  Scenario Outline: a relocation takes a group whole, and preferences as it is told
    Given a cluster of <nodes> nodes
    And domain "grid_<id>"
    And the operator runs each of:
      """
      CREATE SCHEMA reading (site STRING);
      CREATE RELAY raw SCHEMA reading UNBRANCHED;
      CREATE RELAY clean SCHEMA reading UNBRANCHED;
      CREATE RELAY late SCHEMA reading UNBRANCHED;
      CREATE JUNCTION check FROM raw UNBRANCHED TO clean INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG;
      CREATE JUNCTION keep FROM clean UNBRANCHED TO late INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG;
      CREATE PLACEMENT local FROM check TO clean REQUIRE COLOCATION;
      CREATE PLACEMENT near FROM raw TO check PREFER COLOCATION;
      CREATE PLACEMENT apart FROM clean TO keep SUGGEST SEPARATION;
      START;
      """
    And the owner of junction check is noted as a node
    When the operator runs:
      """
      DESCRIBE RELOCATION JUNCTION check ONTO NODE node-1 FOLLOW PREFERENCES
      """
    Then it succeeds
    And it says "would relocate"
    And it says "of 3 runtime node(s) onto node 'node-1'"
    And it says "kind=relay name=clean group=1 strategy=follow reason=required"
    And it says "kind=relay name=raw group=- strategy=follow reason=preferred"
    And the owner of junction check is the noted node
    When the operator relocates JUNCTION check onto a node without junction check
    Then it succeeds
    And it says "relocated 2 of 2"
    And the owner of relay clean is the noted node
    And the owner of junction check is the noted node

    Examples:
      | nodes |
      | 3     |
