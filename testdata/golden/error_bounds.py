"""Half-widths and tails of discrete noises and of their sums.

One noise: the definition is summed for narrow Gaussians; for wide ones the sum
follows from the integral by Euler and Maclaurin's formula, with terms down to
60 digits; Laplace noise is a geometric series. A half-width is the integer a
with P(|X| <= a-1) < c <= P(|X| <= a), both sides checked at 80 digits.

Sums: the whole table of probabilities, as integers in units of 2^-240,
convolved by multiplying integers that hold it in their digits. What lies beyond
the table has probability below 1e-30, and no decision is closer than that.

    /tmp/golden/bin/python testdata/golden/error_bounds.py

writes error_bounds.json, in half a minute.
"""

import math

import gmpy2
from mpmath import mp, mpf

from precise import text, write

mp.dps = 80
CONFIDENCES = [0.5, 0.9, 0.95, 0.99, 0.999, 1e-6, 0.1, 1 - 1e-9, 1 - 2.0**-53]
SCALES = [2.0**-11, 0.05, 0.3, 0.7, 1.0, 2.5, 10.0, 63.9, 64.1, 100.0, 1000.5, 12345.0, 2.0**20, 1e9, 1e12, 2.0**45,
          1e16, 1.8e19]


def laplace_tail(scale, a):
    r = mp.exp(-1 / mpf(scale))
    return 2 * r ** (a + 1) / (1 + r)


def summed_tail(sigma, a):
    """By definition."""
    f = lambda x: mp.exp(-mpf(x) ** 2 / (2 * mpf(sigma) ** 2))
    last = int(a + 30 * sigma + 40)
    outside = sum(f(x) for x in range(a + 1, last))
    inside = sum(f(x) for x in range(1, min(a, int(30 * sigma) + 40) + 1))
    return 2 * outside / (1 + 2 * inside + 2 * outside)


def integrated_tail(sigma, a):
    """Euler-Maclaurin at midpoints: sum = integral - sum_k B_2k(1/2)/(2k)! f^(2k-1)(a + 1/2)."""
    s = mpf(sigma)
    y = (a + mpf(1) / 2) / s
    total = mp.sqrt(mp.pi / 2) * mp.erfc(y / mp.sqrt(2)) * s
    height = mp.exp(-y * y / 2)
    for k in range(1, 200):
        n = 2 * k - 1
        # f^(n) = (-1/s)^n He_n(y) f, and n is odd.
        hermite = mp.hermite(n, y / mp.sqrt(2)) / mp.sqrt(2) ** n
        term = mp.bernpoly(2 * k, mpf(1) / 2) / mp.factorial(2 * k) * hermite * height / s**n
        total += term
        if abs(term) < mpf(10) ** -62 * total:
            break
    else:
        raise ArithmeticError(f"no convergence at {sigma}, {a}")
    return 2 * total / (s * mp.sqrt(2 * mp.pi))


def tail(noise, scale, a):
    if noise == "laplace":
        return laplace_tail(scale, a)
    return summed_tail(scale, a) if scale < 65 else integrated_tail(scale, a)


def half_width(noise, scale, confidence):
    missed = 1 - mpf(confidence)
    covers = lambda a: tail(noise, scale, a) <= missed
    if covers(0):
        return 0
    low, high = 0, max(1, int(scale))
    while not covers(high):
        low, high = high, 2 * high
    # From doubles to where they are no longer good enough, then halving.
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if covers(middle) else (middle, high)
    return high


def singles():
    records = []
    for noise in ("laplace", "gaussian"):
        for scale in SCALES:
            for confidence in CONFIDENCES:
                a = half_width(noise, scale, confidence)
                records.append(dict(noise=noise, scale=scale, confidence=confidence, half_width=str(a)))
        print(noise, flush=True)
    return records


def edges():
    """The doubles just below and just above P(|X| <= a): the first needs a, the second a + 1."""
    records = []
    for noise in ("laplace", "gaussian"):
        for scale in SCALES:
            for share in (0, 0.3, 1, 2.2):
                a = int(share * scale)
                outside = tail(noise, scale, a)
                if outside < 1e-15:
                    continue
                inside = 1 - outside
                below = float(inside)
                if mpf(below) > inside:
                    below = math.nextafter(below, 0)
                above = math.nextafter(below, 1)
                assert mpf(below) <= inside < mpf(above)
                records.append(dict(noise=noise, scale=scale, half_width=str(a), below=below, above=above))
    return records


def tails():
    records = []
    for noise in ("laplace", "gaussian"):
        for scale in SCALES:
            for share in (0, 0.1, 0.9, 1.1, 1.7, 1.8, 4, 9, 25, 37):
                a = int(share * scale)
                if records and records[-1]["scale"] == scale and records[-1]["a"] == str(a):
                    continue
                records.append(dict(noise=noise, scale=scale, a=str(a), tail=text(tail(noise, scale, a))))
    return records


UNIT = 240


def table(noise, scale, reach):
    rate = (lambda x: x / mpf(scale)) if noise == "laplace" else (lambda x: mpf(x) ** 2 / (2 * mpf(scale) ** 2))
    far = min(reach, int(200 * scale) + 2 if noise == "laplace" else int(25 * scale) + 2)
    heights = [mp.exp(-rate(x)) for x in range(far + 1)]
    total = heights[0] + 2 * sum(heights[1:])
    half = [int(mp.floor(h / total * mpf(2) ** UNIT)) for h in heights]
    return half[:0:-1] + half


def convolve(p, q, reach):
    """Two symmetric tables of odd length, cut to -reach..reach."""
    width = (2 * UNIT + 40) // 8
    pack = lambda t: gmpy2.mpz(int.from_bytes(b"".join(v.to_bytes(width, "little") for v in t), "little"))
    product = int(pack(p) * pack(q)).to_bytes(width * (len(p) + len(q)), "little")
    n = len(p) + len(q) - 1
    values = [int.from_bytes(product[i * width : (i + 1) * width], "little") >> UNIT for i in range(n)]
    cut = max(0, n // 2 - reach)
    return values[cut : n - cut]


def sum_table(parts, reach):
    result = [1 << UNIT]
    for noise, scale, count in parts:
        power = table(noise, scale, reach)
        while count:
            if count & 1:
                result = convolve(result, power, reach)
            count >>= 1
            if count:
                power = convolve(power, power, reach)
    return result


SUMS = [
    ([("laplace", 10.0, 31)], 1400),
    ([("laplace", 10.0, 2)], 900),
    ([("laplace", 1.0, 10000)], 2400),
    ([("laplace", 3.0, 1000000)], 60000),
    ([("gaussian", 3.0, 1), ("gaussian", 4.0, 1)], 80),
    ([("gaussian", 0.7, 5), ("gaussian", 1.3, 2), ("laplace", 0.4, 3)], 90),
    ([("gaussian", 0.3, 100000)], 1500),
    ([("laplace", 100.0, 1), ("gaussian", 1.0, 1)], 8000),
    ([("laplace", 100.0, 1), ("laplace", 90.0, 1)], 8000),
    ([("laplace", 100.0, 1), ("laplace", 10.0, 1)], 8000),
    ([("laplace", 2.0, 100), ("gaussian", 50.0, 7), ("gaussian", 0.9, 1000)], 2200),
    ([("laplace", 0.05, 1000), ("gaussian", 0.1, 1000)], 40),
]


def sums():
    records = []
    for parts, reach in SUMS:
        values = sum_table(parts, reach)
        centre = len(values) // 2
        # Every cut and every rounding loses a little of the mass.
        lost = (1 << UNIT) - sum(values)
        assert 0 <= lost < 10**-26 * 2**UNIT, (parts, lost / 2**UNIT)
        for confidence in CONFIDENCES + [1 - 1e-12, 1 - 1e-14]:
            wanted = int(mpf(confidence) * mpf(2) ** UNIT)
            inside, a = values[centre], 0
            while inside < wanted:
                a += 1
                inside += values[centre + a] + values[centre - a]
            assert abs(inside - wanted) > lost and (a == 0 or inside - values[centre + a] * 2 + lost < wanted)
            records.append(dict(parts=parts, confidence=confidence, half_width=a))
        print(parts, flush=True)
    return records


write("error_bounds.json", __doc__, singles=singles(), edges=edges(), tails=tails(), sums=sums())
