Feature: Who belongs to the cluster is decided once and remembered

  @fault:wipe
  Scenario: a member whose disk is gone is refused until it was dropped
    Given a cluster of 3 nodes
    And domain "shop_<id>"
    When a follower loses its disk
    And the killed node starts
    Then the killed node exits with status 1 within 30s
    And the log of the killed node contains "is a member whose stored state is missing here"
    When the operator drops the killed node
    Then it succeeds
    And the killed node is no member
    When the killed node starts
    And the killed node is ready
    Then the cluster has 3 voters
    When the operator runs on the killed node:
      """
      LIST DOMAINS
      """
    Then it says "shop_<id>"

  @fault:kill
  Scenario: a node that was dropped cannot come back with its old disk
    Given a cluster of 3 nodes
    When a follower is killed
    And the killed node is unavailable within 20s
    And the operator drops the killed node
    Then it succeeds
    And the cluster has 2 voters
    When the killed node starts
    Then the killed node exits with status 1 within 30s
    And the log of the killed node contains "was dropped"
    And the cluster has 2 voters

  Scenario: a node that is live is not dropped
    Given a cluster of 3 nodes
    When the operator drops a follower
    Then it is refused with "node"

  Scenario: the last voter is not dropped
    Given a cluster of 1 node
    When the operator drops node-1
    Then it is refused with "node"

  Scenario: a node of another cluster is refused
    Given a cluster of 3 nodes
    When node-4 tries to join with:
      | cluster-id | other |
    Then node-4 exits with status 1 within 30s
    And the log of node-4 contains "belongs to cluster"
    And the cluster has 3 voters

  Scenario: a second node with the name of a member is refused
    Given a cluster of 3 nodes
    When node-4 tries to join with:
      | node-id | node-2 |
    Then node-4 exits with status 1 within 30s
    And the log of node-4 contains "node-2"
    And the cluster has 3 voters

  @fault:kill @fault:wipe
  Scenario: an old copy of a data directory is refused
    Given a cluster of 3 nodes
    When node-3 stops gracefully
    And the disk of node-3 is copied
    And node-3 restarts
    And node-3 is killed
    And the copy of the disk of node-3 is put back
    And node-3 starts
    Then node-3 exits with status 1 within 30s
    And the log of node-3 contains "stale incarnation"
    When node-3 starts
    Then node-3 exits with status 1 within 30s
    And the log of node-3 contains "it is an old copy"
    And the cluster has 3 voters

  @needs:nats @fault:kill
  Scenario: a fourth node joins under load, and a member leaves for good
    Given a cluster of 3 nodes
    And nats stream "incoming_<id>" exists with:
      | ack_wait | 2s |
    And nats stream "copied_<id>" exists
    And domain "shop_<id>" with the copy pipeline
    When 200 records are produced to nats stream "incoming_<id>"
    And node-4 joins
    Then the cluster has 4 voters
    When 200 records are produced to nats stream "incoming_<id>"
    And node-2 stops gracefully
    And the operator drops node-2
    Then it succeeds
    And the cluster has 3 voters
    And nats stream "copied_<id>" receives each of 400 records at least once within 30s
    And nats stream "incoming_<id>" is acknowledged through record 400
