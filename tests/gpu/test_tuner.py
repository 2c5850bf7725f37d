#!/usr/bin/env python3
"""The tuner on a GPU: a full tune is quick, the second does nothing, and where a configuration stands in the list does
not matter."""
import json
import os
import statistics
import time
from common import ROOT, Suite

SOFTMAX = ["recipes/softmax", "--problem", "R=4096,C=1024,T=f32"]
AXES = ["--set", "TR=1,2,4", "--set", "num_worker_warps=1,2,4,8,16", "--set", "occupancy=1,2,4"]
FULL_SECONDS, AGAIN_SECONDS = 30, 0.5
TIE, REPETITIONS = 0.01, 5


def main():
    suite = Suite()

    def check(label, holds, what):
        print(f"{'ok  ' if holds else 'FAIL'} {label}: {what}")
        if holds:
            suite.passed += 1
        else:
            suite.failures.append(label)

    def tune(label, cache, *extra):
        start = time.monotonic()
        done = suite.run(label, "tune", *SOFTMAX, *extra, "--cache", suite.path(cache), "--json")
        return json.loads(done.stdout)["problems"][0], time.monotonic() - start

    full, seconds = tune("full tune", "full.db", *AXES)
    check("configurations", len(full["rows"]) >= 40, f"{len(full['rows'])}, {full['failed']} failed")
    check("full tune is quick", seconds < FULL_SECONDS, f"{seconds:.1f} s")
    again, seconds = tune("second tune", "full.db", *AXES)
    check("second tune is quick", seconds < AGAIN_SECONDS, f"{seconds:.2f} s")
    check("second tune does nothing", again["compiled"] == 0 and again["evaluated"] == 0,
          f"{again['compiled']} compiled, {again['evaluated']} measured")
    check("same winner", again["winner"]["configuration"] == full["winner"]["configuration"],
          json.dumps(again["winner"]["configuration"]))

    # The same configurations in two orders, several times each: what a place in the list costs would show in the medians,
    # whatever the clock and the placement of the buffers do from one call to the next.
    warps = [2, 4, 8, 16]
    ratios = {0: [], 1: []}
    for repetition in range(REPETITIONS):
        for which, order in enumerate((warps, warps[::-1])):
            result, _ = tune(f"order {order}", f"order{order[0]}.{repetition}.db", "--set", "TR=1", "--set", "occupancy=1",
                             "--set", "num_worker_warps=" + ",".join(map(str, order)))
            times = {r["configuration"]["hints"]["num_worker_warps"]: r["median_seconds"] for r in result["rows"]
                     if r["status"] == "ok"}
            ratios[which].append(times[warps[0]] / times[warps[-1]])
    first, last = (statistics.median(ratios[which]) for which in (0, 1))
    check("first and last tie", abs(first / last - 1) < TIE, f"{warps[0]} against {warps[-1]} warps: {first:.4f}, {last:.4f}")

    # Policies are rows of their own, the second time known; hot runs are no slower than cold ones.
    one = ["--set", "TR=1", "--set", "num_worker_warps=4", "--set", "occupancy=1"]
    medians = {}
    for policy in ("cold", "hot", "graph"):
        first, _ = tune(f"policy {policy}", "policies.db", *one, "--policy", policy)
        again, _ = tune(f"policy {policy} again", "policies.db", *one, "--policy", policy)
        medians[policy] = first["winner"]["median_seconds"]
        check(f"policy {policy}", first["policy"] == policy and first["evaluated"] == 1 and again["evaluated"] == 0,
              f"{medians[policy] * 1e6:.2f} µs")
    check("hot is no slower than cold", max(medians["hot"], medians["graph"]) < medians["cold"] * 1.05, str(medians))

    # Hints of accesses: what changes no code is measured once, and the file's own configuration stays number 0.
    accesses, _ = tune("accesses", "accesses.db", *one, "--tune-accesses")
    codes = sum(not row["reason"].startswith("same code") for row in accesses["rows"])
    check("accesses", accesses["evaluated"] == codes and len(accesses["rows"]) > codes > 0,
          f"{len(accesses['rows'])} configurations, {codes} codes")

    # Figures that claim more work than can be done in the time: nothing wins, and that is a failure.
    kernel = os.path.join(ROOT, "recipes/vector_add/kernel.tile")
    with open(suite.path("claims.yaml"), "w") as file:
        file.write(f"kernel: {kernel}\nproblems:\n  - {{N: 2**24, T: f32}}\nfigures: {{bytes: 2**40}}\n")
    done = suite.run("impossible", "tune", suite.path("claims.yaml"), "--set", "TN=4096", "--cache",
                     suite.path("claims.db"), "--json", expect=1)
    rows = json.loads(done.stdout)["problems"][0]["rows"]
    check("impossible times never win", all(row["status"] == "too fast" for row in rows), rows[0]["reason"])

    done = suite.run("bench", "bench", *SOFTMAX, "--json")
    row = json.loads(done.stdout)["rows"][0]
    check("bench gives both figures", row["cool"]["median_seconds"] > 0 and row["sustained"]["median_seconds"] > 0,
          f"{row['cool']['median_seconds'] * 1e6:.2f} µs cool, {row['sustained']['median_seconds'] * 1e6:.2f} µs sustained")
    suite.finish()


if __name__ == "__main__":
    os.chdir(ROOT)
    main()
