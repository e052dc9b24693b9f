Feature: Nodes form one cluster

  @smoke
  Scenario Outline: every node of a cluster serves and names the same leader
    Given a cluster of <nodes> nodes
    Then every node is ready
    And all nodes agree on one leader
    And the cluster has <nodes> voters
    When the operator runs:
      """
      CREATE DOMAIN shop_<id>
      """
    Then it succeeds

    Examples:
      | nodes |
      | 1     |
      | 3     |

  Scenario: a cluster of one grows to three and keeps what it had
    Given a cluster of 1 node
    And domain "shop_<id>" with the hook pipeline
    When node-2 joins
    And node-3 joins
    Then the cluster has 3 voters
    And all nodes agree on one leader
    When the operator runs on node-3:
      """
      SHOW CREATE INGESTOR orders
      """
    Then it succeeds
    And it says "CREATE HTTP ENDPOINT INGESTOR orders"
    When POST in.example.org/orders on node-3 is eventually answered 202:
      """
      {"order_id":"o-1","cents":1250}
      """
    Then every operator has an owner

  @fault:kill
  Scenario: a cluster that grew survives the loss of its founder
    Given a cluster of 1 node
    And domain "shop_<id>" with the hook pipeline
    When node-2 joins
    And node-3 joins
    And the cluster has 3 voters
    And node-1 is killed
    Then all nodes agree on one leader
    When the operator runs on node-2:
      """
      SHOW CREATE INGESTOR orders
      """
    Then it succeeds

  Scenario Outline: what one node answered every node shows
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    When the operator runs:
      """
      CREATE SCHEMA reading (site STRING)
      """
    Then it succeeds
    When the operator runs on a follower:
      """
      SHOW CREATE SCHEMA reading
      """
    Then it succeeds
    And it says "site STRING"
    When the operator runs on another follower:
      """
      SHOW CREATE SCHEMA reading
      """
    Then it succeeds

    Examples:
      | nodes |
      | 1     |
      | 3     |

  Scenario Outline: a follower leads the client to the leader
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    When the operator runs on a follower:
      """
      CREATE SCHEMA reading (site STRING)
      """
    Then it succeeds
    And repeating its reference gives the same result
    When the operator runs on the leader:
      """
      SHOW CREATE SCHEMA reading
      """
    Then it succeeds

    Examples:
      | nodes |
      | 1     |
      | 3     |

  @fault:kill
  Scenario Outline: a node that was away comes back and catches up
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    When a follower is killed
    And the operator runs each of:
      """
      CREATE SCHEMA first (x I64);
      CREATE SCHEMA second (x I64);
      """
    Then it succeeds
    When the killed node restarts
    And the operator runs on the killed node:
      """
      SHOW CREATE SCHEMA second
      """
    Then it succeeds
    And the cluster has <nodes> voters

    Examples:
      | nodes |
      | 1     |
      | 3     |

  @fault:kill
  Scenario Outline: a node that was away for long gets a snapshot
    Given a cluster of <nodes> nodes with:
      | raft-snapshot-entries | 20 |
      | raft-retain-entries   | 5  |
    And domain "shop_<id>"
    When a follower is killed
    And the operator creates 60 schemas
    And the killed node restarts
    And the operator runs on the killed node:
      """
      SHOW CREATE SCHEMA s60
      """
    Then it succeeds

    Examples:
      | nodes |
      | 1     |
      | 3     |

  @fault:kill
  Scenario Outline: everything that was answered survives the death of all nodes, and the owners stay
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists with:
      | ack_wait | 2s |
    And nats stream "copied_<id>" exists
    And domain "shop_<id>" with the copy pipeline
    And the owner of relay incoming is noted
    And the owner of emitter copies is noted
    When all nodes are killed and restarted
    Then all nodes agree on one leader
    And the owner of relay incoming stays for 5s
    And the owner of emitter copies stays for 1s

    Examples:
      | nodes |
      | 1     |
      | 3     |
