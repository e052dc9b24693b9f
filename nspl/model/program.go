package model

import "strings"

// unavailablePrograms are the functions of jq that no program may call: what looks
// at the clock, the zone or the process, other input and output, modules, and
// functions of floats whose results differ between processors.
var unavailablePrograms = map[string]bool{}

func init() {
	for name := range strings.FieldsSeq(`
		now localtime strflocaltime env $ENV input_filename input_line_number get_search_list
		input inputs debug stderr halt halt_error import include modulemeta
		exp exp2 exp10 expm1 log log2 log10 log1p pow cbrt sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh
		gamma tgamma lgamma lgamma_r erf erfc j0 j1 y0 y1`) {
		unavailablePrograms[name] = true
	}
}

// forbidden returns the first function of a jq program that none may call, "" for
// none. It reads the words of the program: neither its strings, comments and
// fields, nor names that it defines or binds itself. Whatever else is wrong with a
// program is found where programs are compiled.
func forbidden(program string) string {
	words := programWords(program)
	defined := map[string]bool{}
	for i, w := range words {
		if w == "def" && i+1 < len(words) {
			defined[words[i+1]] = true
		}
	}
	for _, w := range words {
		if unavailablePrograms[w] && !defined[w] {
			return w
		}
	}
	return ""
}

// programWords lists the words of a program that can be calls or variables, in
// order: a variable with its dollar sign. What stands inside of a string's \( ) is
// program text too.
func programWords(text string) (words []string) {
	var open []byte // the brackets around the place
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '#':
			for i < len(text) && text[i] != '\n' {
				i++
			}
		case c == '"':
			inner, end := stringWords(text, i+1)
			words, i = append(words, inner...), end
		case c == '.' && i+1 < len(text) && wordByte(text[i+1]) || c == '@':
			for i++; i < len(text) && wordByte(text[i]); {
				i++
			}
		case c == '$' || wordByte(c):
			end := i + 1
			for end < len(text) && (wordByte(text[end]) || text[end] == ':' && end+2 < len(text) && text[end+1] == ':') {
				end++
			}
			key := len(open) > 0 && open[len(open)-1] == '{' && beforeColon(text, end)
			if !key || c == '$' {
				words = append(words, text[i:end])
			}
			i = end
		default:
			switch c {
			case '(', '[', '{':
				open = append(open, c)
			case ')', ']', '}':
				open = open[:max(0, len(open)-1)]
			}
			i++
		}
	}
	return words
}

// stringWords reads a string from behind its opening quote: the words of the
// programs inside of it, and where it ends.
func stringWords(text string, i int) (words []string, end int) {
	for i < len(text) && text[i] != '"' {
		if text[i] != '\\' || i+1 == len(text) {
			i++
			continue
		}
		if text[i+1] != '(' {
			i += 2
			continue
		}
		begin := i + 2
		depth := 1
		for i = begin; i < len(text) && depth > 0; i++ {
			switch text[i] {
			case '(':
				depth++
			case ')':
				depth--
			case '"':
				_, i = stringWords(text, i+1)
				i--
			}
		}
		words = append(words, programWords(text[begin:max(begin, min(i-1, len(text)))])...)
	}
	return words, min(i+1, len(text))
}

// beforeColon reports whether the word that ends here names a member where it
// stands inside of braces, as in {now: 1}.
func beforeColon(text string, end int) bool {
	rest := strings.TrimLeft(text[end:], " \t\r\n")
	return strings.HasPrefix(rest, ":") && !strings.HasPrefix(rest, "::")
}

func wordByte(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}
