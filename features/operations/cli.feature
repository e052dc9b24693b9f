@process
Feature: The command line tells a script how it went

  Scenario Outline: exit codes and JSON
    Given a cluster of <nodes> nodes
    Then the command plexus exec 'CREATE DOMAIN shop' exits 0
    And its output contains "created domain 'shop'"
    And the command plexus --domain shop exec 'CREATE SCHEMA reading (site STRING)' exits 0
    And the command plexus --domain shop --format json exec 'CREATE SCHEMA reading (site STRING)' exits 1
    And its JSON has:
      | disposition        | FAILED |
      | diagnostics.0.code | exists |
    And the command plexus --domain shop --format json exec 'DESCRIBE DOMAIN' exits 0
    And its JSON has:
      | disposition | COMPLETED |
      | statement   | DESCRIBE DOMAIN |
    And the command plexus --domain shop exec 'CREATE SCHEMA second site STRING)' exits 2
    And its error output contains "^"
    And the command plexus --format json exec 'CREATE RELY readings' exits 2
    And its JSON has:
      | disposition        | FAILED |
      | diagnostics.0.code | parse  |
    And the command plexus exec 'ALTER USER default SET PASSWORD "a-secret-word" x' exits 2
    And its error output does not contain "a-secret-word"
    And the command plexus exec -f <scratch>/missing.nspl exits 2
    And its error output contains "missing.nspl"
    And the command plexus --nonsense exits 2
    And its error output contains "--nonsense"
    And the command plexus --password wrong-password exec 'LIST DOMAINS' exits 3
    And the command plexus --server http://127.0.0.1:1 exec 'LIST DOMAINS' exits 3

    Examples:
      | nodes |
      | 1     |
      | 3     |

  Scenario Outline: a file is run statement by statement and stops at the first that fails
    Given a cluster of <nodes> nodes
    And the file "<scratch>/script.nspl" contains:
      """
      // a comment
      CREATE DOMAIN shop;
      USE shop;
      CREATE SCHEMA reading (site STRING);
      CREATE RELAY readings SCHEMA missing UNBRANCHED;
      CREATE SCHEMA never (x I64);
      """
    Then the command plexus exec -f <scratch>/script.nspl exits 1
    And its error output contains "SCHEMA 'missing'"
    And its error output contains "line 5, column 30"
    And the command plexus --domain shop exec 'SHOW CREATE SCHEMA reading' exits 0
    And the command plexus --domain shop exec 'SHOW CREATE SCHEMA never' exits 1

    Examples:
      | nodes |
      | 1     |
      | 3     |

  Scenario: the example of the README installs and shows its rows
    Given a cluster of 1 node
    Then the command plexus exec -f <repository>/examples/first-pipeline.nspl exits 0
    And the command plexus exec -f <repository>/examples/first-pipeline.nspl exits 1
    And its error output contains "domain.state"
    When the operator runs:
      """
      USE demo
      """
    And the operator subscribes rows to alerts
    And the operator subscribes posted to posted
    Then rows sees at least 3 rows
    When POST 127.0.0.1/notes on node-1 is eventually answered 202:
      """
      {"author":"me","message":"hello"}
      """
    Then posted sees exactly:
      | author | message |
      | me     | hello   |

  Scenario Outline: scripts are formatted, checked and completed
    Given a cluster of <nodes> nodes
    And the file "<scratch>/loose.nspl" contains:
      """
      // All readings.
      create relay readings schema reading unbranched
      """
    Then the command plexus fmt --check <scratch>/loose.nspl exits 1
    And the command plexus check <scratch>/loose.nspl exits 1
    And its output contains "ref.missing"
    And the command plexus fmt <scratch>/loose.nspl exits 0
    And the command plexus fmt --stdout <scratch>/loose.nspl exits 0
    And its output is:
      """
      // All readings.
      CREATE RELAY readings SCHEMA reading UNBRANCHED CAPACITY 1;
      """
    And the command plexus exec 'CREATE SCHEMA reading (site STRING)' exits 0
    And the command plexus suggest 'CREATE RELAY readings SCHEMA rea' exits 0
    And its JSON has:
      | status                    | Ready     |
      | suggestions.0.kind        | reference |
      | suggestions.0.replacement | reading   |
    And the command plexus suggest --cursor 99 'DROP RELAY ' exits 2

    Examples:
      | nodes |
      | 1     |
      | 3     |
