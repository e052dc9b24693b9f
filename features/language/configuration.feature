Feature: What configures a graph is declared, shown, changed and dropped

  Scenario Outline: schemas and codecs of every format
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    When the operator runs each of:
      """
      CREATE SCHEMA reading (meter I64, at DATETIME, seal BYTES OPTIONAL);
      CREATE WIRE JSON SCHEMA doc MODE LOOSE (meter integer, at string, seal bytes OPTIONAL);
      CREATE WIRE CBOR SCHEMA doc MODE STRICT (meter integer, at string, seal bytes OPTIONAL);
      CREATE WIRE AVRO SCHEMA doc MODE STRICT (meter LONG, at STRING, seal BYTES OPTIONAL);
      CREATE CODEC a FROM WIRE JSON SCHEMA doc TO SCHEMA reading ENCODE at AS RFC3339;
      CREATE CODEC b FROM WIRE CBOR SCHEMA doc TO SCHEMA reading ENCODE at AS RFC3339;
      CREATE CODEC c FROM WIRE AVRO SCHEMA doc TO SCHEMA reading ENCODE at AS RFC3339;
      CREATE CODEC d FROM JSON TO SCHEMA reading WITH JAQ TRANSFORMATIONS ON INGESTION '.items[]' ON EMITTING '.' ON EMITTING BATCH '{items: .}';
      """
    Then it succeeds
    When the operator runs:
      """
      SHOW CREATE CODEC d
      """
    Then it says "CREATE CODEC d FROM JSON TO SCHEMA reading WITH JAQ TRANSFORMATIONS ON INGESTION '.items[]' ON EMITTING '.' ON EMITTING BATCH '{items: .}';"
    When the operator runs:
      """
      DESCRIBE CODEC c
      """
    Then it says "format: WIRE AVRO"
    And it says "mode: STRICT"
    And it says "encode rules: at AS RFC3339"
    And it says "namespace"
    When the operator runs:
      """
      DROP WIRE CBOR SCHEMA doc
      """
    Then it is refused with "in_use"
    And it is refused with "CODEC 'b'"
    When the operator runs:
      """
      DROP SCHEMA reading
      """
    Then it is refused with "CODEC 'a', CODEC 'b', CODEC 'c', CODEC 'd'"
    When the operator runs each of:
      """
      DROP CODEC a; DROP CODEC b; DROP CODEC c; DROP CODEC d;
      DROP WIRE JSON SCHEMA doc; DROP WIRE CBOR SCHEMA doc; DROP WIRE AVRO SCHEMA doc; DROP SCHEMA reading;
      """
    Then it succeeds
    And it says "dropped schema 'reading'"

    Examples:
      | nodes |
      | 1     |
      | 3     |

  Scenario Outline: a schema changes together with what it is bound to
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    And the operator runs each of:
      """
      CREATE SCHEMA reading (meter U32);
      CREATE WIRE JSON SCHEMA doc MODE STRICT (meter integer);
      CREATE CODEC a FROM WIRE JSON SCHEMA doc TO SCHEMA reading;
      """
    When the operator runs:
      """
      ALTER SCHEMA reading ADD FIELD tariff STRING OPTIONAL
      """
    Then it is refused with "schema.incompatible"
    And it is refused with "internal field 'tariff' has no wire field"
    When the operator runs:
      """
      SHOW CREATE SCHEMA reading
      """
    Then it says "meter U32"
    When the operator runs:
      """
      BEGIN;
      ALTER SCHEMA reading ADD FIELD tariff STRING OPTIONAL;
      ALTER WIRE JSON SCHEMA doc ADD FIELD tariff string OPTIONAL, MODE LOOSE;
      COMMIT;
      """
    Then it succeeds
    And it says "altered schema 'reading'"
    And it says "altered wire json schema 'doc'"
    When the operator runs:
      """
      SHOW CREATE WIRE JSON SCHEMA doc
      """
    Then it says "MODE LOOSE"
    And it says "tariff string OPTIONAL"
    When the operator runs:
      """
      ALTER SCHEMA reading DROP FIELD nothing
      """
    Then it is refused with "SCHEMA 'reading' has no field 'nothing'"

    Examples:
      | nodes |
      | 1     |
      | 3     |

  Scenario Outline: endpoints and signaling protocols
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    When the operator runs each of:
      """
      CREATE VHOST edge a<id>.example.org;
      CREATE SIGNALING PROTOCOL login FORMAT JSON ON CONNECT SEND JAQ '{cmd: 1}' WAIT JAQ '.open' ACCEPT DATA TIMEOUT 5s;
      CREATE ENDPOINT feed ON edge PATH '/feed' TYPE WEBSOCKETS WITH SIGNALING PROTOCOL login;
      """
    Then it succeeds
    When the operator runs:
      """
      SHOW CREATE SIGNALING PROTOCOL login
      """
    Then it says "CREATE SIGNALING PROTOCOL login FORMAT JSON ON CONNECT SEND JAQ '{cmd: 1}' WAIT JAQ '.open' ACCEPT DATA TIMEOUT 5s;"
    When the operator runs:
      """
      DESCRIBE ENDPOINT feed
      """
    Then it says "type: WEBSOCKETS"
    And it says "signaling protocol: login"
    When the operator runs:
      """
      CREATE ENDPOINT other ON edge PATH '/feed' TYPE HTTP
      """
    Then it is refused with "ENDPOINT 'feed' already publishes PATH '/feed' on VHOST 'edge'"
    When the operator runs:
      """
      DROP SIGNALING PROTOCOL login
      """
    Then it is refused with "ENDPOINT 'feed'"
    When the operator runs:
      """
      START
      """
    Then it is refused with "unavailable"
    And it is refused with "not available yet: endpoints of TYPE WEBSOCKETS"
    When the operator runs each of:
      """
      DROP ENDPOINT feed; DROP SIGNALING PROTOCOL login; DROP VHOST edge;
      """
    Then it succeeds
    And it says "dropped vhost 'edge'"

    Examples:
      | nodes |
      | 1     |
      | 3     |

  Scenario Outline: resources and what binds them
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    When the operator runs:
      """
      CREATE RESOURCE certs
      """
    Then it succeeds
    And it says "created resource 'certs'"
    When the operator runs:
      """
      CREATE RESOURCE certs
      """
    Then it is refused with "exists"
    When the operator runs:
      """
      CREATE IF NOT EXISTS RESOURCE certs
      """
    Then it says "resource 'certs' already exists"
    When the operator runs:
      """
      DESCRIBE RESOURCE certs
      """
    Then it says "latest: -"
    And it says "versions: (none)"
    When the operator runs:
      """
      SHOW CREATE RESOURCE certs
      """
    Then it says "CREATE RESOURCE certs;"
    When the operator runs:
      """
      CREATE VHOST edge a.example.org WITH TLS certs VERSION LATEST
      """
    Then it is refused with "resource.version"
    And it is refused with "resource 'certs' has no completed version"
    When the operator runs:
      """
      CREATE VHOST edge a.example.org WITH TLS nothing VERSION 1
      """
    Then it is refused with "VHOST 'edge' requires missing RESOURCE 'nothing'"
    When the operator runs:
      """
      REBIND RESOURCE certs TO VERSION 7
      """
    Then it is refused with "resource 'certs' has no version 7"
    When the operator runs:
      """
      UPLOAD RESOURCE certs VERSION '/somewhere'
      """
    Then it is refused with "not available yet: resource uploads"
    When the operator runs:
      """
      BEGIN;
      CREATE RESOURCE tables;
      CREATE SCHEMA row (code STRING);
      COMMIT;
      """
    Then it succeeds
    And it says "created resource 'tables'"
    When the operator runs:
      """
      DESCRIBE DOMAIN
      """
    Then it says "resource: 2"

    Examples:
      | nodes |
      | 1     |
      | 3     |
