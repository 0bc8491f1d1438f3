//! Field multiplications, number-theoretic transforms and multi-scalar multiplications by bellperson and blst.

use std::sync::Arc;

use bellperson::domain::EvaluationDomain;
use bellperson::gpu::{LockedFftKernel, LockedMultiexpKernel};
use bellperson::multiexp::multiexp;
use blst::{
    blst_bendian_from_fp, blst_fp, blst_fp_from_lendian, blst_fp_mul, blst_p1, blst_p1_affine,
    blst_p1s_mult_pippenger, blst_p1s_mult_pippenger_scratch_sizeof, blst_p2, blst_p2_affine,
    blst_p2s_mult_pippenger, blst_p2s_mult_pippenger_scratch_sizeof, p1_affines, p2_affines, MultiPoint,
};
use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar};
use ec_gpu_gen::multiexp_cpu::FullDensity;
use ec_gpu_gen::threadpool::Worker;
use ff::PrimeField;
use group::prime::{PrimeCurve, PrimeCurveAffine};
use sha2::{Digest, Sha256};

use crate::inputs;
use crate::measure::{hex, Running, Times};

const SCALAR_BITS: usize = 255;

/// What differs between G1 and G2 in blst's interface.
pub trait BlstCurve: PrimeCurve<Scalar = Scalar> {
    fn to_affine_all(points: &[Self]) -> Vec<Self::Affine>;
    /// On this thread when threads is 1, else on blst's own pool, which has one thread per CPU.
    fn msm(points: &[Self::Affine], scalars: &[u8], threads: usize) -> Self;
    fn compressed(point: &Self) -> Vec<u8>;
}

macro_rules! blst_curve {
    ($projective:ty, $affine:ty, $blst:ty, $blst_affine:ty, $list:ty, $pippenger:ident, $scratch:ident) => {
        impl BlstCurve for $projective {
            fn to_affine_all(points: &[Self]) -> Vec<$affine> {
                // The types of blstrs are transparent wrappers of those of blst.
                let raw = unsafe { std::slice::from_raw_parts(points.as_ptr() as *const $blst, points.len()) };
                let list = <$list>::from(raw);
                let affine = list.as_slice();
                unsafe { std::slice::from_raw_parts(affine.as_ptr() as *const $affine, affine.len()) }.to_vec()
            }

            fn msm(points: &[$affine], scalars: &[u8], threads: usize) -> Self {
                let raw =
                    unsafe { std::slice::from_raw_parts(points.as_ptr() as *const $blst_affine, points.len()) };
                let mut out = <$blst>::default();
                if threads == 1 {
                    let mut scratch = vec![0u64; unsafe { $scratch(raw.len()) } / 8];
                    let points = [raw.as_ptr(), std::ptr::null()];
                    let scalars = [scalars.as_ptr(), std::ptr::null()];
                    unsafe {
                        $pippenger(
                            &mut out,
                            points.as_ptr(),
                            raw.len(),
                            scalars.as_ptr(),
                            SCALAR_BITS,
                            scratch.as_mut_ptr(),
                        )
                    };
                } else {
                    out = raw.mult(scalars, SCALAR_BITS);
                }
                unsafe { std::mem::transmute::<$blst, $projective>(out) }
            }

            fn compressed(point: &Self) -> Vec<u8> {
                point.to_compressed().to_vec()
            }
        }
    };
}

blst_curve!(
    G1Projective,
    G1Affine,
    blst_p1,
    blst_p1_affine,
    p1_affines,
    blst_p1s_mult_pippenger,
    blst_p1s_mult_pippenger_scratch_sizeof
);
blst_curve!(
    G2Projective,
    G2Affine,
    blst_p2,
    blst_p2_affine,
    p2_affines,
    blst_p2s_mult_pippenger,
    blst_p2s_mult_pippenger_scratch_sizeof
);

/// One measurement: size, times, and the result in hex.
pub type Measured = (usize, Times, String);

fn msm_inputs<C: BlstCurve>(seed: u64, n: usize, witness: bool) -> (Vec<C::Affine>, Vec<[u8; 32]>) {
    let bases = C::to_affine_all(&inputs::bases::<C>(seed, n));
    let scalars = if witness { inputs::witness(seed, n) } else { inputs::scalars(seed, n) };
    (bases, scalars)
}

pub fn msm_blst<C: BlstCurve>(seed: u64, n: usize, witness: bool, threads: usize, repeat: usize) -> Measured {
    let (bases, scalars) = msm_inputs::<C>(seed, n, witness);
    let scalars = scalars.concat();
    let mut times = Times::default();
    let mut result = C::identity();
    for _ in 0..repeat {
        let running = Running::start();
        result = C::msm(&bases, &scalars, threads);
        running.stop(&mut times);
    }
    (n, times, hex(&C::compressed(&result)))
}

pub fn msm_bellperson<C>(seed: u64, n: usize, witness: bool, repeat: usize) -> Measured
where
    C: BlstCurve,
    C::Affine: PrimeCurveAffine<Curve = C, Scalar = Scalar>,
{
    let (bases, scalars) = msm_inputs::<C>(seed, n, witness);
    let (bases, scalars) = (Arc::new(bases), Arc::new(scalars));
    let worker = Worker::new();
    let mut kernel = LockedMultiexpKernel::new(false);
    let mut times = Times::default();
    let mut result = C::identity();
    for _ in 0..repeat {
        let running = Running::start();
        result = multiexp(&worker, (bases.clone(), 0), FullDensity, scalars.clone(), &mut kernel)
            .wait()
            .expect("no base is the identity");
        running.stop(&mut times);
    }
    (n, times, hex(&C::compressed(&result)))
}

pub fn ntt_bellperson(seed: u64, n: usize, repeat: usize) -> Measured {
    let values = inputs::field_elements(seed, n);
    let worker = Worker::new();
    let mut kernel = Some(LockedFftKernel::new(false));
    let mut times = Times::default();
    let mut result = Vec::new();
    for _ in 0..repeat {
        let mut domain = EvaluationDomain::from_coeffs(values.clone()).expect("a size below 2^32");
        let running = Running::start();
        domain.fft(&worker, &mut kernel).expect("the CPU path cannot fail");
        running.stop(&mut times);
        result = domain.into_coeffs();
    }
    let mut hash = Sha256::new();
    for value in &result {
        hash.update(value.to_repr());
    }
    (n, times, hex(&hash.finalize()))
}

/// `chains` independent sequences of n multiplications by the same factor, interleaved.
fn multiply<T: Copy>(values: &mut [T], factor: &T, n: usize, mul: impl Fn(&T, &T) -> T) {
    for _ in 0..n {
        for value in values.iter_mut() {
            *value = mul(value, factor);
        }
    }
}

pub fn fr_mul_blst(seed: u64, n: usize, chains: usize, repeat: usize) -> Measured {
    let start = inputs::field_elements(seed, chains + 1);
    let mut times = Times::default();
    let mut values = Vec::new();
    for _ in 0..repeat {
        values = start[..chains].to_vec();
        let running = Running::start();
        multiply(&mut values, &start[chains], n, |a, b| a * b);
        running.stop(&mut times);
    }
    let mut hash = Sha256::new();
    for value in &values {
        hash.update(value.to_repr());
    }
    (n, times, hex(&hash.finalize()))
}

pub fn fp_mul_blst(seed: u64, n: usize, chains: usize, repeat: usize) -> Measured {
    let start: Vec<blst_fp> = (0..=chains as u64)
        .map(|i| {
            let mut bytes = [0; 48];
            bytes[..32].copy_from_slice(&inputs::scalar_bytes(seed, i));
            let mut value = blst_fp::default();
            unsafe { blst_fp_from_lendian(&mut value, bytes.as_ptr()) };
            value
        })
        .collect();
    let mut times = Times::default();
    let mut values = Vec::new();
    for _ in 0..repeat {
        values = start[..chains].to_vec();
        let running = Running::start();
        multiply(&mut values, &start[chains], n, |a, b| {
            let mut out = blst_fp::default();
            unsafe { blst_fp_mul(&mut out, a, b) };
            out
        });
        running.stop(&mut times);
    }
    let mut hash = Sha256::new();
    for value in &values {
        let mut bytes = [0; 48];
        unsafe { blst_bendian_from_fp(bytes.as_mut_ptr(), value) };
        hash.update(bytes);
    }
    (n, times, hex(&hash.finalize()))
}
