@process @crash
Feature: Three processes lose their leader and an owner under load

  @needs:nats @fault:kill
  Scenario Outline: kill -9 of the leader, then of the owner of an emitter, loses no record
    Given a cluster of 3 nodes
    And nats stream "incoming_<id>" exists with:
      | ack_wait | 20s |
    And nats stream "archive_<id>" exists
    And domain "shop_<id>" with the volume pipeline
    And all nodes agree on one leader
    When <records> records are produced to nats stream "incoming_<id>"
    And nats stream "archive_<id>" receives at least <some> records within 120s
    And the leader is killed
    And the counts of nats stream "archive_<id>" are printed
    Then all nodes agree on one leader
    And the killed node is unavailable within 30s
    And every operator has an owner within 30s
    And the command plexus status exits 0
    And its output is printed
    And its output says "unavailable" of the killed node
    And its output says "leader" of the leader
    And its output says who runs ingestor orders
    And its output says who runs relay checked
    And its output says who runs emitter to_archive
    When the killed node restarts
    And the killed node is live within 30s
    And nats stream "archive_<id>" receives at least <more> records within 120s
    And the owner of emitter to_archive is killed
    And the counts of nats stream "archive_<id>" are printed
    Then the owner of emitter to_archive changes within 60s
    And the command plexus status exits 0
    And its output is printed
    And its output says "unavailable" of the killed node
    And its output says who runs emitter to_archive
    And all nodes agree on one leader
    When 5000 records are produced to nats stream "incoming_<id>"
    Then nats stream "archive_<id>" receives each of <all> records at least once within 240s
    And nats stream "incoming_<id>" is acknowledged through record <all> within 60s
    And the counts of nats stream "archive_<id>" are printed
    When the killed node restarts
    Then all nodes agree on one leader
    And the cluster has 3 voters
    And the command plexus status exits 0
    And its output is printed
    And its output says "live" of the killed node

    Examples:
      | records | some | more  | all   |
      | 15000   | 2000 | 6000  | 20000 |

    @slow
    Examples:
      | records | some  | more  | all    |
      | 95000   | 20000 | 60000 | 100000 |
