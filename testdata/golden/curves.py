"""Rényi curves of single events, from the definition D_a(P||Q) = log(sum P^a Q^(1-a)) / (a-1).

The definition is docs/spec/mathematics.md 1.1, the events are those of docs/spec/mathematics.md 2.

Each mechanism is two functions: `moment` is sum P^a Q^(1-a) for a > 1, `kl` is the order 1. Nothing here uses a closed
form of docs/spec/mathematics.md; where one exists, `cross_checks` compares it with the definition.
"""

import itertools
import math
from fractions import Fraction

from mpmath import cos, exp, expm1, inf, log, mp, mpf, pi, sqrt, tanh

from precise import minimise, number, settled, text

ORDERS = [1.0, 1 + 2.0**-52, 1 + 1e-9, 1.0001, 1.1, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.7, 8.0, 16.0, 32.0, 64.0, 100.5,
          1024.0, 1e6, math.inf]
SCALES = [1e-6, 1e-3, 0.05, 0.3, 1.0, 2.0, 20.0, 1e3, 1e6, 1e9]
EPSILONS = [1e-12, 1e-6, 0.001, 0.1, 0.5, 1.0, 3.0, 10.0, 100.0, 1000.0]


def renyi(event, order):
    """The Rényi divergence of an event at a real order >= 1 or infinity, at the working precision."""
    kind = event["event"]
    if kind == "compose":
        return sum((renyi(e, order) for e in event["events"]), mpf(0))
    if kind == "repeat":
        return event["count"] * renyi(event["of"], order)
    return CURVES[kind](event, order)


# --- Gaussian and the curves that are lines by definition -------------------------------------------------------------


def line(intercept, slope, order):
    """intercept + slope * order, infinite at infinity unless the slope is zero."""
    if order == inf:
        return inf if slope > 0 else intercept
    return intercept + slope * order


def gaussian(e, order):
    # log(P/Q) is N(m^2/2, m^2) under P with m = sensitivity/sigma, whose moments are exact: a m^2 / 2.
    return line(mpf(0), (mpf(e["sensitivity"]) / mpf(e["sigma"])) ** 2 / 2, order)


def gdp(e, order):
    return line(mpf(0), mpf(e["mu"]) ** 2 / 2, order)


def zcdp(e, order):
    return line(mpf(0), mpf(e["rho"]), order)


def cdp(e, order):
    # mean <= mu, the rest tau-subgaussian; the mean can never exceed tau^2/2 (docs/spec/mathematics.md 3.11).
    half = mpf(e["tau"]) ** 2 / 2
    return line(min(mpf(e["mu"]), half) - half, half, order)


# --- Laplace: the integral in its three pieces ------------------------------------------------------------------------


def laplace_moment(t, a):
    """P = Lap(0, 1), Q = Lap(t, 1): the integral of P^a Q^(1-a) over x < 0, over [0, t] and over x > t."""
    left = exp((a - 1) * t) / 2  # density ratio constant e^t
    middle = exp((a - 1) * t) * (1 - exp(-(2 * a - 1) * t)) / (2 * (2 * a - 1))
    right = exp(-a * t) / 2  # density ratio constant e^-t
    return left + middle + right


def laplace_kl(t):
    """The same three pieces of E_P[loss]: the loss is t, then t - 2x, then -t."""
    middle = t * (1 - exp(-t)) / 2 - (1 - (1 + t) * exp(-t))
    return t / 2 + middle - t * exp(-t) / 2


def laplace(e, order):
    t = mpf(e["sensitivity"]) / mpf(e["scale"])
    if order == inf:
        return t
    return laplace_kl(t) if order == 1 else log(laplace_moment(t, order)) / (order - 1)


# --- discrete Laplace: P(x) = (1-r)/(1+r) r^|x|, Q(x) = P(x-D), r = exp(-1/scale) --------------------------------------


def discrete_laplace_moment(tau, shift, a):
    """Sum of P^a Q^(1-a): geometric tails x <= 0 and x >= D, and the geometric run 0 < x < D between."""
    r, z = exp(-tau), exp(-(2 * a - 1) * tau)
    left = exp((a - 1) * shift * tau) / (1 - r)
    right = exp(-a * shift * tau) / (1 - r)
    middle = exp((a - 1) * shift * tau) * z * (1 - z ** (shift - 1)) / (1 - z)
    return (1 - r) / (1 + r) * (left + middle + right)


def discrete_laplace_kl(tau, shift):
    """Sum of P * loss; the loss is D tau, (D-2x) tau between, -D tau."""
    r = exp(-tau)
    total = (shift - shift * r**shift) / (1 - r)
    power = mpf(1)
    for x in range(1, shift):
        power *= r
        total += (shift - 2 * x) * power
    return tau * (1 - r) / (1 + r) * total


def discrete_laplace_moment_brute(tau, shift, a):
    """The same sum term by term, until the terms no longer count."""
    r = exp(-tau)
    reach = int((mp.dps + 10) * mp.ln10 / tau) + shift + 2
    terms = (exp(-tau * (a * abs(x) + (1 - a) * abs(x - shift))) for x in range(-reach, reach + 1))
    return (1 - r) / (1 + r) * mp.fsum(terms)


def discrete_laplace(e, order):
    tau, shift = 1 / mpf(e["scale"]), int(e["sensitivity"])
    if order == inf:
        return shift * tau
    return discrete_laplace_kl(tau, shift) if order == 1 else log(discrete_laplace_moment(tau, shift, order)) / (order - 1)


# --- discrete Gaussian: P(x) ~ exp(-x^2 / 2 sigma^2), Q(x) = P(x-D) ----------------------------------------------------


def window(sigma, centre):
    """The integers around a centre that carry all of a Gaussian sum at the working precision."""
    reach = int(sigma * sqrt(2 * mp.ln10 * (mp.dps + 10))) + 3
    return range(int(mp.nint(centre)) - reach, int(mp.nint(centre)) + reach + 1)


def gaussian_sum(sigma):
    return mp.fsum(exp(-mpf(x) ** 2 / (2 * sigma**2)) for x in window(sigma, 0))


def discrete_gaussian_moment(sigma, shift, a):
    """Sum of P^a Q^(1-a) term by term; the terms peak at (1-a) D."""
    terms = (exp(-(a * mpf(x) ** 2 + (1 - a) * mpf(x - shift) ** 2) / (2 * sigma**2))
             for x in window(sigma, (1 - a) * shift))
    return mp.fsum(terms) / gaussian_sum(sigma)


def discrete_gaussian_moment_poisson(sigma, shift, a):
    """The same by Poisson summation: for sigma so large that summing term by term is slow."""

    def theta(f):
        total, k = mpf(1), 1
        while (2 * (pi * sigma * k) ** 2) < (mp.dps + 10) * mp.ln10:
            total += 2 * exp(-2 * (pi * sigma * k) ** 2) * cos(2 * pi * k * f)
            k += 1
        return total

    return exp(a * (a - 1) * shift**2 / (2 * sigma**2)) * theta((1 - a) * shift) / theta(0)


def discrete_gaussian_kl(sigma, shift):
    terms = (exp(-mpf(x) ** 2 / (2 * sigma**2)) * (mpf(x - shift) ** 2 - mpf(x) ** 2) / (2 * sigma**2)
             for x in window(sigma, 0))
    return mp.fsum(terms) / gaussian_sum(sigma)


def discrete_gaussian_scalar(sigma, shift, order):
    if order == inf:
        return inf
    if sigma > 50:
        return shift**2 / (2 * sigma**2) if order == 1 else (
            log(discrete_gaussian_moment_poisson(sigma, shift, order)) / (order - 1))
    if order == 1:
        return discrete_gaussian_kl(sigma, shift)
    return log(discrete_gaussian_moment(sigma, shift, order)) / (order - 1)


def discrete_gaussian(e, order):
    return discrete_gaussian_scalar(mpf(e["sigma"]), int(e["sensitivity"]), order)


def integer_vectors(squared, largest=None):
    """All multisets of positive integers whose squares sum to at most `squared` (the empty one too)."""
    yield ()
    largest = math.isqrt(squared) if largest is None else min(largest, math.isqrt(squared))
    for first in range(largest, 0, -1):
        for rest in integer_vectors(squared - first * first, first):
            yield (first, *rest)


def worst_vector(sigma, sensitivity, order):
    """(value, vector): the largest sum of scalar divergences over integer vectors of Euclidean norm <= sensitivity."""
    squared = math.floor(Fraction(sensitivity) ** 2)  # of the double, exactly
    scalar = [discrete_gaussian_scalar(mpf(sigma), v, order) for v in range(1, math.isqrt(squared) + 1)]
    return max((sum((scalar[x - 1] for x in v), mpf(0)), v) for v in integer_vectors(squared))


# --- randomized response and pure differential privacy ----------------------------------------------------------------


def two_answers(p, q, others, order):
    """P = (p, q, q...), Q = (q, p, q...): `others` further answers have the same chance under both."""
    if p == q:
        return mpf(0)  # where rounding would never settle
    if order == inf:
        return log(p / q)
    if order == 1:
        return p * log(p / q) + q * log(q / p)
    return log(p**order * q ** (1 - order) + q**order * p ** (1 - order) + others * q) / (order - 1)


def randomized_response(e, order):
    p, k = mpf(e["p"]), e["categories"]
    return two_answers(p, (1 - p) / (k - 1), k - 2, order)


def pure(e, order):
    odds = exp(mpf(e["epsilon"]))
    return two_answers(odds / (1 + odds), 1 / (1 + odds), 0, order)


# --- exponential mechanism: losses in a range of width eta -------------------------------------------------------------


def exponential(e, order):
    """The supremum over pairs on two points whose losses are t and t - eta, 0 <= t <= eta.

    Weights: let Q put w on loss t. P = Q e^loss must sum to one: w e^t + (1-w) e^(t-eta) = 1, so
    w = (1 - e^(t-eta)) / (e^t - e^(t-eta)) = (e^(eta-t) - 1) / (e^eta - 1), and P puts w e^t there.
    Then sum P^a Q^(1-a) = w e^(at) + (1-w) e^(a(t-eta)), log-concave in t; the mean loss under P is concave in t.
    """
    eta = mpf(e["epsilon"])
    if order == inf:
        return eta  # t -> eta: w stays positive on the way

    def weight(t):
        return expm1(eta - t) / expm1(eta)

    def minus_kl(t):
        p = weight(t) * exp(t)
        return -(p * t + (1 - p) * (t - eta))

    def minus_log_moment(t):
        w = weight(t)
        return -log(w * exp(order * t) + (1 - w) * exp(order * (t - eta)))

    if order == 1:
        return -minimise(minus_kl, 0, eta)[1]
    return -minimise(minus_log_moment, 0, eta)[1] / (order - 1)


CURVES = {
    "gaussian": gaussian, "laplace": laplace, "discrete-gaussian": discrete_gaussian,
    "discrete-laplace": discrete_laplace, "rr": randomized_response, "exponential": exponential, "pure": pure,
    "zcdp": zcdp, "cdp": cdp, "gdp": gdp,
}


# --- what goes into curves.json ---------------------------------------------------------------------------------------


def events():
    """The events of curves.json, extremes included."""
    continuous, whole = [0.37, 1.0, 2.0, 2.5, 3.0, 17.0, 1000.0], [1, 2, 3, 17, 1000]
    for scale, d in itertools.product(SCALES, continuous):
        yield {"event": "gaussian", "sigma": scale, "sensitivity": d}
        yield {"event": "laplace", "scale": scale, "sensitivity": d}
    for scale, d in itertools.product(SCALES, whole):
        yield {"event": "discrete-laplace", "scale": scale, "sensitivity": d}
    for sigma, d in itertools.product([0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 1.2, 1.5, 2.0, 5.0, 20.0, 1000.0], [1, 2, 3]):
        yield {"event": "discrete-gaussian", "sigma": sigma, "sensitivity": d}
    for p in [0.5, 0.5 + 1e-12, 0.5 + 1e-9, 0.5001, 0.501, 0.52, 0.55, 0.6, 0.75, 0.9, 0.99, 1 - 1e-9, 1 - 1e-12]:
        yield {"event": "rr", "p": p, "categories": 2}
    for k in [3, 10, 1000, 1000000]:
        barely = next_above(Fraction(1, k))
        for p in [barely, barely * (1 + 1e-9), barely * 1.01, barely * 1.5, 0.55, 0.75, 0.99, 1 - 1e-9, 1 - 1e-12]:
            yield {"event": "rr", "p": p, "categories": k}
    for epsilon in EPSILONS:
        yield {"event": "exponential", "epsilon": epsilon}
        yield {"event": "pure", "epsilon": epsilon}
    for rho in [0.0, 1e-12, 0.001, 0.1, 0.5, 1.0, 3.0, 1000.0]:
        yield {"event": "zcdp", "rho": rho}
    for mu, tau in [(0.02, 0.3), (0.1, 0.3), (0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1e-12, 1e-3), (1.0, 1e-6), (0.5, 1.0),
                    (3.0, 20.0), (500.0, 20.0)]:
        yield {"event": "cdp", "mu": mu, "tau": tau}
    for mu in [0.0, 1e-6, 0.01, 0.37, 1.0, 2.5, 40.0]:
        yield {"event": "gdp", "mu": mu}


def next_above(fraction):
    """The smallest double above a fraction."""
    x = float(fraction)
    return x if Fraction(x) > fraction else math.nextafter(x, math.inf)


def record(event, order):
    return {"event": event, "order": number(order), "value": text(settled(lambda: renyi(event, mpf(order))))}


def vector_record(sigma, sensitivity, order):
    value = settled(lambda: worst_vector(sigma, sensitivity, mpf(order))[0])
    with mp.workdps(120):
        vector = worst_vector(sigma, sensitivity, mpf(order))[1]
    event = {"event": "discrete-gaussian", "sigma": sigma, "sensitivity": sensitivity}
    return {"event": event, "order": order, "value": text(value), "vector": vector}


def jobs():
    return [(e, a) for e in events() for a in ORDERS]


def vector_jobs():
    return list(itertools.product([0.2, 0.4, 0.6, 0.9, 1.2, 3.0],
                                  [1.4142135623730951, 1.5, 2.0, 2.3, 3.0, 4.0, 5.0],
                                  [1.01, 1.1, 1.3, 1.5, 1.9, 2.0, 2.3, 4.7, 16.0]))


ABOUT = {
    "what": "Renyi divergence of one event at one order, in nats; order 1 is Kullback-Leibler, inf the largest loss",
    "made_by": "make.py (mpmath), from the definition, at the exact value of each double; 25 digits, "
               "each recomputed at twice the precision",
    "discrete-gaussian-vector": "sensitivity is an L2 norm: the largest sum of scalar divergences over integer vectors "
                                "of at most that norm, and a vector that attains it",
}


# --- closed forms against the definition ------------------------------------------------------------------------------


def cross_checks():
    """Yield (name, largest relative difference): each form against the definition, on the orders and parameters above."""
    finite = [mpf(a) for a in ORDERS if 1 < a < math.inf]

    def largest(pairs):
        with mp.workdps(300):
            return max(abs(x - y) / max(abs(x), abs(y)) for x, y in pairs)

    def exponential_pairs(form):
        for eta, a in itertools.product(EPSILONS, finite):
            yield form(mpf(eta), a), exponential({"epsilon": eta}, a)

    def from_math(eta, a):  # docs/spec/mathematics.md 2.7
        big, small = 1 - exp(-a * eta), exp(-eta) - exp(-a * eta)
        return log(small / ((a - 1) * (1 - exp(-eta))) * ((a - 1) * big / (a * small)) ** a) / (a - 1)

    def from_sinh(eta, a):
        def g(x):
            return log(mp.sinh(x / 2) / (x / 2))
        return (a * g(a * eta) - (a - 1) * g((a - 1) * eta) - g(eta)) / (a - 1)

    yield "(a) exponential: docs/spec/mathematics.md 2.7 = supremum", largest(exponential_pairs(from_math))
    yield "(a) exponential: a g(a eta) - (a-1) g((a-1) eta) - g(eta) = supremum", largest(exponential_pairs(from_sinh))

    def kl_pairs():  # the limit of the closed form: the mean loss at the best t, e^-t* = eta / (e^eta - 1)
        for eta in EPSILONS:
            x = mpf(eta) / expm1(mpf(eta))
            yield x - 1 - log(x), exponential({"epsilon": eta}, mpf(1))

    yield "(a) exponential at order 1: x - 1 - ln x, x = eta/(e^eta - 1)", largest(kl_pairs())

    def dlaplace_pairs():
        for scale, d, a in itertools.product(SCALES, [1, 2, 3, 17, 1000], finite):
            tau = 1 / mpf(scale)
            k = tanh(tau / 2) / tanh((2 * a - 1) * tau / 2)
            yield ((1 + k) / 2 * exp((a - 1) * d * tau) + (1 - k) / 2 * exp(-a * d * tau) - 1,
                   discrete_laplace_moment(tau, d, a) - 1)

    yield "(d) discrete Laplace: M - 1 from (1 +- k)/2 = sum", largest(dlaplace_pairs())

    def brute_pairs():
        for scale, d, a in itertools.product([0.05, 0.3, 1.0, 2.0], [1, 2, 3, 17], finite):
            yield discrete_laplace_moment_brute(1 / mpf(scale), d, a), discrete_laplace_moment(1 / mpf(scale), d, a)

    yield "discrete Laplace: term by term = geometric", largest(brute_pairs())

    def poisson_pairs():
        for sigma, d, a in itertools.product([0.5, 1.0, 5.0], [1, 2, 3], finite):
            yield discrete_gaussian_moment(mpf(sigma), d, a), discrete_gaussian_moment_poisson(mpf(sigma), d, a)

    yield "discrete Gaussian: term by term = Poisson summation", largest(poisson_pairs())

    def scalar_pairs():
        for sigma, d, a in itertools.product([0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 1.2, 1.5, 2.0], [1, 2, 3], finite):
            yield worst_vector(sigma, d, a)[0], discrete_gaussian_scalar(mpf(sigma), d, a)

    yield "discrete Gaussian: for sensitivity 1, 2, 3 the scalar shift is the worst vector", largest(scalar_pairs())

    def laplace_pairs():
        for t, a in itertools.product([0.05, 0.5, 3.0], [1.5, 2.0, 4.7]):
            with mp.workdps(30):
                integral = mp.quad(lambda x: exp(-a * abs(x) - (1 - a) * abs(x - t)) / 2, [-90, -20, 0, t, t + 20, t + 90])
            yield mpf(mp.nstr(integral, 20)), mpf(mp.nstr(laplace_moment(mpf(t), mpf(a)), 20))

    yield "Laplace: quadrature = three pieces (20 digits)", largest(laplace_pairs())
