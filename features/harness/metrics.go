package harness

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseMetrics reads the Prometheus text format: one sample per line, comments
// skipped.
func ParseMetrics(text string) (Metrics, error) {
	metrics := Metrics{}
	for number, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		split := strings.LastIndexByte(line, ' ')
		if split < 0 {
			return nil, fmt.Errorf("metrics line %d has no value: %q", number+1, line)
		}
		value, err := strconv.ParseFloat(line[split+1:], 64)
		if err != nil {
			return nil, fmt.Errorf("metrics line %d: %w", number+1, err)
		}
		metrics[line[:split]] = value
	}
	return metrics, nil
}
