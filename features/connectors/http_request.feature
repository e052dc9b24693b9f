Feature: An HTTP request emitter retries what may still succeed and rejects what cannot

  @needs:nats @needs:http @fault:refuse
  Scenario Outline: a service that answers 503 gets every order once it recovers
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists
    And http path "/partner_<id>" exists
    And domain "shop_<id>" with the partner pipeline
    And http path "/partner_<id>" starts refusing
    When 20 records are produced to nats stream "incoming_<id>"
    Then metric plexus_emitter_attempts_total{emitter="to_partner",outcome="retry"} on the owner of emitter to_partner is at least 2
    And DESCRIBE EMITTER to_partner has status = ERROR
    And DESCRIBE EMITTER to_partner has transient error = ~ 503
    And http path "/partner_<id>" receives nothing for 500ms
    And nats stream "incoming_<id>" is not acknowledged beyond record 0
    When http path "/partner_<id>" recovers
    Then http path "/partner_<id>" receives each of 20 records at least once
    And nats stream "incoming_<id>" is acknowledged through record 20
    And DESCRIBE EMITTER to_partner has status = OK

    Examples:
      | nodes |
      | 1     |
      | 3     |

  @needs:nats @needs:http @fault:answer_loss
  Scenario Outline: an answer that is lost makes the order come again, and the source waits for it
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists
    And http path "/partner_<id>" exists
    And domain "shop_<id>" with the partner pipeline
    And http path "/partner_<id>" loses its next answer
    When these records are produced to nats stream "incoming_<id>":
      | order_id | cents |
      | o-1      | 1     |
      | o-2      | 2     |
    Then http path "/partner_<id>" receives record 2 times: o-1
    And http path "/partner_<id>" receives each of 2 records at least once
    And nats stream "incoming_<id>" is acknowledged through record 2

    Examples:
      | nodes |
      | 1     |
      | 3     |

  @needs:nats @needs:http @fault:reject_some
  Scenario Outline: one order that is rejected goes to the error route, its neighbours arrive
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists
    And http path "/partner_<id>" exists
    And domain "shop_<id>" with the partner pipeline
    And the operator subscribes failures to rejected
    And http path "/partner_<id>" rejects records containing "o-3"
    When 5 records are produced to nats stream "incoming_<id>"
    Then http path "/partner_<id>" receives exactly:
      | order_id |
      | o-1      |
      | o-2      |
      | o-4      |
      | o-5      |
    And failures sees exactly:
      | order_id | code     | operation |
      | o-3      | external | publish   |
    And nats stream "incoming_<id>" is acknowledged through record 5
    And metric plexus_emitter_rejected_total{emitter="to_partner"} on the owner of emitter to_partner is 1

    Examples:
      | nodes |
      | 1     |
      | 3     |

  @needs:nats @needs:http @fault:hang
  Scenario Outline: a service that hangs costs one timeout at a time and nothing else
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists
    And http path "/partner_<id>" exists
    And domain "shop_<id>" with the partner pipeline
    And http path "/partner_<id>" hangs
    When 10 records are produced to nats stream "incoming_<id>"
    Then metric plexus_emitter_attempts_total{emitter="to_partner",outcome="retry"} on the owner of emitter to_partner is at least 1
    And nats stream "incoming_<id>" is not acknowledged beyond record 0
    When http path "/partner_<id>" recovers
    Then http path "/partner_<id>" receives each of 10 records at least once
    And nats stream "incoming_<id>" is acknowledged through record 10

    Examples:
      | nodes |
      | 1     |
      | 3     |
