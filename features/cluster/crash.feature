@process @crash
Feature: Three processes lose their leader and an owner under load

  @needs:nats @fault:kill
  Scenario: kill -9 of the leader, then of the owner of an emitter, loses no record
    Given a cluster of 3 nodes
    And nats stream "incoming_<id>" exists with:
      | ack_wait | 20s |
    And nats stream "archive_<id>" exists
    And domain "shop_<id>" with the relayed pipeline
    And all nodes agree on one leader
    When 20000 records are produced to nats stream "incoming_<id>"
    And nats stream "archive_<id>" receives at least 1000 records within 60s
    And the leader is killed
    Then all nodes agree on one leader
    And the command plexus status exits 0
    And its output is printed
    And the killed node is unavailable within 30s
    And every operator has an owner within 30s
    When 5000 records are produced to nats stream "incoming_<id>"
    And the killed node restarts
    And the killed node is live within 30s
    And nats stream "archive_<id>" receives at least 5000 records within 120s
    And the owner of emitter to_archive is killed
    Then the owner of emitter to_archive changes within 60s
    And the command plexus status exits 0
    And its output is printed
    When 5000 records are produced to nats stream "incoming_<id>"
    Then nats stream "archive_<id>" receives each of 30000 records at least once within 240s
    And nats stream "incoming_<id>" is acknowledged through record 30000
    And the counts of nats stream "archive_<id>" are printed
    When the killed node restarts
    Then all nodes agree on one leader
    And the cluster has 3 voters
    And the command plexus status exits 0
    And its output is printed
