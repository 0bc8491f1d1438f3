//! Synthesis and proof of the PoRep circuit by filecoin-proofs and bellperson's prover.
//!
//! Synthesis is bellperson's own: its prover is given parameters that fail on the first request, which comes
//! after synthesis, and each circuit is wrapped to note when it was done.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use bellperson::groth16::{create_proof_batch, ParameterSource, Parameters, Proof, VerifyingKey};
use bellperson::{Circuit, ConstraintSystem, Index, LinearCombination, SynthesisError, Variable};
use blstrs::{Bls12, G1Affine, G2Affine, Scalar};
use ff::{Field, PrimeField};
use filecoin_proofs::parameters::public_params;
use filecoin_proofs::{as_safe_commitment, with_shape, DefaultPieceDomain, DefaultPieceHasher};
use filecoin_proofs_api::seal::SealCommitPhase1Output;
use filecoin_proofs_api::{Hasher, MerkleTreeTrait};
use sha2::{Digest, Sha256};
use storage_proofs_core::compound_proof::CompoundProof;
use storage_proofs_porep::stacked::{self, StackedCircuit, StackedCompound, StackedDrg};

use crate::kernels::Measured;
use crate::measure::{hex, Running, Times};
use crate::Options;

type Error = Box<dyn std::error::Error>;

pub fn run(work: &str, o: &Options) -> Result<Measured, Error> {
    let path = o.c1.as_ref().ok_or("--c1 is required")?;
    let text = fs::read(path).map_err(|e| format!("{path}: {e}"))?;
    let c1: SealCommitPhase1Output =
        serde_json::from_slice(&text).map_err(|e| format!("{path}: not a bare phase-1 output: {e}"))?;
    with_shape!(u64::from(c1.registered_proof.sector_size()), run_shape, work, o, c1)
}

fn run_shape<Tree: 'static + MerkleTreeTrait>(
    work: &str,
    o: &Options,
    c1: SealCommitPhase1Output,
) -> Result<Measured, Error> {
    let make = || circuits::<Tree>(&c1);
    if work == "synthesis" {
        synthesis(o, make)
    } else {
        proof(o, make)
    }
}

type PoRepCircuit<Tree> = StackedCircuit<Tree, DefaultPieceHasher>;

/// One circuit per partition.
fn circuits<Tree: 'static + MerkleTreeTrait>(
    c1: &SealCommitPhase1Output,
) -> Result<Vec<PoRepCircuit<Tree>>, Error> {
    let replica_id: Scalar = c1.replica_id.into();
    let public_inputs = stacked::PublicInputs {
        replica_id: replica_id.into(),
        tau: Some(stacked::Tau {
            comm_d: as_safe_commitment::<DefaultPieceDomain, _>(&c1.comm_d, "comm_d")?,
            comm_r: as_safe_commitment::<<Tree::Hasher as Hasher>::Domain, _>(&c1.comm_r, "comm_r")?,
        }),
        k: None,
        seed: Some(c1.seed),
    };
    let params = public_params::<Tree>(&c1.registered_proof.as_v1_config())?;
    let partitions: Vec<Vec<stacked::Proof<Tree, DefaultPieceHasher>>> = c1.vanilla_proofs.clone().try_into()?;
    let circuit = |(k, partition)| {
        <StackedCompound<Tree, DefaultPieceHasher> as CompoundProof<
            StackedDrg<'_, Tree, DefaultPieceHasher>,
            _,
        >>::circuit(&public_inputs, (), partition, &params, Some(k))
        .map_err(Error::from)
    };
    partitions.iter().enumerate().map(circuit).collect()
}

/// A circuit that stops the clock when it has been synthesized; the last of a batch counts.
struct Timed<C> {
    circuit: C,
    running: Running,
    last: Arc<Mutex<Times>>,
}

impl<C: Circuit<Scalar>> Circuit<Scalar> for Timed<C> {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        self.circuit.synthesize(cs)?;
        let mut times = self.last.lock().expect("no circuit panicked");
        *times = Times::default();
        self.running.stop(&mut times);
        Ok(())
    }
}

/// Parameters that end the prover at its first request.
struct NoParameters;

type Bases<G> = (Arc<Vec<G>>, usize);

impl ParameterSource<Bls12> for NoParameters {
    type G1Builder = Bases<G1Affine>;
    type G2Builder = Bases<G2Affine>;

    fn get_vk(&self, _: usize) -> Result<&VerifyingKey<Bls12>, SynthesisError> {
        Err(SynthesisError::AssignmentMissing)
    }
    fn get_h(&self, _: usize) -> Result<Self::G1Builder, SynthesisError> {
        Err(SynthesisError::AssignmentMissing)
    }
    fn get_l(&self, _: usize) -> Result<Self::G1Builder, SynthesisError> {
        Err(SynthesisError::AssignmentMissing)
    }
    fn get_a(&self, _: usize, _: usize) -> Result<(Self::G1Builder, Self::G1Builder), SynthesisError> {
        Err(SynthesisError::AssignmentMissing)
    }
    fn get_b_g1(&self, _: usize, _: usize) -> Result<(Self::G1Builder, Self::G1Builder), SynthesisError> {
        Err(SynthesisError::AssignmentMissing)
    }
    fn get_b_g2(&self, _: usize, _: usize) -> Result<(Self::G2Builder, Self::G2Builder), SynthesisError> {
        Err(SynthesisError::AssignmentMissing)
    }
}

fn synthesis<C: Circuit<Scalar> + Send>(
    o: &Options,
    make: impl Fn() -> Result<Vec<C>, Error>,
) -> Result<Measured, Error> {
    let mut times = Times::default();
    for _ in 0..o.repeat {
        let circuits = make()?;
        let last = Arc::new(Mutex::new(Times::default()));
        let zeros = vec![Scalar::ZERO; circuits.len()];
        let running = Running::start();
        let timed = circuits
            .into_iter()
            .map(|circuit| Timed { circuit, running: running.clone(), last: last.clone() })
            .collect();
        match create_proof_batch::<Bls12, _, _>(timed, NoParameters, zeros.clone(), zeros) {
            Err(SynthesisError::AssignmentMissing) => {}
            Err(e) => return Err(e.into()),
            Ok(_) => return Err("the prover asked for no parameters".into()),
        }
        times.append(&mut last.lock().expect("no circuit panicked"));
    }

    let mut checksum = Sha256::new();
    let mut constraints = 0;
    for circuit in make()? {
        let mut cs = Assignment::new();
        circuit.synthesize(&mut cs)?;
        constraints += cs.constraints + cs.inputs.len();
        for hash in [cs.aux_hash, cs.a_hash, cs.b_hash, cs.c_hash] {
            checksum.update(hash.finalize());
        }
    }
    Ok((constraints, times, hex(&checksum.finalize())))
}

/// The randomness of test proofs: 31 equal bytes, then 0.
fn fixed_scalar(byte: u8) -> Scalar {
    let mut bytes = [byte; 32];
    bytes[31] = 0;
    Scalar::from_repr_vartime(bytes).expect("below 2^248")
}

fn proof<C: Circuit<Scalar> + Send>(
    o: &Options,
    make: impl Fn() -> Result<Vec<C>, Error>,
) -> Result<Measured, Error> {
    let path = o.params.as_ref().ok_or("--params is required")?;
    let mut times = Times::default();
    let mut proofs: Vec<Proof<Bls12>> = Vec::new();
    for _ in 0..o.repeat {
        let circuits = make()?;
        let params = Parameters::<Bls12>::build_mapped_parameters(PathBuf::from(path), false)
            .map_err(|e| format!("{path}: {e}"))?;
        let r = vec![fixed_scalar(0x17); circuits.len()];
        let s = vec![fixed_scalar(0x2b); circuits.len()];
        let running = Running::start();
        proofs = create_proof_batch(circuits, &params, r, s)?;
        running.stop(&mut times);
    }
    let mut bytes = Vec::new();
    for proof in &proofs {
        proof.write(&mut bytes)?;
    }
    Ok((proofs.len(), times, hex(&Sha256::digest(&bytes))))
}

/// The values a synthesis gives, hashed: the witness, and the value of each constraint's A, B and C.
struct Assignment {
    constraints: usize,
    inputs: Vec<Scalar>,
    aux: Vec<Scalar>,
    aux_hash: Sha256,
    a_hash: Sha256,
    b_hash: Sha256,
    c_hash: Sha256,
}

impl ConstraintSystem<Scalar> for Assignment {
    type Root = Self;

    fn new() -> Self {
        Assignment {
            constraints: 0,
            inputs: vec![Scalar::ONE],
            aux: Vec::new(),
            aux_hash: Sha256::new(),
            a_hash: Sha256::new(),
            b_hash: Sha256::new(),
            c_hash: Sha256::new(),
        }
    }

    fn alloc<F, A, AR>(&mut self, _: A, f: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        let value = f()?;
        self.aux_hash.update(value.to_repr());
        self.aux.push(value);
        Ok(Variable(Index::Aux(self.aux.len() - 1)))
    }

    fn alloc_input<F, A, AR>(&mut self, _: A, f: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Scalar, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.inputs.push(f()?);
        Ok(Variable(Index::Input(self.inputs.len() - 1)))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, _: A, a: LA, b: LB, c: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LB: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
        LC: FnOnce(LinearCombination<Scalar>) -> LinearCombination<Scalar>,
    {
        let value = |lc: LinearCombination<Scalar>| lc.eval(&self.inputs, &self.aux).to_repr();
        let (a, b, c) = (
            value(a(LinearCombination::zero())),
            value(b(LinearCombination::zero())),
            value(c(LinearCombination::zero())),
        );
        self.a_hash.update(a);
        self.b_hash.update(b);
        self.c_hash.update(c);
        self.constraints += 1;
    }

    fn push_namespace<NR, N>(&mut self, _: N)
    where
        NR: Into<String>,
        N: FnOnce() -> NR,
    {
    }

    fn pop_namespace(&mut self) {}

    fn get_root(&mut self) -> &mut Self::Root {
        self
    }
}
