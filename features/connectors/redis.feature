Feature: A Redis channel takes what its server accepted

  @needs:nats @needs:redis @needs:http @fault:refuse @smoke
  Scenario Outline: a server that is down holds the source until it is back
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists
    And nats stream "ledger_<id>" exists
    And redis channel "ledger_<id>" exists
    And http path "/ledger_<id>" exists
    And domain "orders_<id>" with the ledger pipeline
    And redis channel "ledger_<id>" starts refusing
    When 10 records are produced to nats stream "incoming_<id>"
    Then nats stream "ledger_<id>" receives each of 10 records at least once
    And DESCRIBE EMITTER ledger_cache has status = ERROR
    And nats stream "incoming_<id>" is not acknowledged beyond record 0
    When redis channel "ledger_<id>" recovers
    Then redis channel "ledger_<id>" receives each of 10 records at least once
    And nats stream "incoming_<id>" is acknowledged through record 10

    Examples:
      | nodes |
      | 1     |
      | 3     |

  @needs:nats @needs:redis @needs:http @fault:answer_loss
  Scenario Outline: a reply that is lost makes the message be published again
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists
    And nats stream "ledger_<id>" exists
    And redis channel "ledger_<id>" exists
    And http path "/ledger_<id>" exists
    And domain "orders_<id>" with the ledger pipeline
    And redis channel "ledger_<id>" loses its next answer
    When these records are produced to nats stream "incoming_<id>":
      | order_id | cents |
      | o-1      | 1     |
    Then redis channel "ledger_<id>" receives record 2 times: o-1
    And nats stream "incoming_<id>" is acknowledged through record 1

    Examples:
      | nodes |
      | 1     |
      | 3     |
