Feature: The loss of a node loses no acknowledged record

  @fault:kill @smoke
  Scenario Outline: another node leads when the leader is killed, and commands are taken again
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    And all nodes agree on one leader
    When the leader is killed
    Then all nodes agree on one leader within 5s
    When the operator runs:
      """
      CREATE SCHEMA reading (site STRING)
      """
    Then it succeeds
    When the killed node restarts
    And the operator runs on the killed node:
      """
      SHOW CREATE SCHEMA reading
      """
    Then it succeeds

    Examples:
      | nodes |
      | 3     |

  @needs:nats @fault:kill @smoke
  Scenario Outline: the leader is killed under load
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists with:
      | ack_wait | 20s |
    And nats stream "copied_<id>" exists
    And domain "shop_<id>" with the copy pipeline
    When 500 records are produced to nats stream "incoming_<id>"
    And the leader is killed
    And 500 records are produced to nats stream "incoming_<id>"
    Then nats stream "copied_<id>" receives each of 1000 records at least once within 90s
    And nats stream "incoming_<id>" is acknowledged through record 1000

    Examples:
      | nodes |
      | 3     |

  @needs:nats @fault:kill @smoke
  Scenario Outline: the owner of a <kind> is killed under load
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists with:
      | ack_wait | 20s |
    And nats stream "archive_<id>" exists
    And domain "shop_<id>" with the relayed pipeline
    When 500 records are produced to nats stream "incoming_<id>"
    And the owner of <kind> <name> is killed
    And 500 records are produced to nats stream "incoming_<id>"
    Then the owner of <kind> <name> changes within 20s
    And nats stream "archive_<id>" receives each of 1000 records at least once within 90s
    And nats stream "incoming_<id>" is acknowledged through record 1000

    Examples:
      | nodes | kind     | name       |
      | 3     | ingestor | orders     |
      | 3     | relay    | incoming   |
      | 3     | junction | check      |
      | 3     | relay    | checked    |
      | 3     | emitter  | to_archive |

  @needs:nats @fault:kill
  Scenario Outline: what was in flight on the owner of a relay is presented again after the silence bound
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists with:
      | ack_wait | 60s |
    And nats stream "archive_<id>" exists
    And domain "shop_<id>" with the relayed pipeline
    And INGESTOR orders runs on node-1
    And RELAY checked runs on node-2
    And EMITTER to_archive runs on node-3
    And nats stream "archive_<id>" starts refusing
    When 20 records are produced to nats stream "incoming_<id>"
    And 2s passes
    And the owner of relay checked is killed
    And nats stream "archive_<id>" recovers
    Then nats stream "archive_<id>" receives each of 20 records at least once within 45s
    And nats stream "incoming_<id>" is acknowledged through record 20 within 45s

    Examples:
      | nodes |
      | 3     |

  @needs:nats @fault:kill
  Scenario Outline: the owner of a relay that restarts again and again loses nothing
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists with:
      | ack_wait | 20s |
    And nats stream "archive_<id>" exists
    And domain "shop_<id>" with the relayed pipeline
    When 500 records are produced to nats stream "incoming_<id>"
    And the owner of relay checked is killed and restarted 4 times every 700ms
    And 100 records are produced to nats stream "incoming_<id>"
    Then nats stream "archive_<id>" receives each of 600 records at least once within 90s
    And nats stream "incoming_<id>" is acknowledged through record 600 within 45s

    Examples:
      | nodes |
      | 1     |
      | 3     |

  @needs:nats @fault:freeze @slow
  Scenario Outline: a node that stood still for longer than the silence bound does no harm when it thaws
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists with:
      | ack_wait | 20s |
    And nats stream "archive_<id>" exists
    And domain "shop_<id>" with the relayed pipeline
    When 100 records are produced to nats stream "incoming_<id>"
    And the owner of relay checked is frozen
    And 100 records are produced to nats stream "incoming_<id>"
    Then the owner of relay checked changes within 30s
    And nats stream "archive_<id>" receives each of 200 records at least once within 90s
    When the frozen node thaws
    And 100 records are produced to nats stream "incoming_<id>"
    Then nats stream "archive_<id>" receives each of 300 records at least once within 60s
    And nats stream "incoming_<id>" is acknowledged through record 300
    And every operator has an owner

    Examples:
      | nodes |
      | 3     |

  @needs:nats @fault:kill @fault:power
  Scenario Outline: all nodes lose power under load
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists with:
      | ack_wait | 5s |
    And nats stream "copied_<id>" exists
    And domain "shop_<id>" with the copy pipeline
    When 500 records are produced to nats stream "incoming_<id>"
    And all nodes lose power and restart
    And 500 records are produced to nats stream "incoming_<id>"
    Then nats stream "copied_<id>" receives each of 1000 records at least once within 60s
    And nats stream "incoming_<id>" is acknowledged through record 1000

    Examples:
      | nodes |
      | 1     |
      | 3     |

  @needs:nats @fault:kill
  Scenario Outline: nodes restart one after the other under load
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists with:
      | ack_wait | 5s |
    And nats stream "copied_<id>" exists
    And domain "shop_<id>" with the copy pipeline
    When 300 records are produced to nats stream "incoming_<id>"
    And every node restarts in turn
    And 300 records are produced to nats stream "incoming_<id>"
    Then nats stream "copied_<id>" receives each of 600 records at least once within 60s
    And nats stream "incoming_<id>" is acknowledged through record 600
    And all nodes agree on one leader

    Examples:
      | nodes |
      | 1     |
      | 3     |

  @fault:kill
  Scenario Outline: a majority that is gone leaves a node that answers reads only
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    And the operator runs:
      """
      CREATE SCHEMA before (x I64)
      """
    When node-1 is killed
    And node-2 is killed
    And the operator runs on node-3:
      """
      SHOW CREATE SCHEMA before
      """
    Then it succeeds

    Examples:
      | nodes |
      | 3     |

  @fault:disk
  Scenario Outline: a leader whose disk fails a sync gives way
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    And all nodes agree on one leader
    And the leader is noted
    When the disk of the leader fails its next sync
    And the operator runs:
      """
      CREATE SCHEMA afterwards (x I64)
      """
    Then it succeeds
    And the leader is not the noted node
    When the noted node restarts
    And the operator runs on the noted node:
      """
      SHOW CREATE SCHEMA afterwards
      """
    Then it succeeds

    Examples:
      | nodes |
      | 3     |

  @fault:disk
  Scenario Outline: a slow disk of a follower slows nobody else
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    And all nodes agree on one leader
    When the disk of a follower is slow by 1s
    And the operator runs:
      """
      CREATE SCHEMA reading (site STRING)
      """
    Then it succeeds
    And all nodes agree on one leader

    Examples:
      | nodes |
      | 3     |
