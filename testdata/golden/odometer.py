"""Readings of the odometer of docs/spec/mathematics.md 4.10, for odometer.json.

A record is a ln(delta), the epsilon of a budget and a variance z. The totals are those of Gaussian noise, a z/2 at each
order a = 1 + c of the ledger's usual orders. The reading is the least x with r - e^x <= delta S(r) for all r > e^x, where
S is the mean of r^a e^(-c a z/2) with weights proportional to c e^(-c^2/(2 kappa^2)), kappa = -6 ln(delta)/epsilon.

    /tmp/golden/bin/python testdata/golden/odometer.py

writes odometer.json, in a minute.
"""

import math
from multiprocessing import Pool

from mpmath import exp, expm1, fsum, log, mp, mpf

from precise import root, root_from, text, write

mp.dps = 60

ORDERS = [1.5, 1.7, 2.0, 2.4, 3.0, 3.8, 5.0, 6.6, 9.0, 12.3, 17.0, 24.0, 33.0, 46.0, 65.0, 92.0, 129.0, 182.0, 257.0,
          363.0, 513.0, 725.0, 1025.0, 1449.0, 2049.0, 2897.0, 4097.0]  # fmt: skip


class Odometer:
    def __init__(self, ln_delta, epsilon, variance):
        self.ln_delta = mpf(ln_delta)
        kappa = -6 * self.ln_delta / mpf(epsilon)
        above_one = [mpf(order) - 1 for order in ORDERS]
        weights = [c * exp(-((c / kappa) ** 2) / 2) for c in above_one]
        total = fsum(weights)
        variance = mpf(variance)
        self.terms = [(c, log(weight / total) - c * (c + 1) * variance / 2) for c, weight in zip(above_one, weights)]

    def parts(self, y):
        return [(c, exp(constant + c * y)) for c, constant in self.terms]

    def excess(self, x, t):
        """ln of (r - e^x)/S at ln r = x + t."""
        return log(-expm1(-t)) - log(fsum(part for _, part in self.parts(x + t)))

    def slope(self, x, t):
        parts = self.parts(x + t)
        return 1 / expm1(t) - fsum(c * part for c, part in parts) / fsum(part for _, part in parts)

    def largest(self, x):
        """The place of the largest excess, where the falling slope is zero, by its logarithm."""
        return exp(root_from(lambda u: -self.slope(x, exp(u)), log(mpf(1e-5))))

    def reading(self):
        over = lambda x: self.excess(x, self.largest(x)) - self.ln_delta
        if over(mpf(0)) <= 0:
            return None
        high = mpf(1) / 1000
        while over(high) > 0:
            high *= 2
        x = root(over, mpf(0), high)
        t = self.largest(x)
        # Nowhere larger.
        for k in range(-20, 21):
            assert self.excess(x, t * mpf(10) ** (mpf(k) / 5)) <= self.ln_delta + mpf(10) ** -35
        return x


def record(parameters):
    ln_delta, epsilon, variance = parameters
    reading = Odometer(ln_delta, epsilon, variance).reading()
    return reading and {"ln_delta": ln_delta, "epsilon": epsilon, "variance": variance, "reading": text(reading)}


ABOUT = "readings of the odometer: the least x with r - e^x <= delta S(r) for all r"


def main():
    # Parts of about the variance of each budget.
    parameters = [
        (math.log(delta), epsilon, share * epsilon**2 / (2 * epsilon - 2 * math.log(delta)))
        for delta in (0.9e-6, 1e-3, 0.1, 1e-30)
        for epsilon in (0.01, 0.5, 1.0, 5.0, 100.0)
        for share in (1e-6, 0.001, 0.01, 0.2, 0.5, 1.0, 3.0)
    ]
    with Pool(2) as pool:
        records = pool.map(record, parameters, chunksize=1)
    write("odometer.json", ABOUT, values=[found for found in records if found])


if __name__ == "__main__":
    main()
