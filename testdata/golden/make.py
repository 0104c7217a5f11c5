#!/usr/bin/env python3
"""Make the golden files: reference values of 25 digits for Mizan's accounting.

They follow from the definitions in docs/spec/mathematics.md.

    python3 -m venv /tmp/golden && /tmp/golden/bin/pip install mpmath==1.4.1 gmpy2
    /tmp/golden/bin/python testdata/golden/make.py              # everything, a few minutes
    /tmp/golden/bin/python testdata/golden/make.py curves checks   # only these

Writes curves.json, functions.json, conversions.json, renyi_account.json and divergence.json beside itself; `checks`
writes nothing and compares the closed forms that the Rust code uses with the definitions. Deterministic. gmpy2 only
makes it faster. See README.md for what each file holds.
"""

import multiprocessing
import sys

from mpmath import mp, mpf, nstr

import accounts
import conversions
import curves
import divergence
import functions
from precise import write


def spread(function, jobs, chunk=8):
    """function(*job) for every job, on all cores, in order."""
    with multiprocessing.Pool() as pool:
        return pool.starmap(function, jobs, chunksize=chunk)


def make_curves():
    write("curves.json", curves.ABOUT, values=spread(curves.record, curves.jobs()),
          **{"discrete-gaussian-vector": spread(curves.vector_record, curves.vector_jobs())})


def make_functions():
    write("functions.json", functions.ABOUT, values=list(functions.records()))


def make_conversions():
    write("conversions.json", conversions.ABOUT, values=spread(conversions.record, conversions.jobs()),
          inverse=spread(conversions.inverse_record, conversions.inverse_jobs()))


def make_renyi_account():
    write("renyi_account.json", accounts.ABOUT, values=spread(accounts.record, accounts.jobs(), chunk=1))


def make_divergence():
    write("divergence.json", divergence.ABOUT, values=spread(divergence.record, divergence.jobs()))


def make_checks():
    """Closed forms against definitions: a relative difference above 1e-20 is an error."""
    failed = False
    for module in [curves, conversions]:
        with mp.workdps(300):
            for name, difference in module.cross_checks():
                bad = difference > mpf(10) ** -20
                failed |= bad
                print(f"{'DIFFERS' if bad else 'agrees '} {nstr(difference, 3):>10}  {name}", flush=True)
    if failed:
        sys.exit("a closed form differs from its definition")


MAKERS = {
    "curves": make_curves, "functions": make_functions, "conversions": make_conversions,
    "renyi_account": make_renyi_account, "divergence": make_divergence, "checks": make_checks,
}

if __name__ == "__main__":
    for name in sys.argv[1:] or MAKERS:
        MAKERS[name]()
