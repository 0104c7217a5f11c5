"""Readings of the zCDP odometer of docs/spec/mathematics.md 4.10, for odometer.json.

A record is a ln(delta), a reference and a total of rho; the reading is the least x with r - e^x <= delta S(r, z) for
all r > e^x, where z = 2 total and S is the mean of r^a e^(-a(a-1)z/2) over a = 1 + |N(0, kappa^2)|,
kappa^2 = -16 ln(delta)/reference. S is integrated numerically wherever its closed form is used, and the two must agree.

    /tmp/golden/bin/python testdata/golden/odometer.py

writes odometer.json, in a minute.
"""

import math
from multiprocessing import Pool

from mpmath import erfc, exp, expm1, log, mp, mpf, pi, quad, sqrt

from precise import root, root_from, text, write

mp.dps = 60


class Odometer:
    def __init__(self, ln_delta, reference, total):
        self.ln_delta = mpf(ln_delta)
        self.kappa = sqrt(-16 * self.ln_delta / mpf(reference))
        self.z = 2 * mpf(total)
        self.q = 1 + self.kappa**2 * self.z

    def ln_mixture(self, y):
        """ln(S/r) at ln r = y."""
        h = self.kappa * (y - self.z / 2) / sqrt(self.q)
        return h * h / 2 + log(erfc(-h / sqrt(2))) - log(self.q) / 2

    def ln_mixture_by_definition(self, y):
        d, s = y - self.z / 2, self.kappa / sqrt(self.q)
        top = max(self.kappa**2 * d / self.q, mpf(0))
        density = lambda c: 2 / (self.kappa * sqrt(2 * pi)) * exp(-((c / self.kappa) ** 2) / 2)
        value = lambda c: density(c) * exp(c * d - c * c * self.z / 2)
        places = sorted({mpf(0), *(max(top + k * s, mpf(0)) for k in range(-15, 16, 5))})
        return log(quad(value, places))

    def excess(self, x, t):
        """ln of (r - e^x)/S at ln r = x + t."""
        return log(-expm1(-t)) - self.ln_mixture(x + t)

    def slope(self, x, t):
        h = self.kappa * (x + t - self.z / 2) / sqrt(self.q)
        mean = self.kappa / sqrt(self.q) * (h + exp(-h * h / 2) / sqrt(2 * pi) / (erfc(-h / sqrt(2)) / 2))
        return 1 / expm1(t) - mean

    def largest(self, x):
        """The place of the largest excess, where the falling slope is zero, by its logarithm."""
        return exp(root_from(lambda u: -self.slope(x, exp(u)), -log(self.kappa)))

    def reading(self):
        low = self.z / 2
        high = low + sqrt(-4 * self.z * self.ln_delta) + 20 / self.kappa
        over = lambda x: self.excess(x, self.largest(x)) - self.ln_delta
        if over(low) <= 0:
            return None
        while over(high) > 0:
            high *= 2
        x = root(over, low, high)
        t = self.largest(x)
        difference = self.ln_mixture_by_definition(x + t) - self.ln_mixture(x + t)
        assert abs(difference) < mpf(10) ** -30, difference
        # Nowhere larger.
        for k in range(-20, 21):
            assert self.excess(x, t * mpf(10) ** (mpf(k) / 5)) <= self.ln_delta + mpf(10) ** -35
        return x


def record(parameters):
    ln_delta, reference, total = parameters
    reading = Odometer(ln_delta, reference, total).reading()
    return reading and {"ln_delta": ln_delta, "reference": reference, "total": total, "reading": text(reading)}


ABOUT = "readings of the zCDP odometer: the least x with r - e^x <= delta S(r, 2 total) for all r"


def main():
    # References from budgets of epsilon 0.01 to 1000.
    parameters = [
        (math.log(delta), reference, share * reference)
        for delta in (0.72e-6, 1e-6, 1e-3, 0.1, 1e-100)
        for reference in (1e-6, 0.0027, 0.028, 1.2, 800.0)
        for share in (1e-6, 0.01, 0.2, 0.5, 1.0, 3.0)
    ]
    with Pool() as pool:
        records = pool.map(record, parameters, chunksize=1)
    write("odometer.json", ABOUT, values=[found for found in records if found])


if __name__ == "__main__":
    main()
