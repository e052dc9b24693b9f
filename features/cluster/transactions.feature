Feature: A transaction outlives its session and its leader

  @fault:kill
  Scenario Outline: what was queued is still there after the leader died
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    And all nodes agree on one leader
    When the operator runs:
      """
      BEGIN
      """
    And the operator runs:
      """
      CREATE SCHEMA reading (site STRING)
      """
    And the leader is killed
    And the operator runs:
      """
      CREATE RELAY readings SCHEMA reading UNBRANCHED
      """
    Then it succeeds
    And it says "at position 2"
    When the operator runs:
      """
      COMMIT
      """
    Then it succeeds
    When the operator runs:
      """
      SHOW CREATE RELAY readings
      """
    Then it succeeds

    Examples:
      | nodes |
      | 3     |

  @fault:kill
  Scenario Outline: a COMMIT whose answer was lost is answered again
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    And all nodes agree on one leader
    When the operator runs each of:
      """
      BEGIN;
      CREATE SCHEMA reading (site STRING);
      CREATE RELAY readings SCHEMA reading UNBRANCHED;
      COMMIT;
      """
    And the leader is killed
    Then repeating its reference gives the same result

    Examples:
      | nodes |
      | 3     |

  @fault:kill
  Scenario Outline: a statement is executed once, whoever leads when it is repeated
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    And all nodes agree on one leader
    When the operator runs:
      """
      CREATE SCHEMA reading (site STRING)
      """
    And the leader is killed
    Then repeating its reference gives the same result
    When the killed node restarts
    Then repeating its reference gives the same result

    Examples:
      | nodes |
      | 3     |

  Scenario Outline: a COMMIT that comes second is planned against what is there by then
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    When session first runs:
      """
      USE shop_<id>
      """
    And session first runs each of:
      """
      BEGIN;
      CREATE SCHEMA a (x I64);
      """
    And the operator runs:
      """
      CREATE SCHEMA a (x STRING)
      """
    Then it succeeds
    When session first runs:
      """
      COMMIT
      """
    Then it is refused with "exists"

    Examples:
      | nodes |
      | 1     |
      | 3     |
