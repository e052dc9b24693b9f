package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// invoke runs the program with arguments and standard input.
func invoke(t *testing.T, input string, args ...string) (status int, out, errs string) {
	t.Helper()
	in, err := os.CreateTemp(t.TempDir(), "in")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if _, err := in.WriteString(input); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Seek(0, 0); err != nil {
		t.Fatal(err)
	}
	var o, e strings.Builder
	status = run(args, &terminal{in: in, out: &o, err: &e})
	return status, o.String(), e.String()
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFmtDirectory(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, ".git", "HEAD"), "")
	write(t, filepath.Join(dir, ".gitignore"), "out/\n")
	at := func(name string) string { return filepath.Join(dir, "sub", name) }
	b, a := write(t, at("b.nspl"), "begin"), write(t, at("x/a.nspl"), "stop")
	write(t, at("out/c.nspl"), "bad bad")
	write(t, at(".hidden/d.nspl"), "bad bad")
	write(t, at("e.txt"), "bad bad")
	write(t, at(".gitignore"), "*.skip.nspl\n")
	write(t, at("f.skip.nspl"), "bad bad")
	if err := os.Symlink(b, at("g.nspl")); err != nil {
		t.Fatal(err)
	}
	status, out, errs := invoke(t, "", "fmt", "--check", filepath.Join(dir, "sub"))
	if status != fmtUnformatted || out != b+"\n"+a+"\n" || errs != "" {
		t.Errorf("--check: %d %q %q", status, out, errs)
	}
	if status, out, errs := invoke(t, "", "fmt", filepath.Join(dir, "sub")); status != fmtDone || out+errs != "" {
		t.Errorf("%d %q %q", status, out, errs)
	}
	info, err := os.Stat(a)
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v (%v)", info.Mode(), err)
	}
	if status, out, _ := invoke(t, "", "fmt", "--check", filepath.Join(dir, "sub")); status != fmtDone || out != "" {
		t.Errorf("afterwards: %d %q", status, out)
	}
	if left, err := filepath.Glob(at(".b.nspl.*")); err != nil || len(left) > 0 {
		t.Errorf("%v is left (%v)", left, err)
	}
}

func TestFmtStatus(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string { return write(t, filepath.Join(dir, name), text) }
	good := file("good", "USE shop;\n")
	for _, c := range []struct {
		name   string
		args   []string
		status int
		out    string
		errs   string
	}{
		{"no paths", nil, fmtUsage, "", "expected"},
		{"both modes", []string{"--check", "--stdout", good}, fmtUsage, "", "--check and --stdout"},
		{"bad text", []string{file("bad", "use shop;\n  bad")}, fmtNotParsed, "", ":2:3: parse: expected"},
		{"where it is bad", []string{file("worse", "use shop;\n  bad;\nuse 'x")}, fmtNotParsed, "", "\n  bad;\n  ^^^\n"},
		{"everything bad", []string{file("worst", "bad;\nuse 'x")}, fmtNotParsed, "", ":2:5: lex: unterminated string\nuse 'x\n    ^^\n"},
		{"unreadable wins", []string{filepath.Join(dir, "bad"), filepath.Join(dir, "none")}, fmtUnreadable, "", "no such file"},
		{"not UTF-8", []string{file("latin", "use \xff")}, fmtUnreadable, "", "not UTF-8"},
		{"stdout", []string{"--stdout", file("loose", "create relay r schema s unbranched")}, fmtDone, "CREATE RELAY r SCHEMA s UNBRANCHED CAPACITY 1;\n", ""},
		{"a bad file stops no other", []string{"--stdout", filepath.Join(dir, "bad"), filepath.Join(dir, "loose")}, fmtNotParsed, "CREATE RELAY r SCHEMA s UNBRANCHED CAPACITY 1;\n", ":2:3:"},
	} {
		status, out, errs := invoke(t, "", append([]string{"fmt"}, c.args...)...)
		if status != c.status || !strings.EqualFold(out, c.out) || !strings.Contains(errs, c.errs) {
			t.Errorf("%s: %d %q %q", c.name, status, out, errs)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "loose")); err != nil || string(text) != "create relay r schema s unbranched" {
		t.Errorf("--stdout wrote %q (%v)", text, err)
	}
}

func TestFmtFilter(t *testing.T) {
	if status, out, errs := invoke(t, "stop ; // now", "fmt", "-"); status != fmtDone || !strings.EqualFold(out, "STOP; // now\n") || errs != "" {
		t.Errorf("%d %q %q", status, out, errs)
	}
	if status, _, _ := invoke(t, "stop", "fmt", "--check", "-"); status != fmtUnformatted {
		t.Errorf("--check: %d", status)
	}
}
