// One benchmark of cuzk done by gnark-crypto; prints one JSON line. See bench/README.md.

package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/bits"
	"os"
	"runtime"
)

type options struct {
	logN, n, threads, repeat int
	seed                     uint64
}

const usage = `usage: cuzk-peers gnark WORK [--log-n N] [--n N] [--threads N] [--repeat K] [--seed S]
WORK  fr-mul-chain fr-mul-8 fp-mul-chain fp-mul-8, ntt, ntt-bitreversed, msm-g1 msm-g2 msm-real
Sizes: --log-n 20 unless given; msm-real: 2685673 unless --n is given; field multiplications: 2^log_n each.
`

func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "cuzk-peers: "+format+"\n", args...)
	os.Exit(2)
}

type report struct {
	Peer       string    `json:"peer"`
	Work       string    `json:"work"`
	N          int       `json:"n"`
	LogN       *int      `json:"log_n"`
	Threads    int       `json:"threads"`
	Seed       uint64    `json:"seed"`
	Seconds    []float64 `json:"seconds"`
	CPUSeconds []float64 `json:"cpu_seconds"`
	Checksum   string    `json:"checksum"`
}

func main() {
	if len(os.Args) < 3 || os.Args[1] != "gnark" {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	work := os.Args[2]
	var o options
	flags := flag.NewFlagSet("cuzk-peers gnark", flag.ExitOnError)
	flags.Usage = func() { fmt.Fprint(os.Stderr, usage) }
	flags.IntVar(&o.logN, "log-n", 20, "")
	flags.IntVar(&o.n, "n", 2685673, "")
	flags.IntVar(&o.threads, "threads", runtime.NumCPU(), "")
	flags.IntVar(&o.repeat, "repeat", 1, "")
	flags.Uint64Var(&o.seed, "seed", 1, "")
	_ = flags.Parse(os.Args[3:]) // exits on errors
	if flags.NArg() > 0 {
		fail("unexpected argument %s", flags.Arg(0))
	}
	if o.logN < 1 || o.logN > 26 || o.n < 1 || o.n > 1<<26 || o.threads < 1 || o.threads > 1024 || o.repeat < 1 {
		fail("an option is out of its range: log-n 1 to 26, n 1 to 2^26, threads 1 to 1024, repeat from 1")
	}
	runtime.GOMAXPROCS(o.threads)

	size := 1 << o.logN
	var m measured
	switch work {
	case "fr-mul-chain":
		m = frMul(o, size, 1)
	case "fr-mul-8":
		m = frMul(o, size, 8)
	case "fp-mul-chain":
		m = fpMul(o, size, 1)
	case "fp-mul-8":
		m = fpMul(o, size, 8)
	case "ntt":
		m = ntt(o, size, false)
	case "ntt-bitreversed":
		m = ntt(o, size, true)
	case "msm-g1":
		m = msmG1(o, size, scalarBytes)
	case "msm-g2":
		m = msmG2(o, size)
	case "msm-real":
		m = msmG1(o, o.n, witnessBytes)
	default:
		fail("gnark has no work '%s'\n%s", work, usage)
	}

	r := report{"gnark", work, m.n, nil, o.threads, o.seed, m.wall, m.cpu, m.checksum}
	if bits.OnesCount(uint(m.n)) == 1 {
		logN := bits.TrailingZeros(uint(m.n))
		r.LogN = &logN
	}
	must(json.NewEncoder(os.Stdout).Encode(r))
}
