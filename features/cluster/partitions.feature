Feature: A network that splits the cluster costs time and no record

  @fault:link
  Scenario Outline: the minority does nothing under an old leader, and goes on when the network heals
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    And all nodes agree on one leader
    When the links of the leader are cut
    Then all nodes agree on one leader within 10s
    And the leader is not the lonely node
    When the operator runs on the leader:
      """
      CREATE SCHEMA during (x I64)
      """
    Then it succeeds
    When the links heal
    Then all nodes agree on one leader within 10s
    And the operator runs on the lonely node until it succeeds:
      """
      SHOW CREATE SCHEMA during
      """

    Examples:
      | nodes |
      | 3     |

  @needs:nats @fault:link
  Scenario Outline: the owner of a relay is cut off under load
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists with:
      | ack_wait | 20s |
    And nats stream "archive_<id>" exists
    And domain "shop_<id>" with the relayed pipeline
    When 200 records are produced to nats stream "incoming_<id>"
    And the links of the owner of relay checked are cut
    And 200 records are produced to nats stream "incoming_<id>"
    Then the owner of relay checked changes within 30s
    And nats stream "archive_<id>" receives each of 400 records at least once within 90s
    When the links heal
    And 100 records are produced to nats stream "incoming_<id>"
    Then nats stream "archive_<id>" receives each of 500 records at least once within 60s
    And nats stream "incoming_<id>" is acknowledged through record 500
    And every operator has an owner

    Examples:
      | nodes |
      | 3     |

  @needs:nats @fault:link
  Scenario Outline: a link that carries nothing one way stalls records and no more
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists with:
      | ack_wait | 20s |
    And nats stream "archive_<id>" exists
    And domain "shop_<id>" with the relayed pipeline
    And all nodes agree on one leader
    When 100 records are produced to nats stream "incoming_<id>"
    And the link from a follower to the leader is cut
    And 100 records are produced to nats stream "incoming_<id>"
    And 4s passes
    And the links heal
    Then nats stream "archive_<id>" receives each of 200 records at least once within 90s
    And nats stream "incoming_<id>" is acknowledged through record 200
    And all nodes agree on one leader

    Examples:
      | nodes |
      | 3     |

  @fault:link
  Scenario Outline: two followers that do not reach each other change nothing
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    And all nodes agree on one leader
    And the leader is noted
    When the link between a follower and another follower is cut
    And 4s passes
    Then the leader is the noted node
    When the operator runs:
      """
      CREATE SCHEMA reading (site STRING)
      """
    Then it succeeds

    Examples:
      | nodes |
      | 3     |

  @needs:nats @fault:link_slow
  Scenario Outline: slow links between nodes slow records and lose none
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists
    And nats stream "archive_<id>" exists
    And domain "shop_<id>" with the relayed pipeline
    And the link between node-1 and node-2 is slow by 200ms
    And the link between node-2 and node-3 is slow by 200ms
    And the link between node-1 and node-3 is slow by 200ms
    When 100 records are produced to nats stream "incoming_<id>"
    Then nats stream "archive_<id>" receives each of 100 records at least once within 60s
    And nats stream "incoming_<id>" is acknowledged through record 100
    And all nodes agree on one leader

    Examples:
      | nodes |
      | 3     |

  @needs:nats @fault:link_break
  Scenario Outline: connections between nodes that break in the middle of anything lose nothing
    Given a cluster of <nodes> nodes
    And nats stream "incoming_<id>" exists with:
      | ack_wait | 20s |
    And nats stream "archive_<id>" exists
    And domain "shop_<id>" with the relayed pipeline
    When 300 records are produced to nats stream "incoming_<id>"
    And the links break every 50ms for 5s
    And 300 records are produced to nats stream "incoming_<id>"
    And the links break every 50ms for 5s
    And the links heal
    Then nats stream "archive_<id>" receives each of 600 records at least once within 90s
    And nats stream "incoming_<id>" is acknowledged through record 600

    Examples:
      | nodes |
      | 3     |

  @fault:link_name @fault:link_break
  Scenario Outline: a name that does not resolve keeps no connection that lives from living
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    And all nodes agree on one leader
    When the name of a follower does not resolve
    And the operator runs:
      """
      CREATE SCHEMA before (x I64)
      """
    Then it succeeds
    When the links break every 50ms for 2s
    And the name of a follower resolves again
    And the links heal
    And the operator runs:
      """
      CREATE SCHEMA after (x I64)
      """
    Then it succeeds
    And all nodes agree on one leader

    Examples:
      | nodes |
      | 3     |

  Scenario Outline: bytes that are no protocol end their own connection and nothing else
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    When 65536 bytes of noise are sent to the interconnect of the leader
    And 3 bytes of noise are sent to the interconnect of the leader
    And 1000000 bytes of noise are sent to the interconnect of the leader
    And the operator runs:
      """
      CREATE SCHEMA reading (site STRING)
      """
    Then it succeeds
    And all nodes agree on one leader

    Examples:
      | nodes |
      | 3     |
