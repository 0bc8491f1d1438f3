//! One benchmark of cuzk done by the public Rust crates; prints one JSON line. See bench/README.md.

mod inputs;
mod kernels;
mod measure;
#[cfg(feature = "porep")]
mod porep;

use std::process::exit;

use blstrs::{G1Projective, G2Projective};
use measure::Report;

const USAGE: &str = "\
usage: cuzk-peers PEER WORK [--log-n N] [--n N] [--threads N] [--repeat K] [--seed S]
                            [--c1 FILE] [--params FILE]
PEER  bellperson or blst
WORK  fr-mul-chain fr-mul-8 fp-mul-chain fp-mul-8 (blst only), ntt (bellperson only), msm-g1 msm-g2 msm-real,
      and with the feature porep, bellperson only: synthesis and proof of the PoRep circuit from a phase-1
      output (--c1); a proof also needs the Groth16 parameters (--params)
Sizes: --log-n 20 unless given; msm-real: 2685673 unless --n is given; field multiplications: 2^log_n each.";

pub struct Options {
    pub log_n: u32,
    pub n: usize,
    pub threads: usize,
    pub repeat: usize,
    pub seed: u64,
    pub c1: Option<String>,
    pub params: Option<String>,
}

fn fail(message: &str) -> ! {
    eprintln!("cuzk-peers: {message}");
    exit(2)
}

fn number(text: &str, option: &str, low: u64, high: u64) -> u64 {
    match text.parse() {
        Ok(value) if (low..=high).contains(&value) => value,
        _ => fail(&format!("{option}: '{text}', expected a whole number from {low} to {high}")),
    }
}

fn parse(arguments: &[String]) -> Options {
    let cpus = std::thread::available_parallelism().map_or(1, |n| n.get());
    let mut o =
        Options { log_n: 20, n: 2_685_673, threads: cpus, repeat: 1, seed: 1, c1: None, params: None };
    let mut rest = arguments.iter();
    while let Some(option) = rest.next() {
        let value = rest.next().unwrap_or_else(|| fail(&format!("{option} needs a value\n{USAGE}")));
        match option.as_str() {
            "--log-n" => o.log_n = number(value, option, 1, 26) as u32,
            "--n" => o.n = number(value, option, 1, 1 << 26) as usize,
            "--threads" => o.threads = number(value, option, 1, 1024) as usize,
            "--repeat" => o.repeat = number(value, option, 1, 1000) as usize,
            "--seed" => o.seed = number(value, option, 0, u64::MAX),
            "--c1" => o.c1 = Some(value.clone()),
            "--params" => o.params = Some(value.clone()),
            _ => fail(&format!("unknown option {option}\n{USAGE}")),
        }
    }
    o
}

#[cfg(feature = "porep")]
fn porep_work(work: &str, o: &Options) -> kernels::Measured {
    porep::run(work, o).unwrap_or_else(|e| fail(&format!("{work}: {e}")))
}

#[cfg(not(feature = "porep"))]
fn porep_work(work: &str, _: &Options) -> kernels::Measured {
    fail(&format!("{work} needs a build with --features porep"))
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.len() < 2 {
        fail(USAGE);
    }
    let (peer, work) = (arguments[0].as_str(), arguments[1].as_str());
    let o = parse(&arguments[2..]);

    // All thread pools are made on first use, after this.
    std::env::set_var("RAYON_NUM_THREADS", o.threads.to_string());
    std::env::set_var("EC_GPU_NUM_THREADS", o.threads.to_string());
    let cpus = std::thread::available_parallelism().map_or(1, |n| n.get());
    if peer == "blst" && o.threads != 1 && o.threads != cpus {
        fail(&format!("blst uses 1 thread or one per CPU ({cpus}); restrict the CPUs with taskset"));
    }

    let size = 1usize << o.log_n;
    let (seed, threads, repeat) = (o.seed, o.threads, o.repeat);
    let (n, times, checksum) = match (peer, work) {
        ("blst", "fr-mul-chain") => kernels::fr_mul_blst(seed, size, 1, repeat),
        ("blst", "fr-mul-8") => kernels::fr_mul_blst(seed, size, 8, repeat),
        ("blst", "fp-mul-chain") => kernels::fp_mul_blst(seed, size, 1, repeat),
        ("blst", "fp-mul-8") => kernels::fp_mul_blst(seed, size, 8, repeat),
        ("blst", "msm-g1") => kernels::msm_blst::<G1Projective>(seed, size, false, threads, repeat),
        ("blst", "msm-g2") => kernels::msm_blst::<G2Projective>(seed, size, false, threads, repeat),
        ("blst", "msm-real") => kernels::msm_blst::<G1Projective>(seed, o.n, true, threads, repeat),
        ("bellperson", "msm-g1") => kernels::msm_bellperson::<G1Projective>(seed, size, false, repeat),
        ("bellperson", "msm-g2") => kernels::msm_bellperson::<G2Projective>(seed, size, false, repeat),
        ("bellperson", "msm-real") => kernels::msm_bellperson::<G1Projective>(seed, o.n, true, repeat),
        ("bellperson", "ntt") => kernels::ntt_bellperson(seed, size, repeat),
        ("bellperson", "synthesis" | "proof") => porep_work(work, &o),
        ("bellperson" | "blst", _) => fail(&format!("{peer} has no work '{work}'\n{USAGE}")),
        _ => fail(&format!("unknown peer '{peer}'\n{USAGE}")),
    };
    Report { peer, work, n, threads, seed, times, checksum }.print();
}
