Feature: The random source numbers its records and remembers where it was

  @needs:nats @smoke
  Scenario Outline: sequences arrive without a gap
    Given a cluster of <nodes> nodes
    And nats stream "readings_<id>" exists
    And domain "numbers_<id>" with the counter pipeline
    Then nats stream "readings_<id>" receives at least 50 records
    And nats stream "readings_<id>" holds consecutive sequences with at most 0 repeated

    Examples:
      | nodes |
      | 1     |
      | 3     |

  @needs:nats @fault:kill
  Scenario Outline: after kill -9 the source goes on behind what it acknowledged
    Given a cluster of <nodes> nodes
    And nats stream "readings_<id>" exists
    And domain "numbers_<id>" with the counter pipeline
    And nats stream "readings_<id>" receives at least 40 records
    When the owner of ingestor generator is killed
    And the killed node restarts
    Then nats stream "readings_<id>" receives at least 120 records
    And nats stream "readings_<id>" holds consecutive sequences with at most 10 repeated

    Examples:
      | nodes |
      | 1     |
      | 3     |

  @needs:nats @fault:kill @fault:refuse
  Scenario Outline: a batch that failed is generated again, in the same words
    Given a cluster of <nodes> nodes
    And nats stream "readings_<id>" exists
    And domain "numbers_<id>" with the counter pipeline
    And nats stream "readings_<id>" receives at least 20 records
    And nats stream "readings_<id>" starts refusing
    And 1s passes
    When the owner of ingestor generator is killed
    And the killed node restarts
    And nats stream "readings_<id>" recovers
    Then nats stream "readings_<id>" receives at least 80 records
    And nats stream "readings_<id>" holds consecutive sequences with at most 10 repeated

    Examples:
      | nodes |
      | 1     |
      | 3     |

  @needs:nats
  Scenario Outline: STOP and START go on, too
    Given a cluster of <nodes> nodes
    And nats stream "readings_<id>" exists
    And domain "numbers_<id>" with the counter pipeline
    And nats stream "readings_<id>" receives at least 20 records
    When the operator runs:
      """
      STOP
      """
    Then it succeeds
    And nats stream "readings_<id>" receives nothing more for 300ms
    When the operator runs:
      """
      START
      """
    Then it succeeds
    And nats stream "readings_<id>" receives at least 60 records
    And nats stream "readings_<id>" holds consecutive sequences with at most 5 repeated

    Examples:
      | nodes |
      | 1     |
      | 3     |
