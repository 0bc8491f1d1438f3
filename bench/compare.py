#!/usr/bin/env python3
"""Run cuzk's benchmarks and the same work done by other libraries, side by side.

Builds the programs under bench/peers, runs every program in turn (one process at a time, K rounds), checks that
all results agree bit for bit, and writes results.md, chart.svg and raw.jsonl to an output folder. Needs Python 3
alone, and cargo and go for the peers. See bench/README.md.
"""

import argparse
import hashlib
import html
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import namedtuple
from dataclasses import dataclass
from pathlib import Path

BENCH = Path(__file__).resolve().parent
ROOT = BENCH.parent
RUST, GO = BENCH / "peers" / "rust", BENCH / "peers" / "go"

PROGRAMS = ["cuzk", "bellperson", "blst", "gnark"]  # in the order of table and chart
COLOURS = {"cuzk": "#0a7d5c", "bellperson": "#b5651d", "blst": "#3465a4", "gnark": "#75507b"}

# A work: its name in the output, a title, items per unit of size (n), sizes (exponents of two; None: one size that
# is the work's own), repetitions inside one process, cuzk-bench's arguments (PROVE: it is `cuzk prove`; None: cuzk
# does not offer it by itself), and which peers do it.
@dataclass(frozen=True, eq=False)
class Work:
    name: str
    title: str
    items: int
    sizes: list
    inner: int
    cuzk: list
    peers: list


PROVE = ["prove"]
SYNTHESES = 5  # by cuzk in one process, after the first

WORKS = [
    Work("fr-mul-chain", "Fr multiplication, one after the other", 1, [20], 5,
         ["kernels", "--only", "field"], ["blst", "gnark"]),
    Work("fr-mul-8", "Fr multiplication, eight independent", 8, [20], 5,
         ["kernels", "--only", "field"], ["blst", "gnark"]),
    Work("fp-mul-chain", "Fp multiplication, one after the other", 1, [20], 5,
         ["kernels", "--only", "field"], ["blst", "gnark"]),
    Work("fp-mul-8", "Fp multiplication, eight independent", 8, [20], 5,
         ["kernels", "--only", "field"], ["blst", "gnark"]),
    Work("ntt", "Transform over Fr", 1, [20, 22], 3,
         ["kernels", "--only", "ntt"], ["bellperson", "gnark"]),
    Work("msm-g1", "Multi-scalar multiplication in G1", 1, [20], 3,
         ["kernels", "--only", "msm-g1"], ["bellperson", "blst", "gnark"]),
    Work("msm-g2", "Multi-scalar multiplication in G2", 1, [20], 1,
         ["kernels", "--only", "msm-g2"], ["bellperson", "blst", "gnark"]),
    Work("msm-real", "The same in G1, scalars as in a PoRep witness", 1, None, 3,
         ["kernels", "--only", "msm-real"], ["bellperson", "blst", "gnark"]),
    Work("synthesis", "Synthesis of the PoRep circuit, all values stored", 1, None, 1,
         ["synth-only", "--form", "full"], ["bellperson"]),
    Work("synthesis-compact", "Synthesis of the PoRep circuit in the form the prover takes", 1, None, 1,
         ["synth-only", "--form", "compact"], ["bellperson"]),
    Work("synthesis-pce", "The same from recorded matrices", 1, None, 1,
         ["synth-only", "--path", "pce", "--form", "full"], ["bellperson"]),
    Work("synthesis-vec", "The same constraint by constraint, linear combinations on the heap", 1, None, 1,
         ["synth-only", "--path", "generic", "--lc", "vec"], ["bellperson"]),
    Work("proof", "PoRep proof", 1, None, 1, PROVE, ["bellperson"]),
]
SYNTHESIS = {"synthesis", "synthesis-compact", "synthesis-pce", "synthesis-vec"}
POREP = SYNTHESIS | {"proof"}  # from a phase-1 output
SIZED = {"ntt", "msm-g1", "msm-g2"}  # those that --sizes changes


def fail(message):
    print(f"compare.py: {message}", file=sys.stderr)
    sys.exit(2)


def parse_arguments():
    def names(allowed):
        def split(text):
            words = text.split(",")
            for word in words:
                if word not in allowed:
                    raise argparse.ArgumentTypeError(f"'{word}', expected some of {', '.join(allowed)}")
            return words
        return split

    def sizes(text):
        try:
            values = [int(word) for word in text.split(",")]
        except ValueError:
            values = [0]
        if not all(1 <= value <= 26 for value in values):
            raise argparse.ArgumentTypeError(f"'{text}', expected exponents from 1 to 26")
        return values

    def count(low, high):
        def number(text):
            if not text.isdigit() or not low <= int(text) <= high:
                raise argparse.ArgumentTypeError(f"'{text}', expected a whole number from {low} to {high}")
            return int(text)
        return number

    kernels = [work.name for work in WORKS if work.name not in POREP]
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0],
                                epilog="Example: bench/compare.py --only ntt,msm-g1 --sizes 18 --rounds 5")
    p.add_argument("--only", type=names([work.name for work in WORKS]), metavar="WORK[,WORK...]",
                   help="works to run (default: all but synthesis and proof)")
    p.add_argument("--peers", type=names(PROGRAMS[1:]), default=PROGRAMS[1:], metavar="PEER[,PEER...]",
                   help="peers to compare with (default: bellperson,blst,gnark)")
    p.add_argument("--sizes", type=sizes, metavar="N[,N...]",
                   help="sizes of ntt, msm-g1 and msm-g2 as exponents of two")
    p.add_argument("--real-n", type=count(1, 1 << 26), default=2685673, metavar="N", help="scalars of msm-real")
    p.add_argument("--rounds", type=count(1, 100), default=3, metavar="K",
                   help="times every program runs (default 3)")
    p.add_argument("--threads", type=count(1, 1024), default=1, metavar="N", help="threads (default 1)")
    p.add_argument("--c1", default=str(ROOT / "tests/data/c1/2k-v1_1/c1.inner.json"), metavar="FILE",
                   help="bare phase-1 output for synthesis and proof")
    p.add_argument("--miner-id", type=count(0, 2**63 - 1), default=1000, metavar="N", help="its miner (default 1000)")
    p.add_argument("--sector-num", type=count(0, 2**63 - 1), default=1, metavar="N", help="its number (default 1)")
    p.add_argument("--params", metavar="FILE", help="Groth16 parameters for proof, under their standard name")
    p.add_argument("--out", default=str(ROOT / "out/bench"), metavar="DIR", help="output (default out/bench)")
    p.add_argument("--cuzk-bench", default=str(ROOT / "build/cuzk-bench"), metavar="PATH",
                   help="cuzk's benchmark program (default build/cuzk-bench)")
    a = p.parse_args()
    a.only = a.only or kernels
    if "proof" in a.only and not a.params:
        p.error("--only proof needs --params")
    cpus = len(os.sched_getaffinity(0))
    if a.threads > cpus:
        p.error(f"--threads {a.threads}: there are {cpus} CPUs")
    return a


# --- building ------------------------------------------------------------------------------------------------


def needed_peers(a):
    works = [work for work in WORKS if work.name in a.only]
    return {peer for work in works for peer in work.peers if peer in a.peers}


def require(tool, what):
    if not shutil.which(tool):
        others = [peer for peer in PROGRAMS[1:] if peer not in what]
        fail(f"{tool} is not installed; it builds {' and '.join(what)}. Install it, or leave them out with "
             f"--peers {','.join(others)}")


def build(a):
    """Build what is needed and return the program of each name."""
    if not os.access(a.cuzk_bench, os.X_OK):
        fail(f"{a.cuzk_bench} is not there; build cuzk first ('make'), or give --cuzk-bench")
    programs = {"cuzk": a.cuzk_bench}
    peers = needed_peers(a)
    rust, go = sorted(peers & {"bellperson", "blst"}), sorted(peers & {"gnark"})
    if rust:
        require("cargo", rust)
    if go:
        require("go", go)
    if rust:
        target = Path(a.out) / "build" / "rust"
        command = ["cargo", "build", "--release", "--quiet", "--manifest-path", str(RUST / "Cargo.toml"),
                   "--target-dir", str(target)]
        duration = "1 to 2 minutes"
        if POREP & set(a.only):
            command += ["--features", "porep"]
            duration = "4 to 8 minutes"
        print(f"building the Rust peers (the first time {duration} on two cores) ...", flush=True)
        if subprocess.run(command).returncode != 0:
            fail("the Rust peers do not build")
        programs.update(dict.fromkeys(rust, str(target / "release" / "cuzk-peers")))
    if go:
        program = Path(a.out).resolve() / "build" / "go-peers"
        print("building the Go peer (the first time about 1 minute) ...", flush=True)
        if subprocess.run(["go", "build", "-buildvcs=false", "-o", str(program), "."], cwd=GO).returncode != 0:
            fail("the Go peer does not build")
        programs["gnark"] = str(program)
    return programs


# --- running -------------------------------------------------------------------------------------------------


Case = namedtuple("Case", "work log_n")  # log_n: None for a work with a size of its own


def cases(a):
    for work in WORKS:
        if work.name not in a.only:
            continue
        sizes = a.sizes if a.sizes and work.name in SIZED else work.sizes
        for log_n in sizes or [None]:
            yield Case(work, log_n)


def command_of(a, programs, case, program):
    work, log_n = case
    if program == "cuzk" and work.cuzk is PROVE:
        r, s = "17" * 31 + "00", "2b" * 31 + "00"
        return [str(Path(programs[program]).with_name("cuzk")), "prove", "--json", "--quiet", "--c1", a.c1,
                "--params", str(Path(a.params).parent), "--threads", str(a.threads),
                "--miner-id", str(a.miner_id), "--sector-num", str(a.sector_num),
                "--insecure-randomness", f"{r},{s}", "--i-know-this-is-insecure"]
    options = ["--threads", str(a.threads)]
    if program == "cuzk":
        command = [programs[program]] + work.cuzk + options + ["--json", "-", "--quiet"]
        if work.name in POREP:
            return command + ["--c1", a.c1, "--iterations", str(1 + SYNTHESES)]
        command += ["--repeat", str(work.inner)]
        if work.name in SIZED:
            command += ["--log-n", str(log_n)]
        if work.name == "msm-real":
            command += ["--real-n", str(a.real_n)]
        return command
    command = [programs[program], program, "synthesis" if work.name in SYNTHESIS else work.name] + options
    command += ["--repeat", str(work.inner)]
    if log_n is not None:
        command += ["--log-n", str(log_n)]
    if work.name == "msm-real":
        command += ["--n", str(a.real_n)]
    if work.name in POREP:
        command += ["--c1", a.c1]
    if work.name == "proof":
        command += ["--params", a.params]
    return command


def run_process(command, restrict):
    """Standard output of a command, the CPU seconds of the process and its peak memory in bytes."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(command, stdout=out, stderr=err, preexec_fn=restrict)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        text = out.read()
        if process.returncode != 0:
            fail(f"{' '.join(command)} exited with {process.returncode}: {(err.read() + text).strip()}")
    return text, usage.ru_utime + usage.ru_stime, 1024 * usage.ru_maxrss


def result_of_prove(a, output, cpu):
    """The output of `cuzk prove` as a result. The vanilla proofs are checked before and the proof is verified
    after what the peers do, so these times are left out; the CPU time is that of the whole process."""
    phases = output["seconds"]
    wall = phases["total"] - phases["vanilla"] - phases["verification"]
    return {"peer": "cuzk", "work": "proof", "n": output["partitions"], "threads": a.threads, "seconds": [wall],
            "cpu_seconds": [cpu], "checksum": hashlib.sha256(bytes.fromhex(output["proof"])).hexdigest()}


def result_of_synthesis(a, case, output):
    """The output of `cuzk-bench synth-only` as a result: of the iterations that find memory and matrices."""
    kept = [i for i in output["iterations"] if i["kept_memory"]]
    return {"peer": "cuzk", "work": case.work.name, "n": kept[0]["circuits"] * kept[0]["constraints"],
            "threads": a.threads, "seconds": [i["synth_s"] for i in kept],
            "cpu_seconds": [i["synth_cpu_s"] for i in kept], "checksum": None}


def run(a, programs, case, program):
    """One process; its result and, from cuzk-bench, what the machine is."""
    cpus = sorted(os.sched_getaffinity(0))
    # blst has a thread per CPU it may use, so that is how the number of threads is held for all.
    restrict = (lambda: os.sched_setaffinity(0, cpus[:a.threads])) if 1 < a.threads < len(cpus) else None
    text, cpu, memory = run_process(command_of(a, programs, case, program), restrict)
    output = json.loads(text)
    if "results" in output:
        # The last one is that of the best code variant.
        result = [r for r in output["results"] if r["work"] == case.work.name][-1]
    elif "iterations" in output:
        result = result_of_synthesis(a, case, output)
    elif program == "cuzk":
        result = result_of_prove(a, output, cpu)
    else:
        result = output
    result["memory"] = memory
    return result, output.get("machine")


def programs_for(case, programs):
    for program in PROGRAMS:
        if program not in programs:
            continue
        if program == "cuzk" and case.work.cuzk or program in case.work.peers:
            yield program


def run_all(a, programs, raw):
    todo = list(cases(a))
    results, machine = {}, None
    for round_number in range(a.rounds):
        for case in todo:
            for program in programs_for(case, programs):
                size = f" 2^{case.log_n}" if case.log_n else ""
                print(f"round {round_number + 1} of {a.rounds}: {case.work.name}{size}, {program} ... ", end="",
                      flush=True)
                result, description = run(a, programs, case, program)
                machine = description or machine
                result["program"], result["round"] = program, round_number + 1
                raw.write(json.dumps(result) + "\n")
                print(seconds(statistics.median(result["seconds"])), flush=True)
                results.setdefault((case, program), []).append(result)
    return todo, results, machine


def check(todo, results):
    """The works whose programs do not agree on the result."""
    wrong = []
    for case in todo:
        sums = {(r["checksum"], r["n"]) for (c, _), runs in results.items() if c == case for r in runs
                if r["checksum"]}
        if len(sums) > 1:
            wrong.append(case)
    return wrong


# --- showing -------------------------------------------------------------------------------------------------


def seconds(value):
    for limit, unit in ((1, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if value >= limit:
            return f"{value / limit:.3g} {unit}" if value / limit < 1000 else f"{value / limit:.0f} {unit}"
    return f"{value / 1e-9:.3g} ns"


Row = namedtuple("Row", "case program wall least most cpu item memory")


def rows_of(todo, results):
    for case in todo:
        for program in PROGRAMS:
            runs = results.get((case, program))
            if not runs:
                continue
            wall = [s for r in runs for s in r["seconds"]]
            cpu = [s for r in runs for s in r["cpu_seconds"]]
            cpu_median = statistics.median(cpu)
            yield Row(case, program, statistics.median(wall), min(wall), max(wall), cpu_median,
                      cpu_median / (runs[0]["n"] * case.work.items), max(r["memory"] for r in runs))


def size_of(case, results):
    if case.log_n is not None:
        return f"2^{case.log_n}"
    return next(f"{runs[0]['n']:,}" for (c, _), runs in results.items() if c == case)


def versions(programs):
    lines = []
    if {"bellperson", "blst"} & set(programs):
        rustc = subprocess.run(["rustc", "--version"], stdout=subprocess.PIPE, text=True).stdout.strip()
        crates = re.findall(r'^(\S+) = (?:\{ version = )?"=([0-9.]+)"', (RUST / "Cargo.toml").read_text(), re.M)
        wanted = ("bellperson", "blst", "blstrs", "ec-gpu-gen", "filecoin-proofs-api", "storage-proofs-porep")
        lines.append(", ".join(f"{n} {v}" for n, v in crates if n in wanted) + f" ({rustc})")
    if "gnark" in programs:
        go = subprocess.run(["go", "version"], stdout=subprocess.PIPE, text=True).stdout.strip()
        version = re.search(r"gnark-crypto v([0-9.]+)", (GO / "go.mod").read_text()).group(1)
        lines.append(f"gnark-crypto {version} ({go})")
    return lines


def counted(n, noun):
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def write_markdown(path, a, programs, rows, results, m, loads):
    lines = ["# cuzk and other libraries, side by side", ""]
    cuzk = subprocess.run([programs["cuzk"], "--version"], stdout=subprocess.PIPE, text=True).stdout.split()
    lines += [f"- cuzk {cuzk[1]} ({cuzk[-1]})" + (f", {m['compiler']}" if m else "")]
    if m:
        lines += [f"- {m['cpu']}, {m['cpus']} CPUs, {m['memory_bytes'] / 2**30:.1f} GiB, {m['kernel']}, "
                  f"huge pages {m['huge_pages']}"]
    lines += [f"- {line}" for line in versions(programs)]
    lines += [f"- {counted(a.threads, 'thread')}, {counted(a.rounds, 'round')}, load average {loads[0]:.2f} before and "
              f"{loads[1]:.2f} after"]
    if loads[0] > 0.5:
        lines += ["- **The machine was not idle: trust the CPU times more than the wall times.**"]
    columns = ["work", "size", "program", "wall", "least to most", "CPU", "CPU an item", "memory", "wall / cuzk",
               "CPU / cuzk"]
    lines += ["", "Medians. An item is a multiplication, coefficient, point, constraint or partition. Memory is the "
              "most the process had, inputs", "included. The last columns: how many times as long as cuzk.", "",
              f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    ours = {row.case: row for row in rows if row.program == "cuzk"}
    for row in rows:
        base = ours.get(row.case)
        ratios = (f"{row.wall / base.wall:.2f}", f"{row.cpu / base.cpu:.2f}") if base and base.cpu else ("", "")
        name = f"**{row.program}**" if row.program == "cuzk" else row.program
        lines.append(f"| {row.case.work.name} | {size_of(row.case, results)} | {name} | {seconds(row.wall)} | "
                     f"{seconds(row.least)} to {seconds(row.most)} | {seconds(row.cpu)} | "
                     f"{seconds(row.item)} | {row.memory / 2**20:.0f} MiB | {ratios[0]} | {ratios[1]} |")
    path.write_text("\n".join(lines) + "\n")


def write_chart(path, a, rows, results):
    """Horizontal bars, a group for each work; in each group the slowest fills the width."""
    width, label, bar, gap, chart = 760, 96, 16, 5, 420
    by_cpu = a.threads == 1  # of one thread the CPU time is the better measure: others' work does not count
    value = (lambda row: row.cpu) if by_cpu else (lambda row: row.wall)
    out, y = [], 74
    groups = {}
    for row in rows:
        groups.setdefault(row.case, []).append(row)
    for case, group in groups.items():
        longest = max(value(row) for row in group) or 1
        base = next((value(row) for row in group if row.program == "cuzk"), None)
        out.append(f'<text x="16" y="{y}" class="head">{html.escape(case.work.title)}, '
                   f'{html.escape(size_of(case, results))}</text>')
        y += 10
        for row in group:
            length = max(1.0, chart * value(row) / longest)
            text = seconds(value(row))
            if base and row.program != "cuzk":
                text += f'<tspan dx="10" class="note">{value(row) / base:.2f} ×</tspan>'
            out.append(f'<text x="{label}" y="{y + bar - 4}" text-anchor="end">{row.program}</text>'
                       f'<rect x="{label + 8}" y="{y}" width="{length:.1f}" height="{bar}" rx="2" '
                       f'fill="{COLOURS[row.program]}"/>'
                       f'<text x="{label + 14 + length:.1f}" y="{y + bar - 4}">{text}</text>')
            y += bar + gap
        y += 22
    measure = "CPU time" if by_cpu else "wall time"
    threads = counted(a.threads, "thread")
    style = ("text{font:13px sans-serif;fill:#222}.head{font-weight:600}.title{font-size:16px;font-weight:600}"
             ".note{fill:#666}")
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{y}" viewBox="0 0 {width} {y}">\n'
        f'<style>{style}</style>\n<rect width="{width}" height="{y}" fill="#fff"/>\n'
        f'<text x="16" y="24" class="title">{measure[0].upper() + measure[1:]}, {threads}: shorter is better</text>\n'
        '<text x="16" y="42" class="note">Median of all rounds; × = times as long as cuzk. Each group has its own '
        'scale.</text>\n' + "\n".join(out) + "\n</svg>\n")


def main():
    a = parse_arguments()
    out = Path(a.out)
    out.mkdir(parents=True, exist_ok=True)
    programs = build(a)
    before = os.getloadavg()[0]
    if before > 0.5:
        print(f"compare.py: the load average is {before:.2f}: the machine is not idle", file=sys.stderr)
    start = time.monotonic()
    with open(out / "raw.jsonl", "w") as raw:
        todo, results, machine = run_all(a, programs, raw)
    rows = list(rows_of(todo, results))
    write_markdown(out / "results.md", a, programs, rows, results, machine, (before, os.getloadavg()[0]))
    write_chart(out / "chart.svg", a, rows, results)
    print(f"{time.monotonic() - start:.0f} s; {out / 'results.md'}, {out / 'chart.svg'}, {out / 'raw.jsonl'}")
    wrong = check(todo, results)
    for case in wrong:
        print(f"compare.py: {case.work.name}: the programs do not agree on the result", file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
