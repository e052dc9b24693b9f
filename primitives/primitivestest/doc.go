// Package primitivestest is the behaviour suite of the boundary: what product
// code may rely on, checked the same way on the operating system and in the
// simulator. A build that passes [Run] keeps the promises of package primitives.
//
// The suite knows no wall-clock bound: a wait is checked to last at least as
// long as promised, never to end soon, so a loaded machine does not fail it.
// What a network loses, delays or reorders is not its subject.
package primitivestest
