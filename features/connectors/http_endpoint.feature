Feature: An HTTP endpoint answers for what it did with the body

  Scenario Outline: each request gets the answer it deserves
    Given a cluster of <nodes> nodes
    And domain "shop_<id>" with the hook pipeline
    And the operator subscribes rows to posted
    When POST in.example.org/orders on node-1 is eventually answered 202:
      """
      {"order_id":"o-1","cents":1250}
      """
    Then rows sees exactly:
      | order_id | cents |
      | o-1      | 1250  |
    When POST in.example.org/orders on node-1:
      """
      {"order_id":"o-2","cents":"many"}
      """
    Then the reply is 400
    And the reply body does not contain "many"
    When POST in.example.org/orders on node-1:
      """
      not json at all
      """
    Then the reply is 400
    When POST in.example.org/elsewhere on node-1:
      """
      {"order_id":"o-3","cents":1}
      """
    Then the reply is 404
    When POST other.example.org/orders on node-1:
      """
      {"order_id":"o-3","cents":1}
      """
    Then the reply is 404
    When GET in.example.org/orders on node-1
    Then the reply is 405
    When 17 MiB are posted to in.example.org/orders on node-1
    Then the reply is 413
    When POST in.example.org/orders on node-1:
      """
      {"order_id":"o-4","cents":2}
      """
    Then the reply is 202
    And rows sees in order:
      | order_id | cents |
      | o-1      | 1250  |
      | o-4      | 2     |
    And no log contains "many"

    Examples:
      | nodes |
      | 1     |
      | 3     |

  Scenario Outline: an endpoint whose domain does not run takes nothing
    Given a cluster of <nodes> nodes
    And domain "shop_<id>" with the hook pipeline, not started
    When POST in.example.org/orders on node-1 is eventually answered 503:
      """
      {"order_id":"o-1","cents":1}
      """
    And the operator runs:
      """
      START
      """
    Then it succeeds
    When POST in.example.org/orders on node-1 is eventually answered 202:
      """
      {"order_id":"o-2","cents":1}
      """
    And the operator runs:
      """
      STOP
      """
    Then it succeeds
    When POST in.example.org/orders on node-1 is eventually answered 503:
      """
      {"order_id":"o-3","cents":1}
      """
    And the operator runs:
      """
      DROP INGESTOR orders
      """
    And the operator runs:
      """
      DROP ENDPOINT order_hook
      """
    Then it succeeds
    When POST in.example.org/orders on node-1 is eventually answered 404:
      """
      {"order_id":"o-4","cents":1}
      """

    Examples:
      | nodes |
      | 1     |
      | 3     |

  Scenario Outline: headers of the request can be read
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    And the operator runs each of:
      """
      CREATE SCHEMA body (order_id STRING);
      CREATE SCHEMA tagged (order_id STRING, region STRING);
      CREATE WIRE JSON SCHEMA body_wire MODE LOOSE (order_id string);
      CREATE CODEC body_codec FROM WIRE JSON SCHEMA body_wire TO SCHEMA body;
      CREATE RELAY tagged SCHEMA tagged UNBRANCHED;
      CREATE VHOST edge in.example.org;
      CREATE ENDPOINT hook ON edge PATH '/tagged' TYPE HTTP;
      CREATE HTTP ENDPOINT INGESTOR tagged_in
        FROM HTTP ENDPOINT hook MODE NO_ACK SEQUENTIAL ON QUIESCE REJECT RETRY AFTER 1s
        DECODE USING body_codec
        TO tagged INHERIT ALL SET region = coalesce(read_header('X-Region'), 'unknown') UNBRANCHED
          FLUSH IMMEDIATE ON MESSAGE ERROR LOG
        ON GENERAL ERROR LOG;
      START;
      """
    And the operator subscribes rows to tagged
    When POST in.example.org/tagged on node-1 is eventually answered 202:
      """
      {"order_id":"o-1"}
      """
    And POST in.example.org/tagged on node-1 with header "X-Region: north":
      """
      {"order_id":"o-2"}
      """
    Then rows sees in order:
      | order_id | region  |
      | o-1      | unknown |
      | o-2      | north   |

    Examples:
      | nodes |
      | 1     |
      | 3     |
