Feature: A session watches the rows of a relay

  Scenario Outline: rows arrive from the moment the subscription is open, filtered
    Given a cluster of <nodes> nodes
    And domain "shop_<id>" with the hook pipeline
    And the operator subscribes every to posted
    And the operator subscribes big to posted where input.cents > 100
    When POST in.example.org/orders on node-1 is eventually answered 202:
      """
      {"order_id":"o-1","cents":50}
      """
    And POST in.example.org/orders on node-1:
      """
      {"order_id":"o-2","cents":500,"note":"big"}
      """
    Then every sees in order:
      | order_id | cents | note |
      | o-1      | 50    | -    |
      | o-2      | 500   | big  |
    And big sees exactly:
      | order_id | cents | note |
      | o-2      | 500   | big  |

    Examples:
      | nodes |
      | 1     |
      | 3     |

  Scenario Outline: a subscription to nothing, or with a wrong predicate, is refused
    Given a cluster of <nodes> nodes
    And domain "shop_<id>" with the hook pipeline
    When the operator subscribes rows to nowhere
    Then it is refused with "nowhere"
    When the operator subscribes rows to posted where input.missing = 1
    Then it is refused with "missing"

    Examples:
      | nodes |
      | 1     |
      | 3     |

  Scenario Outline: a sensitive field is masked
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    And the operator runs each of:
      """
      CREATE SCHEMA payment (order_id STRING, card STRING SENSITIVE);
      CREATE WIRE JSON SCHEMA payment_wire MODE STRICT (order_id string, card string);
      CREATE CODEC payment_codec FROM WIRE JSON SCHEMA payment_wire TO SCHEMA payment;
      CREATE RELAY payments SCHEMA payment UNBRANCHED;
      CREATE VHOST edge in.example.org;
      CREATE ENDPOINT hook ON edge PATH '/payments' TYPE HTTP;
      CREATE HTTP ENDPOINT INGESTOR payments_in
        FROM HTTP ENDPOINT hook MODE NO_ACK SEQUENTIAL ON QUIESCE REJECT RETRY AFTER 1s
        DECODE USING payment_codec
        TO payments INHERIT ALL UNBRANCHED FLUSH IMMEDIATE ON MESSAGE ERROR LOG
        ON GENERAL ERROR LOG;
      START;
      """
    And the operator subscribes rows to payments
    When POST in.example.org/payments on node-1 is eventually answered 202:
      """
      {"order_id":"o-1","card":"marker-4111"}
      """
    Then rows sees exactly:
      | order_id | card     |
      | o-1      | <masked> |
    And no log contains "marker-4111"

    Examples:
      | nodes |
      | 1     |
      | 3     |

  Scenario Outline: removing the relay ends the subscription with the reason
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    And the operator runs each of:
      """
      CREATE SCHEMA reading (site STRING);
      CREATE RELAY readings SCHEMA reading UNBRANCHED;
      START;
      """
    And the operator subscribes rows to readings
    When the operator runs:
      """
      DROP RELAY readings
      """
    Then it succeeds
    And rows ends because relay_removed

    Examples:
      | nodes |
      | 1     |
      | 3     |
