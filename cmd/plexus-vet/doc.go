// Plexus-vet checks the world boundary and the layers of the product.
//
//	go run ./cmd/plexus-vet ./...
//
// It loads the packages once per build configuration, prints the findings of
// every rule and the number of exemptions, and exits with 1 when there is a
// finding or an exemption more than primitives/check/allow.txt records. The rules
// live in primitives/check.
package main
