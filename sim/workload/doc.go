// Package workload holds what users of a simulated system do: loops of clients
// with think time, which run as tasks of a client machine until the run stops
// them. It knows neither faults nor what must hold.
package workload
