//! The inputs of every benchmark, derived from a seed: see "Inputs" in bench/README.md.

use blstrs::Scalar;
use ff::PrimeField;
use group::Group;
use rayon::prelude::*;
use sha2::{Digest, Sha256};

/// Points made from one scalar multiplication.
const RUN: usize = 4096;

fn digest(seed: u64, i: u64) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(b"cuzk bench scalar");
    hash.update(seed.to_le_bytes());
    hash.update(i.to_le_bytes());
    hash.finalize().into()
}

/// Scalar i, little-endian, below 2^254.
pub fn scalar_bytes(seed: u64, i: u64) -> [u8; 32] {
    let mut bytes = digest(seed, i);
    bytes[31] &= 0x3f;
    bytes
}

/// Scalar i of the distribution a PoRep witness has: bits, and every 61st a full scalar.
pub fn witness_bytes(seed: u64, i: u64) -> [u8; 32] {
    if i % 61 == 60 {
        return scalar_bytes(seed, i);
    }
    let mut bytes = [0; 32];
    bytes[0] = u8::from(digest(seed, i)[0] >= 133);
    bytes
}

pub fn scalar(seed: u64, i: u64) -> Scalar {
    Scalar::from_repr_vartime(scalar_bytes(seed, i)).expect("below 2^254")
}

pub fn scalars(seed: u64, n: usize) -> Vec<[u8; 32]> {
    (0..n as u64).into_par_iter().map(|i| scalar_bytes(seed, i)).collect()
}

pub fn witness(seed: u64, n: usize) -> Vec<[u8; 32]> {
    (0..n as u64).into_par_iter().map(|i| witness_bytes(seed, i)).collect()
}

pub fn field_elements(seed: u64, n: usize) -> Vec<Scalar> {
    (0..n as u64).into_par_iter().map(|i| scalar(seed, i)).collect()
}

/// n points in arithmetic progression.
pub fn bases<G: Group<Scalar = Scalar>>(seed: u64, n: usize) -> Vec<G> {
    let start = scalar(seed, u64::MAX);
    let step = scalar(seed, u64::MAX - 1);
    let step_point = G::generator() * step;
    let mut points = vec![G::identity(); n];
    points.par_chunks_mut(RUN).enumerate().for_each(|(run, points)| {
        let mut p = G::generator() * (start + step * Scalar::from((run * RUN) as u64));
        for point in points {
            *point = p;
            p += step_point;
        }
    });
    points
}
