Feature: Expressions are checked when their statement is applied, functions of one's own included

  Scenario Outline: typical mistakes name the smallest part that is wrong and what to do
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    And the operator runs each of:
      """
      CREATE SCHEMA reading (site STRING, kwh F64, level U8, note STRING OPTIONAL, owner STRING SENSITIVE);
      CREATE SCHEMA bill (site STRING, cost F64);
      CREATE RELAY readings SCHEMA reading UNBRANCHED;
      CREATE RELAY bills SCHEMA bill UNBRANCHED;
      """
    When the operator runs:
      """
      CREATE JUNCTION billing FROM readings WHERE <filter> UNBRANCHED
        TO bills INHERIT site SET cost = <cost> FLUSH IMMEDIATE ON MESSAGE ERROR LOG
      """
    Then it is refused with "<code>"
    And it is refused with "<says>"
    When the operator runs:
      """
      SHOW CREATE JUNCTION billing
      """
    Then it is refused with "ref.missing"

    Examples:
      | nodes | filter                                | cost                       | code                      | says                                             |
      | 1     | level > 5                             | 1.0                        | expr.type_mismatch        | cast the literal: … AS U8                        |
      | 1     | NOT kwh > 5.0                         | 1.0                        | expr.type_mismatch        | NOT binds tightly: write NOT (…)                 |
      | 1     | note = NULL                           | 1.0                        | expr.null_literal         | is_null(x) asks for it                           |
      | 1     | site IN ('a', NULL)                   | 1.0                        | expr.in_set               | cannot be NULL                                   |
      | 1     | TRUE                                  | output.cost                | expr.uninitialized_output | output field 'cost' is not set yet               |
      | 1     | TRUE                                  | length(note) AS F64        | expr.null_for_required    | SET field 'cost' may be null                     |
      | 1     | TRUE                                  | length(owner) AS F64       | expr.sensitive_leak       | leak_sensitive(…)                                |
      | 1     | TRUE                                  | level                      | expr.type_mismatch        | convert it: … AS F64                             |
      | 1     | branch.site = 'x'                     | 1.0                        | expr.scope                | scope 'branch' is not available in junction FROM |
      | 1     | inptu.kwh > 1.0                       | 1.0                        | expr.scope                | did you mean input?                              |
      | 1     | lenght(site) > 1                      | 1.0                        | expr.unknown_function     | did you mean length?                             |
      | 1     | substr(site) = 'x'                    | 1.0                        | expr.arity                | substr(STRING, integer, [integer])               |
      | 1     | TRUE                                  | SUM(kwh)                   | expr.aggregate            | aggregates stand in the SET of a window's route  |
      | 1     | read_header('x') = 'y'                | 1.0                        | expr.context              | headers belong to ingestors                      |
      | 1     | date_trunc('fortnight', now()) < now() | 1.0                       | expr.invalid_literal      | 'fortnight' is no unit of time                   |
      | 1     | JSON_EXISTS(site, 'a.b')              | 1.0                        | parse                     | invalid JSON path 'a.b' at byte 0                |
      | 1     | site AS BYTES = site AS BYTES         | 1.0                        | expr.unsupported_cast     | STRING cannot be cast to BYTES                   |
      | 3     | udf::risk(kwh) > 1.0                  | 1.0                        | ref.missing               | JUNCTION 'billing' requires missing UDF 'risk'   |

  Scenario Outline: a function is declared with its tests, called, shown and dropped
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    When the operator runs:
      """
      CREATE UDF demand_band WITH NSPL_1
        ARGS (kwh F64, limit_kwh F64 OPTIONAL) RETURNS STRING
        CODE $u$
          LET cap = coalesce(limit_kwh, 50.0);
          RETURN CASE WHEN kwh > cap THEN 'over' ELSE 'normal' END;
          TEST 'bands' {
            CASE (60.0, NULL) RETURNS 'over';
            CASE (41.0, 50.0) RETURNS 'near';
          }
        $u$
      """
    Then it is refused with "content"
    And it is refused with "UDF 'demand_band' test 'bands' case 2: expected 'near', got 'normal'"
    When the operator runs each of:
      """
      CREATE UDF demand_band WITH NSPL_1 ARGS (kwh F64, limit_kwh F64 OPTIONAL) RETURNS STRING
        CODE "RETURN IF kwh > coalesce(limit_kwh, 50.0) THEN 'over' ELSE 'normal' END; TEST 'bands' { CASE (60.0, NULL) RETURNS 'over'; }";
      CREATE SCHEMA reading (site STRING, kwh F64, band STRING);
      CREATE RELAY readings SCHEMA reading UNBRANCHED;
      CREATE RELAY banded SCHEMA reading UNBRANCHED;
      CREATE JUNCTION bands FROM readings UNBRANCHED
        TO banded INHERIT site, kwh SET band = udf::demand_band(kwh, 40.0) FLUSH IMMEDIATE ON MESSAGE ERROR LOG;
      """
    And the operator runs:
      """
      DESCRIBE UDF demand_band
      """
    Then it says "udf::demand_band(kwh F64, limit_kwh F64 OPTIONAL) RETURNS STRING"
    And it says "JUNCTION 'bands'"
    When the operator runs:
      """
      SHOW UDFS
      """
    Then it says "demand_band"
    When the operator runs:
      """
      START
      """
    Then it is refused with "not available yet: UDF 'demand_band'"
    When the operator runs:
      """
      DROP UDF demand_band
      """
    Then it is refused with "in_use"
    When the operator runs each of:
      """
      DROP JUNCTION bands;
      DROP UDF demand_band;
      """
    And the operator runs:
      """
      SHOW CREATE UDF demand_band
      """
    Then it is refused with "ref.missing"

    Examples:
      | nodes |
      | 1     |
      | 3     |
