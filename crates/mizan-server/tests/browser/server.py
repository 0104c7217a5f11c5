"""A server with data, budgets and tokens of its own, in a folder of its own."""

import json
import os
import random
import subprocess
import tempfile

WARDS = ["surgery", "children", "heart", "emergency", "eyes"]


class Server:
    """`mizan serve` on a free port."""

    def __init__(self, mizan):
        self.mizan = os.path.abspath(mizan)
        self.holder = tempfile.TemporaryDirectory(prefix="mizan-pages-")
        self.folder = self.holder.name
        self.environment = {**os.environ, "XDG_STATE_HOME": f"{self.folder}/state", "HOME": self.folder, "NO_COLOR": "1"}
        self.visits()
        self.run("init")
        self.run(
            "dataset", "add", "visits", "--from", "visits.csv", "--unit", "person", "--epsilon", "3", "--delta", "1e-6",
            "--bound", "cost=0:500", "--bound", "age=0:100", "--keys", f"ward={','.join(WARDS)}",
            "--max-rows-per-unit", "4", "--max-groups-per-unit", "3",
        )
        self.run(
            "dataset", "add", "sample", "--from", "visits.csv", "--unit", "person", "--epsilon", "0.05", "--delta", "1e-9",
            "--max-rows-per-unit", "4", "--max-groups-per-unit", "3", may_fail=True,
        )
        self.tokens = {
            "owner": self.token("samira", "owner"),
            "analyst": self.token("amina", "analyst", "--dataset", "visits"),
            "auditor": self.token("omar", "auditor"),
        }
        self.process = subprocess.Popen(
            [self.mizan, "serve", "--listen", "127.0.0.1:0", "--rate", "500"],
            cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, text=True,
        )
        # "listening on http://..."
        self.url = self.process.stdout.readline().split()[-1]

    def visits(self):
        draw = random.Random(7)
        with open(f"{self.folder}/visits.csv", "w", encoding="utf-8") as file:
            file.write("person,ward,age,cost\n")
            for person in range(4000):
                age = min(99, max(0, round(draw.gauss(48, 22))))
                for _ in range(draw.choice([1, 1, 1, 2, 3])):
                    ward = draw.choices(WARDS, weights=[30, 16, 22, 40, 8])[0]
                    file.write(f"{person},{ward},{age},{round(draw.expovariate(1 / 120), 2)}\n")

    def run(self, *arguments, may_fail=False):
        done = subprocess.run([self.mizan, *arguments], cwd=self.folder, env=self.environment, capture_output=True, text=True)
        if done.returncode and not may_fail:
            raise RuntimeError(f"mizan {' '.join(arguments)}: {done.stdout}{done.stderr}")
        return done.stdout

    def token(self, name, role, *more):
        scope = more or {"owner": (), "auditor": (), "analyst": ("--all-datasets",)}[role]
        return json.loads(self.run("token", "create", name, "--role", role, *scope, "--format", "json"))["token"]

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=30)
        self.holder.cleanup()
