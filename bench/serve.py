#!/usr/bin/env python3
"""The daemon beside `latebind bench embed` in process, in turn, in one run.

Load comes from wrk (Debian's package), which takes a few per cent of a processor and is not the bottleneck; clients send
the corpus in its own order, in process it is sorted. Texts per second are read from the daemon's own counters over each
interval. Figures are medians over the rounds; the ratio is what counts, on a machine that does nothing else.

usage: bench/serve.py MODEL CORPUS [--program build/release/bin/latebind] [--rounds 3] [--seconds 10] [--format base64]
                      [--json] [-- OPTION…]   options for both, such as --precision bf16
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Clients, texts of a request, and the ratio that is asked for.
CASES = [(4, 32, 0.95), (64, 1, 0.90), (16, 1, 0.80), (1, 32, 0.80)]


def in_process(arguments, options, hint):
    command = [arguments.program, "bench", "embed", "--json", "--strict", "--model", arguments.model, "--repeat", "2",
               "--singles", "200", "--hint", hint, *options, arguments.corpus]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)


class Daemon:
    def __init__(self, arguments, options):
        self.folder = tempfile.TemporaryDirectory()
        ready = Path(self.folder.name) / "ready"
        begin = time.monotonic()
        self.process = subprocess.Popen(
            [arguments.program, "serve", "-q", "--model", f"model={arguments.model}", "--listen", "127.0.0.1:0",
             "--ready-file", ready, *options], stderr=subprocess.DEVNULL)
        while not ready.exists():
            if self.process.poll() is not None:
                sys.exit("the daemon did not start")
            time.sleep(0.002)
        self.start_ms = (time.monotonic() - begin) * 1000
        self.url = ready.read_text().split()[0]

    def status(self):
        with urllib.request.urlopen(self.url + "/latebind/status") as answer:
            return json.load(answer)

    def end(self):
        self.process.terminate()
        self.process.wait()
        self.folder.cleanup()


def load(daemon, arguments, clients, texts, seconds):
    before = daemon.status()["totals"]
    begin = time.monotonic()
    command = ["wrk", "-t1", f"-c{clients}", f"-d{seconds}s", "--latency", "-s", HERE / "serve_load.lua", daemon.url,
               "--", str(texts), arguments.corpus, "model", arguments.format]
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout
    took = time.monotonic() - begin
    after = daemon.status()["totals"]
    if "Non-2xx" in said or "Socket errors" in said:
        sys.exit(said)
    delta = {key: after[key] - before[key] for key in after}
    shares = dict(re.findall(r"(50|99)%\s+([\d.]+m?u?s)", said))
    unit = {"us": 1e-3, "ms": 1, "s": 1e3}
    ms = {share: float(re.match(r"[\d.]+", text)[0]) * unit[text.lstrip("0123456789.")] for share, text in shares.items()}
    return {"tokens_per_s": delta["tokens"] / took, "padding": delta["padded_tokens"] / max(1, delta["batch_tokens"]),
            "rows": delta["texts"] / max(1, delta["batches"]), "p50_ms": ms["50"], "p99_ms": ms["99"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("corpus")
    parser.add_argument("--program", default=str(HERE.parent / "build/release/bin/latebind"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--format", choices=["float", "base64"], default="base64")
    parser.add_argument("--json", action="store_true")
    own, options = (sys.argv[1:], [])
    if "--" in own:
        own, options = own[: own.index("--")], own[own.index("--") + 1 :]
    arguments = parser.parse_args(own)
    if not shutil.which("wrk"):
        sys.exit("wrk is missing: apt-get install wrk")

    rounds = []
    for number in range(arguments.rounds):
        best = max((in_process(arguments, options, hint) for hint in ("throughput", "latency")),
                   key=lambda figures: figures["tokens_per_s"])
        single = in_process(arguments, options, "latency")
        daemon = Daemon(arguments, options)
        try:
            load(daemon, arguments, 4, 32, 5)  # every shape has been seen once, as in the second pass in process
            cases = {f"{clients}x{texts}": load(daemon, arguments, clients, texts, arguments.seconds)
                     for clients, texts, _ in CASES}
            lone = load(daemon, arguments, 1, 1, arguments.seconds)
            resident = daemon.status()["memory"]["resident_bytes"] / (1 << 20)
        finally:
            daemon.end()
        rounds.append({"ratios": {name: case["tokens_per_s"] / best["tokens_per_s"] for name, case in cases.items()},
                       "cases": cases, "lone_p50_ms": lone["p50_ms"], "in_process_p50_ms": single["p50_ms"],
                       "extra_mb": resident - best["rss_mb"],
                       "start_ratio": daemon.start_ms / single["start_cached_ms"] if single["start_cached_ms"] else 0})
        print(f"round {number + 1} of {arguments.rounds}", file=sys.stderr)

    def median(of):
        return statistics.median(of(one) for one in rounds)

    summary = {"processors": os.cpu_count(),
               "ratios": {name: round(median(lambda one, name=name: one["ratios"][name]), 3) for name in rounds[0]["ratios"]},
               "lone_extra_ms": round(median(lambda one: one["lone_p50_ms"] - one["in_process_p50_ms"]), 3),
               "extra_mb": round(median(lambda one: one["extra_mb"]), 1),
               "padding": {name: round(median(lambda one, name=name: one["cases"][name]["padding"]), 3)
                           for name in rounds[0]["cases"]}}
    if arguments.json:
        print(json.dumps(summary, indent=2))
        return
    for clients, texts, wanted in CASES:
        name = f"{clients}x{texts}"
        print(f"{clients:3} clients, {texts:2} texts a request: {summary['ratios'][name]:.3f} of in process "
              f"(asked: {wanted}), {100 * summary['padding'][name]:.1f} % padding")
    print(f"a lone text: p50 {summary['lone_extra_ms']:+.2f} ms beside in process (asked: at most 0.3)")
    print(f"resident memory: {summary['extra_mb']:+.0f} MiB beside in process (asked: at most 40)")


if __name__ == "__main__":
    main()
