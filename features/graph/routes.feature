Feature: Junctions filter, map and fan out

  Scenario Outline: each route takes its own rows and shapes them its own way
    Given a cluster of <nodes> nodes
    And domain "shop_<id>" with the hook pipeline
    And the operator runs each of:
      """
      CREATE SCHEMA big (order_id STRING, euros I64, label STRING);
      CREATE RELAY big_orders SCHEMA big UNBRANCHED CAPACITY 4;
      CREATE RELAY all_orders SCHEMA order_record UNBRANCHED CAPACITY 4;
      CREATE JUNCTION split FROM posted FILTER WHERE input.order_id != 'test' UNBRANCHED
        TO big_orders
          INHERIT order_id
          SET euros = input.cents / 100, label = concat(upper(input.order_id), '!')
          WHERE input.cents >= 1000
          FLUSH IMMEDIATE ON MESSAGE ERROR LOG
        TO all_orders INHERIT ALL FLUSH EACH 50ms MAX BATCH SIZE 1MiB ON MESSAGE ERROR LOG;
      """
    And the operator subscribes big to big_orders
    And the operator subscribes every to all_orders
    When POST in.example.org/orders on node-1 is eventually answered 202:
      """
      {"order_id":"o-1","cents":1250,"note":"first"}
      """
    And POST in.example.org/orders on node-1:
      """
      {"order_id":"o-2","cents":400}
      """
    And POST in.example.org/orders on node-1:
      """
      {"order_id":"test","cents":9000}
      """
    Then big sees exactly:
      | order_id | euros | label |
      | o-1      | 12    | O-1!  |
    And every sees in order:
      | order_id | cents | note  |
      | o-1      | 1250  | first |
      | o-2      | 400   | -     |

    Examples:
      | nodes |
      | 1     |
      | 3     |

  Scenario Outline: numbers at the edges of their types arrive exactly
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    And the operator runs each of:
      """
      CREATE SCHEMA numbers (a I64, b U64, c I8, d U32);
      CREATE WIRE JSON SCHEMA numbers_wire MODE STRICT (a integer, b integer, c integer, d integer);
      CREATE CODEC numbers_codec FROM WIRE JSON SCHEMA numbers_wire TO SCHEMA numbers;
      CREATE RELAY numbers SCHEMA numbers UNBRANCHED;
      CREATE VHOST edge in.example.org;
      CREATE ENDPOINT hook ON edge PATH '/numbers' TYPE HTTP;
      CREATE HTTP ENDPOINT INGESTOR numbers_in
        FROM HTTP ENDPOINT hook MODE NO_ACK SEQUENTIAL ON QUIESCE REJECT RETRY AFTER 1s
        DECODE USING numbers_codec
        TO numbers INHERIT ALL UNBRANCHED FLUSH IMMEDIATE ON MESSAGE ERROR LOG
        ON GENERAL ERROR LOG;
      START;
      """
    And the operator subscribes rows to numbers
    When POST in.example.org/numbers on node-1 is eventually answered 202:
      """
      {"a":9007199254740993,"b":18446744073709551615,"c":-128,"d":4294967295}
      """
    And POST in.example.org/numbers on node-1:
      """
      {"a":-9223372036854775808,"b":0,"c":127,"d":0}
      """
    Then rows sees in order:
      | a                    | b                    | c    | d          |
      | 9007199254740993     | 18446744073709551615 | -128 | 4294967295 |
      | -9223372036854775808 | 0                    | 127  | 0          |
    When POST in.example.org/numbers on node-1:
      """
      {"a":9223372036854775808,"b":0,"c":127,"d":0}
      """
    Then the reply is 400

    Examples:
      | nodes |
      | 1     |
      | 3     |
