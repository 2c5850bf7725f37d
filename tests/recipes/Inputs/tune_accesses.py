"""tune_accesses.py RESULT: every site's hints were tried one at a time, and what shares code says with whom."""
import json
import sys

problem = json.load(open(sys.argv[1]))["problems"][0]
axes = {axis["name"]: axis for axis in problem["space"]["axes"]}
for site in ("a.load", "b.load", "c.store"):
    for hint in ("latency", "allow_tma"):
        assert f"{site}.{hint}" in axes, f"{site}.{hint} is no axis"
assert axes["a.load.latency"]["values"] == [None, 1, 2, 4, 6], axes["a.load.latency"]
assert axes["a.load.latency"]["default"] is None
assert axes["b.load.latency"]["values"] == [1], "what --set gives stays"

rows = {row["configuration_id"]: row for row in problem["rows"]}
away = {"latency": 4, "allow_tma": 1}
assert len(rows) == 1 + 2 * away["latency"] + 3 * away["allow_tma"], f"{len(rows)} configurations"
codes = 0
for row in rows.values():
    assert row["status"] == "predicted" and row["verified"], row
    if row["reason"]:
        other = int(row["reason"].split("configuration ")[1].split(":")[0])
        assert not rows[other]["reason"], "the first of equal code has no reason"
        assert row["median_seconds"] == rows[other]["median_seconds"]
    else:
        codes += 1
assert problem["evaluated"] == codes, f"{problem['evaluated']} predictions of {codes} codes"
idle = [note for note in problem["notes"] if note.endswith("without effect: every value gives the same code")]
assert codes > 1 or idle, problem["notes"]
