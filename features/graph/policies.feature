Feature: A row that fails follows the policy of its route

  Scenario Outline: IGNORE, LOG and SEND TO treat the same failure differently
    Given a cluster of <nodes> nodes
    And domain "shop_<id>" with the policies pipeline
    And the operator subscribes ignored to ignoring
    And the operator subscribes logged to logging
    And the operator subscribes sent to sending
    And the operator subscribes failed to failures
    When POST in.example.org/orders on node-1 is eventually answered 202:
      """
      {"order_id":"o-1","cents":100}
      """
    And POST in.example.org/orders on node-1:
      """
      {"order_id":"o-2","cents":0}
      """
    And POST in.example.org/orders on node-1:
      """
      {"order_id":"o-3","cents":50}
      """
    Then ignored sees in order:
      | order_id | per_cent |
      | o-1      | 100      |
      | o-3      | 200      |
    And logged sees in order:
      | order_id | per_cent |
      | o-1      | 100      |
      | o-3      | 200      |
    And sent sees in order:
      | order_id | per_cent |
      | o-1      | 100      |
      | o-3      | 200      |
    And failed sees exactly:
      | order_id | code       | operation |
      | o-2      | evaluation | set       |
    And metric plexus_message_errors_total{target="ignores",policy="ignore"} on the owner of junction ignores is 1
    And metric plexus_message_errors_total{target="logs",policy="log"} on the owner of junction logs is 1
    And metric plexus_message_errors_total{target="sends",policy="send_to"} on the owner of junction sends is 1
    And no log contains "o-2"

    Examples:
      | nodes |
      | 1     |
      | 3     |

  @needs:nats
  Scenario Outline: under an acknowledged source LOG presents the record again and IGNORE lets it go
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists
    And domain "shop_<id>"
    And the operator runs each of:
      """
      CREATE SCHEMA order_record (order_id STRING, cents I64);
      CREATE WIRE JSON SCHEMA order_wire MODE STRICT (order_id string, cents integer);
      CREATE CODEC order_codec FROM WIRE JSON SCHEMA order_wire TO SCHEMA order_record;
      CREATE RELAY incoming SCHEMA order_record UNBRANCHED CAPACITY 4;
      CREATE CLIENT bus TYPE NATS CONFIG { 'addr' = '<nats for incoming_<id>>' };
      CREATE NATS STREAM INGESTOR orders
        FROM NATS bus STREAM incoming_<id> CONSUMER plexus
          MODE ACK SEQUENTIAL ACK TIMEOUT 10s RETRY POLICY BACKOFF 50ms MAX 200ms
          ON QUIESCE SUSPEND
        DECODE USING order_codec
        TO incoming INHERIT ALL EXCEPT cents SET cents = 100 / input.cents UNBRANCHED
          FLUSH IMMEDIATE ON MESSAGE ERROR <policy>
        ON GENERAL ERROR LOG;
      START;
      """
    And the operator subscribes rows to incoming
    When these records are produced to nats stream "incoming_<id>":
      | order_id | cents |
      | o-1      | 0     |
      | o-2      | 50    |
    Then rows sees at least:
      | order_id | cents |
      | o-2      | 2     |
    And metric plexus_message_errors_total{target="orders"} on the owner of ingestor orders is at least <failures>
    And nats stream "incoming_<id>" is <acknowledgement>

    Examples:
      | nodes | policy | failures | acknowledgement                    |
      | 1     | IGNORE | 1        | acknowledged through record 2      |
      | 1     | LOG    | 2        | not acknowledged beyond record 0   |
      | 3     | IGNORE | 1        | acknowledged through record 2      |
      | 3     | LOG    | 2        | not acknowledged beyond record 0   |
