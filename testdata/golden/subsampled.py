#!/usr/bin/env python3
"""Make subsampled.json: truths for the numerical accountant, at least 20 digits each.

    python3 -m venv /tmp/truth && /tmp/truth/bin/pip install mpmath==1.4.1 python-flint==0.9.0 numpy scipy
    /tmp/truth/bin/python testdata/golden/subsampled.py          # everything, on two cores

Deterministic. contour.py has the quadrature, exact.py the finite sums; see README.md for the records.
"""

import json
import math
import multiprocessing
import random
import sys

import numpy
from flint import arb, ctx

import exact
from contour import (Gaussian, Laplace, RandomizedResponse, SampledLaplace, Skip, Smooth, WithoutReplacement, agreed,
                     epsilon_of, text)
from precise import HERE, write

DIRECTIONS = ("remove", "add")
ABOUT = {
    "made_by": "subsampled.py: Arb, two settings of every quadrature agree in all printed digits",
    "note": "Parameters are numbers and mean exactly the double they read as. Results are text of 22 digits; \"0\" where "
            "delta(0) <= delta, null where it could not be computed. remove: (1-q)Q+qP against Q; add: the reverse.",
}
ORDERS = [1.0, 1.0001, 1.1, 1.5, 2.0, 3.7, 16.0, 64.5, 300.0]


def at_two_precisions(compute):
    """A value without quadrature, at two precisions."""
    values = []
    for bits in (600, 900):
        ctx.prec = bits
        values.append(compute())
    return "0" if values[1] is None else agreed(*values)


def attempt(compute):
    try:
        return compute()
    except Skip as skip:
        print(f"skipped: {skip}", file=sys.stderr, flush=True)
        return None


# -------------------------------------------------------------------- DP-SGD


def dp_sgd_epsilon(sigma, q, steps, delta, direction):
    if steps == 1:
        base = lambda epsilon: exact.gaussian(1 / arb(sigma), epsilon)
        profile = {"remove": exact.remove, "add": exact.add}[direction]
        return at_two_precisions(lambda: exact.inverse(lambda e: profile(base, arb(q), e), delta))
    return epsilon_of([(steps, Smooth(sigma, q, direction))], delta)


def dp_sgd_record(sigma, q, steps, delta):
    try:
        epsilons = {direction: dp_sgd_epsilon(sigma, q, steps, delta, direction) for direction in DIRECTIONS}
    except Skip as skip:
        return {"skipped": str(skip)}
    return {"sigma": sigma, "q": q, "steps": steps, "delta": delta, **epsilons}


def dp_sgd_draws():
    """Log-uniform settings, some of them extreme; more than needed, as some are skipped."""
    rng = random.Random(20261115)

    def spread(low, high):
        return math.exp(rng.uniform(math.log(low), math.log(high)))

    index = 0
    while True:
        index += 1
        steps = round(spread(1, 1e6)) if index % 20 else round(spread(1e6, 1e9))
        delta = spread(1e-15, 0.1)
        if index % 25 == 0:
            delta = 1e-100 if index % 50 else 1e-300
        yield spread(0.3, 50), spread(1e-5, 0.9), steps, delta


def dp_sgd(pool, wanted=200):
    records, skipped, draws = [], 0, dp_sgd_draws()
    while len(records) < wanted:
        batch = [next(draws) for _ in range(20)]
        for record in pool.starmap(dp_sgd_record, batch, chunksize=1):
            if "skipped" in record:
                skipped += 1
            else:
                records.append(record)
        print(f"dp_sgd: {len(records)} done, {skipped} skipped", file=sys.stderr, flush=True)
    return records[:wanted]


# -------------------------------------------------------------------- Rényi


def renyi_value(table, order):
    losses, masses = table
    if order == 1.0:
        return sum((m * l for l, m in zip(losses, masses)), arb(0))
    power = arb(order) - 1
    return sum((m * (power * l).exp() for l, m in zip(losses, masses)), arb(0)).log() / power


def renyi_record(event, q, direction, order):
    kind, parameter = event
    if kind == "rr":
        def compute():
            p = arb(parameter)
            ratios = [p / (1 - p), (1 - p) / p]
            under_q = [1 - p, p]
            mixed = [1 - arb(q) + arb(q) * r for r in ratios]
            if direction == "remove":
                return renyi_value(([m.log() for m in mixed], [m * w for m, w in zip(mixed, under_q)]), order)
            return renyi_value(([-m.log() for m in mixed], under_q), order)

        value = at_two_precisions(compute)
    else:
        part = (Smooth if kind == "gaussian" else SampledLaplace)(parameter, q, direction)
        part.reach = 1.0 + order
        ctx.prec = 500
        value, level, last = None, 2, None
        while value is None:
            if level > 9:
                raise Skip("Rényi ladder")
            now = renyi_value(part.table(level, 1.0, (order - 1, 0.0)), order)
            try:
                value = agreed(last, now) if last is not None else None
            except Skip:
                value = None
            last, level = now, level + 1
    return {"event": kind, "parameter": parameter, "q": q, "direction": direction, "order": order, "value": value}


def renyi_jobs():
    events = [("gaussian", s) for s in (0.5, 1.1, 4.0, 20.0)] + [("laplace", b) for b in (0.4, 2.0, 20.0)]
    events += [("rr", p) for p in (0.51, 0.75, 0.99)]
    for event in events:
        for q in (1e-4, 0.01, 0.3, 0.9):
            for direction in DIRECTIONS:
                for order in ORDERS:
                    yield event, q, direction, order


# -------------------------------------------------------------- compositions


def sampled_rr(count, p, q, delta, direction):
    """Two losses, whose sum over all counts is exact."""
    def compute():
        truth = arb(p)
        mixed = [1 - arb(q) + arb(q) * r for r in (truth / (1 - truth), (1 - truth) / truth)]
        if direction == "remove":
            outcomes = [(m.log(), m * w) for m, w in zip(mixed, (1 - truth, truth))]
        else:
            outcomes = [(-m.log(), w) for m, w in zip(mixed, (1 - truth, truth))][::-1]
        return exact.two_losses(count, *outcomes, arb(delta))

    return at_two_precisions(compute)


def laplaces(count, scale, delta):
    values = []
    for bits in (400, 700):
        ctx.prec = bits + 6 * count
        top = count / arb(scale)
        values.append(solve_on(lambda e: exact.laplaces(count, 1 / arb(scale), e), delta, top))
    return agreed(*values)


def solve_on(profile, delta, top):
    """The epsilon of this delta in [0, top], by regula falsi with halving (Illinois), on log delta."""
    target = arb(delta).log()
    excess = lambda e: profile(e).log() - target
    low, high = arb(0), arb((top * (1 - arb(10) ** -12)).mid())
    at_low, at_high = excess(low), excess(high)
    while float(abs(high - low)) > 1e-27 * float(top):
        x = arb(((low * at_high - high * at_low) / (at_high - at_low)).mid())
        value = excess(x)
        if abs(float(value)) < 1e-27:
            return x
        if value > 0:
            low, at_low, at_high = x, value, at_high / 2
        else:
            high, at_high, at_low = x, value, at_low / 2
    return low


def single(kind, parameter, q, delta, direction):
    base = {"laplace": exact.laplace, "gaussian": exact.gaussian}[kind]
    profile = {"remove": exact.remove, "add": exact.add}[direction]
    return at_two_precisions(
        lambda: exact.inverse(lambda e: profile(lambda x: base(1 / arb(parameter), x), arb(q), e), delta))


def both(compute):
    return {direction: attempt(lambda: compute(direction)) for direction in DIRECTIONS}


def same(value):
    return {"remove": value, "add": value}


def composition_record(job):
    kind, *rest = job
    if kind == "sampled-rr":
        count, p, q, delta = rest
        found = both(lambda d: sampled_rr(count, p, q, delta, d))
        inner = f"poisson({q!r}, rr({p!r}))" if q < 1 else f"rr({p!r})"
        return {"expression": f"{count} * {inner}", "delta": delta, **found}
    if kind == "sampled-laplace":
        count, scale, q, delta = rest
        if count == 1:
            found = both(lambda d: single("laplace", scale, q, delta, d))
        else:
            found = both(lambda d: epsilon_of([(count, SampledLaplace(scale, q, d))], delta))
        return {"expression": f"{count} * poisson({q!r}, laplace({scale!r}))", "delta": delta, **found}
    if kind == "without-replacement":
        count, sigma, m, n, delta = rest
        if count == 1:
            # The profile for eps >= 0 is that of (1-q)Q+qP against Q; here q = m / n exactly.
            value = at_two_precisions(lambda: exact.inverse(
                lambda e: exact.remove(lambda x: exact.gaussian(1 / arb(sigma), x), arb(m) / n, e), delta))
        else:
            value = attempt(lambda: epsilon_of([(count, WithoutReplacement(sigma, m, n))], delta))
        return {"expression": f"{count} * without-replacement({n}, {m}, gaussian({sigma!r}))", "delta": delta,
                **same(value)}
    if kind == "laplaces":
        count, scale, delta = rest
        value = laplaces(count, scale, delta) if count <= 100 else epsilon_of([(count, Laplace(scale))], delta)
        return {"expression": f"{count} * laplace({scale!r})", "delta": delta, **same(value)}
    if kind == "pure":
        count, epsilon, delta = rest

        def compute():
            p = 1 / (1 + (-arb(epsilon)).exp())
            return exact.two_losses(count, (arb(epsilon), p), (-arb(epsilon), 1 - p), arb(delta))

        return {"expression": f"{count} * pure({epsilon!r})", "delta": delta, **same(at_two_precisions(compute))}
    if kind == "readme":
        parts = lambda d: [(100, Smooth(0.8, 0.005, d)), (200, Gaussian(8.0)), (100, Laplace(10.0))]
        return {"expression": "100 * poisson(0.005, gaussian(0.8)) + 200 * gaussian(8.0) + 100 * laplace(10.0)",
                "delta": 1e-6, **both(lambda d: epsilon_of(parts(d), 1e-6))}
    if kind == "mixture":
        (count,) = rest
        parts = [(count, RandomizedResponse(0.52)), (count, Laplace(20.0)), (count, Gaussian(10.0))]
        return {"expression": f"{count} * (rr(0.52) + laplace(20.0) + gaussian(10.0))", "delta": 1e-6,
                **same(epsilon_of(parts, 1e-6))}
    if kind == "many":
        spread = [float(x) for x in numpy.linspace(0.0, 1.0, 500)]
        noise, truth = [5 + 45 * x for x in spread], [0.51 + 0.09 * x for x in spread]
        parts = [(1, Gaussian(s)) for s in noise] + [(1, Laplace(b)) for b in noise]
        parts += [(1, RandomizedResponse(p)) for p in truth]
        terms = [f"gaussian({s!r})" for s in noise] + [f"laplace({b!r})" for b in noise] + [f"rr({p!r})" for p in truth]
        return {"expression": " + ".join(terms), "delta": 1e-6, **same(epsilon_of(parts, 1e-6))}
    count, sigma, q, delta = rest
    found = both(lambda d: epsilon_of([(count, Smooth(sigma, q, d) if q < 1 else Gaussian(sigma))], delta))
    inner = f"poisson({q!r}, gaussian({sigma!r}))" if q < 1 else f"gaussian({sigma!r})"
    return {"expression": f"{count} * {inner}", "delta": delta, **found}


def composition_jobs():
    jobs = [("many",), ("readme",), ("mixture", 100), ("mixture", 10)]
    for count in (1, 2, 7, 100, 1000, 10000):
        for p, q in ((0.75, 0.01), (0.6, 0.3), (0.99, 0.001)):
            for delta in (1e-5, 1e-10, 1e-100):
                jobs.append(("sampled-rr", count, p, q, delta))
    jobs += [("sampled-laplace", 1, s, q, d) for s in (0.5, 2.0, 10.0) for q in (0.001, 0.1, 0.7) for d in (1e-3, 1e-6)]
    jobs += [("sampled-laplace", *x) for x in [
        (200, 0.5, 0.3, 1e-6), (300, 1.0, 0.1, 1e-6), (1000, 1.0, 0.01, 1e-5), (1000, 2.0, 0.05, 1e-8),
        (5000, 10.0, 0.2, 1e-6), (100000, 1.0, 0.001, 1e-6), (1000000, 0.5, 0.0001, 1e-7), (2000, 0.3, 0.02, 1e-100)]]
    jobs += [("without-replacement", 1, s, m, n, d) for s in (0.6, 1.1, 5.0) for m, n in ((1, 1000), (100, 300))
             for d in (1e-3, 1e-8)]
    jobs += [("without-replacement", *x) for x in [
        (1000, 1.1, 10, 1000, 1e-5), (200, 1.1, 1, 10, 1e-6), (5000, 2.0, 1, 100, 1e-8), (10000, 5.0, 1, 20, 1e-6),
        (100000, 0.8, 1, 1000, 1e-6), (1000, 1.0, 1, 2, 1e-10), (300, 3.0, 7, 512, 1e-50)]]
    jobs += [("laplaces", k, s, d) for k, s, d in [
        (1, 2.0, 1e-6), (2, 2.0, 1e-2), (3, 1.0, 1e-4), (10, 2.0, 1e-6), (10, 2.0, 1e-2), (10, 20.0, 1e-9),
        (100, 2.0, 1e-6), (100, 10.0, 1e-12), (100, 10.0, 1e-100), (1000, 2.0, 1e-6)]]
    # The values that docs/spec/peers.md names.
    jobs += [("sampled-rr", k, p, 1.0, 1e-6) for k, p in ((100, 0.75), (1000, 0.75), (1000, 0.6))]
    jobs.append(("pure", 100, 1.0, 1e-6))
    jobs += [("sampled-gaussian", *x) for x in [
        (1, 1.1, 1.0, 1e-5), (100, 10.0, 1.0, 1e-6), (10000, 100.0, 1.0, 1e-14),
        (10000, 1.1, 0.01, 1e-5), (10000, 1.1, 0.01, 1e-12), (10000, 1.1, 0.01, 1e-14), (14062, 1.1, 256 / 60000, 1e-5),
        (100000, 0.8, 0.001, 1e-6), (1000000, 0.6, 0.0001, 1e-7), (2951, 2.0, 0.01, 1e-15), (1500, 2.0, 0.01, 1e-15),
        (1000000000, 1.1, 1e-5, 1e-5), (3000, 2.0, 0.01, 1e-5), (3000, 2.0, 0.01, 1e-10), (1000, 0.8, 0.005, 1e-6),
        (10000, 1.0, 0.01, 1e-8), (100000, 0.6, 0.001, 1e-9)]]
    return [(job,) for job in jobs]


# ------------------------------------------------------------------ shuffling


def shuffle_record(variant, epsilon0, n, epsilon):
    def compute():
        e0 = arb(epsilon0)
        chance = (-e0).exp() if variant == "fmt21" else 2 / (1 + e0.exp())
        return exact.shuffle(e0, n, chance, arb(epsilon))

    values = []
    for bits in (160, 192) if n > 100 else (400, 600):
        ctx.prec = bits
        values.append(compute())
    return {"pair": variant, "epsilon0": epsilon0, "n": n, "epsilon": epsilon, "delta": agreed(*values)}


def shuffle_jobs():
    for variant in ("fmt21", "fmt23"):
        for epsilon0 in (0.5, 1.0, 2.0, 4.0):
            for n in (10, 100, 1000, 10000):
                shrunk = 8 / math.sqrt(n)
                for share in (0.125, 0.75) if n == 10000 else (0.03125, 0.25, 0.5, 0.9375):
                    # Where delta is between 1e-2 and 1e-40 or so.
                    yield variant, epsilon0, n, share * min(epsilon0, shrunk * math.exp(epsilon0 / 2))


SECTIONS = {
    "dp_sgd": dp_sgd,
    "renyi": lambda pool: pool.starmap(renyi_record, renyi_jobs(), chunksize=8),
    "compositions": lambda pool: pool.starmap(composition_record, composition_jobs(), chunksize=1),
    "shuffle": lambda pool: pool.starmap(shuffle_record, shuffle_jobs(), chunksize=1),
}


def main():
    """All sections, or those named; the others stay as they are."""
    file = HERE / "subsampled.json"
    old = json.loads(file.read_text()) if file.exists() else {}
    lists = {name: old.get(name, []) for name in SECTIONS}
    with multiprocessing.Pool(2) as pool:
        for name in sys.argv[1:] or SECTIONS:
            lists[name] = SECTIONS[name](pool)
            write(file.name, ABOUT, **lists)


if __name__ == "__main__":
    main()
