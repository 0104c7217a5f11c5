#!/usr/bin/env python3
"""Make extremes.json: truths for compositions at the edges, which `scripts/extremes` runs too, and for the bounds behind them.

    /tmp/truth/bin/python testdata/golden/extremes.py          # the environment of subsampled.py, about six minutes

Deterministic. Each record is computed twice, at two precisions or with two steps, which must agree in all printed digits.
- two sampled Gaussians: the definition, delta_2(e) = E delta_1(e - L), by quadrature in mpmath at 40 and 60 digits;
- randomized responses and other finite losses: sums over all outcomes in Arb;
- the rest: the contour integral of contour.py.
"""

import math

import mpmath
from flint import arb, arb_poly, ctx
from mpmath import mp, mpf

import exact
from contour import Smooth, agreed, epsilon_of
from precise import write

DIRECTIONS = ("remove", "add")


def at_two_precisions(compute, bits=(400, 600)):
    values = []
    for precision in bits:
        ctx.prec = precision
        values.append(compute())
    return agreed(*values)


# ------------------------------------------------------- two sampled Gaussians


def two_gaussians(sigma, q, delta, direction, start):
    """epsilon of two releases of Gaussian noise, each on a Poisson sample, by the definition."""
    found = []
    for digits in (40, 60):
        with mp.workdps(digits):
            found.append(_two_gaussians(mpf(sigma), mpf(q), mpf(delta), direction, mpf(start)))
    low, high = found
    assert abs(low - high) <= mpf(10) ** -22 * high, (low, high)
    return mpmath.nstr(high, 22)


def _two_gaussians(sigma, q, delta, direction, start):
    m = 1 / sigma
    phi = lambda x: mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)
    tail = lambda x: mp.erfc(x / mp.sqrt(2)) / 2

    def gaussian(e):
        return tail(e / m - m / 2) - mp.exp(e) * tail(e / m + m / 2)

    def single(e):
        if direction == "remove":
            ratio = 1 + mp.expm1(e) / q
            return q * gaussian(mp.log(ratio)) if ratio > 0 else -mp.expm1(e)
        rest = 1 - (1 - q) * mp.exp(e)
        return rest * gaussian(mp.log(q * mp.exp(e) / rest)) if rest > 0 else mpf(0)

    def profile(e):
        def integrand(x):
            y = 1 + q * mp.expm1(m * x - m * m / 2)
            loss = mp.log(y)
            return phi(x) * (y * single(e - loss) if direction == "remove" else single(e + loss))

        reach = 4 + int(mp.sqrt(2 * mp.dps * mp.log(10)))
        return mp.quad(integrand, range(-reach, reach + 1))

    # delta falls like the exponential of a parabola: secants of its logarithm.
    a, b = start, start * (1 + mpf(10) ** -4)
    fa, fb = mp.log(profile(a) / delta), mp.log(profile(b) / delta)
    while abs(b - a) > mpf(10) ** -27 * b:
        a, fa, b = b, fb, b - fb * (b - a) / (fb - fa)
        fb = mp.log(profile(b) / delta)
    return b


# ---------------------------------------------------------------- finite losses


def crossing(outcomes, delta):
    """epsilon from (loss, mass under P), the largest loss first: A - e^eps B between two losses."""
    a = b = arb(0)
    for index, (loss, mass) in enumerate(outcomes):
        a += mass
        b += mass * (-loss).exp()
        if a > delta:
            epsilon = ((a - delta) / b).log()
            if index + 1 == len(outcomes) or epsilon >= outcomes[index + 1][0]:
                return epsilon
    raise ArithmeticError("delta is never reached")


def response(p, k):
    """[(loss, mass under P, mass under Q)] of randomized response among k."""
    p = arb(p)
    lie = (1 - p) / (k - 1)
    loss = (p / lie).log()
    return [(loss, p, lie), (arb(0), 1 - p - lie, 1 - p - lie), (-loss, lie, p)]


def responses(count, p, k, delta, tilt):
    """epsilon of `count` responses among k: coefficients of a power of a polynomial, tilted to where delta is."""
    (loss, up, _), (_, level, _), (_, down, _) = response(p, k)
    t = arb(tilt)
    power = arb_poly([down / t, level, up * t]) ** count
    delta = arb(delta)
    a = b = arb(0)
    for j in range(2 * count, -1, -1):
        steps = j - count
        mass = power[j] * t ** (-steps)
        a += mass
        b += mass * (-(steps * loss)).exp()
        if a > delta:
            epsilon = ((a - delta) / b).log()
            if epsilon >= (steps - 1) * loss:
                return epsilon
    raise ArithmeticError("delta is never reached")


def sampled(outcomes, q, direction):
    """The outcomes after Poisson sampling, [(loss, mass under P)]."""
    q = arb(q)
    result = []
    for _, p, other in outcomes:
        mixed = (1 - q) * other + q * p
        result.append(((mixed / other).log(), mixed) if direction == "remove" else ((other / mixed).log(), other))
    return result


def three_losses(count, outcomes, delta):
    """epsilon of `count` releases with three losses each: the sum over all numbers of each."""
    (l1, p1), (l2, p2), (l3, p3) = outcomes
    delta = arb(delta)
    tiny = delta * arb("1e-40") / (count + 1) ** 2
    all_sums = []
    row = p3**count  # none of the first, none of the second
    for i in range(count + 1):
        mass, seen = row, False
        for j in range(count - i + 1):
            if mass > tiny:
                seen = True
                all_sums.append((i * l1 + j * l2 + (count - i - j) * l3, mass))
            elif seen and mass < tiny and j > (count - i) * float(p2 / (p2 + p3)):
                break
            mass = mass * (count - i - j) / (j + 1) * p2 / p3
        row = row * (count - i) / (i + 1) * p1 / p3
    all_sums.sort(key=lambda outcome: -float(outcome[0].mid()))
    return crossing(all_sums, delta)


def pure_and_tiny(count, epsilon0, tiny_count, q, sigma, delta):
    """`count` pure mechanisms, and others on so rare a sample that their losses never reach from one sum of the pure
    losses to the next.

    With S the loss of the others, E e^-S = 1, so sum j contributes mass_j E(1 - e^(eps - j - S))_+ = mass_j (1 -
    e^(eps - j))_+ unless |j - eps| < max |S|: the others change nothing at all.
    """
    e = arb(epsilon0)
    up = 1 / (1 + (-e).exp())
    epsilon = exact.two_losses(count, (e, up), (-e, 1 - up), arb(delta))
    # Beyond 60 sigma there is less than 1e-700 of the noise: far below delta.
    most = tiny_count * (arb(q) * ((arb(60) / arb(sigma)).exp() - 1))
    steps = (epsilon / e + count) / 2
    distance = abs(steps - arb(float(steps.mid())).floor()) * 2 * e
    assert distance > most and 2 * e - distance > most, "a sum is too close"
    return epsilon


# ------------------------------------------------------------------ the others


class SampledDiscreteGaussian:
    """Discrete Gaussian noise on a Poisson sample, sensitivity 1."""

    def __init__(self, sigma, q, direction):
        self.sigma, self.q, self.direction = sigma, q, direction

    def outcomes(self):
        s, reach = arb(self.sigma), math.ceil(26 * self.sigma)
        weight = lambda x: (-arb(x) * x / (2 * s * s)).exp()
        whole = sum((weight(x) for x in range(-reach, reach + 1)), arb(0))
        both = [(arb(0), weight(x) / whole, weight(x - 1) / whole) for x in range(-reach, reach + 1)]
        return sampled(both, self.q, self.direction)

    def rough(self):
        import numpy
        pairs = self.outcomes()
        return numpy.array([float(l) for l, _ in pairs]), numpy.array([float(m.log()) for _, m in pairs])

    def moment(self, z):
        key = ctx.prec
        if getattr(self, "key", None) != key:
            self.key, self.pairs = key, self.outcomes()
        total = 0
        for loss, mass in self.pairs:
            total += mass * (z * loss).exp()
        return total


def contour(parts, delta):
    """parts(direction) gives [(count, part)]."""
    return {direction: epsilon_of(parts(direction), delta) for direction in DIRECTIONS}


def records():
    def record(expression, delta, width, remove, add=None):
        print(expression, delta, remove, add, flush=True)
        return {"expression": expression, "delta": delta, "width": width, "remove": remove, "add": add or remove}

    for delta, start in ((1e-5, 1.4e-4), (1e-9, 5.4e-4)):
        values = [two_gaussians(49.3, 0.00461, delta, direction, start) for direction in DIRECTIONS]
        yield record("2 * poisson(0.00461, gaussian(49.3))", delta, 1e-6, *values)
    values = [two_gaussians(191000.0, 0.126, 6.19e-8, direction, 1.04e-6) for direction in DIRECTIONS]
    yield record("2 * poisson(0.126, gaussian(191000.0))", 6.19e-8, 1e-6, *values)

    value = at_two_precisions(lambda: pure_and_tiny(800110, 6.88e-07, 49, 4.54e-10, 60.8, 3e-219))
    expression = "800110 * pure(6.88e-07) + 49 * poisson(4.54e-10, discrete-gaussian(60.8))"
    yield record(expression, 3e-219, 1e-6, value)
    for count, p, k, delta, tilt in ((20000, 0.8719, 69, 2.79e-247, 2.0), (10000, 0.5782, 87, 1.65e-9, 1.1)):
        value = at_two_precisions(lambda: responses(count, p, k, delta, tilt), (500, 700))
        yield record(f"{count} * rr({p}, {k})", delta, 1e-9, value)
    for count, q, p, k, delta in ((1500, 0.262, 0.7, 76, 1e-5), (2000, 1e-6, 0.99999, 5, 1e-8)):
        values = [at_two_precisions(lambda: three_losses(count, sampled(response(p, k), q, direction)
                                                         [:: 1 if direction == "remove" else -1], delta), (160, 224))
                  for direction in DIRECTIONS]
        yield record(f"{count} * poisson({q}, rr({p}, {k}))", delta, 1e-6, *values)

    for count, q, sigma, delta in ((4, 0.00622, 90.7, 1.52e-11), (36, 0.0299, 746000.0, 7.26e-8),
                                   (5101, 0.0465, 2.33e8, 3.38e-11), (289193, 0.000192, 17.7, 1.87e-230)):
        values = contour(lambda direction: [(count, Smooth(sigma, q, direction))], delta)
        yield record(f"{count} * poisson({q}, gaussian({sigma}))", delta, 1e-6, **values)
    values = contour(lambda direction: [(1000, Smooth(3.0, 0.1, direction)),
                                        (1, SampledDiscreteGaussian(4.0, 0.3, direction))], 1e-12)
    yield record("1000 * poisson(0.1, gaussian(3.0)) + poisson(0.3, discrete-gaussian(4.0))", 1e-12, 1e-9, **values)


# --------------------------------------------- one sampled Gaussian on its own


def line_sum(f, low, high):
    """The integral of f from low to high in mpmath: the trapezoid rule, halved until it settles.

    f is analytic around the line and nothing at both ends, so the rule converges faster than any power.
    """
    count = 256
    step = (high - low) / count
    first = [f(low + step * k) for k in range(count + 1)]
    before = step * mp.fsum(first)
    small = mpf(10) ** -(mp.dps - 10) * max(abs(value) for value in first)
    while True:
        middles = mp.fsum(f(low + step * (k + mpf(1) / 2)) for k in range(count))
        now = (before + step * middles) / 2
        if abs(now - before) <= small:
            return now
        before, count, step = now, 2 * count, step / 2
        assert count < 1 << 15, "does not settle"


def powers(m, q, order, tilt):
    """x -> φ(x) Y(x)^(order + i height) e^-tilt, and where it is largest, roughly."""
    m, q = mpf(m), mpf(q)

    def at(x, height=0):
        ln_y = mp.log1p(q * mp.expm1(m * x - m * m / 2))
        return mp.exp((order + 1j * height) * ln_y - x * x / 2 - tilt) / mp.sqrt(2 * mp.pi)

    return at


def ln_moment(m, q, order):
    """ln E_Q Y^order."""
    with mp.workdps(60):
        order = mpf(order)
        plain = powers(m, q, order, 0)
        places = [mpf(k) / 2 for k in range(-160, 161)]
        tilt = max(mp.log(abs(plain(x))) for x in places)
        return tilt + mp.log(line_sum(powers(m, q, order, tilt), mpf(-80), mpf(80)).real)


def ln_modulus(m, q, order, edge, height):
    """ln |E Y^(order + i height)| / E Y^order over x <= edge, and ln of the denominator."""
    with mp.workdps(60):
        at = powers(m, q, mpf(order), 0)
        low = mpf(-40)
        if edge is None:
            whole, turned = (line_sum(lambda x: at(x, h), low, mpf(40)) for h in (0, mpf(height)))
        else:
            cuts = [low + (mpf(edge) - low) * k / 64 for k in range(65)]
            whole, turned = (mp.quad(lambda x: at(x, h), cuts) for h in (0, mpf(height)))
            finer = mp.quad(lambda x: at(x, mpf(height)), [low + (mpf(edge) - low) * k / 96 for k in range(97)])
            assert abs(finer - turned) <= mpf(10) ** -28 * abs(turned), (finer, turned)
        return mp.log(abs(turned) / abs(whole)), mp.log(abs(whole))


def decay_records():
    """|ψ| of one sampled Gaussian, tilted: the truth that a bound on it must be above."""
    for m, q, order, edge in (
        (0.020283975659229209, 0.00461, 80001.0, 9.0), (0.020283975659229209, 0.00461, -80000.0, None),
        (1.0, 0.3, 3.5, None), (1.0, 0.3, -2.5, None), (2.0, 0.5, -1.25, None), (0.25, 0.95, 12.0, None),
        (2.0, 0.05, 1.75, None), (0.1, 0.01, 501.0, 8.0), (1.0, 0.001, 6.0, 6.5), (0.5, 0.6, 4.0, 5.0),
    ):
        for depth in (0.5, 4, 12, 40):
            height = float(mpmath.nstr(mp.sqrt(2 * depth) / (q * m), 5))
            ln, whole = ln_modulus(m, q, order, edge, height)
            record = {"m": m, "q": q, "order": order, "edge": edge, "height": height,
                      "cumulant": mpmath.nstr(whole, 25), "ln_modulus": mpmath.nstr(ln, 25)}
            print(record, flush=True)
            yield record


def moment_records():
    """ln E_Q Y^order at orders where the left end of the table is decided by the slope of the density."""
    for m, q, order in ((0.020283975659229209, 0.00461, -80000.0), (0.01, 0.05, -20000.0), (1.0, 0.1, -1000.0),
                        (1.0, 0.1, -100000.0), (0.5, 0.9, -200.0), (2.0, 0.01, -300.0), (1e-5, 0.1, -1e7),
                        (0.3, 0.999, -60.0), (1e-5, 0.1, 1e7), (0.05, 0.3, 301.0)):
        value = ln_moment(m, q, order)
        print(m, q, order, mpmath.nstr(value, 25), flush=True)
        yield {"m": m, "q": q, "order": order, "value": mpmath.nstr(value, 25)}


ABOUT = {
    "made_by": "extremes.py: mpmath and Arb, each value at two precisions",
    "note": "Numbers in the text of an expression with a point or an exponent mean the double they read as. remove, add: "
            "epsilon in either direction, text of 22 digits. width: how wide a bracket may be, relative to its upper end. "
            "decay, moments: Y = 1 - q + q e^(m x - m^2/2) under standard normal x.",
}

if __name__ == "__main__":
    lists = {"decay": list(decay_records()), "moments": list(moment_records()), "values": list(records())}
    write("extremes.json", ABOUT, **lists)
