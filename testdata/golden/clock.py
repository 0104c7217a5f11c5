#!/usr/bin/env python3
"""The prices and limits of the Gaussian clock, from their definitions.

    /tmp/golden/bin/python testdata/golden/clock.py

writes clock.json, in about two minutes. Every parameter is a double or a whole number of 1e-15, and stands for its exact
value. Every result is computed at 100 digits or more and again at twice as many, and the two agree in 28 digits.
"""

import multiprocessing

from mpmath import mp, mpf

from precise import root, settled, text, write

ABOUT = [
    "The prices and limits of the Gaussian clock (docs/spec/mathematics.md 4.9). Variances are in units of 1; `left` is a",
    "whole number of 1e-15, as text. `pure`: the least u with T(w + u) >= T(RR(epsilon) x G_w), where w = `left`.",
    "`laplace`: the same of Laplace noise with the scale 1/epsilon. `lattice`: the theorem's price of one step of a",
    "discrete Gaussian of this sigma, and a `lower` bound of every price: the least u that covers the total variation, from",
    "the sum over all integers. `band`: the least u = v - w with delta(RR(epsilon) x G_w) <= delta(G_v) at the real `e1`,",
    "where v = `before`. `laplace_band`: the same of Laplace noise with the scale 1/epsilon. Profiles with Laplace noise",
    "are in closed form, and compared with an integral over the loss. `limits`: the v with ln delta_v(epsilon) = `ln_delta`.",
]
FEMTO = mpf(10) ** -15


def upper(x):
    """P(N > x)."""
    return mp.erfc(x / mp.sqrt(2)) / 2


def delta(e, v):
    """The profile of G_v at a real e."""
    if v == 0:
        return max(mpf(0), -mp.expm1(e))
    m = mp.sqrt(v)
    return upper(e / m - m / 2) - mp.exp(e) * upper(e / m + m / 2)


def same(e, v):
    """1 - delta, without cancellation."""
    if v == 0:
        return min(mpf(1), mp.exp(e))
    m = mp.sqrt(v)
    return upper(m / 2 - e / m) + mp.exp(e) * upper(e / m + m / 2)


def uncovered(v):
    """1 - T(v)."""
    return mp.erfc(mp.sqrt(v / 8))


def covering(w, rest, low, high):
    """The least u with 1 - T(w + u) <= rest."""
    target = mp.log(rest)
    return root(lambda u: mp.log(uncovered(w + u)) - target, low, high)


def pure(epsilon, left):
    def price():
        e, w = mpf(epsilon), mpf(left) * FEMTO
        # 1 - T* = (1 - tanh(e/2)) (1 - delta_w(e)); the price falls from its value at w = 0 to 8 ln cosh(e/2).
        rest = 2 / (mp.exp(e) + 1)
        return covering(w, rest * same(e, w), 4 * mp.log(mp.cosh(e / 2)), 9 * e + 2 * e * e)
    return settled(price)


def laplace_delta(e, b, w):
    """The profile at b of Laplace noise with the scale 1/e and Gaussian noise of the variance w."""
    if w == 0:
        return max(mpf(0), -mp.expm1((b - e) / 2))
    near, far, root_w = b - e, b + e, mp.sqrt(w)
    tails = mp.exp(-near / 2) * upper(near / root_w - root_w / 2) - mp.exp(far / 2) * upper(far / root_w + root_w / 2)
    between = mp.exp(-w / 8) * (upper(near / root_w) - upper(far / root_w))
    return mp.exp((b - e) / 2) * (tails - between)


def check_laplace(epsilon, e1, w):
    """Compares it with an integral over the loss: e and -e with the probabilities 1/2 and exp(-e)/2, and a density between."""
    with mp.workdps(60):
        e, b = mpf(epsilon), mpf(e1)
        cells = min(200, 8 + int(4 * e / mp.sqrt(w)) + int(e * b / w)) if w else 8
        places = [-e + 2 * e * k / cells for k in range(cells + 1)] + ([] if w else [b] if -e < b < e else [])
        density = lambda l: mp.exp((l - e) / 2) * delta(b - l, w) / 4
    with mp.workdps(25):
        between = mp.quad(lambda l: +density(l), sorted(places))
        whole = delta(b - e, w) / 2 + mp.exp(-e) * delta(b + e, w) / 2 + between
    with mp.workdps(60 + int(epsilon)):
        assert abs(laplace_delta(e, b, w) - whole) <= mpf(10) ** -9 * whole, (epsilon, e1, w, whole)


def laplace_record(epsilon, left):
    def price():
        e, w = mpf(epsilon), mpf(left) * FEMTO
        return covering(w, 1 - laplace_delta(e, mpf(0), w), mpf(10) ** -12 * e * e, 9 * e + 2 * e * e)
    # 1 - delta is about exp(-epsilon / 2) or exp(-left / 8): so many digits cancel.
    value = settled(price, start=100 + int(epsilon + 0.06 * left * 1e-15))
    check_laplace(epsilon, 0, mpf(left) * FEMTO)
    return {"epsilon": epsilon, "left": str(left), "price": text(value)}


def pure_record(epsilon, left):
    return {"epsilon": epsilon, "left": str(left), "price": text(pure(epsilon, left))}


def theta(q):
    """1 + 2 sum exp(-q k^2)."""
    total, k = mpf(1), 1
    while True:
        term = 2 * mp.exp(-q * k * k)
        total += term
        k += 1
        if term < mpf(10) ** -(mp.dps + 5):
            return total


def lattice_record(sigma, left):
    def theorem():
        s, w = mpf(sigma), mpf(left) * FEMTO
        mu = 1 / s**2
        alone = 2 * mp.pi**2 * s**2
        factor = theta(alone / (1 + mu / w)) / theta(alone)
        rest = 1 - factor * (1 - uncovered(w + mu))
        if rest <= 0:
            return mp.inf
        return mu + covering(w + mu, rest, mpf(0), 100 * mu + 100)

    def lower():
        s, w = mpf(sigma), mpf(left) * FEMTO
        reach = int(mp.sqrt(2 * mp.dps * mp.log(10)) * s) + 20
        weights = {x: mp.exp(-mpf(x) ** 2 / (2 * s * s)) for x in range(-reach, reach + 1)}
        total = sum(weights.values())
        variation = sum(p * delta(-(2 * mpf(x) + 1) / (2 * s * s), w) for x, p in weights.items()) / total
        return covering(w, 1 - variation, mpf(0), 100 / s**2 + 100)

    return {"sigma": sigma, "left": str(left), "price": text(settled(theorem)), "lower": text(settled(lower))}


def band_record(epsilon, e1, before):
    def price():
        e, b, v = mpf(epsilon), mpf(e1), mpf(before) * FEMTO
        p = 1 / (1 + mp.exp(-e))
        target = mp.log(delta(b, v))
        excess = lambda u: mp.log(p * delta(b - e, v - u) + (1 - p) * delta(b + e, v - u)) - target
        if e > b and excess(v) > 0:
            # Even with nothing left it is too dear.
            return mp.inf
        return root(excess, mpf(0), v * (1 - mpf(10) ** -12) if e <= b else v)
    value = settled(price, start=200)
    return {"epsilon": epsilon, "e1": e1, "before": str(before), "price": text(value)}


def laplace_band_record(epsilon, e1, before):
    def price():
        e, b, v = mpf(epsilon), mpf(e1), mpf(before) * FEMTO
        target = mp.log(delta(b, v))
        return root(lambda u: mp.log(laplace_delta(e, b, v - u)) - target, mpf(0), v * (1 - mpf(10) ** -3))
    value = settled(price)
    check_laplace(epsilon, e1, mpf(before) * FEMTO - value)
    return {"epsilon": epsilon, "e1": e1, "before": str(before), "price": text(value)}


def limit_record(epsilon, ln_delta):
    def variance():
        f = lambda v: mp.log(delta(mpf(epsilon), v)) - mpf(ln_delta)
        low, high = mpf(10) ** -14, mpf(20000)
        return root(f, low, high) if f(low) < 0 < f(high) else mp.inf
    return {"epsilon": epsilon, "ln_delta": ln_delta, "variance": text(settled(variance, start=800))}


EPSILONS = [0.001, 0.0037, 0.01, 0.05, 0.1, 0.25, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0, 300.0, 1000.0]
LEFT = [0] + [10**k for k in range(3, 20)] + [3 * 10**k for k in range(8, 17, 2)] + [16 * 10**15 >> j for j in (3, 9, 15, 22)]
# Losses of at most a tenth of what is left of epsilon, and a few larger ones.
LAPLACE_BAND = [
    (epsilon, e1, before)
    for epsilon in [0.001, 0.0175, 0.05, 0.1]
    for before in [20 * 10**12, 56029 * 10**9, 351850 * 10**9, 23651 * 10**11]
    for e1 in [0.1, 0.5, 0.9, 2.5]
    if e1 <= 12 * (before / 1e15) ** 0.5 and epsilon**2 < before / 2e15
] + [(0.5, 1.0, 351850 * 10**9), (0.5, 2.5, 23651 * 10**11), (1.0, 8.0, 23651 * 10**11)]


def jobs():
    for epsilon in EPSILONS:
        for left in LEFT:
            yield pure_record, (epsilon, left)
    for sigma in [0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 10.0, 40.0]:
        for left in [16 * 10**15 >> j for j in range(0, 23, 2)]:
            yield lattice_record, (sigma, left)
    for epsilon in EPSILONS[::2] + [0.5, 2.0]:
        for left in LEFT[::4] + LEFT[15:16] + LEFT[-4:]:
            yield laplace_record, (epsilon, left)
    for epsilon in [0.001, 0.01, 0.05, 0.1, 0.3, 1.0]:
        for before in [10**12, 56029 * 10**9, 351850 * 10**9, 23651 * 10**11]:
            for e1 in [0.1, 0.5, 0.9, 2.5, 8.0]:
                v = before / 1e15
                # Within ten standard deviations, and small beside what is left.
                if e1 <= 12 * v**0.5 and epsilon**2 < v:
                    yield band_record, (epsilon, e1, before)
    for epsilon, e1, before in LAPLACE_BAND:
        yield laplace_band_record, (epsilon, e1, before)
    for epsilon in [0.001, 0.01, 0.1, 0.5, 1.0, 3.0, 10.0, 100.0, 1000.0]:
        for ln_delta in [-0.75, -5.0, -13.75, -20.75, -100.0, -690.75]:
            yield limit_record, (epsilon, ln_delta)


def run(function, arguments):
    return function.__name__, function(*arguments)


def main():
    with multiprocessing.Pool() as pool:
        records = pool.starmap(run, jobs(), chunksize=4)
    lists = {name: [r for made_by, r in records if made_by == name + "_record"] for name in ("pure", "laplace", "lattice", "band", "laplace_band", "limit")}
    lists["limits"] = lists.pop("limit")
    write("clock.json", ABOUT, **lists)


if __name__ == "__main__":
    main()
