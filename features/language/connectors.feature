Feature: Every source and every sink of the language is declared, checked and shown

  Scenario Outline: sources and sinks of systems this release does not speak to are kept, but not started
    Given a cluster of <nodes> nodes
    And domain "grid_<id>"
    And the operator runs each of:
      """
      CREATE SCHEMA reading (meter U32, kwh F64, at DATETIME);
      CREATE WIRE JSON SCHEMA reading_json MODE LOOSE (meter integer, kwh number, at string);
      CREATE CODEC reading_codec FROM WIRE JSON SCHEMA reading_json TO SCHEMA reading ENCODE at AS RFC3339;
      CREATE RELAY readings SCHEMA reading UNBRANCHED;
      CREATE CLIENT grid_kafka TYPE KAFKA CONFIG { 'bootstrap.servers' = 'bus:9092', 'security.protocol' = 'sasl_plaintext', 'sasl.mechanism' = 'PLAIN', 'sasl.username' = 'ann', 'sasl.password' = 'hunter2' };
      CREATE CLIENT store TYPE POSTGRES POOL SIZE MIN 0 MAX 8 CONFIG { 'addr' = 'postgres://ann:hunter2@db/shop?sslmode=disable' };
      CREATE INGESTOR feed FROM KAFKA grid_kafka TOPIC 'meters.raw' OFFSET BY CONSUMER GROUP plexus MODE ACK SEQUENTIAL ACK TIMEOUT 5s RETRY POLICY BACKOFF 200ms MAX 10s ON QUIESCE SUSPEND DECODE USING reading_codec TIMESTAMP AT at TO readings INHERIT ALL UNBRANCHED FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG;
      CREATE EMITTER keep FROM readings TO POSTGRES store INSERT TO TABLE readings VALUES { 'meter' = input.meter, 'kwh' = input.kwh } ON CONFLICT (meter) DO UPDATE MODE ACK RETRY POLICY BACKOFF 250ms MAX 30s BATCH MAX MESSAGES 500 MAX SIZE 4MiB FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG;
      """
    When the operator runs:
      """
      SHOW CREATE CLIENT grid_kafka
      """
    Then it says "'sasl.password' = '<masked>'"
    And it does not say "hunter2"
    When the operator runs:
      """
      SHOW CREATE CLIENT store
      """
    Then it says "postgres://ann:<masked>@db/shop?sslmode=disable"
    When the operator runs:
      """
      SHOW CREATE INGESTOR feed
      """
    Then it says "CREATE KAFKA TOPIC INGESTOR feed"
    And it says "FROM KAFKA grid_kafka TOPIC meters.raw OFFSET BY CONSUMER GROUP plexus INSTANCES 1 MODE ACK SEQUENTIAL"
    When the operator runs:
      """
      SHOW INGESTORS
      """
    Then it says "feed source=KAFKA client=grid_kafka topic=meters.raw consumer_group=plexus"
    When the operator runs:
      """
      DESCRIBE EMITTER keep
      """
    Then it says "sink: POSTGRES client=store table=readings"
    And it says "body: direct"
    And it says "batch: MAX MESSAGES 500 MAX SIZE 4MiB"
    When the operator runs:
      """
      START
      """
    Then it is refused with "not available yet: source KAFKA TOPIC"
    When the operator runs each of:
      """
      DROP EMITTER keep;
      DROP INGESTOR feed;
      DROP CLIENT store;
      DROP CLIENT grid_kafka;
      """
    Then it succeeds

    Examples:
      | nodes |
      | 1     |
      | 3     |

  Scenario Outline: a statement that asks for what the source or the sink does not have changes nothing
    Given a cluster of <nodes> nodes
    And domain "grid_<id>"
    And the operator runs each of:
      """
      CREATE SCHEMA reading (meter U32, note STRING SENSITIVE);
      CREATE WIRE JSON SCHEMA reading_json MODE LOOSE (meter integer, note string);
      CREATE CODEC c FROM WIRE JSON SCHEMA reading_json TO SCHEMA reading;
      CREATE RELAY r SCHEMA reading UNBRANCHED;
      CREATE CLIENT k TYPE KAFKA CONFIG { 'bootstrap.servers' = 'bus:9092' };
      CREATE CLIENT q TYPE SQS CONFIG { 'endpoint' = 'http://aws' };
      CREATE CLIENT h TYPE HTTP CONFIG { 'endpoint' = 'http://h/path', 'timeout_ms' = 50 };
      """
    When the operator runs:
      """
      CREATE CLIENT k2 TYPE KAFKA CONFIG { 'bootstrap.servers' = 'bus:9092', 'group.id' = 'mine' }
      """
    Then it is refused with "key 'group.id' is set by the node"
    When the operator runs:
      """
      CREATE CLIENT k2 TYPE KAFKA POOL SIZE MIN 0 MAX 1 CONFIG { 'bootstrap.servers' = 'bus:9092' }
      """
    Then it is refused with "expected MOUNT | CONFIG, found POOL"
    When the operator runs:
      """
      CREATE KAFKA TOPIC INGESTOR i FROM MQTT k TOPIC t MODE NO_ACK SEQUENTIAL ON QUIESCE DROP DECODE USING c TO r INHERIT ALL UNBRANCHED FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG
      """
    Then it is refused with "head KAFKA TOPIC does not match source MQTT"
    When the operator runs:
      """
      CREATE INGESTOR i FROM MQTT k TOPIC t MODE NO_ACK SEQUENTIAL ON QUIESCE DROP DECODE USING c TO r INHERIT ALL UNBRANCHED FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG
      """
    Then it is refused with "ref.kind: INGESTOR 'i' takes a client of TYPE MQTT, but CLIENT 'k' is of TYPE KAFKA"
    When the operator runs:
      """
      CREATE INGESTOR i FROM KAFKA k TOPIC t OFFSET BY DOMAIN MODE NO_ACK PARALLEL ON QUIESCE DROP DECODE USING c TO r INHERIT ALL UNBRANCHED FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG
      """
    Then it is refused with "expected SUSPEND, found DROP"
    When the operator runs:
      """
      CREATE EMITTER e FROM r TO SQS q QUEUE orders.fifo MODE SINGLE RETRY POLICY BACKOFF 1s MAX 2s ENCODE USING c INHERIT meter, note LEAK SENSITIVE FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG
      """
    Then it is refused with "requires FIFO GROUP"
    When the operator runs:
      """
      CREATE EMITTER e FROM r TO KAFKA k TOPIC t MODE NO_ACK RETRY POLICY BACKOFF 1s MAX 2s ENCODE USING c INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG
      """
    Then it is refused with "expr.sensitive_leak"
    When the operator runs:
      """
      CREATE EMITTER e FROM r TO HTTP h METHOD 'PUT' PATH '/x' MODE ACK RETRY POLICY BACKOFF 1s MAX 2s ENCODE USING c INHERIT meter, note LEAK SENSITIVE FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG
      """
    Then it is refused with "must be an origin only"
    When the operator runs:
      """
      SHOW CREATE EMITTER e
      """
    Then it is refused with "EMITTER 'e' does not exist"
    When the operator runs:
      """
      SHOW INGESTORS
      """
    Then it does not say "source="

    Examples:
      | nodes |
      | 1     |
      | 3     |
