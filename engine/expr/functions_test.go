package expr

import (
	"math"
	"strings"
	"testing"

	"plexus/nspl/rfc3339"
	"plexus/nspl/typed"
	"plexus/nspl/vocab"
)

// octetsLit is a BYTES literal, which the language has no form for.
func octetsLit(s string) *typed.Expr {
	return &typed.Expr{Op: typed.OpLiteral, Type: vocab.Scalar(vocab.Bytes), Literal: typed.Literal{Str: s}}
}

func integerLit(kind vocab.Kind, n int64) *typed.Expr {
	return &typed.Expr{Op: typed.OpLiteral, Type: vocab.Scalar(kind), Literal: typed.Literal{Int: n, Uint: uint64(n)}}
}

// nullLit is a null of a type.
func nullLit(kind vocab.Kind) *typed.Expr {
	return &typed.Expr{Op: typed.OpLiteral, Type: vocab.Scalar(kind), Optional: true, Literal: typed.Literal{Null: true}}
}

// computed hides that an argument is a literal, so that nothing of it is prepared.
func computed(e *typed.Expr) *typed.Expr {
	return &typed.Expr{Op: typed.OpCall, Func: "coalesce", Type: e.Type, Fallible: true, Args: []*typed.Expr{e}}
}

func TestBuiltins(t *testing.T) {
	text, octets, truth, i64, f64, u64, stamp := vocab.String, vocab.Bytes, vocab.Bool, vocab.I64, vocab.F64, vocab.U64, vocab.Datetime
	list := func(name string, args ...*typed.Expr) *typed.Expr {
		e := call(name, vocab.Vec, args...)
		e.Type = vocab.VecOf(vocab.Scalar(text))
		return e
	}
	moment := func(text string) *typed.Expr {
		n, verdict := rfc3339.Parse([]byte(text))
		if verdict != rfc3339.OK {
			t.Fatal(text)
		}
		return integerLit(stamp, n)
	}
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		e    *typed.Expr
		want string
	}{
		// like and ilike
		{call("like", truth, lit("héllo"), lit("h_l%")), "true"}, {call("like", truth, lit("hello"), lit("h_l")), "false"},
		{call("like", truth, lit("a%b"), lit(`a\%b`)), "true"}, {call("like", truth, lit("axb"), lit(`a\%b`)), "false"},
		{call("like", truth, lit(""), lit("%")), "true"}, {call("like", truth, lit(""), lit("_")), "false"}, {call("like", truth, lit(""), lit("")), "true"},
		{call("like", truth, lit("abcabd"), lit("%ab_")), "true"}, {call("like", truth, lit("aXbXc"), lit("a%X%c")), "true"},
		{call("like", truth, lit(strings.Repeat("a", 200)), lit(strings.Repeat("%a", 40)+"%b")), "false"},
		{call("like", truth, lit(`a\`), lit(`a\`)), "true"}, {call("like", truth, lit("A"), lit("a")), "false"},
		{call("like", truth, lit("a"), lit(strings.Repeat("a", 4097))), "failed: invalid_argument"},
		{call("like", truth, lit("ab"), computed(lit("a_"))), "true"},
		{call("like", truth, nullLit(text), lit("a")), "(null)"}, {call("like", truth, lit("a"), nullLit(text)), "(null)"},
		{call("ilike", truth, lit("STRASSE"), lit("str%")), "true"}, {call("ilike", truth, lit("ΣΊΣΥΦΟΣ"), lit("σίσυφος")), "true"},
		{call("ilike", truth, lit("\u212a"), lit("k")), "true"}, {call("ilike", truth, lit("ß"), lit("ss")), "false"},

		// regular expressions
		{call("regexp_like", truth, lit("order 17"), lit(`\d+`)), "true"}, {call("regexp_like", truth, lit("order"), lit(`^\d`)), "false"},
		{call("regexp_like", truth, lit("x"), lit(`(`)), "failed: invalid_argument"}, {call("regexp_like", truth, nullLit(text), lit(`(`)), "(null)"},
		{call("regexp_like", truth, lit("x"), computed(lit(`(`))), "failed: invalid_argument"}, {call("regexp_like", truth, lit("x"), computed(lit(`x`))), "true"},
		{call("regexp_like", truth, lit("x"), lit(strings.Repeat("x", 1<<16+1))), "failed: invalid_argument"},
		{call("regexp_replace", text, lit("a1b22"), lit(`(\d)(x)?`), lit("<$1$2>")), "a<1>b<2><2>"},
		{call("regexp_replace", text, lit("John Smith"), lit(`(?P<f>\w+) (?P<l>\w+)`), lit("${l}, ${f} $$")), "Smith, John $"},
		{call("regexp_replace", text, lit("abc"), lit(``), lit("-")), "-a-b-c-"}, {call("regexp_replace", text, lit("abc"), lit(`z`), lit("-")), "abc"},
		{call("regexp_substr", text, lit("id=42;"), lit(`\d+`)), "42"}, {call("regexp_substr", text, lit("id="), lit(`\d+`)), "(null)"},
		{call("regexp_extract", text, lit("id=42;"), lit(`(\w+)=(\d+)`), lit(2)), "42"}, {call("regexp_extract", text, lit("id=42;"), lit(`(\w+)=`), lit(0)), "id="},
		{call("regexp_extract", text, lit("id=42;"), lit(`(\w+)=`), lit(2)), "(null)"}, {call("regexp_extract", text, lit("id=42;"), lit(`(\w+)=`), lit(-1)), "(null)"},
		{call("regexp_extract", text, lit("b"), lit(`(a)|(b)`), lit(1)), "(null)"},

		// octets, encodings, hashes
		{call("hex_encode", text, call("bytes_from_utf8", octets, lit("hé"))), "68c3a9"}, {call("hex_decode", octets, lit("68C3a9")), "aMOp"},
		{call("hex_decode", octets, lit("abc")), "failed: cast_failed"}, {call("hex_decode", octets, lit("zz")), "failed: cast_failed"}, {call("hex_decode", octets, lit("")), ""},
		{call("bytes_to_utf8", text, octetsLit("h\xc3\xa9")), "hé"}, {call("bytes_to_utf8", text, octetsLit("\xff")), "failed: cast_failed"},
		{call("base64_encode", text, octetsLit("any carnal pleas")), "YW55IGNhcm5hbCBwbGVhcw=="}, {call("base64_decode", octets, lit("YW55")), "YW55"},
		{call("base64_decode", octets, lit("YW5")), "failed: cast_failed"}, {call("base64_decode", octets, lit("YW5=\n")), "failed: cast_failed"},
		{call("base64_decode", octets, lit("YR==")), "failed: cast_failed"}, {call("base64_decode", octets, lit("YW-_")), "failed: cast_failed"},
		{call("hex_encode", text, call("sha256", octets, octetsLit("abc"))), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		{call("xxh3_64", u64, octetsLit("")), "3244421341483603138"}, {call("xxh3_64", u64, octetsLit("abc")), "8696274497037089104"},
		{call("normalize_nfc", text, lit("e\u0301")), "é"}, {call("normalize_nfc", text, lit("plain")), "plain"},

		// addresses
		{call("ip_to_string", text, call("ip_from_string", octets, lit("192.0.2.1"))), "192.0.2.1"},
		{call("ip_to_string", text, call("ip_from_string", octets, lit("2001:DB8::0:1"))), "2001:db8::1"},
		{call("ip_to_string", text, call("ip_from_string", octets, lit("::ffff:192.0.2.1"))), "::ffff:192.0.2.1"},
		{call("ip_from_string", octets, lit("192.0.2.01")), "failed: cast_failed"}, {call("ip_from_string", octets, lit("fe80::1%eth0")), "failed: cast_failed"},
		{call("ip_from_string", octets, lit("[::1]")), "failed: cast_failed"}, {call("ip_from_string", octets, lit("192.0.2.1:80")), "failed: cast_failed"}, {call("ip_from_string", octets, lit("")), "failed: cast_failed"},
		{call("ip_to_string", text, octetsLit("abc")), "failed: invalid_argument"}, {call("ip_family", i64, octetsLit("abcd")), "4"},
		{call("ip_family", i64, octetsLit("0123456789abcdef")), "6"}, {call("ip_family", i64, octetsLit("")), "failed: invalid_argument"},
		{call("ip_to_string", text, call("ip_trunc", octets, octetsLit("\xc0\x00\x02\xff"), lit(25))), "192.0.2.128"},
		{call("ip_to_string", text, call("ip_trunc", octets, octetsLit("\xc0\x00\x02\xff"), lit(0))), "0.0.0.0"},
		{call("ip_trunc", octets, octetsLit("\xc0\x00\x02\xff"), lit(33)), "failed: invalid_argument"}, {call("ip_trunc", octets, octetsLit("x"), lit(1)), "failed: invalid_argument"},
		{call("ip_in_network", truth, octetsLit("\x0a\x01\x02\x03"), lit("10.0.0.0/8")), "true"}, {call("ip_in_network", truth, octetsLit("\x0b\x01\x02\x03"), lit("10.0.0.0/8")), "false"},
		{call("ip_in_network", truth, octetsLit("0123456789abcdef"), lit("10.0.0.0/8")), "false"}, {call("ip_in_network", truth, octetsLit("x"), lit("10.0.0.0/8")), "failed: invalid_argument"},
		{call("ip_in_network", truth, octetsLit("\x0a\x01\x02\x03"), computed(lit("10.0.0.0/8"))), "true"},
		{call("ip_in_network", truth, octetsLit("\x0a\x01\x02\x03"), computed(lit("10.0.0.1/8"))), "failed: invalid_argument"},
		{call("ip_in_network", truth, octetsLit("\x0a\x01\x02\x03"), computed(lit("ten"))), "failed: invalid_argument"},
		{call("ip_to_string", text, call("ip_unmap", octets, call("ip_from_string", octets, lit("::ffff:192.0.2.1")))), "192.0.2.1"},
		{call("ip_unmap", octets, octetsLit("x")), "eA=="}, {call("is_ip_address", truth, lit("::1")), "true"}, {call("is_ip_address", truth, lit("::1%lo")), "false"},

		// numbers
		{call("sqrt", f64, lit(2.25)), "1.5"}, {call("sqrt", f64, lit(-1.0)), "failed: invalid_argument"}, {call("sqrt", f64, integerLit(vocab.U8, 9)), "3"},
		{call("ln", f64, lit(0.0)), "failed: invalid_argument"}, {call("ln", f64, lit(math.E)), "1"}, {call("exp", f64, lit(1000.0)), "failed: invalid_argument"},
		{call("exp", f64, lit(math.Inf(-1))), "0"}, {call("log", f64, lit(1000)), "3"}, {call("log", f64, lit(2), lit(1024)), "10"}, {call("log", f64, lit(1.0), lit(5.0)), "failed: invalid_argument"},
		{call("log2", f64, lit(8)), "3"}, {call("pow", f64, lit(2), lit(0.5)), "1.4142135623730951"}, {call("pow", f64, lit(-8.0), lit(1.0/3)), "failed: invalid_argument"},
		{call("pow", f64, lit(0), lit(-1)), "failed: invalid_argument"}, {call("pow", f64, lit(nan), lit(0)), "1"}, {call("atan2", f64, lit(1.0), lit(-1)), "2.356194490192345"},
		{call("atan", f64, lit(inf)), "1.5707963267948966"}, {call("sin", f64, lit(inf)), "failed: invalid_argument"}, {call("acos", f64, lit(1.5)), "failed: invalid_argument"},
		{call("asin", f64, lit(1)), "1.5707963267948966"}, {call("cos", f64, lit(0)), "1"}, {call("tan", f64, lit(0.0)), "0"}, {call("degrees", f64, lit(math.Pi)), "180"}, {call("radians", f64, lit(180)), "3.141592653589793"},
		{call("degrees", f64, lit(math.MaxFloat64)), "failed: invalid_argument"}, {call("sqrt", f64, integerLit(u64, -1)), "4.294967296e+09"}, {call("sqrt", f64, nullLit(f64)), "(null)"},
		{call("is_nan", truth, lit(nan)), "true"}, {call("is_nan", truth, lit(1.0)), "false"}, {call("is_finite", truth, lit(inf)), "false"}, {call("is_infinite", truth, lit(-inf)), "true"}, {call("is_nan", truth, nullLit(f64)), "(null)"},

		// bits
		{call("bitwise_and", vocab.U8, integerLit(vocab.U8, 0b1100), integerLit(vocab.U8, 0b1010)), "8"}, {call("bitwise_or", i64, lit(12), lit(10)), "14"}, {call("bitwise_xor", i64, lit(12), lit(-1)), "-13"},
		{call("bitwise_not", vocab.I16, integerLit(vocab.I16, 0)), "-1"}, {call("bitwise_not", vocab.U16, integerLit(vocab.U16, 1)), "65534"}, {call("bit_count", i64, integerLit(vocab.I8, -1)), "8"}, {call("bit_count", i64, integerLit(u64, -1)), "64"},
		{call("shift_left", vocab.I8, integerLit(vocab.I8, 1), lit(6)), "64"}, {call("shift_left", vocab.I8, integerLit(vocab.I8, 1), lit(7)), "failed: overflow"}, {call("shift_left", vocab.I8, integerLit(vocab.I8, -1), lit(7)), "-128"},
		{call("shift_left", i64, lit(0), lit(1000)), "0"}, {call("shift_left", i64, lit(1), lit(64)), "failed: overflow"}, {call("shift_left", u64, integerLit(u64, 1), integerLit(vocab.U8, 63)), "9223372036854775808"},
		{call("shift_right", i64, lit(-8), lit(1)), "-4"}, {call("shift_right", i64, lit(-8), lit(200)), "-1"}, {call("shift_right", vocab.U8, integerLit(vocab.U8, 200), lit(200)), "0"}, {call("shift_right", i64, lit(8), lit(-1)), "failed: invalid_argument"},

		// URLs
		{call("url_scheme", text, lit("HTTPS://Example.com/a?b#c")), "https"}, {call("url_host", text, lit("https://EXAMPLE.com:8443/a")), "example.com"}, {call("url_host", text, lit("http://[2001:DB8::1]/")), "2001:db8::1"},
		{call("url_host", text, lit("mailto:a@b")), "(null)"}, {call("url_host", text, lit("file:///etc")), ""}, {call("url_host", text, lit("//example.com")), "failed: cast_failed"}, {call("url_host", text, lit("http://exa mple")), "failed: cast_failed"},
		{call("url_host", text, lit("https://bücher.example")), "xn--bcher-kva.example"}, {call("url_port", i64, lit("https://a:8443/")), "8443"}, {call("url_port", i64, lit("https://a/")), "443"}, {call("url_port", i64, lit("redis://a/")), "(null)"}, {call("url_port", i64, lit("https://a:65536/")), "failed: cast_failed"},
		{call("url_path", text, lit("https://a/b/../c d")), "/c%20d"}, {call("url_query", text, lit("https://a/?x=1&y")), "x=1&y"}, {call("url_query", text, lit("https://a/?")), ""}, {call("url_query", text, lit("https://a/#?")), "(null)"},
		{call("url_fragment", text, lit("https://a/#top")), "top"}, {call("url_fragment", text, lit("https://a/#")), ""}, {call("url_fragment", text, lit("https://a/")), "(null)"},
		{call("url_query_value", text, lit("https://a/?q=a+b%20c&q=2"), lit("q")), "a b c"}, {call("url_query_value", text, lit("https://a/?q=1"), lit("z")), "(null)"}, {call("url_query_value", text, lit("https://a/?q=%ff"), lit("q")), "failed: cast_failed"}, {call("url_query_value", text, lit("https://a/?q=100%"), lit("q")), "100%"}, {call("url_query_value", text, lit("https://a/?q"), lit("q")), ""},
		{call("count", i64, list("url_query_values", lit("https://a/?q=1&r=2&q=3"), lit("q"))), "2"}, {call("join", text, list("url_query_values", lit("https://a/?q=1&r=2&q=3"), lit("q")), lit("|")), "1|3"}, {call("count", i64, list("url_query_values", lit("x"), lit("q"))), "failed: cast_failed"},
		{call("url_decode", text, lit("a%20b%C3%A9+c")), "a bé+c"}, {call("url_decode", text, lit("100%")), "failed: cast_failed"}, {call("url_decode", text, lit("%ff")), "failed: cast_failed"},
		{call("is_url", truth, lit("urn:isbn:1")), "true"}, {call("is_url", truth, lit("/a")), "false"}, {call("is_url", truth, lit("")), "false"},

		// date and time; what the units, zones and formats do has tests of its own
		{call("date_part", i64, lit("iso_week"), moment("2027-01-03T23:04:05Z")), "53"}, {call("date_part", i64, lit("hour"), moment("2026-01-01T00:00:00Z"), lit("Asia/Kolkata")), "5"},
		{call("date_trunc", stamp, lit("day"), moment("2026-03-29T12:00:00Z"), lit("europe/berlin")), "2026-03-28T23:00:00Z"}, {call("date_trunc", stamp, lit("year"), moment("1677-09-21T00:12:44Z")), "failed: overflow"},
		{call("date_bin", stamp, lit("minute"), lit(15), moment("2026-01-01T00:14:59Z"), moment("2026-01-01T00:05:00Z")), "2026-01-01T00:05:00Z"},
		{call("date_add", stamp, lit("month"), lit(1), moment("2026-01-31T10:00:00Z")), "2026-02-28T10:00:00Z"}, {call("date_add", stamp, lit("day"), integerLit(u64, -1), moment("2026-01-31T10:00:00Z")), "failed: overflow"},
		{call("date_diff", i64, lit("month"), moment("2026-01-31T00:00:00Z"), moment("2026-03-01T00:00:00Z")), "1"}, {call("date_diff", i64, lit("nanosecond"), moment("1678-01-01T00:00:00Z"), moment("2262-01-01T00:00:00Z")), "failed: overflow"},
		{call("to_unix", i64, lit("week"), moment("1969-12-31T00:00:00Z")), "-1"}, {call("from_unix", stamp, lit("second"), lit(-1)), "1969-12-31T23:59:59Z"}, {call("from_unix", stamp, lit("week"), lit(100_000)), "failed: overflow"},
		{call("format_datetime", text, lit("%d.%m.%Y %H:%M %Z"), moment("2026-07-03T04:05:06Z"), lit("Europe/Berlin")), "03.07.2026 06:05 CEST"},
		{call("parse_datetime", stamp, lit("%F %R"), lit("2026-10-25 02:30"), lit("Europe/Berlin"), lit("later")), "2026-10-25T01:30:00Z"},
		{call("parse_datetime", stamp, lit("%F %R"), lit("2026-10-25 02:30"), lit("Europe/Berlin")), "failed: invalid_argument"}, {call("parse_datetime", stamp, lit("%F"), lit("2026-02-29"), lit("UTC")), "failed: cast_failed"},
		{call("parse_datetime", stamp, lit("%F"), lit("9999-01-01"), lit("UTC")), "failed: overflow"}, {call("parse_datetime", stamp, lit("%F"), nullLit(text), lit("UTC")), "(null)"},
	} {
		if got := evaluate(t, c.e); got != c.want {
			t.Errorf("%s(%s): %q, want %q", c.e.Func, tree(c.e), got, c.want)
		}
	}
}
