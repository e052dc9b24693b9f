package vocab

// errorScope is what the scope error holds while a failed row is handled.
var errorScope = Schema{Name: "error", Fields: []Field{
	{Name: "reference", Type: Scalar(String)},
	{Name: "code", Type: Scalar(String)},
	{Name: "operation", Type: Scalar(String)},
	{Name: "operation_index", Type: Scalar(U32), Optional: true},
	{Name: "fields", Type: VecOf(Scalar(String))},
	{Name: "message", Type: Scalar(String)},
	{Name: "occurred_at", Type: Scalar(Datetime)},
}}

// ErrorScope returns the fields of the scope error. The caller must not change
// them.
func ErrorScope() *Schema { return &errorScope }
