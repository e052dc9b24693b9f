// Package simworld runs scenarios inside the simulator: every node is a program
// on a simulated host, every external system a model on another, and a step is a
// driver task. A scenario is one deterministic schedule per seed.
//
// Between steps virtual time stands still. After the last one every damage is
// healed, the world is quiet for a while, and then what must always hold is
// checked.
package simworld
