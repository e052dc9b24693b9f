Feature: What the machine does to a node

  @needs:nats @fault:power
  Scenario Outline: power loss takes nothing that was answered
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists with:
      | ack_wait | 2s |
    And nats stream "copied_<id>" exists
    And domain "shop_<id>" with the copy pipeline
    When 100 records are produced to nats stream "incoming_<id>"
    And the owner of ingestor orders loses power
    And the killed node restarts
    Then nats stream "copied_<id>" receives each of 100 records at least once
    And nats stream "incoming_<id>" is acknowledged through record 100

    Examples:
      | nodes |
      | 1     |
      | 3     |

  @needs:nats @fault:power
  Scenario Outline: power loss does not make the random source skip or start over
    Given a cluster of <nodes> nodes
    And nats stream "readings_<id>" exists
    And domain "numbers_<id>" with the counter pipeline
    And nats stream "readings_<id>" receives at least 40 records
    When the owner of ingestor generator loses power
    And the killed node restarts
    Then nats stream "readings_<id>" receives at least 120 records
    And nats stream "readings_<id>" holds consecutive sequences with at most 10 repeated

    Examples:
      | nodes |
      | 1     |
      | 3     |

  @fault:disk
  Scenario Outline: a sync that fails leaves the outcome open and the node out of service until it restarts
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    And the operator runs:
      """
      CREATE SCHEMA before (x I64)
      """
    And the disk of node-1 fails its next sync
    When the operator gets no answer to:
      """
      CREATE SCHEMA uncertain (x I64)
      """
    And node-1 restarts
    And the operator runs:
      """
      SHOW CREATE SCHEMA before
      """
    Then it succeeds
    When the operator runs:
      """
      CREATE IF NOT EXISTS SCHEMA uncertain (x I64)
      """
    Then it succeeds

    Examples:
      | nodes |
      | 1     |

  @fault:disk
  Scenario Outline: a full disk does not lose what was there
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    And the operator runs:
      """
      CREATE SCHEMA before (x I64)
      """
    And the disk of node-1 is full
    When the operator gets no answer to:
      """
      CREATE SCHEMA uncertain (x I64)
      """
    And the disk of node-1 has room
    And node-1 restarts
    And the operator runs:
      """
      SHOW CREATE SCHEMA before
      """
    Then it succeeds

    Examples:
      | nodes |
      | 1     |

  @needs:nats @fault:disk
  Scenario Outline: a slow disk slows commands and nothing else
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists
    And nats stream "copied_<id>" exists
    And domain "shop_<id>" with the copy pipeline
    And the disk of the leader is slow by 500ms
    When 50 records are produced to nats stream "incoming_<id>"
    Then nats stream "copied_<id>" receives each of 50 records at least once within 2s
    When the operator runs:
      """
      CREATE SCHEMA slowly (x I64)
      """
    Then it succeeds

    Examples:
      | nodes |
      | 1     |
      | 3     |

  @needs:nats @fault:clock
  Scenario Outline: a wall clock that jumps moves no deadline
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists
    And nats stream "copied_<id>" exists
    And domain "shop_<id>" with the copy pipeline
    When 10 records are produced to nats stream "incoming_<id>"
    And wall time of the owner of ingestor orders jumps back by 2h
    And 10 records are produced to nats stream "incoming_<id>"
    And nats stream "incoming_<id>" is acknowledged through record 20
    And wall time of the owner of ingestor orders jumps ahead by 48h
    And 10 records are produced to nats stream "incoming_<id>"
    Then nats stream "copied_<id>" receives each of 30 records at least once
    And nats stream "incoming_<id>" is acknowledged through record 30
    And nats stream "copied_<id>" receives nothing more for 2s

    Examples:
      | nodes |
      | 1     |
      | 3     |
