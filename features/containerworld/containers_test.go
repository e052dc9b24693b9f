package containerworld

import (
	"net"
	"testing"
	"time"
)

func TestImagesServe(t *testing.T) {
	for _, i := range images {
		if reason := i.Missing(); reason != "" {
			t.Skip(reason)
		}
		address, stop, err := i.Start()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := stop(); err != nil {
				t.Error(err)
			}
		})
		conn, err := net.DialTimeout("tcp", address, 5*time.Second)
		if err != nil {
			t.Fatalf("%s: %v", i.name, err)
		}
		conn.Close()
	}
}
