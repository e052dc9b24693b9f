Feature: Every stage of validation refuses by its code, names what is at fault and changes nothing

  Scenario Outline: statements that break a rule of each stage
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    And the operator runs each of:
      """
      CREATE SCHEMA reading (site STRING, n I64, ratio F64 OPTIONAL, at DATETIME, note STRING OPTIONAL SENSITIVE);
      CREATE SCHEMA twin (site STRING, n I64, ratio F64 OPTIONAL, at DATETIME, note STRING OPTIONAL SENSITIVE);
      CREATE SCHEMA failure (why STRING OPTIONAL);
      CREATE SCHEMA site_key (site STRING);
      CREATE WIRE JSON SCHEMA reading_wire MODE LOOSE (site string, n integer, ratio number OPTIONAL, at string, note string OPTIONAL);
      CREATE CODEC reading_json FROM WIRE JSON SCHEMA reading_wire TO SCHEMA reading ENCODE at AS RFC3339;
      CREATE CODEC read_only FROM JSON TO SCHEMA reading WITH JAQ TRANSFORMATIONS ON INGESTION '.';
      CREATE BRANCH by_site SCHEMA site_key TTL 1h;
      CREATE RELAY raw SCHEMA reading UNBRANCHED;
      CREATE RELAY clean SCHEMA reading UNBRANCHED;
      CREATE RELAY twins SCHEMA twin UNBRANCHED;
      CREATE RELAY sites SCHEMA reading BRANCHED BY by_site;
      CREATE RELAY failures SCHEMA failure UNBRANCHED;
      CREATE RELAY site_failures SCHEMA failure BRANCHED BY by_site;
      CREATE CLIENT bus TYPE NATS CONFIG { 'addr' = 'nats://127.0.0.1:4222' };
      CREATE VHOST edge edge.example.org;
      CREATE ENDPOINT hook ON edge PATH '/hook' TYPE HTTP;
      CREATE JUNCTION pass FROM raw UNBRANCHED TO clean INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG;
      CREATE PLACEMENT near FROM raw TO pass PREFER COLOCATION RANK 2;
      CREATE RESOURCE files;
      """
    When the operator is refused each of, and nothing changes:
      | code                | entity               | statement |
      | lex                 |                      | CREATE SCHEMA x (a U8) ? |
      | lex                 |                      | CREATE CLIENT x TYPE NATS CONFIG { 'addr = 1 } |
      | parse               |                      | CREATE RELAY x SCHEMA reading |
      | parse               |                      | CREATE JUNCTION x FROM raw UNBRANCHED TO clean INHERIT ALL ON MESSAGE ERROR LOG |
      | invalid             | SCHEMA 'x'           | CREATE SCHEMA x (a U8, a U16) |
      | invalid             | CLIENT 'x'           | CREATE CLIENT x TYPE NATS CONFIG { 'adr' = 'nats://127.0.0.1:4222' } |
      | exists              | RELAY 'raw'          | CREATE RELAY raw SCHEMA twin UNBRANCHED |
      | ref.missing         | RELAY 'row'          | ALTER RELAY row SET CAPACITY 2 |
      | ref.missing         | RELAY 'row'          | DROP RELAY row |
      | in_use              | SCHEMA 'reading'     | DROP SCHEMA reading |
      | in_use              | JUNCTION 'pass'      | DROP JUNCTION pass |
      | invalid             | SCHEMA 'reading'     | ALTER SCHEMA reading DROP FIELD nothing |
      | invalid             | JUNCTION 'pass'      | ALTER JUNCTION pass DROP FROM raw |
      | ref.missing         | RELAY 'x'            | CREATE RELAY x SCHEMA nothing BRANCHED BY nobody |
      | ref.missing         | JUNCTION 'x'         | CREATE JUNCTION x FROM rows WHERE udf::f(n) = 1 UNBRANCHED TO clean INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG |
      | ref.kind            | EMITTER 'x'          | CREATE EMITTER x FROM clean TO NATS bus SUBJECT s MODE NO_ACK RETRY POLICY BACKOFF 1s MAX 2s ENCODE USING read_only INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG |
      | ref.kind            | JUNCTION 'x'         | CREATE JUNCTION x FROM raw UNBRANCHED USING MATERIALIZED STATE clean REQUIRED SKIP TO clean INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG |
      | schema.incompatible | CODEC 'x'            | CREATE CODEC x FROM WIRE JSON SCHEMA reading_wire TO SCHEMA twin |
      | schema.incompatible | CODEC 'reading_json' | ALTER SCHEMA reading ADD FIELD extra U8 OPTIONAL |
      | schema.incompatible | BRANCH 'x'           | CREATE BRANCH x SCHEMA failure TTL 1h |
      | schema.incompatible | JUNCTION 'x'         | CREATE JUNCTION x FROM raw, twins UNBRANCHED TO clean INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG |
      | branch.incompatible | JUNCTION 'x'         | CREATE JUNCTION x FROM raw BRANCHED BY by_site TO sites INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG |
      | branch.incompatible | JUNCTION 'pass'      | ALTER RELAY clean SET BRANCHED BY by_site |
      | expr.unknown_field  | JUNCTION 'pass'      | ALTER JUNCTION pass SET FILTER WHERE nothing > 1 |
      | expr.type_mismatch  | JUNCTION 'pass'      | ALTER JUNCTION pass SET FILTER WHERE n > 1.5 |
      | expr.scope          | JUNCTION 'pass'      | ALTER JUNCTION pass SET FILTER WHERE branch.site = 'x' |
      | expr.missing_set    | JUNCTION 'pass'      | ALTER JUNCTION pass REPLACE ROUTE TO clean INHERIT site, n FLUSH IMMEDIATE ON MESSAGE ERROR LOG |
      | expr.sensitive_leak | EMITTER 'x'          | CREATE EMITTER x FROM clean TO NATS bus SUBJECT s MODE NO_ACK RETRY POLICY BACKOFF 1s MAX 2s ENCODE USING reading_json INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG |
      | expr.volatile       | DEDUPLICATOR 'x'     | CREATE DEDUPLICATOR x FROM raw DEDUPLICATE ON uuid_v4() MAX TIME 1m UNBRANCHED TO clean INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG |
      | expr.aggregate      | WINDOW PROCESSOR 'x' | CREATE WINDOW PROCESSOR x FROM raw WIDTH 2 MESSAGES STEP 1 MESSAGES UNBRANCHED TO clean SET site = 'x', n = 1, at = now() ON MESSAGE ERROR LOG |
      | branch.incompatible | JUNCTION 'pass'      | ALTER JUNCTION pass REPLACE ROUTE TO clean INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR SEND TO site_failures SET why = error.code |
      | invalid             | ENDPOINT 'x'         | CREATE ENDPOINT x ON edge PATH '/hook' TYPE HTTP |
      | parse               |                      | CREATE INGESTOR x FROM HTTP ENDPOINT hook MODE NO_ACK PARALLEL ON QUIESCE REJECT RETRY AFTER 1s DECODE USING reading_json TO raw INHERIT ALL UNBRANCHED FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG |
      | graph.cycle         | JUNCTION 'x'         | CREATE JUNCTION x FROM clean UNBRANCHED TO raw INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG |
      | graph.cycle         | UDF 'x'              | CREATE UDF x WITH NSPL_1 ARGS (a I64) RETURNS I64 CODE 'RETURN udf::x(a);' |
      | placement.conflict  | PLACEMENT 'x'        | CREATE PLACEMENT x FROM raw TO pass SUGGEST SEPARATION RANK 2 |
      | ref.kind            | PLACEMENT 'x'        | CREATE PLACEMENT x FROM bus TO clean PREFER COLOCATION |
      | resource.version    | HASH MAP 'x'         | CREATE HASH MAP x KEY site FROM RESOURCE files VERSION 1 PATH 'x' DECODE USING reading_json |
      | content             | UDF 'x'              | CREATE UDF x WITH NSPL_1 ARGS (a I64) RETURNS I64 CODE "RETURN a; TEST 't' { CASE (1) RETURNS 2; }" |
      | tx.required         |                      | CREATE SCHEMA x (a U8); CREATE SCHEMA y (a U8) |
      | tx.state            |                      | COMMIT |
      | domain.state        |                      | STOP |
      | domain.missing      |                      | USE nowhere_<id> |

    Examples:
      | nodes |
      | 1     |
      | 3     |

  Scenario Outline: a paced domain demands the time of its rows
    Given a cluster of <nodes> nodes
    And the operator runs each of:
      """
      CREATE PACED DOMAIN paced_<id> WITH PERIOD 1s SKEW 1s;
      USE paced_<id>;
      CREATE SCHEMA reading (site STRING, at DATETIME);
      CREATE WIRE JSON SCHEMA reading_wire MODE LOOSE (site string, at string);
      CREATE CODEC reading_json FROM WIRE JSON SCHEMA reading_wire TO SCHEMA reading ENCODE at AS RFC3339;
      CREATE RELAY raw SCHEMA reading UNBRANCHED;
      CREATE INGESTOR feed FROM RANDOM SEED 1 MAX ROWS 10 EVERY 1s MODE ACK SEQUENTIAL ACK TIMEOUT 5s RETRY POLICY BACKOFF 1s MAX 2s ON QUIESCE SUSPEND DECODE USING reading_json TIMESTAMP AT at TO raw INHERIT ALL UNBRANCHED FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG;
      """
    When the operator is refused each of, and nothing changes:
      | code                | entity          | statement |
      | invalid             | INGESTOR 'feed' | ALTER INGESTOR feed DROP TIMESTAMP |
      | schema.incompatible | INGESTOR 'feed' | ALTER INGESTOR feed SET TIMESTAMP AT site |
      | invalid             | INGESTOR 'x'    | CREATE INGESTOR x FROM RANDOM SEED 1 MAX ROWS 10 EVERY 1s MODE ACK SEQUENTIAL ACK TIMEOUT 5s RETRY POLICY BACKOFF 1s MAX 2s ON QUIESCE SUSPEND DECODE USING reading_json TO raw INHERIT ALL UNBRANCHED FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG |

    Examples:
      | nodes |
      | 1     |
      | 3     |

  Scenario Outline: statements that look, move and reset name what they cannot
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    And the operator runs each of:
      """
      CREATE SCHEMA reading (site STRING, n I64);
      CREATE SCHEMA site_key (site STRING, device U8);
      CREATE WIRE JSON SCHEMA reading_wire MODE LOOSE (site string, n integer);
      CREATE CODEC reading_json FROM WIRE JSON SCHEMA reading_wire TO SCHEMA reading;
      CREATE BRANCH by_site SCHEMA site_key TTL 1h;
      CREATE RELAY raw SCHEMA reading UNBRANCHED;
      CREATE RELAY clean SCHEMA reading UNBRANCHED;
      CREATE RELAY sites SCHEMA reading BRANCHED BY by_site;
      CREATE VHOST edge edge.example.org;
      CREATE ENDPOINT hook ON edge PATH '/hook' TYPE HTTP;
      CREATE INGESTOR listen FROM HTTP ENDPOINT hook MODE NO_ACK SEQUENTIAL ON QUIESCE REJECT RETRY AFTER 1s DECODE USING reading_json TO raw INHERIT ALL UNBRANCHED FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG;
      """
    When the operator is refused each of, and nothing changes:
      | code        | entity            | statement |
      | ref.missing | RELAY 'row'       | SHOW CREATE RELAY row |
      | ref.missing | JUNCTION 'raw'    | DESCRIBE JUNCTION raw |
      | ref.kind    | RELAY 'raw'       | SHOW RELAY raw MATERIALIZED STATE |
      | ref.missing | HASH MAP 'prices' | LOOKUP prices KEY 'x' |
      | invalid     |                   | DESCRIBE RELAY raw WHERE (site = 'x') |
      | invalid     |                   | DESCRIBE RELAY sites WHERE (site = 1, device = 256) |
      | invalid     |                   | DESCRIBE RELAY sites WHERE (sight = 'x') |
      | ref.missing | RELAY 'row'       | RELOCATE RELAY row ONTO NODE node-1 IGNORE PREFERENCES |
      | ref.kind    | INGESTOR 'listen' | RELOCATE INGESTOR listen ONTO NODE node-1 IGNORE PREFERENCES |
      | node        |                   | RELOCATE RELAY raw ONTO NODE node-9 IGNORE PREFERENCES |
      | invalid     |                   | RELOCATE FROM RELAY raw TO RELAY clean ONTO NODE node-1 IGNORE PREFERENCES |
      | node        |                   | CORDON NODE node-9 |
      | invalid     | WASM PROCESSOR 'guest' | RESET WASM PROCESSOR guest STATE IN DOMAIN other FOR UNBRANCHED |
      | ref.missing | WASM PROCESSOR 'guest' | RESET WASM PROCESSOR guest STATE IN DOMAIN shop_<id> FOR UNBRANCHED |
      | invalid     |                   | START AT '2026-01-01T00:00:00Z' |
      | tx.state    |                   | DESCRIBE TRANSACTION OPERATION 1 |

    Examples:
      | nodes |
      | 1     |
      | 3     |

  Scenario Outline: operations of a transaction count from 1
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    And the operator runs:
      """
      BEGIN
      """
    When the operator runs:
      """
      DESCRIBE TRANSACTION OPERATION 1
      """
    Then it is refused with "has no operations"
    When the operator runs:
      """
      CREATE SCHEMA reading (site STRING)
      """
    Then it succeeds
    When the operator runs:
      """
      DESCRIBE TRANSACTION OPERATION 0
      """
    Then it is refused with "OPERATION counts from 1"
    When the operator runs:
      """
      DESCRIBE TRANSACTION OPERATION 2
      """
    Then it is refused with "has operations 1 to 1, not 2"
    When the operator runs:
      """
      DESCRIBE TRANSACTION OPERATION 1
      """
    Then it succeeds

    Examples:
      | nodes |
      | 1     |
      | 3     |

  Scenario Outline: a subscription is checked where it is opened
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    And the operator runs each of:
      """
      CREATE SCHEMA reading (site STRING, n I64);
      CREATE RELAY readings SCHEMA reading UNBRANCHED;
      START;
      """
    When the operator subscribes watch to reading
    Then it is refused with "ref.missing: SUBSCRIPTION 'watch' requires missing RELAY 'reading'"
    And it is refused with "did you mean readings?"
    When the operator subscribes watch to readings where branch.site = 'x'
    Then it is refused with "expr.scope"
    When the operator subscribes watch to readings where COUNT(n) > 1
    Then it is refused with "expr.scope"
    When the operator subscribes watch to readings where sight = 'x'
    Then it is refused with "expr.unknown_field"
    When the operator subscribes watch to readings where n
    Then it is refused with "expr.type_mismatch"
    When the operator subscribes watch to readings
    And the operator subscribes watch to readings
    Then it is refused with "session.refused"
    When the operator runs:
      """
      BEGIN
      """
    And the operator subscribes more to readings
    Then it is refused with "session.refused"

    Examples:
      | nodes |
      | 1     |
      | 3     |
