"""delta(epsilon) of shuffled local randomizers, by summing the definition.

One person's randomized response among C fair coins, C ~ Bin(n-1, 2/(e^eps0+1)):
outcomes (a, b) with a + b = C + 1 have probabilities
Bin(a-1; C, 1/2) x/(x+1) + Bin(a; C, 1/2)/(x+1) and the same with a and b
exchanged. Nothing is grouped; C within 16 standard deviations. The first term
of every sum has 40 digits, the others follow by ratios in doubles, so values
are good to about 1e-12 and written with 12 digits.

    python3 testdata/golden/shuffle.py

writes shuffle.json, in about five minutes.
"""

import json
import os

import mpmath as mp

mp.mp.dps = 40


def ln_choose(n, k):
    return mp.loggamma(n + 1) - mp.loggamma(k + 1) - mp.loggamma(n - k + 1)


def given(c, x, y):
    """delta given C = c: the sum over a of the positive parts."""
    total = c + 1
    # (x a + b) - y (a + x b) > 0 for a above this.
    start = int(mp.floor((x * y - 1) * total / ((x - y) + (x * y - 1)))) + 1
    if start > total:
        return mp.mpf(0)
    # Bin(a-1; c) x/(x+1) + Bin(a; c)/(x+1) = C(c+1, a) 2^-c (x a + b)/((x+1)(c+1)).
    first = mp.exp(ln_choose(total, start) - c * mp.log(2)) / ((x + 1) * total)
    up, down = float(x - y), float(x * y - 1)
    # The first difference may be close to zero.
    exact = float((x - y) * start - (x * y - 1) * (total - start))
    weight, result, a = 1.0, 0.0, start
    while a <= total:
        difference = exact + (a - start) * (up + down)
        term = weight * difference
        result += term
        if term < 1e-18 * result:
            break
        weight *= (total - a) / (a + 1)
        a += 1
    return first * result


def delta(n, epsilon0, epsilon):
    x, y = mp.exp(mp.mpf(epsilon0)), mp.exp(mp.mpf(epsilon))
    s = 2 / (x + 1)
    mean = float(s) * (n - 1)
    deviation = (mean * (1 - float(s))) ** 0.5
    low = max(0, int(mean - 16 * deviation))
    high = min(n - 1, int(mean + 16 * deviation) + 40)
    probability = mp.exp(ln_choose(n - 1, low) + low * mp.log(s) + (n - 1 - low) * mp.log1p(-s))
    odds = s / (1 - s)
    result = mp.mpf(0)
    for c in range(low, high + 1):
        if probability > mp.mpf("1e-45"):
            result += probability * given(c, x, y)
        probability *= odds * (n - 1 - c) / (c + 1)
    return result


CASES = [
    (10**4, 1.0, [0.02, 0.05, 0.1]),
    (10**4, 2.0, [0.05, 0.125, 0.25]),
    (10**4, 4.0, [0.125, 0.5, 1.0]),
    (10**6, 1.0, [0.002, 0.005, 0.01]),
    (10**6, 2.0, [0.005, 0.015625, 0.025]),
    (10**6, 4.0, [0.0125, 0.05, 0.1]),
]

if __name__ == "__main__":
    values = [
        {"n": n, "epsilon0": epsilon0, "epsilon": epsilon, "delta": mp.nstr(delta(n, epsilon0, epsilon), 12)}
        for n, epsilon0, epsilons in CASES
        for epsilon in epsilons
    ]
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "shuffle.json")
    with open(path, "w") as file:
        json.dump({"values": values}, file, indent=1)
        file.write("\n")
