Feature: Orders flow from a JetStream stream into a stream, a channel and a service

  @needs:nats @needs:redis @needs:http @smoke
  Scenario Outline: every order that passes the filter reaches all three, mapped
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists
    And nats stream "ledger_<id>" exists
    And redis channel "ledger_<id>" exists
    And http path "/ledger_<id>" exists
    And domain "orders_<id>" with the ledger pipeline
    When these records are produced to nats stream "incoming_<id>":
      | order_id | cents |
      | o-1      | 1250  |
      | o-2      | 0     |
      | o-3      | 400   |
    Then nats stream "ledger_<id>" receives exactly:
      | order_id | cents | label     |
      | o-1      | 1250  | order O-1 |
      | o-3      | 400   | order O-3 |
    And redis channel "ledger_<id>" receives exactly:
      | order_id | cents | label     |
      | o-1      | 1250  | order O-1 |
      | o-3      | 400   | order O-3 |
    And http path "/ledger_<id>" receives in order:
      | order_id | cents | label     |
      | o-1      | 1250  | order O-1 |
      | o-3      | 400   | order O-3 |
    And a record of http path "/ledger_<id>" has the header "Idempotency-Key: o-3"
    And nats stream "incoming_<id>" is acknowledged through record 3
    And DESCRIBE INGESTOR orders has status = running
    And DESCRIBE EMITTER ledger_stream has status = OK

    Examples:
      | nodes |
      | 1     |
      | 3     |

  @needs:nats @needs:redis @needs:http
  Scenario Outline: a thousand orders arrive, none missing
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists
    And nats stream "ledger_<id>" exists
    And redis channel "ledger_<id>" exists
    And http path "/ledger_<id>" exists
    And domain "orders_<id>" with the ledger pipeline
    When 1000 records are produced to nats stream "incoming_<id>"
    Then nats stream "ledger_<id>" receives each of 1000 records at least once
    And redis channel "ledger_<id>" receives each of 1000 records at least once
    And http path "/ledger_<id>" receives each of 1000 records at least once
    And nats stream "incoming_<id>" is acknowledged through record 1000

    Examples:
      | nodes |
      | 1     |
      | 3     |

  @needs:nats @needs:redis @needs:http @fault:kill @smoke
  Scenario Outline: a node that is killed while orders flow loses none
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists with:
      | ack_wait | 2s |
    And nats stream "ledger_<id>" exists
    And redis channel "ledger_<id>" exists
    And http path "/ledger_<id>" exists
    And domain "orders_<id>" with the ledger pipeline
    When 300 records are produced to nats stream "incoming_<id>"
    And all nodes are killed and restarted
    Then nats stream "ledger_<id>" receives each of 300 records at least once
    And http path "/ledger_<id>" receives each of 300 records at least once
    And nats stream "incoming_<id>" is acknowledged through record 300

    Examples:
      | nodes |
      | 1     |
      | 3     |
