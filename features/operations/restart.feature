Feature: What was answered survives the process

  @fault:kill
  Scenario Outline: definitions and lifecycle survive kill -9
    Given a cluster of <nodes> nodes
    And domain "shop_<id>" with the hook pipeline
    When all nodes are killed and restarted
    And the operator runs:
      """
      USE shop_<id>
      """
    And the operator runs:
      """
      SHOW CREATE INGESTOR orders
      """
    Then it succeeds
    And it says "CREATE HTTP ENDPOINT INGESTOR orders"
    When the operator runs:
      """
      LIST DOMAINS
      """
    Then it says "shop_<id> pace=UNPACED status=RUNNING"
    And the operator subscribes rows to posted
    When POST in.example.org/orders on node-1 is eventually answered 202:
      """
      {"order_id":"o-1","cents":7}
      """
    Then rows sees exactly:
      | order_id | cents |
      | o-1      | 7     |

    Examples:
      | nodes |
      | 1     |
      | 3     |

  @fault:kill @fault:torn_log
  Scenario Outline: a torn record at the end of the log takes nothing with it
    Given a cluster of <nodes> nodes
    And domain "shop_<id>" with the hook pipeline
    And the operator runs:
      """
      CREATE SCHEMA last_one (x I64)
      """
    When node-1 is killed
    And a half-written record is left at the end of the log of node-1
    And node-1 restarts
    And the operator runs:
      """
      SHOW CREATE SCHEMA last_one
      """
    Then it succeeds
    When the operator runs:
      """
      CREATE SCHEMA after_that (x I64)
      """
    Then it succeeds
    When node-1 is killed
    And node-1 restarts
    And the operator runs:
      """
      SHOW CREATE SCHEMA after_that
      """
    Then it succeeds

    Examples:
      | nodes |
      | 1     |
      | 3     |

  @needs:nats @needs:http @fault:kill @fault:refuse_some
  Scenario Outline: the position does not pass a record that was refused
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists with:
      | ack_wait | 2s |
    And nats stream "archive_<id>" exists
    And http path "/partner_<id>" exists
    And domain "shop_<id>" with the fork pipeline
    And http path "/partner_<id>" refuses records containing "o-2"
    When 5 records are produced to nats stream "incoming_<id>"
    Then nats stream "archive_<id>" receives each of 5 records at least once
    And http path "/partner_<id>" receives at least:
      | order_id |
      | o-1      |
    And nats stream "incoming_<id>" is not acknowledged beyond record 1
    When all nodes are killed and restarted
    And http path "/partner_<id>" recovers
    Then http path "/partner_<id>" receives each of 5 records at least once
    And nats stream "incoming_<id>" is acknowledged through record 5

    Examples:
      | nodes |
      | 1     |
      | 3     |

  @needs:nats @fault:kill @fault:refuse
  Scenario Outline: a node that is stopped while the sink is down loses nothing
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists with:
      | ack_wait | 2s |
    And nats stream "copied_<id>" exists
    And domain "shop_<id>" with the copy pipeline
    And nats stream "copied_<id>" starts refusing
    When 25 records are produced to nats stream "incoming_<id>"
    And the owner of emitter copies is killed
    And the killed node restarts
    And nats stream "copied_<id>" recovers
    Then nats stream "copied_<id>" receives each of 25 records at least once
    And nats stream "incoming_<id>" is acknowledged through record 25

    Examples:
      | nodes |
      | 1     |
      | 3     |

  @needs:nats @fault:kill @fault:refuse
  Scenario Outline: a graceful stop with the sink down gives up in time and loses nothing
    Given a cluster of <nodes> nodes with:
      | drain-timeout | 2s |
    And nats stream "incoming_<id>" exists with:
      | ack_wait | 2s |
    And nats stream "copied_<id>" exists
    And domain "shop_<id>" with the copy pipeline
    And nats stream "copied_<id>" starts refusing
    When 25 records are produced to nats stream "incoming_<id>"
    And the owner of emitter copies stops gracefully
    And the stopped node restarts
    And nats stream "copied_<id>" recovers
    Then nats stream "copied_<id>" receives each of 25 records at least once
    And nats stream "incoming_<id>" is acknowledged through record 25

    Examples:
      | nodes |
      | 1     |
      | 3     |

  @needs:nats @fault:freeze
  Scenario Outline: a node that was frozen goes on where it was
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists with:
      | ack_wait | 1s |
    And nats stream "copied_<id>" exists
    And domain "shop_<id>" with the copy pipeline
    When the owner of ingestor orders is frozen
    And 20 records are produced to nats stream "incoming_<id>"
    And 3s passes
    And the frozen node thaws
    Then nats stream "copied_<id>" receives each of 20 records at least once
    And nats stream "incoming_<id>" is acknowledged through record 20

    Examples:
      | nodes |
      | 1     |
      | 3     |
