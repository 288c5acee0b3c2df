#!/usr/bin/env python3
"""The daemon beside the engine in process, in turn, in one run; then, where asked, overload and a soak.

Load comes from wrk (Debian's package), which takes a few per cent of a processor and is not the bottleneck; clients send
the corpus in its own order, `latebind bench embed` sorts it. One daemon serves all rounds, so that it has met the shapes
that it meets, as the second pass in process has. Texts and tokens are read from the daemon's own counters. Figures are
medians over the rounds; the ratios are what counts, on a machine that does nothing else. A virtual machine is twice as
fast in one second as in another: so each load is divided by what the engine does in process just before and just behind
it, and the range over the rounds is told, too.

usage: bench/serve.py MODEL CORPUS [--build build/release] [--library PATH] [--rounds 5] [--seconds 6] [--json]
                      [--overload-seconds 60 [--overload-times 10]] [--soak-minutes 30] [-- OPTION…]
OPTION: of both, as --precision bf16
"""

import argparse
import functools
import http.client
import itertools
import json
import os
import random
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
# Of the corpus, for the engine beside each load: two seconds of work.
BESIDE_TEXTS = 700


def say(text):
    print(text, file=sys.stderr)


def median_of(rounds, of):
    return statistics.median(of(one) for one in rounds)


def in_process(setup, hint, *more):
    command = [setup.program, "bench", "embed", "--json", "--strict", "--model", setup.model, "--repeat", "2", "--singles", "0",
               "--hint", hint, *more, *setup.options, setup.corpus]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)


class Daemon:
    def __init__(self, setup, *more):
        self.folder = tempfile.TemporaryDirectory()
        ready = Path(self.folder.name) / "ready"
        begin = time.monotonic()
        self.process = subprocess.Popen(
            [setup.program, "serve", "-q", "--strict", "--model", f"model={setup.model}", "--listen", "127.0.0.1:0",
             "--ready-file", ready, *setup.options, *more], stderr=subprocess.DEVNULL)
        while not ready.exists():
            if self.process.poll() is not None:
                sys.exit("the daemon did not start")
            time.sleep(0.002)
        self.start_ms = (time.monotonic() - begin) * 1000
        self.url = ready.read_text().split()[0]
        self.port = int(self.url.rsplit(":", 1)[1])

    def status(self):
        with urllib.request.urlopen(self.url + "/latebind/status") as answer:
            return json.load(answer)

    def batch_seconds(self):
        """Sum and number of the runs so far."""
        with urllib.request.urlopen(self.url + "/metrics") as answer:
            text = answer.read().decode()
        return [sum(float(value) for value in re.findall(rf"^latebind_batch_duration_seconds_{what}\S* (\S+)$", text, re.M))
                for what in ("sum", "count")]

    def resident_mb(self):
        return self.status()["memory"]["resident_bytes"] / (1 << 20)

    def end(self):
        self.process.terminate()
        if self.process.wait() != 0:
            sys.exit("the daemon did not end well")
        self.folder.cleanup()


def wrk(setup, daemon, clients, texts, seconds, pause_ms=0):
    return ["wrk", "-t1", "--timeout", "60s", f"-c{clients}", f"-d{seconds}s", "-s", HERE / "serve_load.lua", daemon.url,
            "--", str(texts), setup.corpus, "model", setup.format, str(pause_ms)]


def load(setup, daemon, clients, texts, seconds):
    """The rate while all clients are at work: neither their start nor what they leave half done at the end counts."""
    process = subprocess.Popen(wrk(setup, daemon, clients, texts, seconds + 2), stdout=subprocess.PIPE, encoding="utf-8")
    time.sleep(1)
    before, begin = daemon.status()["totals"], time.monotonic()
    time.sleep(seconds)
    after, took = daemon.status()["totals"], time.monotonic() - begin
    said, _ = process.communicate()
    if process.returncode != 0 or "Non-2xx" in said or "Socket errors" in said:
        sys.exit(said)
    delta = {key: after[key] - before[key] for key in after}
    return {"tokens_per_s": delta["tokens"] / took, "texts_per_s": delta["texts"] / took,
            "padding": delta["padded_tokens"] / max(1, delta["batch_tokens"])}


def requests_of(said):
    return int(re.search(r"(\d+) requests in", said)[1])


class Client:
    """One text at a time; each call gives the status and the seconds that it took."""

    def __init__(self, setup, daemon):
        self.connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=120)
        self.texts = [line for line in Path(setup.corpus).read_text(encoding="utf-8").split("\n") if line]
        self.random = random.Random(1)

    def ask(self, texts=1):
        some = self.random.choices(self.texts, k=texts)
        body = json.dumps({"model": "model", "input": some, "encoding_format": "base64"})
        begin = time.monotonic()
        self.connection.request("POST", "/v1/embeddings", body, {"content-type": "application/json"})
        answer = self.connection.getresponse()
        answer.read()
        return answer.status, time.monotonic() - begin, answer.headers


def percentile(values, percent):
    return sorted(values)[(len(values) - 1) * percent // 100] if values else 0.0


def beside_bulk(setup, daemon, seconds):
    """A lone text while one client's requests of 1,000 texts keep the queue full."""
    bulk = subprocess.Popen(wrk(setup, daemon, 2, 1000, seconds + 2), stdout=subprocess.DEVNULL)
    time.sleep(1)
    before = daemon.batch_seconds()
    client, times = Client(setup, daemon), []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        status, took, _ = client.ask()
        if status != 200:
            sys.exit(f"a lone text beside a bulk client got {status}")
        times.append(took)
        time.sleep(0.02)
    after = daemon.batch_seconds()
    bulk.wait()
    batch = (after[0] - before[0]) / max(1, after[1] - before[1])
    return {"lone_p95_ms": percentile(times, 95) * 1000, "batch_ms": batch * 1000,
            "batches": percentile(times, 95) / batch if batch else 0.0}


def lone_text(setup, daemon):
    command = [setup.lone_text, setup.library, setup.model, setup.corpus, str(daemon.port)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def start_ratio(setup):
    """The time to readiness beside that of `latebind embed` for one text, both with a filled cache."""
    embeds, serves = [], []
    for _ in range(7):
        begin = time.monotonic()
        subprocess.run([setup.program, "embed", "-q", "--strict", "--model", setup.model, "--hint", "latency", *setup.options],
                       input=b"text\n", check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        embeds.append((time.monotonic() - begin) * 1000)
        daemon = Daemon(setup)
        serves.append(daemon.start_ms)
        daemon.end()
    return {"embed_ms": statistics.median(embeds), "serve_ms": statistics.median(serves),
            "ratio": statistics.median(serves) / statistics.median(embeds)}


def beside(setup, hint):
    return in_process(setup, hint, "--texts", str(BESIDE_TEXTS))["tokens_per_s"]


def loads(setup, daemon, hint):
    """Each case, and its speed as a part of what the engine does in process before and behind it."""
    figures, before = {}, beside(setup, hint)
    for clients, texts, _ in CASES:
        one = load(setup, daemon, clients, texts, setup.seconds)
        after = beside(setup, hint)
        one["beside"] = (before + after) / 2
        one["ratio"] = one["tokens_per_s"] / one["beside"]
        figures[f"{clients}x{texts}"], before = one, after
    return figures


def speed(setup):
    whole = {hint: in_process(setup, hint) for hint in ("throughput", "latency")}
    hint = max(whole, key=lambda each: whole[each]["tokens_per_s"])
    daemon = Daemon(setup)
    try:
        for clients, texts, _ in CASES:
            load(setup, daemon, clients, texts, setup.seconds)
        rounds = []
        for number in range(setup.rounds):
            rounds.append({"cases": loads(setup, daemon, hint), "lone": lone_text(setup, daemon),
                           "bulk": beside_bulk(setup, daemon, setup.seconds)})
            say(f"round {number + 1} of {setup.rounds}")
        resident = daemon.resident_mb()
    finally:
        daemon.end()

    def of_case(name, key):
        return median_of(rounds, lambda one: one["cases"][name][key])

    names = list(rounds[0]["cases"])
    return {
        "in_process_tokens_per_s": round(statistics.median(of_case(name, "beside") for name in names)), "in_process_hint": hint,
        "cases": {name: {
            "ratio": round(of_case(name, "ratio"), 3),
            "ratios": [round(of(one["cases"][name]["ratio"] for one in rounds), 3) for of in (min, max)],
            "tokens_per_s": round(of_case(name, "tokens_per_s")), "padding": round(of_case(name, "padding"), 3)}
            for name in names},
        "lone": {key: round(median_of(rounds, lambda one, key=key: one["lone"][key]), 3) for key in rounds[0]["lone"]},
        "beside_bulk": {key: round(median_of(rounds, lambda one, key=key: one["bulk"][key]), 2) for key in rounds[0]["bulk"]},
        "resident_mb": round(resident), "in_process_resident_mb": round(max(each["rss_mb"] for each in whole.values())),
        "start": {key: round(value, 3) for key, value in start_ratio(setup).items()}}


def window_seconds(samples, tokens):
    """How long the daemon took to compute so many tokens, from each moment on at which its counter was read."""
    times = []
    for first, (begin, before) in enumerate(samples):
        for (earlier, some), (later, more) in itertools.pairwise(samples[first:]):
            if more - before >= tokens:
                times.append(earlier + (later - earlier) * (before + tokens - some) / (more - some) - begin)
                break
    return times


def overload(setup, seconds):
    """Ten times the load that it can take, or whatever clients that try again at once make of it; some more measure."""
    bound, clients, texts = 16384, 256, 32
    daemon = Daemon(setup, "--max-queue-tokens", str(bound))
    try:
        load(setup, daemon, 4, texts, 3)
        capable = load(setup, daemon, 4, texts, 6)
        capacity = capable["tokens_per_s"]
        offer = functools.partial(wrk, setup, daemon, clients, texts)
        pause = 0
        if setup.overload_times:
            # A client's pause is not all of its time: what is offered with a first guess gives the second.
            pause = 1000 * clients * texts / (setup.overload_times * capable["texts_per_s"])
            said = subprocess.run(offer(10, round(pause)), check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout
            pause *= requests_of(said) * texts / 10 / capable["texts_per_s"] / setup.overload_times
        resident = daemon.resident_mb()
        flood = subprocess.Popen(offer(seconds, round(pause)), stdout=subprocess.PIPE, encoding="utf-8")
        time.sleep(2)
        # An admitted one keeps its client waiting: so many, that there are some hundred refusals.
        probe = subprocess.Popen([setup.build / "bin/overload_probe", str(daemon.port), setup.corpus, str(seconds - 3),
                                  *(8 * ["1", str(texts)])], stdout=subprocess.PIPE, encoding="utf-8")
        # The answers of the last ones come later, when nothing else is offered: the counters are of the time before.
        peak, samples, end = 0.0, [], time.monotonic() + seconds - 3
        while (now := time.monotonic()) < end:
            status = daemon.status()
            samples.append((now, status["totals"]["tokens"]))
            peak = max(peak, status["memory"]["resident_bytes"] / (1 << 20))
            time.sleep(0.25)
        asked = [tuple(map(int, line.split())) for line in probe.communicate()[0].splitlines()]
        said = flood.communicate()[0]
        after = daemon.status()["totals"]
        begin = time.monotonic()
        while Client(setup, daemon).ask()[0] != 200:
            time.sleep(0.01)
        recovery = time.monotonic() - begin
    finally:
        daemon.end()
    if probe.returncode != 0 or flood.returncode != 0:
        sys.exit("the clients did not end well")
    refused, admitted = ([took / 1e6 for _, took, status, _ in asked if status == wanted] for wanted in (429, 200))
    served = (samples[-1][1] - samples[0][1]) / (samples[-1][0] - samples[0][0])
    queue = window_seconds(samples, bound)
    offered = requests_of(said) * texts * after["tokens"] / max(1, after["texts"]) / seconds
    return {"capacity_tokens_per_s": round(capacity), "offered": round(offered / capacity, 1),
            "served": round(served / capacity, 2), "socket_errors": "Socket errors" in said,
            "other_answers": len(asked) - len(refused) - len(admitted), "refused": len(refused),
            "refused_p50_ms": round(percentile(refused, 50), 2), "refused_p99_ms": round(percentile(refused, 99), 2),
            "admitted": len(admitted), "admitted_p50_ms": round(percentile(admitted, 50)),
            "admitted_p99_ms": round(percentile(admitted, 99)), "bound_ms": round(bound / capacity * 1000),
            "queue_p50_ms": round(percentile(queue, 50) * 1000), "queue_p99_ms": round(percentile(queue, 99) * 1000),
            "resident_before_mb": round(resident), "resident_peak_mb": round(peak), "recovery_ms": round(recovery * 1000)}


def soak(setup, minutes):
    """Clients that come and go, with a text or many; memory after the first fifth, and its peak after that."""
    daemon = Daemon(setup)
    generator = random.Random(7)
    samples, begin = [], time.monotonic()
    try:
        while (passed := time.monotonic() - begin) < minutes * 60:
            clients, texts = generator.choice((1, 4, 16, 64)), generator.choice((1, 8, 32, 200))
            # What the queue has room for: this is no test of overload.
            load(setup, daemon, clients, min(texts, 2048 // clients), generator.choice((1, 2, 4)))
            samples.append((passed, daemon.resident_mb()))
            if len(samples) % 20 == 0:
                say(f"{passed / 60:.0f} of {minutes} min, {samples[-1][1]:.0f} MiB")
    finally:
        daemon.end()
    first = next(mb for passed, mb in samples if passed >= minutes * 12)
    peak = max(mb for passed, mb in samples if passed >= minutes * 12)
    return {"minutes": minutes, "first_mb": round(first), "peak_mb": round(peak), "drift": round(peak / first - 1, 3)}


def report(figures):
    if "speed" in figures:
        one = figures["speed"]
        print(f"in process ({one['in_process_hint']} hint): {one['in_process_tokens_per_s']} tokens/s")
        for clients, texts, wanted in CASES:
            case = one["cases"][f"{clients}x{texts}"]
            print(f"{clients:3} clients, {texts:2} texts a request: {case['ratio']:.3f} of it ({case['ratios'][0]:.2f} to "
                  f"{case['ratios'][1]:.2f}; asked: {wanted}), {100 * case['padding']:.1f} % padding")
        print(f"a lone text: p50 {one['lone']['daemon_p50_ms']:.2f} ms, {one['lone']['extra_p50_ms']:+.2f} ms beside in "
              "process (asked: at most 0.3)")
        print(f"beside a bulk client: p95 {one['beside_bulk']['lone_p95_ms']:.0f} ms, {one['beside_bulk']['batches']:.1f} "
              "batches (asked: at most 3)")
        print(f"start: {one['start']['serve_ms']:.0f} ms, {one['start']['ratio']:.2f} of embed's (asked: at most 1.15)")
        print(f"resident: {one['resident_mb']} MiB, in process {one['in_process_resident_mb']} (asked: at most 40 more)")
    if "overload" in figures:
        one = figures["overload"]
        print(f"overload, {one['offered']} times what it can take: served {one['served']} of it; 429 after p50 "
              f"{one['refused_p50_ms']} ms, p99 {one['refused_p99_ms']} ms (asked: 5); admitted p50 {one['admitted_p50_ms']}, p99 "
              f"{one['admitted_p99_ms']} ms; the queue takes {one['bound_ms']} ms at full speed, and took {one['queue_p50_ms']} "
              f"(p50) to {one['queue_p99_ms']} (p99) of what was left; {one['other_answers']} other answers; "
              f"{one['resident_before_mb']} to {one['resident_peak_mb']} MiB; recovered in {one['recovery_ms']} ms")
    if "soak" in figures:
        one = figures["soak"]
        print(f"soak of {one['minutes']} min: {one['first_mb']} to {one['peak_mb']} MiB, {100 * one['drift']:+.1f} % (asked: 5)")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("corpus")
    parser.add_argument("--build", type=Path, default=HERE.parent / "build/release")
    parser.add_argument("--library", default=os.environ.get("LATEBIND_OPENVINO_LIBRARY", ""),
                        help="OpenVINO's folder, for the engine in process")
    parser.add_argument("--rounds", type=int, default=5, help="0: no speed")
    parser.add_argument("--seconds", type=int, default=6)
    parser.add_argument("--format", choices=["float", "base64"], default="base64")
    parser.add_argument("--overload-seconds", type=int, default=0)
    parser.add_argument("--overload-times", type=float, default=10, help="0: clients try again at once")
    parser.add_argument("--soak-minutes", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    own, options = sys.argv[1:], []
    if "--" in own:
        own, options = own[: own.index("--")], own[own.index("--") + 1 :]
    setup = parser.parse_args(own)
    setup.options = options
    setup.program = str(setup.build / "bin/latebind")
    setup.lone_text = str(setup.build / "bin/lone_text")
    if not shutil.which("wrk"):
        sys.exit("wrk is missing: apt-get install wrk")

    figures = {"processors": os.cpu_count()}
    if setup.rounds > 0:
        figures["speed"] = speed(setup)
    if setup.overload_seconds > 0:
        figures["overload"] = overload(setup, setup.overload_seconds)
    if setup.soak_minutes > 0:
        figures["soak"] = soak(setup, setup.soak_minutes)
    if setup.json:
        print(json.dumps(figures, indent=2))
    else:
        report(figures)


if __name__ == "__main__":
    main()
