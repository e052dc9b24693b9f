Feature: Nothing vanishes without evidence

  Scenario Outline: every refused payload is counted, reported once and not shown
    Given a cluster of <nodes> nodes
    And domain "shop_<id>" with the hook pipeline
    And the operator subscribes rows to posted
    When POST in.example.org/orders on node-1 is eventually answered 202:
      """
      {"order_id":"o-1","cents":1}
      """
    And POST in.example.org/orders on node-1:
      """
      {"order_id":"o-2","cents":2.5,"note":"secret-marker"}
      """
    Then the reply is 400
    And metric plexus_ingestor_decode_dropped_total{ingestor="orders"} on node-1 is 1
    And the log of node-1 contains "cents"
    And no log contains "secret-marker"
    And DESCRIBE INGESTOR orders has status = running
    And rows sees exactly:
      | order_id | cents |
      | o-1      | 1     |

    Examples:
      | nodes |
      | 1     |
      | 3     |

  Scenario: a clause that decides what happens to errors cannot be forgotten
    Given a cluster of 1 node
    And domain "shop_<id>"
    And the operator runs each of:
      """
      CREATE SCHEMA reading (site STRING);
      CREATE RELAY readings SCHEMA reading UNBRANCHED;
      CREATE RELAY copies SCHEMA reading UNBRANCHED;
      """
    When the operator runs:
      """
      CREATE JUNCTION copy FROM readings UNBRANCHED TO copies INHERIT ALL FLUSH IMMEDIATE
      """
    Then it is refused with "expected ON MESSAGE ERROR"
