Feature: An attached consumer holds the acknowledgement, a detached one does not

  @needs:nats @needs:http @fault:refuse
  Scenario Outline: a detached emitter that cannot write does not hold the source
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists
    And nats stream "archive_<id>" exists
    And http path "/partner_<id>" exists
    And domain "shop_<id>" with the fork pipeline
    And nats stream "archive_<id>" starts refusing
    When these records are produced to nats stream "incoming_<id>":
      | order_id | cents |
      | o-1      | 1     |
    Then http path "/partner_<id>" receives exactly:
      | order_id | cents |
      | o-1      | 1     |
    And nats stream "incoming_<id>" is acknowledged through record 1
    When nats stream "archive_<id>" recovers
    Then nats stream "archive_<id>" receives at least:
      | order_id | cents |
      | o-1      | 1     |

    Examples:
      | nodes |
      | 1     |
      | 3     |

  @needs:nats @needs:http @fault:refuse
  Scenario Outline: an attached emitter that cannot write holds the source
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists
    And nats stream "archive_<id>" exists
    And http path "/partner_<id>" exists
    And domain "shop_<id>" with the fork pipeline
    And http path "/partner_<id>" starts refusing
    When these records are produced to nats stream "incoming_<id>":
      | order_id | cents |
      | o-1      | 1     |
    Then nats stream "archive_<id>" receives at least:
      | order_id | cents |
      | o-1      | 1     |
    And nats stream "incoming_<id>" is not acknowledged beyond record 0
    When http path "/partner_<id>" recovers
    Then nats stream "incoming_<id>" is acknowledged through record 1

    Examples:
      | nodes |
      | 1     |
      | 3     |

  @needs:nats @needs:http @fault:hang
  Scenario Outline: a sink that hangs fills the relay and the source waits
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists
    And http path "/partner_<id>" exists
    And domain "shop_<id>" with the partner pipeline
    And http path "/partner_<id>" hangs
    When 600 records are produced to nats stream "incoming_<id>"
    And 2s passes
    Then nats stream "incoming_<id>" is not acknowledged beyond record 0
    And DESCRIBE EMITTER to_partner has transient error = ~ time
    When http path "/partner_<id>" recovers
    Then http path "/partner_<id>" receives each of 600 records at least once
    And nats stream "incoming_<id>" is acknowledged through record 600

    Examples:
      | nodes |
      | 1     |
      | 3     |
