Feature: Work moves between nodes as a whole or not at all

  @needs:nats @smoke
  Scenario Outline: a drained node owns nothing, and records keep flowing
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists
    And nats stream "archive_<id>" exists
    And domain "shop_<id>" with the relayed pipeline
    When 200 records are produced to nats stream "incoming_<id>"
    And the owner of emitter to_archive is noted as a node
    And the operator drains the noted node
    Then it succeeds
    And it says "drained node"
    And the noted node owns nothing
    And the noted node is cordoned
    And the owner of emitter to_archive is not the noted node
    When 200 records are produced to nats stream "incoming_<id>"
    Then nats stream "archive_<id>" receives each of 400 records at least once
    And nats stream "incoming_<id>" is acknowledged through record 400
    When the operator uncordons the noted node
    Then it succeeds
    And the noted node is not cordoned
    And the noted node owns nothing

    Examples:
      | nodes |
      | 3     |

  @needs:nats @fault:refuse
  Scenario Outline: a drain that cannot come to an end moves nothing and says what was in its way
    Given a cluster of <nodes> nodes with:
      | quiesce-timeout | 5s |
    And nats stream "incoming_<id>" exists
    And nats stream "archive_<id>" exists
    And domain "shop_<id>" with the relayed pipeline
    And nats stream "archive_<id>" starts refusing
    When 20 records are produced to nats stream "incoming_<id>"
    And 1s passes
    And the owner of emitter to_archive is noted as a node
    And the operator drains the noted node
    Then it is refused with "to_archive"
    And the owner of emitter to_archive is the noted node
    When nats stream "archive_<id>" recovers
    Then nats stream "archive_<id>" receives each of 20 records at least once
    And nats stream "incoming_<id>" is acknowledged through record 20

    Examples:
      | nodes |
      | 3     |

  @needs:nats
  Scenario Outline: an operator is relocated under load
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists
    And nats stream "archive_<id>" exists
    And domain "shop_<id>" with the relayed pipeline
    When 200 records are produced to nats stream "incoming_<id>"
    And the operator relocates <what> onto a node without <kind> <name>
    Then it succeeds
    And it says "relocated 1 of 1"
    And the owner of <kind> <name> is the noted node
    When 200 records are produced to nats stream "incoming_<id>"
    Then nats stream "archive_<id>" receives each of 400 records at least once
    And nats stream "incoming_<id>" is acknowledged through record 400

    Examples:
      | nodes | what               | kind     | name       |
      | 3     | INGESTOR orders    | ingestor | orders     |
      | 3     | RELAY incoming     | relay    | incoming   |
      | 3     | JUNCTION check     | junction | check      |
      | 3     | EMITTER to_archive | emitter  | to_archive |

  @needs:nats
  Scenario Outline: a generator keeps its place when it moves
    Given a cluster of <nodes> nodes
    And nats stream "readings_<id>" exists
    And domain "numbers_<id>" with the counter pipeline
    And nats stream "readings_<id>" receives at least 40 records
    When the operator relocates INGESTOR generator onto a node without ingestor generator
    Then it succeeds
    And nats stream "readings_<id>" receives at least 120 records
    And nats stream "readings_<id>" holds consecutive sequences with at most 0 repeated

    Examples:
      | nodes |
      | 3     |

  Scenario Outline: a relocation onto a node that cannot take it names the reason
    Given a cluster of <nodes> nodes
    And domain "shop_<id>" with the hook pipeline
    When the operator relocates RELAY posted onto node-9
    Then it is refused with "node-9"
    When the operator cordons a node without relay posted
    Then it succeeds
    When the operator relocates RELAY posted onto the noted node
    Then it is refused with "cordoned"
    When the operator relocates INGESTOR orders onto node-1
    Then it is refused with "orders"

    Examples:
      | nodes |
      | 3     |

  @needs:nats
  Scenario Outline: a cordoned node gets nothing new
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists
    And nats stream "archive_<id>" exists
    When the operator cordons node-2
    Then it succeeds
    And node-2 is cordoned
    When domain "shop_<id>" with the relayed pipeline
    Then node-2 owns nothing
    And every operator has an owner

    Examples:
      | nodes |
      | 3     |

  Scenario Outline: node control names a node that is none
    Given a cluster of <nodes> nodes
    When the operator cordons node-7
    Then it is refused with "node-7"
    When the operator drains node-7
    Then it is refused with "node-7"
    When the operator drops node-7
    Then it is refused with "node-7"

    Examples:
      | nodes |
      | 1     |
      | 3     |

  @needs:nats
  Scenario Outline: a node that stops hands its work over first
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists
    And nats stream "archive_<id>" exists
    And domain "shop_<id>" with the relayed pipeline
    When 300 records are produced to nats stream "incoming_<id>"
    And the owner of <kind> <name> stops gracefully
    And 300 records are produced to nats stream "incoming_<id>"
    Then nats stream "archive_<id>" receives each of 600 records at least once
    And nats stream "incoming_<id>" is acknowledged through record 600
    And every operator has an owner
    When the stopped node restarts
    Then the stopped node is not cordoned

    Examples:
      | nodes | kind     | name       |
      | 3     | ingestor | orders     |
      | 3     | relay    | checked    |
      | 3     | emitter  | to_archive |

  Scenario Outline: the leader that stops hands leadership over
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    And all nodes agree on one leader
    When the leader stops gracefully
    Then all nodes agree on one leader within 2s
    When the operator runs:
      """
      CREATE SCHEMA reading (site STRING)
      """
    Then it succeeds

    Examples:
      | nodes |
      | 3     |

  @needs:nats @fault:kill @fault:refuse
  Scenario Outline: the leader dies while it waits for a drain, and every gate opens again
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists with:
      | ack_wait | 20s |
    And nats stream "archive_<id>" exists
    And domain "shop_<id>" with the relayed pipeline
    And nats stream "archive_<id>" starts refusing
    When 50 records are produced to nats stream "incoming_<id>"
    And 1s passes
    And session mover begins to run:
      """
      DRAIN NODE `node-3`
      """
    And 2s passes
    And the leader is killed
    And nats stream "archive_<id>" recovers
    And 50 records are produced to nats stream "incoming_<id>"
    Then nats stream "archive_<id>" receives each of 100 records at least once within 120s
    And nats stream "incoming_<id>" is acknowledged through record 100
    When the killed node restarts
    Then every operator has an owner

    Examples:
      | nodes |
      | 3     |

  @needs:nats @fault:kill
  Scenario Outline: a change of the graph goes on under the next leader
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists with:
      | ack_wait | 20s |
    And nats stream "archive_<id>" exists
    And domain "shop_<id>" with the relayed pipeline
    When 200 records are produced to nats stream "incoming_<id>"
    And session changer runs:
      """
      USE shop_<id>
      """
    And session changer begins to run:
      """
      CREATE RELAY spare SCHEMA order_record UNBRANCHED
      """
    And the leader is killed
    Then session changer is answered within 60s
    And it succeeds
    And nats stream "archive_<id>" receives each of 200 records at least once within 90s

    Examples:
      | nodes |
      | 3     |
