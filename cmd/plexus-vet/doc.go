// Command plexus-vet checks the static rules of the repository: nothing escapes the
// world boundary, layers import downwards, map order decides nothing. It loads the
// builds with and without planted defects, prints findings by place and rule, and
// counts the exemptions; more of them than primitives/check/allow.txt records is a
// finding, too.
//
// The rules live in primitives/check.
package main
