package grammar

import "testing"

func TestText(t *testing.T) {
	if errText != nil {
		t.Fatal(errText)
	}
}
