package typed

// JSONStep is one step of a JSON path: a member, or with IsIndex an element.
type JSONStep struct {
	IsIndex bool
	Member  string
	Index   uint32
}
