"""From one Rényi order to (epsilon, delta), for conversions.json.

The conversions are those of docs/spec/mathematics.md 3.1 to 3.4, each from its definition.

Throughout a is the order, b = a - 1, rho the divergence at that order, all at the working precision.
"""

import itertools

from mpmath import exp, expm1, log, mp, mpf

from precise import root, root_from, settled, text


def mironov(a, rho, delta):
    return rho + log(1 / delta) / (a - 1)


def cks(a, rho, delta):
    return rho + log((a - 1) / a) - (log(delta) + log(a)) / (a - 1)


def cks_delta(a, rho, epsilon):
    return exp((a - 1) * (rho - epsilon)) * (1 - 1 / a) ** a / (a - 1)


# --- the supporting line, 3.3 -----------------------------------------------------------------------------------------


def kappa(a, epsilon):
    """min over y > g of f(y) / (y - g), f(y) = y^a - 1 - a (y-1), g = e^epsilon.

    f is convex, so the slope of the quotient, f'(y) (y-g) - f(y), changes sign once; it is solved for log(y - g).
    """
    g = exp(epsilon)

    def f(y):
        return y**a - 1 - a * (y - 1)

    def slope(z):
        y = g + exp(z)
        return log(a * (y ** (a - 1) - 1)) + z - log(f(y))

    z = root_from(slope, log(g - 1))
    return f(g + exp(z)) / exp(z)


def line_delta(a, rho, epsilon):
    return expm1((a - 1) * rho) / kappa(a, epsilon)


def line(a, rho, delta):
    """epsilon with (e^{b rho} - 1) / kappa_a(e^epsilon) = delta. kappa grows from 0 at epsilon 0, so one exists."""
    target = log(expm1((a - 1) * rho) / delta)
    return exp(root_from(lambda s: log(kappa(a, exp(s))) - target, log(mironov(a, rho, delta))))


# --- the optimal conversion, 3.4 --------------------------------------------------------------------------------------


class Binary:
    """The two-point pair P = (p, 1-p), Q = (q, 1-q) with p - e^epsilon q = delta and the least order-a moment.

    The moment p^a q^(1-a) + (1-p)^a (1-q)^(1-a) is jointly convex in (p, q) and q = (p - delta) e^-epsilon is affine
    in p, so the moment is convex in p on (delta, 1]. Its slope at p = 1 has the sign of 1 - a delta: when a delta >= 1
    the minimum is at p = 1. Otherwise the slope is solved for s = logit((p - delta) / (1 - delta)), which keeps both p
    - delta and 1 - p to full relative precision.
    """

    def __init__(self, a, epsilon, delta):
        self.a, self.epsilon, self.delta = a, epsilon, delta
        if a * delta >= 1:
            self.place(1 - delta, mpf(0))
        else:
            s = root_from(self.slope, log((a - 1) * delta), step=4)
            self.moment(s)

    def place(self, above, rest):
        """above = p - delta, rest = 1 - p."""
        self.p, self.rest, self.q = above + self.delta, rest, above * exp(-self.epsilon)
        without = self.delta + rest - above * expm1(-self.epsilon)  # 1 - q, without cancelling
        self.high, self.low = self.p / self.q, rest / without

    def moment(self, s):
        self.place((1 - self.delta) / (1 + exp(-s)), (1 - self.delta) / (1 + exp(s)))

    def slope(self, s):
        """log(positive part / negative part) of the derivative in p: has its sign."""
        self.moment(s)
        a, b, shrink = self.a, self.a - 1, exp(-self.epsilon)
        high, low = self.high**b, self.low**b
        return log(a * high + b * shrink * low * self.low) - log(b * shrink * high * self.high + a * low)

    def excess(self):
        """The moment less one; never negative, but rounding may make it so where it is far below what is asked of it."""
        b = self.a - 1
        return max(self.p * self.high**b + self.rest * self.low**b - 1, mpf(10) ** -mp.dps)


def optimal(a, rho, delta):
    """The least epsilon >= 0 at which every binary pair with that hockey stick has a moment of at least e^{b rho}."""
    target = expm1((a - 1) * rho)
    if Binary(a, mpf(0), delta).excess() >= target:
        return mpf(0)
    return root(lambda e: log(Binary(a, e, delta).excess() / target), 0, max(mironov(a, rho, delta), mpf(1)))


def optimal_delta(a, rho, epsilon):
    target = expm1((a - 1) * rho)
    limit = 1 - exp(epsilon - rho) if epsilon < rho else mpf(0)
    if a * limit >= 1:
        return limit  # p = 1, q = e^-rho
    start = log(min(line_delta(a, rho, epsilon), mpf("0.5")))
    s = root_from(lambda s: log(Binary(a, epsilon, 1 / (1 + exp(-s))).excess() / target), start)
    return 1 / (1 + exp(-s))


METHODS = {"mironov": mironov, "cks": cks, "line": line, "optimal": optimal}
INVERSES = {"cks": cks_delta, "line": line_delta, "optimal": optimal_delta}

ORDERS = [1.001, 1.01, 1.1, 1.5, 2.0, 3.0, 4.7, 8.0, 32.0, 100.5, 1024.0, 1e4]
RHOS = [1e-12, 1e-6, 1e-3, 0.1, 1.0, 10.0, 1000.0]
DELTAS = [1e-300, 1e-100, 1e-20, 1e-10, 1e-5, 0.01, 0.5]


def jobs():
    return list(itertools.product(METHODS, ORDERS, RHOS, DELTAS))


def inverse_jobs():
    points = [(1.01, 0.01, 0.5), (1.1, 0.001, 2.0), (1.5, 0.1, 1.0), (1.5, 1e-6, 0.01), (2.0, 0.1, 3.0), (2.0, 3.0, 2.5),
              (3.0, 0.5, 8.0), (4.7, 1e-9, 1e-3), (8.0, 0.2, 0.5), (16.0, 1.0, 5.0), (32.0, 0.05, 0.4), (100.5, 2.0, 2.25),
              (1024.0, 0.5, 0.3), (1e4, 1e-6, 0.004)]
    return [(method, *point) for method in INVERSES for point in points]


def record(method, a, rho, delta):
    value = settled(lambda: METHODS[method](mpf(a), mpf(rho), mpf(delta)))
    return {"method": method, "order": a, "rho": rho, "delta": delta, "epsilon": text(value)}


def inverse_record(method, a, rho, epsilon):
    value = settled(lambda: INVERSES[method](mpf(a), mpf(rho), mpf(epsilon)))
    return {"method": method, "order": a, "rho": rho, "epsilon": epsilon, "delta": text(value)}


ABOUT = {
    "what": "values: epsilon at a given delta from the Renyi divergence rho at one order (docs/spec/mathematics.md "
            "3.1 mironov, 3.2 cks, 3.3 line, 3.4 optimal); mironov and cks as the formula gives them, negative or not; optimal is 0 where "
            "epsilon 0 suffices. inverse: the least delta at a given epsilon",
    "made_by": "make.py (mpmath) from the definitions at the exact value of each double; 25 digits, each recomputed at "
               "twice the precision",
}


# --- closed forms against the definitions -----------------------------------------------------------------------------


def cross_checks():
    """Yield (name, largest relative difference)."""
    grid = [(mpf(a), mpf(r), mpf(d)) for a, r, d in itertools.product(ORDERS[::2], RHOS[::2], DELTAS[1:])]

    def closed_line(a, rho, delta):
        b = a - 1
        x = expm1(b * rho) / (a * delta)
        return log(b / a * ((1 + x) ** (a / b) - 1) / x)

    def closed_optimal(a, rho, delta, y):
        b = a - 1
        top = (y**b + (exp(b * rho) - a * y**b + b * y**a) / (a * delta)) ** (1 / b)
        return log(b / a * (top**a - y**a) / (top**b - y**b))

    def apart(x, y):
        return abs(x - y) / max(abs(x), abs(y))

    with mp.workdps(80):
        yield "(b) line: closed form = definition", max(apart(closed_line(*c), line(*c)) for c in grid)
        inside, outside, below = mpf(0), mpf(0), mpf(0)
        for a, rho, delta in grid:
            epsilon = optimal(a, rho, delta)
            if epsilon == 0:
                continue
            y = Binary(a, epsilon, delta).low
            here = apart(closed_optimal(a, rho, delta, y), epsilon)
            if a * delta < 1:
                inside = max(inside, here)
                for k in range(41):
                    other = closed_optimal(a, rho, delta, mpf(k) / 40 if k < 40 else 1 - mpf(10) ** -25)
                    below = max(below, (epsilon - other) / epsilon)
            else:
                outside = max(outside, apart(rho + log(1 - delta), epsilon))
        yield "(c) optimal, a delta < 1: closed form at the definition's y1 = definition", inside
        yield "(c) optimal, a delta < 1: no y1 of a grid gives less", below
        yield "(c) optimal, a delta >= 1: rho + ln(1 - delta) = definition", outside
