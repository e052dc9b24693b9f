Feature: Only a user with the right password gets in

  Scenario Outline: passwords decide, and are never shown
    Given a cluster of <nodes> nodes
    When session stranger signs in as "default" with password "wrong-password"
    Then it is refused with "unauthenticated"
    When session stranger signs in as "nobody" with password "wrong-password"
    Then it is refused with "unauthenticated"
    And no log contains "wrong-password"

    Examples:
      | nodes |
      | 1     |
      | 3     |
