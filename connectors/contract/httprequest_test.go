package contract

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNormalizeTarget(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"/", "/"},
		{"/a/b?x=1&x=2", "/a/b?x=1&x=2"},
		{"/a/./b/../c", "/a/c"},
		{"/a/b/..", "/a/"},
		{"/a/.", "/a/"},
		{"/../../x", "/x"},
		{"/%2e%2E/x", "/x"},
		{"/a%2Fb", "/a%2Fb"},
		{"/a+b?c+d", "/a+b?c+d"},
		{"/a?", "/a?"},
		{"/a?b=../c", "/a?b=../c"},
		{"/a?b?c", "/a?b?c"},
		{"/é", "/%C3%A9"},
		{`/a"b<c>`, "/a%22b%3Cc%3E"},
		{"/a//b", "/a//b"},
		{"/...", "/..."},
		{"/a/.b", "/a/.b"},
		{"/*", "/*"},
	} {
		got, err := NormalizeTarget(c.in)
		if err != nil || got != c.want {
			t.Errorf("%q: %q, %v; want %q", c.in, got, err, c.want)
		}
	}
	for _, in := range []string{
		"", "a", "*", "http://h/x", "//h/x", "/a b", "/a#f", `/a\b`, "/a\tb", "/a\x00", "/%", "/%2", "/%zz", "/..//x", "/.//x",
		"/" + strings.Repeat("x", 8192), "/" + strings.Repeat("é", 1366),
	} {
		if got, err := NormalizeTarget(in); err == nil {
			t.Errorf("%.40q became %.40q", in, got)
		}
	}
	if got, err := NormalizeTarget("/" + strings.Repeat("x", 8191)); err != nil || len(got) != 8192 {
		t.Errorf("a target at the limit: %v", err)
	}
}

// What passes is a valid request target, means the same path, and is normal.
func TestNormalizedTargetIsNormal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.StringMatching(`/([a-z.%2eF/?é"+]|%2e|%2F){0,20}`).Draw(t, "target")
		out, err := NormalizeTarget(in)
		if err != nil {
			var refused *RequestError
			if !errors.As(err, &refused) || refused.Field != "path" {
				t.Fatalf("%v", err)
			}
			return
		}
		if again, err := NormalizeTarget(out); err != nil || again != out {
			t.Fatalf("%q becomes %q, %v", out, again, err)
		}
		if _, err := url.ParseRequestURI(out); err != nil {
			t.Fatalf("%q: %v", out, err)
		}
		path, _, _ := strings.Cut(out, "?")
		for segment := range strings.SplitSeq(path, "/") {
			if decoded, _ := url.PathUnescape(segment); decoded == "." || decoded == ".." {
				t.Fatalf("%q keeps a dot segment", out)
			}
		}
	})
}

func TestCheckMethod(t *testing.T) {
	for method, body := range map[string]bool{ //plexus:orderfree each case stands alone
		"POST": true, "PUT": true, "x-custom": true, "GET": false, "head": false, "delete": false,
	} {
		if err := CheckMethod(method, body); err != nil {
			t.Errorf("%s: %v", method, err)
		}
	}
	for method, body := range map[string]bool{ //plexus:orderfree each case stands alone
		"": false, "CONNECT": false, "trace": false, "GET": true, "Head": true, "A B": true, "É": true, strings.Repeat("x", 65): true,
	} {
		if CheckMethod(method, body) == nil {
			t.Errorf("%q passed", method)
		}
	}
}

func TestHeaderSet(t *testing.T) {
	var set HeaderSet
	for _, h := range []Header{{"A", "1"}, {"b", ""}, {"a", "2"}, {"C", "x\ty ü"}} {
		if err := set.Write(h.Name, h.Value); err != nil {
			t.Fatalf("%v: %v", h, err)
		}
	}
	if got := fmt.Sprint(set.Headers()); got != "[{a 2} {b } {C x\ty ü}]" {
		t.Fatal(got)
	}
	for _, h := range []Header{
		{"", "x"}, {"a b", "x"}, {":path", "x"}, {"Host", "x"}, {"content-length", "1"}, {"Transfer-Encoding", "x"}, {"TE", "x"},
		{"X", " x"}, {"X", "x\t"}, {"X", "a\r\nb"}, {"X", "a\x00"}, {"X", "\x7f"}, {"X", "\xff"}, {"X", strings.Repeat("x", 32<<10)},
	} {
		if err := set.Write(h.Name, h.Value); err == nil {
			t.Errorf("%.30q was written", h)
		} else if len(h.Value) > 3 && strings.Contains(err.Error(), h.Value) {
			t.Errorf("the error shows the value: %v", err)
		}
	}
	if len(set.Headers()) != 3 {
		t.Fatal("a refused write left something")
	}
}

func TestHeaderSetBounds(t *testing.T) {
	var set HeaderSet
	for i := range 128 {
		if err := set.Write(fmt.Sprintf("H%03d", i), "v"); err != nil {
			t.Fatal(err)
		}
	}
	if set.Write("one-more", "v") == nil {
		t.Error("129 fields")
	}
	if err := set.Write("h000", "w"); err != nil {
		t.Error(err)
	}
	set = HeaderSet{}
	half := strings.Repeat("x", 16<<10-1)
	if err := errors.Join(set.Write("A", half), set.Write("B", half)); err != nil {
		t.Fatal(err)
	}
	if set.Write("C", "") == nil {
		t.Error("more than 32 KiB")
	}
	if err := set.Write("a", ""); err != nil {
		t.Error(err)
	}
	if err := set.Write("C", half[:16<<10-2]); err != nil {
		t.Error(err)
	}
}
