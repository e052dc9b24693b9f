@tls
Feature: Nodes believe each other what their certificates say, and nothing in plain

  @needs:nats
  Scenario Outline: nodes with certificates of their authority are a cluster
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists
    And nats stream "archive_<id>" exists
    And domain "shop_<id>" with the relayed pipeline
    When 200 records are produced to nats stream "incoming_<id>"
    Then nats stream "archive_<id>" receives each of 200 records at least once
    And nats stream "incoming_<id>" is acknowledged through record 200
    And all nodes agree on one leader

    Examples:
      | nodes |
      | 1     |
      | 3     |

  Scenario: a node without a certificate is not listened to
    Given a cluster of 3 nodes
    And node-4 has no certificate
    When node-4 tries to join
    Then the log of node-1 contains "transport security"
    And the log of node-4 contains "not admitted"
    And node-4 is no member
    And the cluster has 3 voters

  Scenario: a certificate of another authority is not believed
    Given a cluster of 3 nodes
    And node-4 has a certificate of another authority
    When node-4 tries to join
    Then the log of node-1 contains "certificate"
    And node-4 is no member
    And the cluster has 3 voters

  Scenario Outline: a node does not start with <what>
    Given a cluster of 1 node
    And node-4 has <what>
    When node-4 tries to join
    Then node-4 exits with status 1 within 30s
    And the log of node-4 contains "<says>"

    Examples:
      | what                          | says   |
      | a certificate of another node | node-9 |
      | a certificate that has ended  | valid  |

  @needs:nats @slow
  Scenario: a certificate that ends takes the node out, and a new one brings it back
    Given a cluster of 3 nodes
    And nats stream "incoming_<id>" exists with:
      | ack_wait | 20s |
    And nats stream "archive_<id>" exists
    And domain "shop_<id>" with the relayed pipeline
    When the certificate of a follower is issued anew and ends in 25s
    And 100 records are produced to nats stream "incoming_<id>"
    Then the log of the certified node contains "credentials replaced"
    And nats stream "archive_<id>" receives each of 100 records at least once
    And the certified node is unavailable within 60s
    When 100 records are produced to nats stream "incoming_<id>"
    And the certificate of the certified node is issued anew
    Then the certified node is live within 60s
    When 100 records are produced to nats stream "incoming_<id>"
    Then nats stream "archive_<id>" receives each of 300 records at least once within 90s
    And nats stream "incoming_<id>" is acknowledged through record 300 within 60s
    And all nodes agree on one leader
