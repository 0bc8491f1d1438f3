// The inputs of every benchmark, derived from a seed: see "Inputs" in bench/README.md.

package main

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/big"
	"sync"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
)

// Points made from one scalar multiplication, then normalized together.
const run = 4096

func digest(seed, i uint64) [32]byte {
	text := []byte("cuzk bench scalar")
	text = binary.LittleEndian.AppendUint64(text, seed)
	text = binary.LittleEndian.AppendUint64(text, i)
	return sha256.Sum256(text)
}

// scalarBytes is scalar i, little-endian, below 2^254.
func scalarBytes(seed, i uint64) [32]byte {
	bytes := digest(seed, i)
	bytes[31] &= 0x3f
	return bytes
}

// witnessBytes is scalar i of the distribution a PoRep witness has: bits, and every 61st a full scalar.
func witnessBytes(seed, i uint64) [32]byte {
	if i%61 == 60 {
		return scalarBytes(seed, i)
	}
	var bytes [32]byte
	if digest(seed, i)[0] >= 133 {
		bytes[0] = 1
	}
	return bytes
}

func fromBytes(bytes [32]byte) fr.Element {
	e, err := fr.LittleEndian.Element(&bytes)
	if err != nil {
		panic(err) // below 2^254
	}
	return e
}

// parallel calls f for each run of [0, n) on all threads.
func parallel(n int, f func(begin, end int)) {
	var group sync.WaitGroup
	for begin := 0; begin < n; begin += run {
		group.Add(1)
		go func() {
			defer group.Done()
			f(begin, min(begin+run, n))
		}()
	}
	group.Wait()
}

func elements(seed uint64, n int, bytes func(seed, i uint64) [32]byte) []fr.Element {
	values := make([]fr.Element, n)
	parallel(n, func(begin, end int) {
		for i := begin; i < end; i++ {
			values[i] = fromBytes(bytes(seed, uint64(i)))
		}
	})
	return values
}

// progression gives the exponents of the bases: point i is (start + i step) times the generator.
func progression(seed uint64) (start, step fr.Element) {
	return fromBytes(scalarBytes(seed, math.MaxUint64)), fromBytes(scalarBytes(seed, math.MaxUint64-1))
}

// exponent is start + i step.
func exponent(start, step *fr.Element, i int) *big.Int {
	e := fr.NewElement(uint64(i))
	e.Mul(&e, step).Add(&e, start)
	return e.BigInt(new(big.Int))
}

func basesG1(seed uint64, n int) []bls12381.G1Affine {
	start, step := progression(seed)
	_, _, generator, _ := bls12381.Generators()
	var stepPoint bls12381.G1Affine
	stepPoint.ScalarMultiplication(&generator, step.BigInt(new(big.Int)))
	points := make([]bls12381.G1Affine, n)
	parallel(n, func(begin, end int) {
		var first bls12381.G1Affine
		first.ScalarMultiplication(&generator, exponent(&start, &step, begin))
		chunk := make([]bls12381.G1Jac, end-begin)
		chunk[0].FromAffine(&first)
		for i := 1; i < len(chunk); i++ {
			chunk[i].Set(&chunk[i-1]).AddMixed(&stepPoint)
		}
		copy(points[begin:end], bls12381.BatchJacobianToAffineG1(chunk))
	})
	return points
}

func basesG2(seed uint64, n int) []bls12381.G2Affine {
	start, step := progression(seed)
	_, _, _, generator := bls12381.Generators()
	var stepPoint bls12381.G2Affine
	stepPoint.ScalarMultiplication(&generator, step.BigInt(new(big.Int)))
	points := make([]bls12381.G2Affine, n)
	parallel(n, func(begin, end int) {
		var first bls12381.G2Affine
		first.ScalarMultiplication(&generator, exponent(&start, &step, begin))
		chunk := make([]bls12381.G2Jac, end-begin)
		chunk[0].FromAffine(&first)
		for i := 1; i < len(chunk); i++ {
			chunk[i].Set(&chunk[i-1]).AddMixed(&stepPoint)
		}
		normalizeG2(points[begin:end], chunk)
	})
	return points
}

// normalizeG2 makes points affine with one inversion; none is the identity.
func normalizeG2(out []bls12381.G2Affine, in []bls12381.G2Jac) {
	products := make([]bls12381.E2, len(in))
	var inverse bls12381.E2
	inverse.SetOne()
	for i := range in {
		products[i] = inverse
		inverse.Mul(&inverse, &in[i].Z)
	}
	inverse.Inverse(&inverse)
	for i := len(in) - 1; i >= 0; i-- {
		var zInverse, power bls12381.E2
		zInverse.Mul(&inverse, &products[i])
		inverse.Mul(&inverse, &in[i].Z)
		power.Square(&zInverse)
		out[i].X.Mul(&in[i].X, &power)
		power.Mul(&power, &zInverse)
		out[i].Y.Mul(&in[i].Y, &power)
	}
}
