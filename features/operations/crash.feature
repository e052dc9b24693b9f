@process @crash @slow
Feature: A hundred thousand records survive kill -9

  @needs:nats @needs:http @fault:kill
  Scenario: a node that is killed in the middle delivers every record
    Given a cluster of 1 node
    And nats stream "incoming_<id>" exists with:
      | ack_wait | 5s |
    And nats stream "archive_<id>" exists
    And http path "/partner_<id>" exists
    And domain "shop_<id>"
    And the operator runs each of the crash pipeline
    And 100000 records are produced to nats stream "incoming_<id>"
    When the operator runs:
      """
      START
      """
    And http path "/partner_<id>" receives at least 40500 records within 300s
    And node-1 is killed
    And the counts of http path "/partner_<id>" are printed
    And node-1 restarts
    Then http path "/partner_<id>" receives each of 100000 records at least once within 300s
    And nats stream "archive_<id>" receives each of 100000 records at least once within 60s
    And nats stream "incoming_<id>" is acknowledged through record 100000
    And the counts of nats stream "archive_<id>" are printed
    And the counts of http path "/partner_<id>" are printed
