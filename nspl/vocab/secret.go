package vocab

import "log/slog"

// Secret is configuration that is never shown. Reveal is the only way to its
// text, and only an adapter that hands it to a driver calls it.
type Secret struct{ text string }

const redacted = "[redacted]"

// NewSecret wraps a text.
func NewSecret(text string) Secret { return Secret{text} }

// Reveal returns the text.
func (s Secret) Reveal() string { return s.text }

// IsZero reports whether there is no text.
func (s Secret) IsZero() bool { return s.text == "" }

// String hides the text.
func (Secret) String() string { return redacted }

// GoString hides the text.
func (Secret) GoString() string { return redacted }

// MarshalJSON hides the text.
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// LogValue hides the text.
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }
