package px003

func refused(c chan int) { // want `PX003: channel type`
	c = make(chan int) // want `PX003: channel type`
	c <- 1             // want `PX003: channel send`
	_ = <-c            // want `PX003: channel receive`
	for range c {      // want `PX003: range over a channel`
	}
	select { // want `PX003: select statement`
	default:
	}
	close(c) // want `PX003: channel close`
}

type file struct{}

func (file) close() {}

func accepted(f file, list []int) {
	f.close()
	for range list {
	}
}
