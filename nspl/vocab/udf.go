package vocab

// UDFLanguage is the language of a user-defined function, with its version.
type UDFLanguage uint8

// The languages.
const (
	UDFNSPL1 UDFLanguage = iota
	UDFWASM1
)

var udfLanguageNames = [...]string{"NSPL_1", "WASM_1"}

// String returns the tag.
func (l UDFLanguage) String() string { return udfLanguageNames[l] }
