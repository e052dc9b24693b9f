Feature: Functions compute by row, and a row that fails costs no other

  Scenario Outline: text, octets, addresses, time, lists and JSON
    Given a cluster of <nodes> nodes
    And domain "shop_<id>" with the hook pipeline
    And the operator runs each of:
      """
      CREATE SCHEMA facts (order_id STRING, number STRING OPTIONAL, digest STRING, private BOOL, day STRING, parts I64, host STRING OPTIONAL, size I64 OPTIONAL, tags VEC<STRING> OPTIONAL);
      CREATE RELAY facts SCHEMA facts UNBRANCHED CAPACITY 4;
      CREATE JUNCTION look FROM posted FILTER WHERE like(input.order_id, 'o-%') UNBRANCHED
        TO facts
          INHERIT order_id
          SET number = regexp_extract(input.order_id, 'o-([0-9]+)', 1),
              digest = left(hex_encode(sha256(bytes_from_utf8(input.order_id))), 8),
              private = ip_in_network(ip_from_string('10.1.2.3'), '10.0.0.0/8'),
              day = format_datetime('%A %F', date_add('day', input.cents, '2026-02-28T23:00:00Z' AS DATETIME), 'Europe/Berlin'),
              parts = count(split(input.order_id, '-')),
              host = url_host(coalesce(input.note, 'mailto:nobody')),
              size = JSON_VALUE('{"size":[1,2,3]}', '$.size[1]' AS I64)
          FLUSH IMMEDIATE ON MESSAGE ERROR LOG;
      CREATE RELAY tagged SCHEMA facts UNBRANCHED CAPACITY 4;
      CREATE JUNCTION tag FROM facts UNBRANCHED
        TO tagged INHERIT ALL EXCEPT tags, host FLUSH IMMEDIATE ON MESSAGE ERROR LOG
        TO tagged INHERIT ALL EXCEPT tags, host SET tags = split(input.order_id, '-') WHERE input.parts > 2 FLUSH IMMEDIATE ON MESSAGE ERROR LOG;
      """
    And the operator subscribes rows to facts
    And the operator subscribes tags to tagged
    When POST in.example.org/orders on node-1 is eventually answered 202:
      """
      {"order_id":"o-1","cents":1,"note":"https://Example.org/a"}
      """
    And POST in.example.org/orders on node-1:
      """
      {"order_id":"o-x","cents":2,"note":"no url"}
      """
    And POST in.example.org/orders on node-1:
      """
      {"order_id":"other","cents":3}
      """
    And POST in.example.org/orders on node-1:
      """
      {"order_id":"o-2-b","cents":-59}
      """
    Then rows sees in order:
      | order_id | number | digest   | private | day                 | parts | host        | size |
      | o-1      | 1      | 5cbdcb74 | true    | Monday 2026-03-02   | 2     | example.org | 2    |
      | o-2-b    | 2      | d9a8b8d2 | true    | Thursday 2026-01-01 | 3     | -           | 2    |
    And tags sees exactly:
      | order_id | tags            |
      | o-1      | -               |
      | o-2-b    | -               |
      | o-2-b    | ["o","2","b"]   |

    Examples:
      | nodes |
      | 1     |
      | 3     |
