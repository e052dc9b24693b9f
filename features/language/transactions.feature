Feature: A transaction is applied whole or not at all

  Scenario Outline: queued statements appear with COMMIT
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    When the operator runs:
      """
      BEGIN
      """
    And the operator runs:
      """
      CREATE SCHEMA reading (site STRING)
      """
    Then it succeeds
    And it says "queued schema 'reading' at position 1"
    When the operator runs:
      """
      CREATE RELAY readings SCHEMA reading UNBRANCHED
      """
    Then it succeeds
    And it says "queued relay 'readings' at position 2"
    When session other runs:
      """
      USE shop_<id>
      """
    And session other runs:
      """
      SHOW CREATE SCHEMA reading
      """
    Then it is refused with "ref.missing"
    When the operator runs:
      """
      COMMIT
      """
    Then it succeeds
    And the level is DYNAMIC
    When session other runs:
      """
      SHOW CREATE RELAY readings
      """
    Then it succeeds

    Examples:
      | nodes |
      | 1     |
      | 3     |

  Scenario Outline: REVERT forgets the queue
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    When the operator runs each of:
      """
      BEGIN;
      CREATE SCHEMA a (x I64);
      CREATE SCHEMA b (x I64);
      REVERT;
      """
    Then it succeeds
    And it says "transaction reverted: dropped 2 command(s)"
    When the operator runs:
      """
      SHOW CREATE SCHEMA a
      """
    Then it is refused with "ref.missing"

    Examples:
      | nodes |
      | 1     |
      | 3     |

  Scenario Outline: a statement that cannot be queued does not end the transaction
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    When the operator runs:
      """
      BEGIN
      """
    And the operator runs:
      """
      CREATE DOMAIN second_<id>
      """
    Then it is refused with "tx.not_queueable"
    When the operator runs:
      """
      BEGIN
      """
    Then it is refused with "tx.state"
    When the operator runs:
      """
      CREATE SCHEMA a (x I64)
      """
    Then it succeeds
    When the operator runs:
      """
      CREATE SCHEMA a (x I64)
      """
    Then it is refused with "exists"
    When the operator runs:
      """
      COMMIT
      """
    Then it succeeds
    When the operator runs:
      """
      SHOW CREATE SCHEMA a
      """
    Then it succeeds

    Examples:
      | nodes |
      | 1     |
      | 3     |

  Scenario Outline: COMMIT of an incomplete graph is refused and changes nothing
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    When the operator runs each of:
      """
      BEGIN;
      CREATE RELAY readings SCHEMA reading UNBRANCHED;
      """
    And the operator runs:
      """
      COMMIT
      """
    Then it is refused with "SCHEMA 'reading'"
    When the operator runs:
      """
      REVERT
      """
    Then it succeeds
    When the operator runs:
      """
      SHOW CREATE RELAY readings
      """
    Then it is refused with "ref.missing"

    Examples:
      | nodes |
      | 1     |
      | 3     |

  Scenario Outline: COMMIT and REVERT need a transaction
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    When the operator runs:
      """
      COMMIT
      """
    Then it is refused with "tx.state"
    When the operator runs:
      """
      REVERT
      """
    Then it is refused with "tx.state"

    Examples:
      | nodes |
      | 1     |
      | 3     |

  Scenario Outline: what a vanished session queued changes nothing, holds nobody up and is still there
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
    And session first drops
    And the operator runs:
      """
      SHOW CREATE SCHEMA a
      """
    Then it is refused with "ref.missing"
    When the operator runs:
      """
      CREATE SCHEMA a (x STRING)
      """
    Then it succeeds
    When the operator runs:
      """
      SHOW TRANSACTIONS
      """
    Then it says "state=OPEN statements=1"

    Examples:
      | nodes |
      | 1     |
      | 3     |
