"""Rényi divergence of finite distributions, for divergence.json. All masses are dyadic and sum to one exactly."""

import math
import random
from fractions import Fraction

from mpmath import inf, log, mpf

from curves import ORDERS
from precise import number, settled, text


def divergence(p, q, order):
    """docs/spec/mathematics.md 1.1: 0^a = 0, and mass of P where Q has none makes the divergence infinite."""
    if p == q:
        return mpf(0)  # where rounding would never settle
    pairs = [(mpf(x), mpf(y)) for x, y in zip(p, q) if x > 0]
    if any(y == 0 for _, y in pairs):
        return inf
    if order == inf:
        return log(max(x / y for x, y in pairs))
    if order == 1:
        return sum((x * log(x / y) for x, y in pairs), mpf(0))
    return log(sum((x**order * y ** (1 - order) for x, y in pairs), mpf(0))) / (order - 1)


def drawn(rng, size, bits, zeros=0):
    """A random distribution of `size` masses k / 2^bits, `zeros` of them zero."""
    cuts = sorted(rng.sample(range(1, 2**bits), size - zeros - 1))
    masses = [(b - a) / 2.0**bits for a, b in zip([0, *cuts], [*cuts, 2**bits])] + [0.0] * zeros
    rng.shuffle(masses)
    return masses


def nudged(p, by):
    """p with mass `by` moved from its largest entry to its smallest."""
    q = list(p)
    q[q.index(max(q))] -= by
    q[q.index(min(q))] += by
    return q


def pairs():
    rng = random.Random(20)
    half, tiny = [0.5, 0.5], 2.0**-60
    far = [tiny, 127 * tiny, 1 - 2.0**-53]  # sums to one exactly, although 1 - 2^-60 is not a double
    yield [1.0], [1.0]
    yield [1.0, 0.0], [0.5, 0.5]
    yield [0.5, 0.5], [1.0, 0.0]
    yield [1.0, 0.0], [0.0, 1.0]
    yield [0.0, 1.0], [0.0, 1.0]
    yield [0.75, 0.25, 0.0], [0.25, 0.5, 0.25]
    yield [0.75, 0.25, 0.0], [0.25, 0.0, 0.75]
    yield [0.0, 0.75, 0.25], [0.0, 0.25, 0.75]
    yield half, half
    yield half, [0.5 + 2.0**-40, 0.5 - 2.0**-40]
    yield half, [0.5 + 2.0**-52, 0.5 - 2.0**-52]
    yield half, [0.5 + 2.0**-20, 0.5 - 2.0**-20]
    yield [0.25, 0.75], [0.75, 0.25]
    yield far, [far[2], far[1], far[0]]
    yield far, [far[2], far[0], far[1]]
    yield [far[2], far[0], far[1]], far
    yield far, nudged([0.25, 0.25, 0.5], 2.0**-30)
    yield [0.25, 0.25, 0.5], far
    for size in [2, 3, 5, 10, 20, 50]:
        p = drawn(rng, size, 30)
        yield p, p
        yield p, nudged(p, 2.0**-40)
        yield p, drawn(rng, size, 30)
        yield p, drawn(rng, size, 52)
        if size > 2:
            yield drawn(rng, size, 30, zeros=size // 3), p  # P lacks points that Q has
            yield p, drawn(rng, size, 30, zeros=1)  # and the other way round
            yield [0.0, *p], [0.0, *drawn(rng, size, 40)]
    yield [2.0**-10] * 49 + [1 - 49 * 2.0**-10], [1 - 49 * 2.0**-10] + [2.0**-10] * 49


def jobs():
    result = []
    for p, q in pairs():
        assert sum(map(Fraction, p)) == sum(map(Fraction, q)) == 1 and len(p) == len(q)
        result += [(p, q, a) for a in (ORDERS if len(p) < 20 else ORDERS[::2] + [math.inf])]
    return result


def record(p, q, order):
    return {"p": p, "q": q, "order": number(order), "value": text(settled(lambda: divergence(p, q, mpf(order))))}


ABOUT = {
    "what": "Renyi divergence of P from Q, finite distributions whose doubles sum to one exactly",
    "made_by": "make.py (mpmath) from the definition (docs/spec/mathematics.md 1.1) at the exact value of each double; "
               "25 digits, each recomputed at twice the precision",
}
