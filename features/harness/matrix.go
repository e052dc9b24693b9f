package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// MatrixRow maps one fault to the scenarios that show what must hold under it,
// each named "folder/file: scenario".
type MatrixRow struct {
	Fault     string
	Scenarios []string
}

// Matrix reads the table of the file: fault, what must hold, scenarios. Scenarios
// stand in backquotes; a row whose last cell begins with "later:" says what the
// fault waits for and is left out.
func Matrix(file string) ([]MatrixRow, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var rows []MatrixRow
	for number, line := range strings.Split(string(text), "\n") {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| ---") || strings.HasPrefix(line, "| Fault ") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if len(cells) != 3 {
			return nil, fmt.Errorf("%s:%d has %d cells, not 3", file, number+1, len(cells))
		}
		if strings.HasPrefix(cells[2], "later:") {
			continue
		}
		row := MatrixRow{Fault: cells[0]}
		for _, quoted := range quotedPattern.FindAllStringSubmatch(cells[2], -1) {
			row.Scenarios = append(row.Scenarios, quoted[1])
		}
		rows = append(rows, row)
	}
	return rows, nil
}

var (
	quotedPattern   = regexp.MustCompile("`([^`]+)`")
	scenarioPattern = regexp.MustCompile(`(?m)^\s*Scenario(?: Outline)?: (.+)$`)
)

// Scenarios returns the scenarios of every feature below the directory, named as
// a matrix names them.
func Scenarios(dir string) (map[string]bool, error) {
	files, err := Features(dir)
	if err != nil {
		return nil, err
	}
	scenarios := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		name := filepath.ToSlash(filepath.Join(filepath.Base(filepath.Dir(file)), strings.TrimSuffix(filepath.Base(file), ".feature")))
		for _, m := range scenarioPattern.FindAllStringSubmatch(string(text), -1) {
			scenarios[name+": "+strings.TrimSpace(m[1])] = true
		}
	}
	return scenarios, nil
}
