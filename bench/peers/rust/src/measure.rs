//! Timing, and the one output line.

use std::time::Instant;

fn cpu_seconds() -> f64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let status = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut t) };
    assert_eq!(status, 0, "clock_gettime");
    t.tv_sec as f64 + 1e-9 * t.tv_nsec as f64
}

/// Wall and CPU seconds (of the whole process) of each repetition.
#[derive(Default)]
pub struct Times {
    wall: Vec<f64>,
    cpu: Vec<f64>,
}

impl Times {
    #[cfg(feature = "porep")]
    pub fn append(&mut self, other: &mut Times) {
        self.wall.append(&mut other.wall);
        self.cpu.append(&mut other.cpu);
    }
}

/// A running clock.
#[derive(Clone)]
pub struct Running {
    wall: Instant,
    cpu: f64,
}

impl Running {
    pub fn start() -> Running {
        Running { cpu: cpu_seconds(), wall: Instant::now() }
    }

    pub fn stop(self, times: &mut Times) {
        times.wall.push(self.wall.elapsed().as_secs_f64());
        times.cpu.push(cpu_seconds() - self.cpu);
    }
}

pub struct Report<'a> {
    pub peer: &'a str,
    pub work: &'a str,
    pub n: usize,
    pub threads: usize,
    pub seed: u64,
    pub times: Times,
    pub checksum: String,
}

impl Report<'_> {
    pub fn print(&self) {
        let list = |values: &[f64]| {
            let texts: Vec<String> = values.iter().map(|v| format!("{v:.9}")).collect();
            format!("[{}]", texts.join(","))
        };
        let log_n = if self.n.is_power_of_two() { self.n.ilog2().to_string() } else { "null".into() };
        println!(
            "{{\"peer\":\"{}\",\"work\":\"{}\",\"n\":{},\"log_n\":{},\"threads\":{},\"seed\":{},\
             \"seconds\":{},\"cpu_seconds\":{},\"checksum\":\"{}\"}}",
            self.peer,
            self.work,
            self.n,
            log_n,
            self.threads,
            self.seed,
            list(&self.times.wall),
            list(&self.times.cpu),
            self.checksum
        );
    }
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
