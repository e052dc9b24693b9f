Feature: Branches, states and processors are declared, altered and looked at before they run

  Scenario Outline: a graph of every processor is created, shown, altered and dropped
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    When the operator runs each of:
      """
      CREATE SCHEMA site_key (site STRING);
      CREATE SCHEMA reading (site STRING, n I64);
      CREATE BRANCH by_site SCHEMA site_key TTL 10m MAX INSTANCES 100 EVICT LRU;
      CREATE RELAY raw SCHEMA reading UNBRANCHED;
      CREATE RELAY sites SCHEMA reading BRANCHED BY by_site;
      CREATE RELAY unique_sites SCHEMA reading BRANCHED BY by_site;
      CREATE RELAY sorted SCHEMA reading BRANCHED BY by_site;
      CREATE RELAY newest SCHEMA reading BRANCHED BY by_site WITH MATERIALIZED STATE LAST BY TIMESTAMP;
      CREATE RELAY totals SCHEMA reading BRANCHED BY by_site;
      CREATE REINGESTOR divide FROM raw TO sites INHERIT ALL BRANCHED BY by_site SET site = message.site FLUSH IMMEDIATE ON MESSAGE ERROR LOG;
      CREATE DEDUPLICATOR once FROM sites DEDUPLICATE ON input.n MAX TIME 1m BRANCHED BY by_site TO unique_sites INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG;
      CREATE REORDERER sort FROM unique_sites BY input.n MAX TIME 1s BRANCHED BY by_site TO sorted INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG;
      CREATE CORRELATOR pair LEFT FROM sites RIGHT FROM sorted CORRELATE WHERE left.n = right.n MATCH LATEST MAX TIME 1m ON CORRELATION TIMEOUT DROP, DROP
        BRANCHED BY by_site TO newest SET site = left.site, n = right.n FLUSH IMMEDIATE ON MESSAGE ERROR LOG;
      CREATE WINDOW PROCESSOR sum FROM sorted WIDTH 10 MESSAGES STEP 5 MESSAGES BRANCHED BY by_site TO totals SET site = branch.site, n = COUNT(input.n) ON MESSAGE ERROR LOG;
      CREATE GENERATOR tick USING MATERIALIZED STATE newest EACH 5s BRANCHED BY by_site TO totals SET site = branch.site, n = relay_state.newest.n FLUSH IMMEDIATE ON MESSAGE ERROR LOG;
      ALTER DEDUPLICATOR once SET MAX TIME 2m, ADD MATERIALIZED STATE newest REQUIRED SKIP;
      ALTER RELAY sites SET CAPACITY 8;
      """
    And the operator runs:
      """
      SHOW CREATE DEDUPLICATOR once
      """
    Then it prints:
      """
      CREATE ATTACHED DEDUPLICATOR once
        FROM sites
        DEDUPLICATE ON input.n
        MAX TIME 2m
        BRANCHED BY by_site
        USING MATERIALIZED STATE newest REQUIRED SKIP
        TO unique_sites
          INHERIT ALL
          FLUSH IMMEDIATE
          ON MESSAGE ERROR LOG;
      """
    When the operator runs:
      """
      START
      """
    Then it is refused with "unavailable"
    And it is refused with "not available yet"
    When the operator runs:
      """
      DROP RELAY newest
      """
    Then it is refused with "in_use"
    And it is refused with "DEDUPLICATOR 'once', CORRELATOR 'pair'"
    When the operator runs each of:
      """
      DROP GENERATOR tick;
      DROP WINDOW PROCESSOR sum;
      DROP CORRELATOR pair;
      DROP REORDERER sort;
      DROP DEDUPLICATOR once;
      DROP REINGESTOR divide;
      DROP RELAY newest;
      """
    And the operator runs:
      """
      SHOW CREATE DEDUPLICATOR once
      """
    Then it is refused with "ref.missing"

    Examples:
      | nodes |
      | 1     |
      | 3     |

  Scenario Outline: what does not fit the branch or the operation is refused and changes nothing
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    And the operator runs each of:
      """
      CREATE SCHEMA site_key (site STRING);
      CREATE SCHEMA reading (site STRING, n I64);
      CREATE BRANCH by_site SCHEMA site_key TTL 10m;
      CREATE RELAY raw SCHEMA reading UNBRANCHED;
      CREATE RELAY kept SCHEMA reading UNBRANCHED;
      CREATE RELAY sites SCHEMA reading BRANCHED BY by_site;
      CREATE JUNCTION keep FROM raw UNBRANCHED TO kept INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG;
      """
    When the operator runs:
      """
      CREATE JUNCTION wrong FROM raw UNBRANCHED TO sites INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG
      """
    Then it is refused with "branch.incompatible"
    And it is refused with "JUNCTION 'wrong' is UNBRANCHED, but RELAY 'sites' is BRANCHED BY 'by_site'"
    When the operator runs:
      """
      CREATE GENERATOR tick USING MATERIALIZED STATE kept EACH 5s UNBRANCHED TO raw SET site = 's', n = 1 FLUSH IMMEDIATE ON MESSAGE ERROR LOG
      """
    Then it is refused with "ref.kind"
    When the operator runs:
      """
      ALTER JUNCTION keep DROP FROM raw
      """
    Then it is refused with "the last input of JUNCTION 'keep' cannot be dropped"
    When the operator runs:
      """
      ALTER JUNCTION keep SET DETACHED, ADD FROM nowhere
      """
    Then it is refused with "JUNCTION 'keep' requires missing RELAY 'nowhere'"
    When the operator runs:
      """
      ALTER JUNCTION keep ADD ROUTE TO raw INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG
      """
    Then it is refused with "graph.cycle"
    When the operator runs:
      """
      SHOW CREATE JUNCTION keep
      """
    Then it prints:
      """
      CREATE ATTACHED JUNCTION keep
        FROM raw
        UNBRANCHED
        TO kept
          INHERIT ALL
          FLUSH IMMEDIATE
          ON MESSAGE ERROR LOG;
      """

    Examples:
      | nodes |
      | 1     |
      | 3     |
