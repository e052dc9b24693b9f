package session

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"plexus/engine/client"
)

// declared are the places where the source names a code that a client can see.
var declared = regexp.MustCompile(`\bCode\s+=\s+"([a-z_.]+)"|(?:MoveError|Refusal)\{Code: "([a-z_.]+)"`)

// TestCodes compares the page of the codes with the codes of the source.
func TestCodes(t *testing.T) {
	known := []string{
		client.Unauthenticated, client.InvalidArgument, client.NotFound, client.ResourceExhausted, client.Unavailable, client.ReplyTooLarge, client.Internal,
	}
	for _, root := range []string{"../../engine", "../../nspl"} {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			data, err := os.ReadFile(path)
			for _, m := range declared.FindAllStringSubmatch(string(data), -1) {
				known = append(known, m[1]+m[2])
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(known)
	known = slices.Compact(known)
	page, err := os.ReadFile("../../docs/manual/nspl/codes.md")
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_.]+)` \\| .+ \\| .+ \\|$").FindAllStringSubmatch(string(page), -1) {
		shown = append(shown, m[1])
	}
	slices.Sort(shown)
	if len(shown) < 50 || !slices.Equal(slices.Compact(slices.Clone(shown)), known) {
		for _, code := range known {
			if !slices.Contains(shown, code) {
				t.Errorf("the page does not explain %s", code)
			}
		}
		for _, code := range shown {
			if !slices.Contains(known, code) {
				t.Errorf("no source has %s", code)
			}
		}
	}
}

// TestKeys looks for the keys that the manual names in the source.
func TestKeys(t *testing.T) {
	page, err := os.ReadFile("../../docs/manual/nspl/results.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "## DESCRIBE\n")
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		source.Write(data)
	}
	keys := 0
	for _, m := range regexp.MustCompile("`([a-z_ -]+):( [^`]*)?`").FindAllStringSubmatch(section, -1) {
		keys++
		if !strings.Contains(source.String(), strconv.Quote(m[1])) {
			t.Errorf("no DESCRIBE has the key %s", m[1])
		}
	}
	if keys < 80 {
		t.Errorf("only %d keys found", keys)
	}
}
