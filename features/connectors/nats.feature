Feature: NATS streams confirm both ways, NATS subjects do not

  @needs:nats @smoke
  Scenario Outline: a stream is copied in order
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists
    And nats stream "copied_<id>" exists
    And domain "shop_<id>" with the copy pipeline
    When 200 records are produced to nats stream "incoming_<id>"
    Then nats stream "copied_<id>" receives each of 200 records at least once
    And nats stream "incoming_<id>" is acknowledged through record 200
    And metric plexus_ingestor_positions_total{ingestor="orders",outcome="acknowledged"} on the owner of ingestor orders is 200

    Examples:
      | nodes |
      | 1     |
      | 3     |

  @needs:nats @fault:refuse
  Scenario Outline: a sink that refuses connections is retried and the source waits
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists
    And nats stream "copied_<id>" exists
    And domain "shop_<id>" with the copy pipeline
    And nats stream "copied_<id>" starts refusing
    When 30 records are produced to nats stream "incoming_<id>"
    Then DESCRIBE EMITTER copies has status = ERROR
    And nats stream "incoming_<id>" is not acknowledged beyond record 0
    When nats stream "copied_<id>" recovers
    Then nats stream "copied_<id>" receives each of 30 records at least once
    And nats stream "incoming_<id>" is acknowledged through record 30

    Examples:
      | nodes |
      | 1     |
      | 3     |

  @needs:nats @fault:answer_loss
  Scenario Outline: a confirmation that is lost makes the record be written again
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists
    And nats stream "copied_<id>" exists
    And domain "shop_<id>" with the copy pipeline
    And nats stream "copied_<id>" loses its next answer
    When these records are produced to nats stream "incoming_<id>":
      | order_id | cents |
      | o-1      | 1250  |
      | o-2      | 400   |
    Then nats stream "copied_<id>" receives each of 2 records at least once
    And nats stream "incoming_<id>" is acknowledged through record 2
    And metric plexus_emitter_attempts_total{emitter="copies",outcome="retry"} on the owner of emitter copies is at least 1

    Examples:
      | nodes |
      | 1     |
      | 3     |

  @needs:nats @fault:hang
  Scenario Outline: a sink that hangs is given up after its timeout and tried again
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists
    And nats stream "copied_<id>" exists
    And domain "shop_<id>" with the copy pipeline
    And 1 records are produced to nats stream "incoming_<id>"
    And nats stream "incoming_<id>" is acknowledged through record 1
    And nats stream "copied_<id>" hangs
    When 10 records are produced to nats stream "incoming_<id>"
    Then metric plexus_emitter_attempts_total{emitter="copies",outcome="retry"} on the owner of emitter copies is at least 1
    And nats stream "incoming_<id>" is not acknowledged beyond record 1
    When nats stream "copied_<id>" recovers
    Then nats stream "copied_<id>" receives each of 11 records at least once
    And nats stream "incoming_<id>" is acknowledged through record 11

    Examples:
      | nodes |
      | 1     |
      | 3     |

  @needs:nats @fault:cut
  Scenario Outline: a source whose connection breaks presents again what was not acknowledged
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists with:
      | ack_wait | 1s |
    And nats stream "copied_<id>" exists
    And domain "shop_<id>" with the copy pipeline
    When 100 records are produced to nats stream "incoming_<id>"
    And nats stream "incoming_<id>" breaks its connections
    And 100 records are produced to nats stream "incoming_<id>"
    Then nats stream "copied_<id>" receives each of 200 records at least once
    And nats stream "incoming_<id>" is acknowledged through record 200

    Examples:
      | nodes |
      | 1     |
      | 3     |

  @needs:nats
  Scenario Outline: a slow sink does not make the source redeliver
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists with:
      | ack_wait | 1s |
    And nats stream "copied_<id>" exists
    And domain "shop_<id>" with the copy pipeline
    And nats stream "copied_<id>" starts refusing
    When these records are produced to nats stream "incoming_<id>":
      | order_id | cents |
      | o-1      | 1     |
    And 3s passes
    And nats stream "copied_<id>" recovers
    Then nats stream "copied_<id>" receives exactly:
      | order_id | cents |
      | o-1      | 1     |
    And nats stream "incoming_<id>" is acknowledged through record 1
    And nats stream "copied_<id>" receives nothing more for 1s

    Examples:
      | nodes |
      | 1     |
      | 3     |

  @needs:nats
  Scenario Outline: a payload that does not decode is reported and its neighbours flow
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists
    And nats stream "copied_<id>" exists
    And domain "shop_<id>" with the copy pipeline
    When these records are produced to nats stream "incoming_<id>":
      | payload                            |
      | {"order_id":"o-1","cents":1}       |
      | {"order_id":"o-2","cents":"poison-marker"} |
      | {"order_id":"o-3","cents":3}       |
    Then nats stream "copied_<id>" receives at least:
      | order_id | cents |
      | o-1      | 1     |
      | o-3      | 3     |
    And nats stream "incoming_<id>" is not acknowledged beyond record 1
    And the log of the owner of ingestor orders contains "orders"
    And no log contains "poison-marker"
    And DESCRIBE INGESTOR orders has status = running

    Examples:
      | nodes |
      | 1     |
      | 3     |

  @needs:nats
  Scenario Outline: a stream that is missing leaves the ingestor waiting with the reason
    Given a cluster of <nodes> nodes
    And nats stream "copied_<id>" exists
    And domain "shop_<id>" with the copy pipeline
    Then DESCRIBE INGESTOR orders has ready = false
    And DESCRIBE INGESTOR orders has transient error = ~ incoming_<id>
    When nats stream "incoming_<id>" exists
    And 5 records are produced to nats stream "incoming_<id>"
    Then nats stream "copied_<id>" receives each of 5 records at least once
    And DESCRIBE INGESTOR orders has transient error = -

    Examples:
      | nodes |
      | 1     |
      | 3     |

  @needs:nats @smoke
  Scenario Outline: a core subject is copied without confirmation
    Given a cluster of <nodes> nodes
    And nats subject "out_<id>" exists
    And domain "shop_<id>" with the subject pipeline
    And DESCRIBE INGESTOR orders has ready = true
    When these records are produced to nats subject "in_<id>":
      | order_id | cents | extra |
      | o-1      | 1250  | x     |
      | o-2      | 400   | y     |
    Then nats subject "out_<id>" receives in order:
      | order_id | cents |
      | o-1      | 1250  |
      | o-2      | 400   |

    Examples:
      | nodes |
      | 1     |
      | 3     |
