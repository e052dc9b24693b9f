Feature: Domains, users and the life of a graph are administered by statements

  Scenario Outline: a paced domain is declared and cannot start yet
    Given a cluster of <nodes> nodes
    When the operator runs:
      """
      CREATE PACED DOMAIN replay_<id> WITH PERIOD 250ms SKEW 2s PLACEMENT PREFER COLOCATION
      """
    Then it succeeds
    And it says "created domain 'replay_<id>'"
    When the operator runs:
      """
      LIST DOMAINS
      """
    Then it says "replay_<id> pace=PACED status=STOPPED"
    When the operator runs:
      """
      SHOW CLUSTER STATUS
      """
    Then it says "pace=PACED period=250ms skew=2s"
    When the operator runs:
      """
      DROP DOMAIN replay_<id>
      """
    Then it succeeds

    Examples:
      | nodes |
      | 1     |
      | 3     |

  Scenario Outline: an unpaced domain has no start point and no rate
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    When the operator runs:
      """
      START AT '2026-01-01T00:00:00Z'
      """
    Then it is refused with "invalid"
    When the operator runs:
      """
      START AT NOW TIME RATE 2
      """
    Then it is refused with "is unpaced"
    When the operator runs:
      """
      START AT NOW
      """
    Then it succeeds
    When the operator runs:
      """
      DROP DOMAIN shop_<id>
      """
    Then it is refused with "domain 'shop_<id>' is running; STOP it first"

    Examples:
      | nodes |
      | 1     |
      | 3     |

  Scenario Outline: users are listed and dropped
    Given a cluster of <nodes> nodes
    When the operator runs each of:
      """
      CREATE USER ann_<id> WITH PASSWORD 'correct horse battery';
      ALTER USER ann_<id> SET PASSWORD 'staple correct horse';
      SHOW USERS;
      """
    Then it says "ann_<id>"
    When the operator runs:
      """
      DROP USER ann_<id>
      """
    Then it says "dropped user 'ann_<id>'"
    When the operator runs:
      """
      DROP USER ann_<id>
      """
    Then it is refused with "ref.missing"

    Examples:
      | nodes |
      | 1     |
      | 3     |

  Scenario Outline: what is no part of a transaction says so
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    When the operator runs:
      """
      BEGIN; <statement>; COMMIT
      """
    Then it is refused with "tx.not_queueable"

    Examples:
      | nodes | statement                                  |
      | 1     | CREATE DOMAIN other                        |
      | 1     | CREATE USER u WITH PASSWORD 'twelve bytes' |
      | 1     | DROP USER u                                |
      | 1     | CORDON NODE n                              |
      | 1     | SHOW INGESTORS                             |
      | 1     | LOOKUP h KEY 'k'                           |
      | 1     | UPLOAD RESOURCE r VERSION 'd'              |
      | 1     | BACKUP CLUSTER TO 'f'                      |
      | 1     | RESTORE DOMAIN d FROM 'f'                  |
      | 3     | ATTACH DOMAIN CLOCK                        |
      | 3     | USE other                                  |

  Scenario Outline: what is not there yet says what is missing
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    When the operator runs:
      """
      <statement>
      """
    Then it is refused with "unavailable"
    And it is refused with "not available yet: <what>"

    Examples:
      | nodes | statement                     | what                              |
      | 1     | BACKUP CLUSTER TO 'f'         | backups                           |
      | 1     | RESTORE DOMAIN d FROM 'f'     | backups                           |
      | 1     | DESCRIBE BACKUP 'f'           | backups                           |
      | 1     | UPLOAD RESOURCE r VERSION 'd' | resource uploads                  |
      | 3     | ATTACH DOMAIN CLOCK           | following the clock of a domain   |

  Scenario Outline: reading what does not exist
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    When the operator runs:
      """
      <statement>
      """
    Then it is refused with "ref.missing"

    Examples:
      | nodes | statement                                                   |
      | 1     | SHOW CREATE RESOURCE r                                      |
      | 1     | SHOW CREATE WIRE AVRO SCHEMA w                              |
      | 1     | SHOW CREATE WASM PROCESSOR w                                |
      | 1     | SHOW RELAY r MATERIALIZED STATE                             |
      | 1     | DESCRIBE HASH MAP h                                         |
      | 1     | DESCRIBE RESOURCE r VERSION 2                               |
      | 1     | DESCRIBE RELAY r WHERE (a = 1)                              |
      | 1     | LOOKUP h KEY 'k'                                            |
      | 3     | DROP SIGNALING PROTOCOL p                                   |
      | 3     | ALTER WIRE CBOR SCHEMA w MODE STRICT                        |
      | 3     | REBIND RESOURCE r TO VERSION LATEST                         |
      | 3     | RESET WASM PROCESSOR w STATE IN DOMAIN shop_<id> FOR UNBRANCHED |
