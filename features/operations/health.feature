@http
Feature: Health and metrics tell an operator what the node does

  Scenario Outline: the node answers for itself
    Given a cluster of <nodes> nodes
    Then /livez on node-1 answers 200
    And /readyz on node-1 answers 200
    And /metrics on node-1 answers 200
    And /nothing on node-1 answers 404
    And metric plexus_raft_is_leader on the leader is 1
    And metric plexus_build_info on node-1 is 1

    Examples:
      | nodes |
      | 1     |
      | 3     |
