Feature: A node proposes what can be written

  Scenario Outline: names come from the domain and from the session's own transaction
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    And the operator runs each of:
      """
      CREATE SCHEMA order_row (id STRING, amount F64);
      CREATE RELAY orders SCHEMA order_row UNBRANCHED;
      """
    When the operator asks what can stand at | in:
      """
      CREATE JUNCTION j FROM |
      """
    Then it says "reference orders"
    When the operator asks what can stand at | in:
      """
      CREATE SUBSCRIPTION s TO orders WHERE am|
      """
    Then it prints:
      """
      field amount
      """
    When the operator runs:
      """
      BEGIN
      """
    And the operator runs:
      """
      CREATE RELAY queued SCHEMA order_row UNBRANCHED
      """
    And the operator asks what can stand at | in:
      """
      CREATE JUNCTION j FROM orders, |
      """
    Then it prints:
      """
      reference queued
      """
    When session other asks what can stand at | in:
      """
      DROP RELAY |
      """
    Then it does not say "queued"

    Examples:
      | nodes |
      | 1     |
      | 3     |

  Scenario Outline: without a domain names cannot be proposed
    Given a cluster of <nodes> nodes
    And domain "shop_<id>"
    When the operator runs:
      """
      DROP DOMAIN shop_<id>
      """
    And the operator asks what can stand at | in:
      """
      DROP RELAY |
      """
    Then it prints:
      """
      MISSING_CONTEXT
      """
    When the operator asks what can stand at | in:
      """
      DROP USER |
      """
    Then it says "reference default"

    Examples:
      | nodes |
      | 1     |
      | 3     |
