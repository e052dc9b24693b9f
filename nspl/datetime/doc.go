// Package datetime is what expressions say about time in words - units and parts,
// time zones, and formats - and the calendar they are counted by: truncation, sums
// and differences, local times, reading and writing. It is pure. Zones come from the tzdata release that is
// embedded here; the zone files of the host are never read, so all nodes agree.
package datetime
