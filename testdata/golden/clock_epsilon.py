"""Writes clock_epsilon.json: the exact epsilon of small compositions, by convolution.

The sum of discrete Gaussian outputs of one sigma is sufficient, so a composition is a distribution
over the integers, convolved in 40 digits. Pure parts are randomized response, whose losses are
enumerated. Of a vector of squared norm n^2 the worst of all integer vectors counts.
Run in the environment of make.py; takes half a minute.
"""

import json
import math
from pathlib import Path

from mpmath import mp, mpf

mp.dps = 40


def normal(sigma, reach):
    weights = [mp.exp(-mpf(x) ** 2 / (2 * mpf(sigma) ** 2)) for x in range(-reach, reach + 1)]
    whole = mp.fsum(weights)
    return [weight / whole for weight in weights]


def convolved(left, right):
    out = [mpf(0)] * (len(left) + len(right) - 1)
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            out[i + j] += a * b
    return out


def power(masses, times):
    result = [mpf(1)]
    while times:
        if times & 1:
            result = convolved(result, masses)
        masses = convolved(masses, masses) if times > 1 else masses
        times >>= 1
    return result


def partitions(square, largest=None):
    """The integer vectors of this squared norm, without order."""
    if square == 0:
        yield []
    largest = largest or math.isqrt(square)
    for n in range(min(largest, math.isqrt(square)), 0, -1):
        for rest in partitions(square - n * n, n):
            yield [n, *rest]


def losses(sigma, shifts):
    """Pairs of loss and probability, for noise on a shifted vector.

    The loss is sum_i (2 x_i n_i + n_i^2)/2 sigma^2 for noise x of the law P.
    """
    laws = {0: mpf(1)}
    for shift in sorted(set(shifts)):
        times = shifts.count(shift)
        reach = math.ceil(15 * sigma)
        law = power(normal(sigma, reach), times)
        law = {shift * (i - reach * times): p for i, p in enumerate(law)}
        both = {}
        for a, p in laws.items():
            for b, q in law.items():
                both[a + b] = both.get(a + b, mpf(0)) + p * q
        laws = both
    square = sum(shift**2 for shift in shifts)
    return [((2 * x + square) / (2 * mpf(sigma) ** 2), p) for x, p in laws.items()]


def with_response(pairs, epsilon, count):
    p = 1 / (1 + mp.exp(-mpf(epsilon)))
    out = []
    for k in range(count + 1):
        weight = mp.binomial(count, k) * p**k * (1 - p) ** (count - k)
        out += [(loss + (2 * k - count) * mpf(epsilon), q * weight) for loss, q in pairs]
    return out


def exact(pairs, delta):
    """The least epsilon with E max(0, 1 - e^(epsilon - L)) <= delta."""
    pairs = [pair for pair in pairs if pair[0] > 0]

    def leaked(epsilon):
        return mp.fsum(-p * mp.expm1(epsilon - loss) for loss, p in pairs if loss > epsilon)

    low, high = mpf(0), max(loss for loss, _ in pairs)
    for _ in range(110):
        middle = (low + high) / 2
        if leaked(middle) <= delta:
            high = middle
        else:
            low = middle
    return high


CASES = [
    # sigma, repeats, squared norm, (pure epsilon, repeats), the largest ratio that is accepted
    (1, 1, 1, None, 1.25),
    (2, 1, 1, None, 1.07),
    (4.37, 1, 1, None, 1.02),
    (8, 1, 1, None, 1.008),
    (20, 1, 1, None, 1.003),
    (2, 10, 1, None, 1.01),
    (4.37, 10, 1, None, 1.003),
    (3, 30, 1, None, 1.003),
    (2, 1, 4, None, 1.08),
    (5, 1, 5, None, 1.02),
    (3, 1, 1, (0.5, 1), 1.7),
    (3, 4, 1, (0.25, 6), 1.13),
    (8, 2, 1, (0.1, 3), 1.18),
]


def main():
    records = []
    for sigma, repeats, square, pure, most in CASES:
        norm = mp.nstr(mp.sqrt(square), 12)
        # Above the root, so that the square is not below.
        norm = repr(float(norm) + (1e-11 if math.isqrt(square) ** 2 != square else 0))
        event = f"{repeats} * discrete-gaussian({sigma}, {norm})"
        vectors = [vector * repeats for vector in partitions(square)]
        families = [losses(sigma, vector) for vector in vectors]
        if pure:
            event += f" + {pure[1]} * pure({pure[0]})"
            families = [with_response(pairs, *pure) for pairs in families]
        for delta in [1e-2, 1e-6, 1e-9]:
            epsilon = max(exact(pairs, mpf(delta)) for pairs in families)
            records.append(
                {
                    "event": event,
                    "delta": delta,
                    "epsilon": mp.nstr(epsilon, 25),
                    "most": most,
                }
            )
            print(records[-1], flush=True)
    path = Path(__file__).with_name("clock_epsilon.json")
    path.write_text(json.dumps({"epsilons": records}, indent=1) + "\n")


if __name__ == "__main__":
    main()
