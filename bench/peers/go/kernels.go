package main

import (
	"crypto/sha256"
	"encoding/hex"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/consensys/gnark-crypto/ecc"
	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr/fft"
)

// measured is the size, the wall and CPU seconds of each repetition, and the result in hex.
type measured struct {
	n         int
	wall, cpu []float64
	checksum  string
}

func cpuSeconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
}

// measure times work; prepare runs before each repetition, outside the clock.
func measure(n, repeat int, prepare, work func()) measured {
	m := measured{n: n}
	for range repeat {
		prepare()
		runtime.GC()
		cpu, wall := cpuSeconds(), time.Now()
		work()
		m.wall = append(m.wall, time.Since(wall).Seconds())
		m.cpu = append(m.cpu, cpuSeconds()-cpu)
	}
	return m
}

func nothing() {}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func msmG1(o options, n int, scalarAt func(seed, i uint64) [32]byte) measured {
	bases, scalars := basesG1(o.seed, n), elements(o.seed, n, scalarAt)
	var result bls12381.G1Affine
	m := measure(n, o.repeat, nothing, func() {
		_, err := result.MultiExp(bases, scalars, ecc.MultiExpConfig{NbTasks: o.threads})
		must(err)
	})
	bytes := result.Bytes()
	m.checksum = hex.EncodeToString(bytes[:])
	return m
}

func msmG2(o options, n int) measured {
	bases, scalars := basesG2(o.seed, n), elements(o.seed, n, scalarBytes)
	var result bls12381.G2Affine
	m := measure(n, o.repeat, nothing, func() {
		_, err := result.MultiExp(bases, scalars, ecc.MultiExpConfig{NbTasks: o.threads})
		must(err)
	})
	bytes := result.Bytes()
	m.checksum = hex.EncodeToString(bytes[:])
	return m
}

// ntt gives natural order; with bitReversed the clock stops before the reordering, which is how gnark's own
// prover uses the transform.
func ntt(o options, n int, bitReversed bool) measured {
	input := elements(o.seed, n, scalarBytes)
	domain := fft.NewDomain(uint64(n))
	var values []fr.Element
	m := measure(n, o.repeat, func() { values = slices.Clone(input) }, func() {
		domain.FFT(values, fft.DIF, fft.WithNbTasks(o.threads))
		if !bitReversed {
			fft.BitReverse(values)
		}
	})
	if bitReversed {
		fft.BitReverse(values)
	}
	m.checksum = hashFr(values)
	return m
}

func hashFr(values []fr.Element) string {
	hash := sha256.New()
	var bytes [fr.Bytes]byte
	for i := range values {
		fr.LittleEndian.PutElement(&bytes, values[i])
		hash.Write(bytes[:])
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// frMul does n multiplications in each of `chains` independent sequences, interleaved.
func frMul(o options, n, chains int) measured {
	start := elements(o.seed, chains+1, scalarBytes)
	var values []fr.Element
	m := measure(n, o.repeat, func() { values = slices.Clone(start[:chains]) }, func() {
		for range n {
			for j := range values {
				values[j].Mul(&values[j], &start[chains])
			}
		}
	})
	m.checksum = hashFr(values)
	return m
}

func fpMul(o options, n, chains int) measured {
	start := make([]fp.Element, chains+1)
	for i := range start {
		bytes := scalarBytes(o.seed, uint64(i))
		slices.Reverse(bytes[:])
		start[i].SetBytes(bytes[:])
	}
	var values []fp.Element
	m := measure(n, o.repeat, func() { values = slices.Clone(start[:chains]) }, func() {
		for range n {
			for j := range values {
				values[j].Mul(&values[j], &start[chains])
			}
		}
	})
	hash := sha256.New()
	for i := range values {
		bytes := values[i].Bytes()
		hash.Write(bytes[:])
	}
	m.checksum = hex.EncodeToString(hash.Sum(nil))
	return m
}
