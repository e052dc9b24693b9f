package sim

func refused() { go func() {}() } // want `PX002: go statement`
