"""A private GROUP BY against OpenDP: 336,776 synthetic flights of 4,044 aircraft,
COUNT and SUM by origin, whole commands and library calls, CPU seconds.

    bench-peers-sql.py MIZAN FOLDER
"""
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import time

ROWS, UNITS = 336_776, 4_044
ORIGINS = ["EWR", "JFK", "LGA"]
EPSILON, DELTA, ROWS_PER_UNIT = 1.0, 1e-7, 200
ROUNDS = 5


def make(folder):
    """The same rows every time, as CSV."""
    path = os.path.join(folder, "flights.csv")
    if os.path.exists(path):
        return path
    draw = random.Random(1)
    with open(path, "w") as file:
        file.write("tail,origin,distance\n")
        for _ in range(ROWS):
            tail = int(UNITS * draw.random() ** 2)
            origin = ORIGINS[(tail + (draw.random() < 0.3)) % 3]
            file.write(f"{tail},{origin},{draw.randrange(80, 4984)}\n")
    return path


def cpu(children):
    used = resource.getrusage(resource.RUSAGE_CHILDREN if children else resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def timed(function, children):
    """CPU and wall-clock time, and the result."""
    before, begin = cpu(children), time.perf_counter()
    result = function()
    return (cpu(children) - before, time.perf_counter() - begin), result


def mizan(program, folder, path):
    """Whole commands: start, read the file, charge, sync, answer."""
    environment = dict(
        os.environ,
        MIZAN_LEDGER=os.path.join(folder, "mizan.db"),
        MIZAN_STATE_DIR=os.path.join(folder, "state"),
        MIZAN_CATALOGUE=os.path.join(folder, "datasets.json"),
    )

    def run(*arguments):
        done = subprocess.run([program, *arguments], env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(done.stderr)
        return done.stdout

    if not os.path.exists(environment["MIZAN_LEDGER"]):
        run("init")
        run("dataset", "add", "flights", "--from", path, "--unit", "tail", "--epsilon", "1000",
            "--delta", str(DELTA), "--type", "tail=integer", "--bound", "distance=0:5000",
            "--keys", "origin=" + ",".join(ORIGINS), "--max-rows-per-unit", str(ROWS_PER_UNIT),
            "--max-groups-per-unit", "3")
    sql = "SELECT origin, COUNT(*) AS n, SUM(distance) AS miles FROM flights GROUP BY origin ORDER BY origin"

    def ask():
        name = f"{time.time_ns()}"
        return json.loads(run("query", sql, "--epsilon", str(EPSILON), "--id", name, "--format", "json"))

    return ask


def opendp(path):
    import opendp.prelude as dp
    import polars as pl

    dp.enable_features("contrib", "honest-but-curious")

    def ask():
        context = dp.Context.compositor(
            data=pl.scan_csv(path),
            privacy_unit=dp.unit_of(contributions=1, identifier="tail"),
            privacy_loss=dp.loss_of(epsilon=EPSILON, delta=DELTA),
            split_evenly_over=1,
            margins=[dp.polars.Margin(by=["origin"], invariant="keys", max_length=ROWS)],
        )
        query = (
            context.query()
            .truncate_per_group(ROWS_PER_UNIT)
            .group_by("origin")
            .agg(dp.len(), pl.col("distance").cast(int).fill_null(0).dp.sum((0, 5000)))
        )
        return query.release().collect()

    return ask


def main():
    program, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    path = make(folder)
    ask_mizan, ask_opendp = mizan(program, folder, path), opendp(path)
    ours, theirs = [], []
    # In turns, so that other load on the machine affects both.
    for _ in range(ROUNDS):
        for _ in range(3):
            used, answer = timed(ask_mizan, True)
            ours.append(used)
        theirs.append(timed(ask_opendp, False)[0])
    for name, choice in (("least", min), ("median", statistics.median)):
        us = [choice(of) for of in zip(*ours)]
        them = [choice(of) for of in zip(*theirs)]
        print(f"{name}: mizan query (whole command, ledger synced) {us[0]:.3f} s CPU, {us[1]:.3f} s")
        print(f"{name}: OpenDP 0.16 (in a running process)         {them[0]:.3f} s CPU, {them[1]:.3f} s")
        print(f"{name}: ratio {them[0] / us[0]:.0f} CPU, {them[1] / us[1]:.0f} wall clock (goal 50)")
    print(json.dumps(answer["rows"]))


if __name__ == "__main__":
    main()
