"""Special functions at exact doubles, for functions.json."""

import math

from mpmath import cosh, exp, expm1, log, log1p, mp, mpf, sinh, tanh

from precise import settled, text

FUNCTIONS = {
    "exp": exp, "expm1": expm1, "ln": log, "ln_1p": log1p, "sinh": sinh, "cosh": cosh, "tanh": tanh,
    "f2": lambda x: exp(x) - 1 - x,
    "g": lambda x: log(sinh(x / 2) / (x / 2)) if x else mpf(0),
}

# Magnitudes used with both signs; those whose result leaves the doubles are left out below.
TINY = [5e-324, 2.2250738585072014e-308, 1e-300, 1e-160, 1e-100, 1e-20, 2.0**-53, 1e-15, 1e-12, 1e-9, 1e-8, 1e-6, 1e-5]
MIDDLE = [1e-4, 1e-3, 0.01, 0.05, 0.1, 0.2, 0.3, math.log(2) / 2, 0.4, 0.49999999999999994, 0.5, 0.5000000000000001, 0.6,
          math.log(2), 0.75, 0.9, 0.9999999999999999, 1.0, 1.0000000000000002, 1.1, 1.5, 2.0, math.e, 3.0, 4.7, 8.0]
LARGE = [10.0, 17.5, 18.7, 20.0, 22.1, 36.7, 37.5, 40.0, 64.0, 100.0, 300.5, 700.0, 708.3, 709.78, 710.4, 745.1]
HUGE = [1e4, 1e6, 1e9, 1e15, 1e20, 1e100, 1e300, 1.7976931348623157e308]
BELOW_ONE = [0.9, 0.99, 0.999999, 0.5, 0.50000001, 0.49999999, 1 - 1e-9, 1 - 1e-12, 1 - 2.0**-53]


def arguments(name):
    """The doubles at which a function is tabulated."""
    both = [s * x for x in TINY + MIDDLE + LARGE for s in (1, -1)]
    if name == "ln":
        return TINY + MIDDLE + LARGE + HUGE + BELOW_ONE
    if name == "ln_1p":
        return [s * x for x in TINY + MIDDLE for s in (1, -1) if s * x > -1] + LARGE + HUGE + [-x for x in BELOW_ONE]
    if name == "g":
        return TINY + MIDDLE + LARGE + [-1.0, -1e-3, -40.0] + HUGE[:-1]
    if name in ("tanh", "f2"):
        return both + [-x for x in HUGE]
    return both


def records():
    for name, f in FUNCTIONS.items():
        for x in sorted(set(arguments(name))):
            value = settled(lambda: f(mpf(x)), start=2000)  # x^2 at the smallest double is 10^-647
            with mp.workdps(60):
                if mpf(2) ** -1075 < abs(value) < mpf(2) ** 1024:
                    yield {"function": name, "x": x, "value": text(value)}


ABOUT = {
    "what": "f2(x) = e^x - 1 - x; g(x) = ln(sinh(x/2)/(x/2)); ln_1p(x) = ln(1+x); the rest as named",
    "made_by": "make.py (mpmath) at the exact value of each double; 25 digits, each recomputed at twice the precision; "
               "arguments whose value is not a double (overflow, or rounds to zero) are left out",
}
