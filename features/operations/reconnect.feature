Feature: A peer that is away is asked for at the declared pace

  @needs:nats @fault:refuse
  Scenario Outline: refused connections follow the backoff, in few log lines, and delivery resumes
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists
    And nats stream "copied_<id>" exists
    And domain "shop_<id>" with the copy pipeline
    And nats stream "copied_<id>" starts refusing
    When 5 records are produced to nats stream "incoming_<id>"
    And 5s passes
    Then at most 12 log lines of the owner of emitter copies contain "copies"
    And DESCRIBE EMITTER copies has status = ERROR
    When nats stream "copied_<id>" recovers
    Then nats stream "copied_<id>" receives each of 5 records at least once
    And DESCRIBE EMITTER copies has status = OK

    Examples:
      | nodes |
      | 1     |
      | 3     |

  @needs:nats @fault:refuse
  Scenario Outline: a source that cannot connect shows why and comes back by itself
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists
    And nats stream "copied_<id>" exists
    And nats stream "incoming_<id>" starts refusing
    And domain "shop_<id>" with the copy pipeline
    Then DESCRIBE INGESTOR orders has ready = false
    When nats stream "incoming_<id>" recovers
    And 5 records are produced to nats stream "incoming_<id>"
    Then nats stream "copied_<id>" receives each of 5 records at least once
    And DESCRIBE INGESTOR orders has ready = true

    Examples:
      | nodes |
      | 1     |
      | 3     |
