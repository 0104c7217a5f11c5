"""Arithmetic that the golden files share: values that have settled, roots, minima, and the way records are written.

Every parameter is a double and stands for its exact value: `mpf(float)` is exact, so nothing is ever read as a decimal.
"""

import json
import math
from pathlib import Path

from mpmath import inf, mp, mpf

HERE = Path(__file__).parent
DIGITS = 25  # printed
AGREE = 28  # digits that two precisions, one twice the other, must share


class Unsettled(Exception):
    """Doubling the precision did not make the digits agree."""


def settled(compute, start=100, limit=8000):
    """The value of `compute()`, computed at `start` digits and at twice as many, and again doubled until both agree.

    Agreement proves nothing while a difference is smaller than 10^-start of what is subtracted (e^x - 1 - x at 1e-300
    looks like -x at any precision below 600 digits), so `start` must exceed the worst cancellation: about 50 digits for
    the curves. A zero is believed only when it survives 400 digits.
    """
    digits = start
    with mp.workdps(digits):
        low = compute()
    while digits < limit:
        digits *= 2
        with mp.workdps(digits):
            high = compute()
            if agree(low, high) and (high != 0 or digits >= 400):
                return high
        low = high
    raise Unsettled(f"{mp.nstr(low, 30)} after {digits} digits")


def agree(x, y, digits=AGREE):
    """Whether x and y share that many significant digits (or are both infinite)."""
    if mp.isinf(x) or mp.isinf(y):
        return x == y
    return abs(x - y) <= mpf(10) ** -digits * max(abs(x), abs(y))


def text(x):
    """25 significant digits, or "inf"."""
    if x == inf:
        return "inf"
    with mp.workdps(DIGITS + 15):
        return mp.nstr(mpf(x), DIGITS, strip_zeros=False)


def number(x):
    """A parameter for JSON: the double itself (its shortest text reads back exactly), or "inf"."""
    return "inf" if x == math.inf else x


def write(name, about, **lists):
    """Write one golden file, one record a line."""
    parts = ['"about": ' + json.dumps(about, indent=1)]
    for key, records in lists.items():
        lines = ",\n".join(json.dumps(r, allow_nan=False) for r in records)
        parts.append(f"{json.dumps(key)}: [\n{lines}\n]")
    (HERE / name).write_text("{\n" + ",\n".join(parts) + "\n}\n")
    print(f"{name}: " + ", ".join(f"{len(r)} {k}" for k, r in lists.items()), flush=True)


def root(f, low, high):
    """The root of f between low and high, where f changes sign (Chandrupatla 1997), to the working precision."""
    a, b = mpf(high), mpf(low)
    fa, fb = f(a), f(b)
    if fa == 0:
        return a
    if fb == 0:
        return b
    assert (fa < 0) != (fb < 0), "no change of sign"
    c, fc, t = a, fa, mpf(1) / 2
    tiny = mpf(10) ** (4 - mp.dps)
    while True:
        x = a + t * (b - a)
        fx = f(x)
        if (fx < 0) == (fa < 0):
            c, fc = a, fa
        else:
            c, fc, b, fb = b, fb, a, fa
        a, fa = x, fx
        best = a if abs(fa) < abs(fb) else b
        slack = tiny * abs(best) + tiny**2
        if fa == 0 or fb == 0 or abs(b - a) < 2 * slack:
            return best
        # Inverse quadratic interpolation where it is safe, bisection elsewhere.
        xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
        t = mpf(1) / 2
        if phi**2 < xi and (1 - phi) ** 2 < 1 - xi:
            t = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
        least = slack / abs(b - a)
        t = min(1 - least, max(least, t))


def root_from(f, start, step=1):
    """The root of an increasing f on the whole line: widen a bracket around `start`, then `root`."""
    low = high = mpf(start)
    width = mpf(step)
    if f(low) > 0:
        while f(low) > 0:
            high, low, width = low, low - width, 2 * width
    else:
        while f(high) < 0:
            low, high, width = high, high + width, 2 * width
    return low if low == high else root(f, low, high)


def minimise(f, low, high):
    """(argument, value) of the minimum of a unimodal f on [low, high] (Brent 1973).

    The argument is good to a little less than half the working digits, the value to all of them.
    """
    low, high = mpf(low), mpf(high)
    golden = (3 - mp.sqrt(5)) / 2
    tiny = mpf(10) ** -int(0.45 * mp.dps)
    x = w = v = low + golden * (high - low)
    fx = fw = fv = f(x)
    step = last = mpf(0)
    while True:
        middle, slack = (low + high) / 2, tiny * abs(x) + tiny**2
        if abs(x - middle) <= 2 * slack - (high - low) / 2:
            return x, fx
        parabola = False
        if abs(last) > slack:
            r, q = (x - w) * (fx - fv), (x - v) * (fx - fw)
            p, q = (x - v) * q - (x - w) * r, 2 * (q - r)
            p, q = (-p, q) if q > 0 else (p, -q)
            parabola = abs(p) < abs(q * last / 2) and q * (low - x) < p < q * (high - x)
        if parabola:
            last, step = step, p / q
        else:
            last = (high if x < middle else low) - x
            step = golden * last
        if abs(step) < slack:
            step = slack if step > 0 else -slack
        u = x + step
        fu = f(u)
        if fu <= fx:
            low, high = (x, high) if u >= x else (low, x)
            v, fv, w, fw, x, fx = w, fw, x, fx, u, fu
        else:
            low, high = (u, high) if u < x else (low, u)
            if fu <= fw or w == x:
                v, fv, w, fw = w, fw, u, fu
            elif fu <= fv or v in (x, w):
                v, fv = u, fu
