package vocab

import "strings"

// masked stands for a value that is never shown.
const masked = "<masked>"

// MaskConfig returns the value of an entry as it may be shown: a secret as a
// whole, and the password inside a URL, are replaced.
func MaskConfig(t ClientType, entry ConfigEntry) string {
	key, known := t.Key(entry.Key)
	switch {
	case known && key.Secret:
		return masked
	case known && key.URLs:
		return maskURLs(entry.Value)
	}
	return entry.Value
}

// maskURLs replaces the password, and what else a query calls a secret, in each of
// a list of URLs. It does not parse: a value that is no URL may hold a password as
// well.
func maskURLs(text string) string {
	parts := splitURLs(text)
	for i, part := range parts {
		scheme, rest, found := strings.Cut(part, "://")
		if !found {
			continue
		}
		rest, query, asked := strings.Cut(rest, "?")
		if at := strings.LastIndexByte(rest, '@'); at >= 0 {
			user, _, secret := strings.Cut(rest[:at], ":")
			if secret {
				user += ":" + masked
			}
			rest = user + rest[at:]
		} else if at := strings.LastIndexByte(query, '@'); at >= 0 && strings.Contains(rest, ":") {
			// The '?' may be of a password.
			rest, query, asked = rest[:strings.IndexByte(rest, ':')]+":"+masked+query[at:], "", false
		}
		parts[i] = scheme + "://" + rest
		if asked {
			parts[i] += "?" + maskQuery(query)
		}
	}
	return strings.Join(parts, ",")
}

// splitURLs cuts a list at the commas before a scheme: another comma may belong to
// a password or to a list of hosts.
func splitURLs(text string) []string {
	var parts []string
	for {
		next := strings.Index(text, "://")
		if next < 0 {
			return append(parts, text)
		}
		cut := strings.Index(text[next+len("://"):], "://")
		if cut < 0 {
			return append(parts, text)
		}
		comma := strings.LastIndexByte(text[:next+len("://")+cut], ',')
		if comma < next {
			return append(parts, text)
		}
		parts, text = append(parts, text[:comma]), text[comma+1:]
	}
}

// maskQuery masks the parameters whose names speak of a secret.
func maskQuery(query string) string {
	params := strings.Split(query, "&")
	for i, p := range params {
		name, _, ok := strings.Cut(p, "=")
		if lower := strings.ToLower(name); ok && (strings.Contains(lower, "pass") || strings.Contains(lower, "secret") ||
			strings.Contains(lower, "token") || strings.Contains(lower, "mechanismproperties")) {
			params[i] = name + "=" + masked
		}
	}
	return strings.Join(params, "&")
}
