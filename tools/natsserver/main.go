// Command natsserver runs the NATS server module as a process: core NATS and
// JetStream on one address, its storage in one directory.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// readyWithin bounds the start: the server opens its storage first.
const readyWithin = 20 * time.Second

func main() {
	host := flag.String("host", "127.0.0.1", "address to listen on")
	port := flag.Int("port", 4222, "port to listen on")
	store := flag.String("store", "", "directory of the JetStream storage")
	flag.Parse()
	if err := run(*host, *port, *store); err != nil {
		fmt.Fprintln(os.Stderr, "natsserver:", err)
		os.Exit(1)
	}
}

func run(host string, port int, store string) error {
	s, err := server.NewServer(&server.Options{
		Host:      host,
		Port:      port,
		JetStream: true,
		StoreDir:  store,
		NoSigs:    true,
	})
	if err != nil {
		return err
	}
	s.ConfigureLogger()
	go s.Start()
	if !s.ReadyForConnections(readyWithin) {
		s.Shutdown()
		return fmt.Errorf("not ready on %s:%d within %s", host, port, readyWithin)
	}
	fmt.Printf("natsserver: ready on %s\n", s.Addr())
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, os.Interrupt, syscall.SIGTERM)
	<-ended
	s.Shutdown()
	s.WaitForShutdown()
	return nil
}
