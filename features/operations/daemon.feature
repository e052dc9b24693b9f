@process
Feature: The daemon refuses what it cannot run with and names it

  Scenario: unknown flags and values
    Then the command plexusd --no-such-flag exits 2
    And its error output contains "no-such-flag"
    And the command plexusd --drain-timeout soon exits 2
    And its error output contains "drain-timeout"

  Scenario: a configuration file with an unknown key
    Given the file "<scratch>/plexus.conf" contains:
      """
      # comment
      log-level = info
      log-levle = info
      """
    Then the command plexusd --config <scratch>/plexus.conf --data-dir <scratch>/data exits 2
    And its error output contains "plexus.conf:3"
    And its error output contains "log-levle"

  Scenario: a port in use
    Given a cluster of 1 node
    Then the command plexusd --data-dir <scratch>/second --interconnect-listen 127.0.0.1:0 --client-listen <client of node-1> exits 1
    And its error output contains "<client of node-1>"

  Scenario: a data directory that is in use
    Given a cluster of 1 node
    Then the command plexusd --data-dir <data of node-1> --interconnect-listen 127.0.0.1:0 exits 1
    And its error output contains "<data of node-1>"

  Scenario: a data directory of another version
    Given a cluster of 1 node
    When node-1 stops gracefully
    And the data directory of node-1 is of a later version
    Then the command plexusd --data-dir <data of node-1> --interconnect-listen 127.0.0.1:0 exits 1
    And its error output contains "newer than this build"
    And its error output contains "<data of node-1>"

  Scenario: a data directory of another cluster
    Given a cluster of 1 node
    When node-1 stops gracefully
    Then the command plexusd --data-dir <data of node-1> --interconnect-listen 127.0.0.1:0 --cluster-id other exits 1
    And its error output contains "node belongs to cluster 'default', not 'other'"

  Scenario: a log with a flipped bit
    Given a cluster of 1 node
    And domain "shop" with the hook pipeline
    When node-1 is killed
    And one bit in the middle of the log of node-1 is flipped
    Then the command plexusd --data-dir <data of node-1> --interconnect-listen 127.0.0.1:0 exits 1
    And its error output contains ".wal"

  Scenario: a node stops with status 0 and starts again
    Given a cluster of 1 node
    And domain "shop" with the hook pipeline
    When node-1 exits with status 0 when stopped
    And node-1 restarts
    And the operator runs:
      """
      LIST DOMAINS
      """
    Then it says "shop pace=UNPACED status=RUNNING"
