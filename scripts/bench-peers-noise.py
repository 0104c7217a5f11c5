"""Draws per CPU second: Mizan, OpenDP and numpy (which is not private) in one run.

Called by scripts/bench-peers with the path of Mizan's side, the example bench_peers_noise. Each side draws for about
a second of its own CPU time, the best of three; the process has everything loaded, and OpenDP gets a vector of
10,000 zeros, which is its fastest mode.
"""

import subprocess
import sys
import time

import numpy
import opendp.prelude as dp

dp.enable_features("contrib")
SCALES = [0.5, 3.7, 50.0, 1000.0, 1048576.0, 1e12]
SIZE = 100_000


def rate(draw, size):
    """Draws per CPU second, the best of three."""
    best = 0.0
    draw()
    for _ in range(3):
        start, drawn = time.process_time(), 0
        while time.process_time() - start < 0.35:
            draw()
            drawn += size
        best = max(best, drawn / (time.process_time() - start))
    return best


def opendp_rate(make, scale):
    space = dp.vector_domain(dp.atom_domain(T="i64")), (
        dp.l1_distance(T="i64") if make is dp.m.make_laplace else dp.l2_distance(T="f64"))
    mechanism = make(*space, scale)
    zeros = [0] * 10_000
    return rate(lambda: mechanism(zeros), 10_000)


def attempt(measure, *arguments):
    try:
        return measure(*arguments)
    except Exception as error:  # a failure of a peer is a result
        return f"fails: {str(error).splitlines()[0][:40]}"


def shown(value):
    if isinstance(value, str):
        return value
    return f"{value / 1e6:.3g} M/s" if value >= 1e6 else f"{value / 1e3:.3g} k/s"


def main():
    ours = {}
    for line in subprocess.run([sys.argv[1]], capture_output=True, text=True, check=True).stdout.splitlines():
        kind, scale, value = line.split("\t")
        ours[kind, float(scale)] = float(value)
    generator = numpy.random.default_rng()
    peers = {
        "laplace": (dp.m.make_laplace, lambda scale: generator.laplace(0.0, scale, SIZE)),
        "gaussian": (dp.m.make_gaussian, lambda scale: generator.normal(0.0, scale, SIZE)),
    }
    print("| noise | Mizan | OpenDP | ratio | numpy, not private |")
    print("| --- | --- | --- | --- | --- |")
    for kind, (make, continuous) in peers.items():
        for scale in SCALES:
            mizan = ours[kind, scale]
            opendp = attempt(opendp_rate, make, scale)
            ratio = f"{mizan / opendp:.0f}" if not isinstance(opendp, str) else "-"
            plain = attempt(rate, lambda: continuous(scale), SIZE)
            print(f"| {kind} {scale:g} | {shown(mizan)} | {shown(opendp)} | {ratio} | {shown(plain)} |",
                  flush=True)
    respond = dp.m.make_randomized_response_bool(0.75)
    response = attempt(rate, lambda: [respond(True) for _ in range(2_000)], 2_000)
    ratio = f"{ours['rr', 0.75] / response:.0f}" if not isinstance(response, str) else "-"
    print(f"| randomized response 0.75 | {shown(ours['rr', 0.75])} | {shown(response)} | {ratio} | - |")


if __name__ == "__main__":
    main()
