Feature: Placements say which runtime nodes belong together

  Scenario Outline: a rule shows what it covers
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
      """
    When the operator runs:
      """
      create placement Local from check to keep, check require colocation rank 2
      """
    Then it succeeds
    And it says "created placement 'local'"
    When the operator runs:
      """
      SHOW CREATE PLACEMENT local
      """
    Then it says "CREATE PLACEMENT local FROM check TO keep, check REQUIRE COLOCATION RANK 2;"
    When the operator runs:
      """
      SHOW PLACEMENTS
      """
    Then it says "local policy=REQUIRE COLOCATION rank=2 coverage=effective"
    When the operator runs:
      """
      DESCRIBE PLACEMENT local
      """
    Then it says "pair: check -> keep"
    And it says "connected: true"
    And it says "covered: clean"
    And it says "witness: check -> clean -> keep"
    And it says "overridden by: -"
    When the operator runs:
      """
      CREATE PLACEMENT free FROM clean TO keep NEUTRAL RANK 1
      """
    Then it succeeds
    When the operator runs:
      """
      DESCRIBE PLACEMENT local
      """
    Then it says "coverage: partial"
    And it says "overridden by: free"
    When the operator runs:
      """
      DESCRIBE DOMAIN
      """
    Then it says "rule count: 2"
    And it says "members: relay:clean, junction:check, junction:keep"

    Examples:
      | nodes |
      | 1     |
      | 3     |

  Scenario Outline: a rule that says nothing of the graph is valid, and one that names nothing is not
    Given a cluster of <nodes> nodes
    And domain "grid_<id>"
    And the operator runs each of:
      """
      CREATE SCHEMA reading (site STRING);
      CREATE RELAY raw SCHEMA reading UNBRANCHED;
      CREATE RELAY clean SCHEMA reading UNBRANCHED;
      CREATE JUNCTION check FROM raw UNBRANCHED TO clean INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG;
      CREATE JUNCTION clean FROM raw UNBRANCHED TO clean INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG;
      CREATE PLACEMENT backwards FROM check TO raw REQUIRE COLOCATION;
      """
    When the operator runs:
      """
      SHOW PLACEMENTS
      """
    Then it says "backwards policy=REQUIRE COLOCATION rank=- coverage=empty"
    When the operator runs:
      """
      CREATE PLACEMENT bad FROM <from> TO raw <rest>
      """
    Then it is refused with "<code>"
    And it is refused with "<message>"
    When the operator runs:
      """
      SHOW CREATE PLACEMENT bad
      """
    Then it is refused with "ref.missing"

    Examples:
      | nodes | from    | rest               | code        | message                                            |
      | 1     | nothing | NEUTRAL            | ref.missing | PLACEMENT 'bad' requires missing runtime node 'nothing' |
      | 3     | nothing | NEUTRAL            | ref.missing | PLACEMENT 'bad' requires missing runtime node 'nothing' |
      | 1     | reading | NEUTRAL            | ref.kind    | takes runtime nodes, and 'reading' is a SCHEMA     |
      | 1     | clean   | NEUTRAL            | ref.kind    | runtime node 'clean' is ambiguous                  |
      | 1     | check   | NEUTRAL RANK 0     | invalid     | RANK must be greater than zero                     |
      | 1     | check   | REQUIRE SEPARATION | parse       | expected COLOCATION                                |

  Scenario Outline: two rules of one rank that disagree are refused with both names
    Given a cluster of <nodes> nodes
    And domain "grid_<id>"
    And the operator runs each of:
      """
      CREATE SCHEMA reading (site STRING);
      CREATE RELAY raw SCHEMA reading UNBRANCHED;
      CREATE RELAY clean SCHEMA reading UNBRANCHED;
      CREATE JUNCTION check FROM raw UNBRANCHED TO clean INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG;
      CREATE PLACEMENT near FROM raw TO clean PREFER COLOCATION RANK 7;
      """
    When the operator runs:
      """
      CREATE PLACEMENT far FROM raw TO check SUGGEST SEPARATION RANK 7
      """
    Then it is refused with "placement.conflict"
    And it is refused with "placements 'far' (SUGGEST SEPARATION) and 'near' (PREFER COLOCATION) of rank 7 both claim RELAY 'raw' and JUNCTION 'check'"
    When the operator runs:
      """
      CREATE PLACEMENT far FROM raw TO check SUGGEST SEPARATION RANK 6
      """
    Then it succeeds
    When the operator runs:
      """
      ALTER PLACEMENT far SET RANK 7
      """
    Then it is refused with "placement.conflict"
    When the operator runs:
      """
      SHOW CREATE PLACEMENT far
      """
    Then it says "RANK 6"

    Examples:
      | nodes |
      | 1     |
      | 3     |

  Scenario Outline: a rule changes as a whole, and holds what it names
    Given a cluster of <nodes> nodes
    And domain "grid_<id>"
    And the operator runs each of:
      """
      CREATE SCHEMA reading (site STRING);
      CREATE RELAY raw SCHEMA reading UNBRANCHED;
      CREATE RELAY clean SCHEMA reading UNBRANCHED;
      CREATE JUNCTION check FROM raw UNBRANCHED TO clean INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG;
      CREATE PLACEMENT near FROM check TO clean PREFER COLOCATION;
      """
    When the operator runs:
      """
      ALTER PLACEMENT near SET POLICY REQUIRE COLOCATION, SET RANK 3, RENAME TO local
      """
    Then it succeeds
    And it says "altered placement 'near'"
    When the operator runs:
      """
      SHOW CREATE PLACEMENT local
      """
    Then it says "CREATE PLACEMENT local FROM check TO clean REQUIRE COLOCATION RANK 3;"
    When the operator runs:
      """
      ALTER PLACEMENT local SET POLICY NEUTRAL, DROP RANK, DROP RANK
      """
    Then it is refused with "PLACEMENT 'local' has no RANK to drop"
    When the operator runs:
      """
      DROP JUNCTION check
      """
    Then it is refused with "in_use"
    And it is refused with "JUNCTION 'check' is used by PLACEMENT 'local'"
    When the operator runs:
      """
      BEGIN; DROP JUNCTION check; DROP PLACEMENT local; COMMIT
      """
    Then it succeeds
    When the operator runs:
      """
      ALTER DOMAIN SET PLACEMENT REQUIRE COLOCATION
      """
    Then it succeeds
    When the operator runs:
      """
      DESCRIBE DOMAIN
      """
    Then it says "default policy: REQUIRE COLOCATION"

    Examples:
      | nodes |
      | 1     |
      | 3     |
