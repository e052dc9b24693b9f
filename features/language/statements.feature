Feature: Statements build a domain and show it again

  Scenario Outline: what a statement created can be read back
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    When the operator runs:
      """
      create schema reading(site string, kwh f64 optional, seal bytes sensitive optional)
      """
    Then it succeeds
    And it says "created schema 'reading'"
    When the operator runs:
      """
      SHOW CREATE SCHEMA reading
      """
    Then it succeeds
    And it says "CREATE SCHEMA reading"
    And it says "kwh F64 OPTIONAL"
    And it says "seal BYTES OPTIONAL SENSITIVE"

    Examples:
      | nodes |
      | 1     |
      | 3     |

  Scenario Outline: an entity that exists is refused once and accepted with IF NOT EXISTS
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    And the operator runs:
      """
      CREATE SCHEMA reading (site STRING)
      """
    When the operator runs:
      """
      CREATE SCHEMA reading (site STRING)
      """
    Then it is refused with "exists"
    When the operator runs:
      """
      CREATE IF NOT EXISTS SCHEMA reading (other I64)
      """
    Then it succeeds
    And it says "schema 'reading' already exists"
    When the operator runs:
      """
      SHOW CREATE SCHEMA reading
      """
    Then it says "site STRING"

    Examples:
      | nodes |
      | 1     |
      | 3     |

  Scenario Outline: an entity in use cannot be dropped
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    And the operator runs each of:
      """
      CREATE SCHEMA reading (site STRING);
      CREATE RELAY readings SCHEMA reading UNBRANCHED;
      """
    When the operator runs:
      """
      DROP SCHEMA reading
      """
    Then it is refused with "RELAY 'readings'"
    When the operator runs each of:
      """
      DROP RELAY readings;
      DROP SCHEMA reading;
      """
    Then it succeeds
    And it says "dropped schema 'reading'"

    Examples:
      | nodes |
      | 1     |
      | 3     |

  Scenario Outline: domains are listed with their state
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    When the operator runs:
      """
      LIST DOMAINS
      """
    Then it says "shop_<id> pace=UNPACED status=STOPPED"
    When the operator runs:
      """
      START
      """
    Then it succeeds
    When the operator runs:
      """
      START
      """
    Then it is refused with "domain.state"
    When the operator runs:
      """
      LIST DOMAINS
      """
    Then it says "shop_<id> pace=UNPACED status=RUNNING"
    When the operator runs:
      """
      STOP
      """
    Then it succeeds
    When the operator runs:
      """
      STOP
      """
    Then it is refused with "domain.state"

    Examples:
      | nodes |
      | 1     |
      | 3     |
