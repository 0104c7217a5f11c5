"""Rényi accounting by Mizan, dp_accounting and autodp on the same tasks.

Called by scripts/bench-peers with the path of Mizan's side, the example
bench_peers. Times are CPU seconds of one account, from the description of the
events to epsilon, measured the same way on both sides, in one process each, so
that starting up does not count. The exact values are those of shared/peers.md and
testdata/golden/reference.json.
"""

import json
import subprocess
import sys
import time
import warnings

import numpy

warnings.filterwarnings("ignore")  # autodp divides by zero on the way

import dp_accounting as dp
from autodp import mechanism_zoo, transformer_zoo
from dp_accounting import pld, rdp

SPREAD = numpy.linspace(0.0, 1.0, 500)
MANY = (
    [(1, "gaussian", 5 + 45 * x) for x in SPREAD]
    + [(1, "laplace", 5 + 45 * x) for x in SPREAD]
    + [(1, "rr", 0.51 + 0.09 * x) for x in SPREAD]
)

# name, delta, what was done, exact epsilon
TASKS = [
    ("gaussian(1.1)", 1e-5, [(1, "gaussian", 1.1)], 3.92125025286108765),
    ("100 * gaussian(10)", 1e-6, [(100, "gaussian", 10.0)], 4.88655411746221200),
    ("1000 * laplace(2)", 1e-6, [(1000, "laplace", 2.0)], 173.0644832283),
    ("1000 * rr(0.6)", 1e-6, [(1000, "rr", 0.6)], 139.2943891890245),
    ("100 * (rr(0.52) + laplace(20) + gaussian(10))", 1e-6,
     [(100, "rr", 0.52), (100, "laplace", 20.0), (100, "gaussian", 10.0)], 7.018985893727861),
    ("1500 different mechanisms", 1e-6, MANY, 43.2113286138368613),
]


def dp_event(kind, parameter):
    if kind == "gaussian":
        return dp.GaussianDpEvent(float(parameter))
    if kind == "laplace":
        return dp.LaplaceDpEvent(float(parameter))
    # Its noise parameter is the probability of a uniformly random answer.
    return dp.RandomizedResponseDpEvent(2.0 * (1.0 - float(parameter)), 2)


def dp_accounting_rdp(events, delta):
    # Randomized response wants REPLACE_ONE, which changes no other curve.
    accountant = rdp.RdpAccountant(neighboring_relation=dp.NeighboringRelation.REPLACE_ONE)
    for count, kind, parameter in events:
        accountant.compose(dp_event(kind, parameter), count)
    return accountant.get_epsilon(delta)


def dp_accounting_pld(events, delta):
    kinds = {kind for _, kind, _ in events}
    if len(kinds) > 1:
        return None  # noise and randomized response want different neighbours
    relation = dp.NeighboringRelation.REPLACE_ONE if kinds == {"rr"} else dp.NeighboringRelation.ADD_OR_REMOVE_ONE
    accountant = pld.PLDAccountant(neighboring_relation=relation)
    for count, kind, parameter in events:
        accountant.compose(dp_event(kind, parameter), count)
    return accountant.get_epsilon(delta)


AUTODP = {
    "gaussian": lambda x: mechanism_zoo.GaussianMechanism(x, approxDP_off=True),
    "laplace": mechanism_zoo.LaplaceMechanism,
    "rr": mechanism_zoo.RandresponseMechanism,
}


def autodp_rdp(events, delta):
    mechanisms = [AUTODP[kind](float(parameter)) for _, kind, parameter in events]
    counts = [count for count, _, _ in events]
    return transformer_zoo.Composition()(mechanisms, counts).get_approxDP(delta)


def timed(function, events, delta):
    """Epsilon and CPU seconds of a call, measured as Mizan's side measures
    itself: the mean of a round of 0.4 s or more, the best of three rounds."""
    epsilon = function(events, delta)
    if epsilon is None:
        return None

    def a_round(calls):
        start = time.process_time()
        for _ in range(calls):
            function(events, delta)
        return (time.process_time() - start) / calls

    calls = 1
    while a_round(calls) * calls <= 0.4:
        calls *= 2
    return float(epsilon), min(a_round(calls) for _ in range(3))


def expression(events):
    return " + ".join(f"{count} * {kind}({float(parameter)!r})" for count, kind, parameter in events)


def mizan(program):
    lines = "".join(f"{name}\t{delta!r}\t{expression(events)}\n" for name, delta, events, _ in TASKS)
    output = subprocess.run([program], input=lines, capture_output=True, text=True, check=True).stdout
    answers = map(json.loads, output.splitlines())
    return {answer["name"]: (answer["epsilon"], answer["seconds"]) for answer in answers}


def shown(seconds):
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= 0.9995 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


def main():
    ours = mizan(sys.argv[1])
    peers = [
        ("dp_accounting RDP", dp_accounting_rdp),
        ("autodp RDP", autodp_rdp),
        ("dp_accounting PLD", dp_accounting_pld),
    ]
    print("| task | accountant | ε | above exact | CPU | times Mizan's |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, delta, events, exact in TASKS:
        rows = [("Mizan renyi", ours[name])]
        for peer, function in peers:
            try:
                rows.append((peer, timed(function, events, delta)))
            except Exception as error:  # a peer that fails is a result too
                print(f"{peer} fails on {name}: {error}", file=sys.stderr)
        for accountant, answer in rows:
            if answer is None:
                continue
            epsilon, seconds = answer
            excess = epsilon / exact - 1.0
            # The exact values are known to twelve digits or more.
            above = f"**{excess:+.2%}: below the truth**" if excess < -1e-12 else f"{excess:+.2e}" if excess < 1e-4 else f"{excess:+.2%}"
            ratio = seconds / ours[name][1]
            print(f"| {name} at {delta:g} | {accountant} | {epsilon:.6f} | {above} | {shown(seconds)} | {ratio:.3g} |")


if __name__ == "__main__":
    main()
