"""Mizan, dp_accounting, prv_accountant, opacus and autodp on the tasks of docs/spec/peers.md.

Called by scripts/bench-peers with the path of Mizan's side, the example bench_peers. Times are CPU seconds of one
account, from the description of the events to epsilon, inside a process that has everything loaded: startup does
not count. Each is the best of three, fewer where the time limit stops a peer. The exact values are those of
testdata/golden/subsampled.json.
"""

import argparse
import json
import math
import multiprocessing
import subprocess
import sys
import time
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).parent))
from bench_peers_accountants import CALIBRATORS, COARSE, PEERS

GOLDEN = Path(__file__).parent.parent / "testdata" / "golden" / "subsampled.json"
LIMIT = 60.0  # seconds for one peer on one task
SPREAD = [float(x) for x in numpy.linspace(0.0, 1.0, 500)]
MANY = (
    [(1, "gaussian", 5 + 45 * x, 1.0) for x in SPREAD]
    + [(1, "laplace", 5 + 45 * x, 1.0) for x in SPREAD]
    + [(1, "rr", 0.51 + 0.09 * x, 1.0) for x in SPREAD]
)


def sgd(sigma, q, steps):
    return [(steps, "gaussian", sigma, q)]


# name, delta, the composition
TASKS = [
    ("Gaussian s=1.1", 1e-5, [(1, "gaussian", 1.1, 1.0)]),
    ("100 x Gaussian s=10", 1e-6, [(100, "gaussian", 10.0, 1.0)]),
    ("1000 x Laplace 2", 1e-6, [(1000, "laplace", 2.0, 1.0)]),
    ("1000 x RR 0.6", 1e-6, [(1000, "rr", 0.6, 1.0)]),
    ("100 x (RR 0.52 + Laplace 20 + Gaussian 10)", 1e-6,
     [(100, "rr", 0.52, 1.0), (100, "laplace", 20.0, 1.0), (100, "gaussian", 10.0, 1.0)]),
    ("DP-SGD q=.01 s=1.1 T=1e4", 1e-5, sgd(1.1, 0.01, 10000)),
    ("DP-SGD q=256/60000 s=1.1 T=14062", 1e-5, sgd(1.1, 256 / 60000, 14062)),
    ("DP-SGD q=.001 s=.8 T=1e5", 1e-6, sgd(0.8, 0.001, 100000)),
    ("DP-SGD q=1e-4 s=.6 T=1e6", 1e-7, sgd(0.6, 0.0001, 1000000)),
    ("DP-SGD q=.01 s=2 T=2951", 1e-15, sgd(2.0, 0.01, 2951)),
    ("DP-SGD q=.01 s=1.1 T=1e4", 1e-14, sgd(1.1, 0.01, 10000)),
    ("DP-SGD q=1e-5 s=1.1 T=1e9", 1e-5, sgd(1.1, 1e-5, 1000000000)),
    ("100 DP-SGD q=.005 s=.8 + 200 Gaussian 8 + 100 Laplace 10", 1e-6,
     [(100, "gaussian", 0.8, 0.005), (200, "gaussian", 8.0, 1.0), (100, "laplace", 10.0, 1.0)]),
    ("1500 different mechanisms", 1e-6, MANY),
]
# name, steps, q, epsilon, delta, exact noise multiplier
CALIBRATIONS = [("calibrate DP-SGD q=.01 T=1e4 to 1", 10000, 0.01, 1.0, 1e-5, 3.812816830701548)]


def term(count, kind, parameter, q):
    inner = f"{kind}({parameter!r})" if q == 1.0 else f"poisson({q!r}, {kind}({parameter!r}))"
    return inner if count == 1 else f"{count} * {inner}"


def expression(events):
    return " + ".join(term(*event) for event in events)


def exact_values():
    """epsilon by (expression, delta): the larger of both directions."""
    golden = json.loads(GOLDEN.read_text())["compositions"]
    values = {}
    for record in golden:
        directions = [record["remove"], record["add"]]
        if None not in directions:
            values[plain(record["expression"]), record["delta"]] = max(map(float, directions))
    return values


def plain(text):
    """One spelling for expressions that the golden file writes with a count of one or a common count."""
    common = "100 * (rr(0.52) + laplace(20.0) + gaussian(10.0))"
    return text.replace(common, "100 * rr(0.52) + 100 * laplace(20.0) + 100 * gaussian(10.0)").removeprefix("1 * ")


def child(pipe, function, arguments):
    """Times a call three times, and sends the result after each, because it may be stopped."""
    best = math.inf
    try:
        for _ in range(3):
            start, calls = time.process_time(), 0
            # The clock is too coarse for one short call.
            while not calls or time.process_time() - start < 0.1:
                answer = function(*arguments)
                calls += 1
                if answer is None:
                    pipe.send(None)
                    return
            best = min(best, (time.process_time() - start) / calls)
            answer = tuple(map(float, answer)) if isinstance(answer, tuple) else (None, float(answer))
            pipe.send({"lower": answer[0], "value": answer[1], "seconds": best})
    except Exception as error:  # a peer that fails is a result too
        pipe.send({"fails": f"{type(error).__name__}: {error}".split("\n")[0][:60]})


def measured(function, arguments):
    """The result of a peer and its time, None where it has no such mechanism; stopped at the limit."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.Process(target=child, args=(sender, function, arguments), daemon=True)
    process.start()
    sender.close()
    answer, end = {"fails": f"no answer in {LIMIT:g} s"}, time.monotonic() + LIMIT
    try:
        while receiver.poll(max(0.0, end - time.monotonic())):
            answer = receiver.recv()
    except EOFError:
        if process.join(1) or process.exitcode not in (0, None):
            answer = {"fails": "crashed (out of memory?)"}
    process.kill()
    process.join()
    return answer


def mizan(program, lines):
    output = subprocess.run([program], input="".join(lines), capture_output=True, text=True, check=True).stdout
    return [json.loads(line) for line in output.splitlines()]


def shown(seconds):
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= 0.9995 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} us"


def against(value, exact):
    """The relative error against the exact value, as text."""
    if exact is None:
        return ""
    excess = value / exact - 1.0
    if not math.isfinite(value):
        return "no bound"
    if excess < -1e-12:
        return f"{excess:+.2e} BELOW THE TRUTH" if excess > -0.3 else f"{excess:+.0%} NONSENSE"
    return f"{excess:+.2e}"


def block(task, exact, ours, peers):
    """One task, as text of at most 100 columns."""
    print(f"{task}   exact {'?' if exact is None else format(exact, '.15g')}")
    for name, answer in [("Mizan " + ours.get("method", ""), ours), *peers.items()]:
        if answer is None:
            continue
        if "fails" in answer:
            print(f"  {name:<24} {answer['fails']}")
            continue
        value = f"{answer['value']:.10g}"
        if answer.get("lower") is not None:
            value = f"[{answer['lower']:.13g}, {answer['value']:.13g}]"
        ratio = "" if answer is ours or "fails" in ours else f"{answer['seconds'] / ours['seconds']:.3g}x"
        print(f"  {name:<24} {value:<36} {shown(answer['seconds']):>8} {ratio:>9}  {against(answer['value'], exact)}")
    print(flush=True)


def main():
    parser = argparse.ArgumentParser(description="Mizan beside its peers")
    parser.add_argument("program")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--only", default="", metavar="TEXT")
    options = parser.parse_args()
    exacts, results = exact_values(), []

    for name, delta, events in TASKS:
        if options.only not in name:
            continue
        exact = exacts.get((expression(events), delta))
        (ours,) = mizan(options.program, [f"account\t{delta!r}\t{expression(events)}\n"])
        peers = {peer: measured(account, (events, delta)) for peer, account in PEERS.items()}
        for peer, account in COARSE.items() if exact is not None else ():
            answer = peers.get(peer) or measured(account, (events, delta))
            if answer and "fails" not in answer and abs(answer["value"] / exact - 1.0) <= 0.01:
                peers[peer] = answer
                break
        results.append({"task": name, "delta": delta, "exact": exact, "mizan": ours, "peers": peers})
        block(f"{name} at delta {delta:g}", exact, ours, peers)

    for name, steps, q, epsilon, delta, exact in CALIBRATIONS:
        if options.only not in name:
            continue
        text = f"{steps} * poisson({q!r}, gaussian(?))"
        (ours,) = mizan(options.program, [f"calibrate {epsilon!r}\t{delta!r}\t{text}\n"])
        peers = {peer: measured(calibrate, (steps, q, epsilon, delta)) for peer, calibrate in CALIBRATORS.items()}
        results.append({"task": name, "delta": delta, "exact": exact, "mizan": ours, "peers": peers})
        block(f"{name} at delta {delta:g}", exact, ours, peers)

    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
