// Command cuzk-compat does to a cuzk server what Curio's client does, with grpc-go: the same ways to dial,
// request ids, deadlines, retries and concurrency. Messages come from the server's own reflection, so that
// it is checked too.
//
//	cuzk-compat -addr unix:///run/cuzk.sock [-c1 c1.json] [-limit bytes] [-slow prefix]
//
// It prints a line for each check and ends with status 1 if one failed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

const (
	messageLimit   = 256 << 20
	statusDeadline = 5 * time.Second
	proveDeadline  = 30 * time.Minute
)

type options struct {
	addr  string
	c1    []byte // of a PoRep request; nil: made-up bytes, for a server that does not look
	limit int    // the server's message limit
	slow  string // ids with this prefix take long enough to be overtaken; empty: there are none
}

type check struct {
	name string
	run  func(context.Context, *client, options) error
}

var errSkip = errors.New("skipped")

// target is what grpc-go is asked to dial: a text with a scheme as it is, a bare host and port by DNS.
func target(addr string) string {
	if strings.HasPrefix(addr, "unix:") || strings.Contains(addr, "://") {
		return addr
	}
	return "dns:///" + addr
}

func dial(addr string) (*grpc.ClientConn, error) {
	return grpc.NewClient(target(addr), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(messageLimit), grpc.MaxCallSendMsgSize(messageLimit)))
}

func run(o options) (failed int, err error) {
	conn, err := dial(o.addr)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	c, err := newClient(ctx, conn)
	if err != nil {
		return 0, fmt.Errorf("reflection: %w", err)
	}
	for _, ch := range checks {
		start := time.Now()
		err := ch.run(ctx, c, o)
		switch {
		case errors.Is(err, errSkip):
			fmt.Printf("skip %s\n", ch.name)
		case err != nil:
			failed++
			fmt.Printf("FAIL %s: %v\n", ch.name, err)
		default:
			fmt.Printf("ok   %s (%.0f ms)\n", ch.name, float64(time.Since(start).Microseconds())/1000)
		}
	}
	return failed, nil
}

func main() {
	var o options
	var c1 string
	flag.StringVar(&o.addr, "addr", "unix:///run/curio/cuzk.sock", "the server, as Curio's configuration names it")
	flag.StringVar(&c1, "c1", "", "a commit phase 1 output in its wrapper; without it made-up bytes are sent")
	flag.IntVar(&o.limit, "limit", 256<<20, "the server's message limit in bytes")
	flag.StringVar(&o.slow, "slow", "", "prefix of request ids that take a while")
	flag.Parse()
	if c1 != "" {
		data, err := os.ReadFile(c1)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		o.c1 = data
	}
	failed, err := run(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if failed > 0 {
		fmt.Printf("%d checks failed\n", failed)
		os.Exit(1)
	}
}
