"""How many equal releases fit into a budget of (epsilon, delta): Mizan's ledger beside OpenDP and Tumult.

Called by scripts/bench filter with the path of Mizan's side, the example bench_filter of mizan-ledger. Every count is
that of a program that is asked until it refuses:

- old: Mizan's ledger without a clock, a quarter of delta reserved;
- hybrid: with the usual clock, a tenth of delta reserved (quarter: a quarter);
- OpenDP: a fully adaptive zCDP odometer with a privacy filter, at the largest rho that OpenDP converts to
  (epsilon, delta);
- Tumult: the rho budget of its sessions, of the same size. No session is opened, because that starts Spark: the losses
  are those of Tumult's mechanisms, subtracted from its budget as its accountant does;
- optimum: the exact number had the releases been fixed in advance, by Mizan's numerical accountant.

Exits with 1 if a goal is missed.
"""

import json
import math
import re
import subprocess
import sys

import opendp.prelude as dp
from tmlt.core.measurements.converters import PureDPToRhoZCDP
from tmlt.core.measurements.noise_mechanisms import AddDiscreteGaussianNoise, AddGeometricNoise
from tmlt.core.measures import InsufficientBudgetError, RhoZCDPBudget
from tmlt.core.utils.exact_number import ExactNumber

dp.enable_features("contrib", "honest-but-curious")
SPACE = dp.atom_domain(T=int), dp.absolute_distance(T=int)
RHO = dp.zero_concentrated_divergence()


def parts(release):
    """(count, noise, scale) of each part of a release."""
    found = re.findall(r"(?:(\d+) \* )?(?:discrete-)?(gaussian|laplace|exponential)\(([\d.]+)\)", release)
    return [(int(count or 1), noise, float(scale)) for count, noise, scale in found]


def opendp_measurement(noise, scale):
    if noise == "gaussian":
        return SPACE >> dp.m.then_gaussian(scale)
    # OpenDP's exponential mechanism has the same bound: a range of eta is eta^2/8, as pure(eta/2) is.
    scale = scale if noise == "laplace" else 2 / scale
    return dp.c.make_pureDP_to_zCDP(SPACE >> dp.m.then_laplace(scale))


def opendp_rho(epsilon, delta):
    """The largest rho that OpenDP's conversion takes to (epsilon, delta)."""

    def converted(rho):
        gaussian = SPACE >> dp.m.then_gaussian(math.sqrt(0.5 / rho))
        return dp.c.make_zCDP_to_approxDP(gaussian).map(1).epsilon(delta)

    low, high = 1e-9, 1e3
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if converted(middle) <= epsilon else (low, middle)
    return low


def opendp_count(release, rho):
    """Releases that OpenDP's filter answers until its first refusal, after which it answers nothing.

    Nine tenths of what is left are asked for at once, because the odometer adds up all its queries again for each one.
    """
    odometer = dp.c.make_fully_adaptive_composition(*SPACE, output_measure=RHO)
    queryable = dp.c.make_privacy_filter(odometer, d_in=1, d_out=rho)(0)
    one = [opendp_measurement(noise, scale) for count, noise, scale in parts(release) for _ in range(count)]
    loss = dp.c.make_composition(one).map(1)
    answered = 0
    while True:
        size = max(1, int(0.9 * (rho / loss - answered)))
        try:
            queryable(dp.c.make_composition(one * size))
        except dp.OpenDPException as error:
            if "privacy" not in str(error).lower():
                raise
            return answered
        answered += size


def tumult_loss(noise, scale):
    if noise == "gaussian":
        return AddDiscreteGaussianNoise(ExactNumber(int(scale)) ** 2).privacy_function(1)
    scale = scale if noise == "laplace" else 2 / scale
    return PureDPToRhoZCDP(AddGeometricNoise(alpha=ExactNumber(int(scale)))).privacy_function(1)


def tumult_count(release, rho):
    """Releases that Tumult's budget pays."""
    budget = RhoZCDPBudget(ExactNumber.from_float(rho, round_up=False))
    one = sum((tumult_loss(noise, scale) * count for count, noise, scale in parts(release)), ExactNumber(0))
    answered = 0
    while True:
        try:
            budget.assert_can_spend_budget(one)
        except InsufficientBudgetError:
            return answered
        budget = budget.subtract(one)
        answered += 1


def compared(program):
    """Every row of Mizan's side with the counts of the peers."""
    rhos = {}
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as mizan:
        for line in mizan.stdout:
            row = json.loads(line)
            budget = row["epsilon"], row["delta"]
            if budget not in rhos:
                rhos[budget] = opendp_rho(*budget)
            row["opendp"] = opendp_count(row["release"], rhos[budget])
            row["tumult"] = tumult_count(row["release"], rhos[budget])
            yield row
    if mizan.returncode:
        sys.exit(f"{program[0]} failed")


def shown(row):
    """A line of the table. An exponential mechanism has no exact optimum here."""
    optimum = row["optimum"]
    of = f"{row['hybrid'] / optimum:.3f}" if optimum else "-"
    cells = [row["release"], f"({row['epsilon']:g}, {row['delta']:g})", row["old"], row["opendp"], row["tumult"],
             f"**{row['hybrid']}**", optimum or "-", f"{row['hybrid'] / max(row['old'], 1):.2f}", of]
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def misses(rows):
    """The goals that are missed, and how far the average of the table is."""
    table = [row for row in rows if row["set"] == "table"]
    large = [row["hybrid"] / row["optimum"] for row in table if (row["optimum"] or 0) >= 15]
    average = sum(large) / len(large)
    yield average < 0.955, f"average of {len(large)} settings with 15 releases or more: {average:.4f} of the optimum (goal 0.955)"
    for row in rows:
        name = f"{row['release']} at ({row['epsilon']:g}, {row['delta']:g}): {row['hybrid']}"
        peers = max(row["opendp"], row["tumult"])
        if row["hybrid"] < peers:
            yield True, f"{name} below a peer with {peers}"
        if row["hybrid"] < 0.93 * row["old"]:
            yield True, f"{name} more than 7 % below the old rule with {row['old']}"
    held_out = [row for row in rows if row["set"] == "held out" and row["optimum"] >= 50]
    worst = min(held_out, key=lambda row: row["hybrid"] / row["optimum"])
    ratio = worst["hybrid"] / worst["optimum"]
    name = f"{worst['release']} at ({worst['epsilon']:g}, {worst['delta']:g})"
    yield ratio < 0.95, f"least of {len(held_out)} held-out settings with 50 releases or more: {ratio:.4f} ({name}; goal 0.95)"


def main():
    print("| release | budget | old rule | OpenDP | Tumult | with the clock | optimum | / old | / optimum |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    rows = []
    for row in compared(sys.argv[1:]):
        rows.append(row)
        print(shown(row), flush=True)
    print()
    for set_name in ("table", "held out"):
        ratios = {who: [row[who] / row["optimum"] for row in rows if row["set"] == set_name and (row["optimum"] or 0) >= 15]
                  for who in ("old", "opendp", "tumult", "quarter", "hybrid")}
        print(f"{set_name}, 15 releases or more: " + ", ".join(
            f"{who} {sum(of) / len(of):.3f} of the optimum on average and {min(of):.3f} at least" for who, of in ratios.items()))
    missed = False
    for fails, text in misses(rows):
        print(("MISSED: " if fails else "") + text)
        missed |= fails
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
