"""The least epsilon over ALL real orders, for renyi_account.json."""


from mpmath import exp, inf, log, mp, mpf

import conversions
from curves import renyi
from precise import agree, minimise, text

METHODS = ["mironov", "cks", "optimal"]


def repeat(count, of):
    return {"event": "repeat", "count": count, "of": of}


def compose(*events):
    return {"event": "compose", "events": list(events)}


def gaussian(sigma):
    return {"event": "gaussian", "sigma": sigma, "sensitivity": 1.0}


def laplace(scale):
    return {"event": "laplace", "scale": scale, "sensitivity": 1.0}


def rr(p):
    return {"event": "rr", "p": p, "categories": 2}


def cases():
    """(event, delta)."""
    mixture = repeat(100, compose(rr(0.52), laplace(20.0), gaussian(10.0)))
    return [
        (mixture, 1e-6), (mixture, 1e-12), (compose(rr(0.6), laplace(2.0), gaussian(1.1)), 1e-5),
        (gaussian(1.1), 1e-5), (gaussian(0.05), 1e-9), (gaussian(100.0), 1e-5), (repeat(10000, gaussian(100.0)), 1e-14),
        (repeat(1000, rr(0.6)), 1e-6), (repeat(100, rr(0.75)), 1e-6), (repeat(100, rr(0.501)), 1e-6), (rr(0.75), 1e-3),
        (repeat(1000, laplace(2.0)), 1e-6), (repeat(10, laplace(2.0)), 1e-10), (repeat(1000, laplace(2.0)), 1e-100),
        (laplace(1.0), 1e-2),
        ({"event": "zcdp", "rho": 0.1}, 1e-6), ({"event": "zcdp", "rho": 1e-6}, 1e-6), ({"event": "zcdp", "rho": 10.0}, 1e-12),
        ({"event": "cdp", "mu": 0.02, "tau": 0.3}, 1e-6), ({"event": "gdp", "mu": 1.0}, 1e-5),
        (repeat(50, {"event": "pure", "epsilon": 0.1}), 1e-6),
        (repeat(30, {"event": "discrete-laplace", "scale": 3.0, "sensitivity": 1}), 1e-8),
        (compose(gaussian(2.0), repeat(3, {"event": "zcdp", "rho": 0.01})), 1e-7),
    ]


def epsilon_at(method, event, delta, order):
    return conversions.METHODS[method](order, renyi(event, order), delta)


def at_infinity(method, event, delta):
    """The limit: P <= e^rho Q everywhere; the optimal conversion then gives rho + log(1 - delta)."""
    rho = renyi(event, inf)
    return max(rho + log(1 - delta), mpf(0)) if method == "optimal" and rho < inf else rho


def least(method, event, delta):
    """(epsilon, order) of the minimum over (1, inf]: a scan in log(a - 1) finds the valley, Brent its floor.

    For mironov and cks there is one valley: (a-1) epsilon is convex in a.
    """

    def objective(x):
        return epsilon_at(method, event, delta, 1 + exp(x))

    with mp.workdps(30):
        scan = [mpf(k) / 2 for k in range(-40, 51)]
        heights = [objective(x) for x in scan]
    best = heights.index(min(heights))
    inside = 0 < best < len(scan) - 1
    if inside:
        x, value = minimise(objective, scan[best - 1], scan[best + 1])
        order = 1 + exp(x)
    limit = at_infinity(method, event, delta)
    assert inside or (method == "mironov" and limit < heights[-1] == min(heights)), "the scan is too short"
    return (value, order) if inside and value < limit else (limit, inf)


def record(method, event, delta):
    found = []
    for digits in (45, 90):
        with mp.workdps(digits):
            found.append(least(method, event, mpf(delta)))
    (low, low_order), (high, high_order) = found
    assert agree(low, high, 27) and agree(low_order, high_order, 15), (method, event, found)
    return {"event": event, "delta": delta, "method": method, "epsilon": text(high), "order": text(high_order)}


def jobs():
    return [(method, event, delta) for event, delta in cases() for method in METHODS]


ABOUT = {
    "what": "the least epsilon at delta over all real orders in (1, inf], by each conversion, and the order that gives it",
    "made_by": "make.py (mpmath), curves and conversions from their definitions at the exact value of each double; "
               "epsilon to 25 digits, the order to at least 15, recomputed at twice the precision",
}
