package expr

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"math"

	"plexus/engine/elementary"
	"plexus/nspl/typed"
	"plexus/nspl/vocab"
)

// binder gives the node of a call its kernel.
type binder func(c *compiler, d *node, e *typed.Expr) error

// builtins are the functions with a kernel here, by canonical name.
var builtins = map[string]binder{
	// Null handling, extrema, context.
	"coalesce": typedKernel((*compiler).coalesce),
	"is_null":  fixedKernel(isNull),
	"nullif":   typedKernel(func(_ *compiler, e *typed.Expr) kernel { return nullif(e.Args[0].Type.Kind) }),
	"greatest": typedKernel(func(c *compiler, e *typed.Expr) kernel { return c.extremum(e, true) }),
	"least":    typedKernel(func(c *compiler, e *typed.Expr) kernel { return c.extremum(e, false) }),
	"clamp":    typedKernel((*compiler).clamp),
	// Sensitivity is a matter of checking alone.
	"leak_sensitive": fixedKernel(identity),
	"now":            fixedKernel(now),
	"uuid_v4":        perRow((*compiler).uuidV4),
	"uuid_v7":        perRow((*compiler).uuidV7),
	"read_header":    perRow((*compiler).readHeader),

	// Text.
	"lower":        typedKernel(func(c *compiler, _ *typed.Expr) kernel { return c.mapCase("lower", toLower) }),
	"upper":        typedKernel(func(c *compiler, _ *typed.Expr) kernel { return c.mapCase("upper", toUpper) }),
	"initcap":      mapped(initcap),
	"trim":         viewed(trim),
	"ltrim":        viewed(ltrim),
	"rtrim":        viewed(rtrim),
	"length":       counted(characters),
	"octet_length": counted(octets),
	"bit_length":   counted(bitLength),
	"ascii":        counted(firstCodePoint),
	"left":         viewed(left),
	"right":        viewed(right),
	"substr":       viewed(substr),
	"split_part":   viewed(splitPart),
	"concat":       typedKernel((*compiler).concatenation),
	"concat_ws":    typedKernel(func(c *compiler, e *typed.Expr) kernel { return c.concatWS(e.Func) }),
	"repeat":       built(repeat),
	"replace":      built(replace),
	"reverse":      mapped(reverse),
	"translate":    built(translate),
	"lpad":         built(pad(true)),
	"rpad":         built(pad(false)),
	"strpos":       fixedKernel(position),
	"to_hex":       typedKernel(func(c *compiler, e *typed.Expr) kernel { return c.toHex(e.Args[0].Type.Kind) }),
	"md5":          mapped(appendMD5),
	"contains":     containing,
	"starts_with":  rawKernel(textPredicate(bytes.HasPrefix)),
	"ends_with":    rawKernel(textPredicate(bytes.HasSuffix)),
	"like":         typedKernel((*compiler).like),
	"ilike":        typedKernel((*compiler).like),

	"normalize_nfc":  mapped(normalizeNFC),
	"regexp_like":    typedKernel((*compiler).regexpLike),
	"regexp_replace": typedKernel((*compiler).regexpReplace),
	"regexp_substr":  typedKernel((*compiler).regexpPart),
	"regexp_extract": typedKernel((*compiler).regexpPart),

	// URLs.
	"url_scheme":       urlPart(urlScheme),
	"url_host":         urlPart(urlHost),
	"url_port":         typedKernel((*compiler).urlPort),
	"url_path":         urlPart(urlPath),
	"url_query":        urlPart(urlQuery),
	"url_fragment":     urlPart(urlFragment),
	"url_query_value":  typedKernel((*compiler).urlQueryValue),
	"url_query_values": typedKernel((*compiler).urlQueryValues),
	"url_decode":       typedKernel((*compiler).urlDecode),
	"is_url":           fixedKernel(checkedBools(isURL)),

	// Lists, and texts that have a function of the same name.
	"array":        typedKernel((*compiler).listOf),
	"vec":          typedKernel((*compiler).listOf),
	"count":        typedKernel((*compiler).listCount),
	"sum":          typedKernel((*compiler).listSum),
	"mean":         typedKernel((*compiler).listMean),
	"first":        picked(firstOf),
	"last":         picked(lastOf),
	"nth":          picked(nthOf),
	"min":          picked(extremeOf(false)),
	"max":          picked(extremeOf(true)),
	"overlap":      typedKernel((*compiler).overlap),
	"slice":        typedKernel((*compiler).slice),
	"dot":          typedKernel((*compiler).dot),
	"distance":     typedKernel((*compiler).distance),
	"split":        typedKernel((*compiler).split),
	"join":         typedKernel((*compiler).joinList),
	"contains_any": typedKernel((*compiler).containsAny),
	"read_headers": perRowOf((*compiler).readHeaders),

	// Date and time.
	"date_part":       typedKernel((*compiler).datePart),
	"date_trunc":      typedKernel((*compiler).dateTrunc),
	"date_bin":        typedKernel((*compiler).dateBin),
	"date_add":        typedKernel((*compiler).dateAdd),
	"date_diff":       typedKernel((*compiler).dateDiff),
	"to_unix":         typedKernel((*compiler).toUnix),
	"from_unix":       typedKernel((*compiler).fromUnix),
	"format_datetime": typedKernel((*compiler).formatDatetime),
	"parse_datetime":  typedKernel((*compiler).parseDatetime),

	// Octets, hashes, addresses.
	"bytes_from_utf8": fixedKernel(sameOctets),
	"bytes_to_utf8":   typedKernel((*compiler).utf8Text),
	"base64_encode":   encoded(appendBase64, base64.StdEncoding.EncodedLen),
	"base64_decode":   typedKernel((*compiler).decodeBase64),
	"hex_encode":      encoded(hex.AppendEncode, hex.EncodedLen),
	"hex_decode":      typedKernel((*compiler).decodeHex),
	"sha256":          encoded(appendSHA256, func(int) int { return sha256.Size }),
	"xxh3_64":         fixedKernel(checkedNumbers(xxh3Of)),
	"ip_from_string":  typedKernel((*compiler).ipFromString),
	"ip_to_string":    typedKernel((*compiler).ipToString),
	"ip_family":       typedKernel((*compiler).ipFamily),
	"ip_trunc":        typedKernel((*compiler).ipTrunc),
	"ip_in_network":   typedKernel((*compiler).ipInNetwork),
	"ip_unmap":        viewed(ipUnmap),
	"is_ip_address":   fixedKernel(checkedBools(isIPAddress)),

	// Numbers.
	"abs":   typedKernel(func(c *compiler, e *typed.Expr) kernel { return c.absolute(e.Type.Kind) }),
	"ceil":  whole(math.Ceil),
	"floor": whole(math.Floor),
	"trunc": whole(math.Trunc),
	"round": typedKernel((*compiler).round),
	"sign":  typedKernel(func(c *compiler, e *typed.Expr) kernel { return c.sign(e.Type.Kind) }),

	"acos":        real(elementary.Acos),
	"asin":        real(elementary.Asin),
	"atan":        real(elementary.Atan),
	"atan2":       real2(elementary.Atan2),
	"cos":         real(elementary.Cos),
	"sin":         real(elementary.Sin),
	"tan":         real(elementary.Tan),
	"degrees":     real(degrees),
	"radians":     real(radians),
	"exp":         real(elementary.Exp),
	"ln":          real(elementary.Log),
	"log":         typedKernel((*compiler).logarithm),
	"log2":        real(elementary.Log2),
	"pow":         real2(elementary.Pow),
	"sqrt":        real(math.Sqrt),
	"is_nan":      classified(math.IsNaN),
	"is_finite":   classified(isFinite),
	"is_infinite": classified(isInfinite),

	"bitwise_and": bitwise(func(a, b uint64) uint64 { return a & b }),
	"bitwise_or":  bitwise(func(a, b uint64) uint64 { return a | b }),
	"bitwise_xor": bitwise(func(a, b uint64) uint64 { return a ^ b }),
	"bitwise_not": fixedKernel(bitwiseNot),
	"bit_count":   fixedKernel(bitCount),
	"shift_left":  typedKernel((*compiler).shift),
	"shift_right": typedKernel((*compiler).shift),
}

func (c *compiler) round(e *typed.Expr) kernel {
	if len(e.Args) == 2 {
		return c.roundTo(e.Type.Kind)
	}
	return c.whole("round", e.Type.Kind, math.Round)
}

// typedKernel binds a kernel that depends on the types of the call. It is nil
// where there is none for them.
func typedKernel(make func(c *compiler, e *typed.Expr) kernel) binder {
	return func(c *compiler, d *node, e *typed.Expr) error {
		d.kernel = make(c, e)
		if d.kernel == nil {
			return unsupported(e)
		}
		return nil
	}
}

func fixedKernel(k kernel) binder {
	return func(_ *compiler, d *node, _ *typed.Expr) error {
		d.kernel = k
		return nil
	}
}

// rawKernel binds a kernel that takes scalars beside columns.
func rawKernel(k kernel) binder {
	return func(_ *compiler, d *node, _ *typed.Expr) error {
		d.kernel, d.raw = k, true
		return nil
	}
}

// containing is contains over texts, or over lists.
func containing(c *compiler, d *node, e *typed.Expr) error {
	if e.Args[0].Type.Kind == vocab.String {
		d.kernel, d.raw = contains, true
		return nil
	}
	d.kernel = c.listContains(e)
	return nil
}

// concatenation is concat over texts, or over lists.
func (c *compiler) concatenation(e *typed.Expr) kernel {
	if e.Args[0].Type.Kind == vocab.String {
		return c.concat(e.Func)
	}
	return c.concatLists(e)
}

func picked(at func(x *vec, lo, hi int, args []vec, i int) int) binder {
	return typedKernel(func(c *compiler, e *typed.Expr) kernel { return c.listPick(e, at) })
}

// perRowOf is perRow for a kernel that depends on the call.
func perRowOf(make func(c *compiler, e *typed.Expr) kernel) binder {
	return func(c *compiler, d *node, e *typed.Expr) error {
		d.kernel, d.perRow = make(c, e), true
		return nil
	}
}

// perRow binds a kernel whose results may differ for equal operands.
func perRow(make func(c *compiler) kernel) binder {
	return func(c *compiler, d *node, _ *typed.Expr) error {
		d.kernel, d.perRow = make(c), true
		return nil
	}
}

func mapped(image func(dst, src []byte) []byte) binder {
	return typedKernel(func(c *compiler, e *typed.Expr) kernel { return c.mapText(e.Func, image) })
}

func built(build func(t *text, args []vec, i int)) binder {
	return typedKernel(func(c *compiler, e *typed.Expr) kernel { return c.buildText(e.Func, build) })
}

func viewed(part func(args []vec, i int, s []byte) (lo, hi int)) binder {
	return fixedKernel(viewText(part))
}

func counted(count func(s []byte) int64) binder { return fixedKernel(countText(count)) }

func whole(image func(float64) float64) binder {
	return typedKernel(func(c *compiler, e *typed.Expr) kernel { return c.whole(e.Func, e.Type.Kind, image) })
}
