Feature: A statement that is wrong says where, what was expected and applies nothing

  Scenario Outline: a statement that does not parse shows the place
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    And the operator runs:
      """
      CREATE SCHEMA reading (site STRING)
      """
    When the operator runs:
      """
      CREATE RELAY readings SCHEMA reading UNBRANCHED CAPACITY many
      """
    Then it is refused with "parse"
    And it is refused with "found many"
    And it is refused with "CREATE RELAY readings SCHEMA reading UNBRANCHED CAPACITY many"
    And it is refused with "                                                         ^^^^"
    When the operator runs:
      """
      SHOW CREATE RELAY readings
      """
    Then it is refused with "ref.missing"

    Examples:
      | nodes |
      | 1     |
      | 3     |

  Scenario Outline: a reference to nothing names both ends
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    When the operator runs:
      """
      CREATE RELAY readings SCHEMA nowhere UNBRANCHED
      """
    Then it is refused with "ref.missing"
    And it is refused with "RELAY 'readings' requires missing SCHEMA 'nowhere'"

    Examples:
      | nodes |
      | 1     |
      | 3     |

  Scenario Outline: an expression error points at the smallest part that is wrong
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    And the operator runs each of:
      """
      CREATE SCHEMA reading (site STRING, kwh F64);
      CREATE RELAY readings SCHEMA reading UNBRANCHED;
      CREATE RELAY big SCHEMA reading UNBRANCHED;
      """
    When the operator runs:
      """
      CREATE JUNCTION filter FROM readings WHERE input.kw > 3.0 UNBRANCHED
        TO big INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG
      """
    Then it is refused with "expr.unknown_field"
    And it is refused with "^"
    When the operator runs:
      """
      CREATE JUNCTION filter FROM readings WHERE input.kwh > 'three' UNBRANCHED
        TO big INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG
      """
    Then it is refused with "expr.type_mismatch"
    When the operator runs:
      """
      CREATE JUNCTION filter FROM readings UNBRANCHED
        TO big INHERIT site FLUSH IMMEDIATE ON MESSAGE ERROR LOG
      """
    Then it is refused with "kwh"

    Examples:
      | nodes |
      | 1     |
      | 3     |

  Scenario Outline: a configuration key nobody knows is refused by name
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    When the operator runs:
      """
      CREATE CLIENT bus TYPE NATS CONFIG { 'adr' = 'nats://127.0.0.1:4222' }
      """
    Then it is refused with "CONFIG key 'adr' is not known to TYPE NATS"
    When the operator runs:
      """
      CREATE CLIENT partner TYPE HTTP CONFIG { 'endpoint' = 'http://127.0.0.1:1', 'timeout_ms' = 'soon' }
      """
    Then it is refused with "timeout_ms"
    When the operator runs:
      """
      CREATE CLIENT cache TYPE REDIS CONFIG { 'addr' = 'redis://127.0.0.1:6379' }
      """
    Then it is refused with "POOL SIZE"

    Examples:
      | nodes |
      | 1     |
      | 3     |

  Scenario Outline: several statements need a transaction
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    When the operator runs:
      """
      CREATE SCHEMA a (x I64); CREATE SCHEMA b (x I64);
      """
    Then it is refused with "tx.required"
    When the operator runs:
      """
      SHOW CREATE SCHEMA a
      """
    Then it is refused with "ref.missing"

    Examples:
      | nodes |
      | 1     |
      | 3     |

  Scenario Outline: a domain that does not exist cannot be selected
    Given a cluster of <nodes> nodes
    When the operator runs:
      """
      USE nowhere
      """
    Then it is refused with "domain.missing"

    Examples:
      | nodes |
      | 1     |
      | 3     |
