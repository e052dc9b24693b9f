package main

import (
	"fmt"
	"os"
	"sync"
)

var refused sync.Mutex // want `PX004: sync.Mutex`

func main() { fmt.Println(os.Args) }
