"""json_schemas.py TILEC INPUTS SCRATCH: every command with --json prints one value with the fields that it promises."""
import json
import os
import shutil
import subprocess
import sys

tool, inputs, scratch = sys.argv[1:]
os.makedirs(scratch, exist_ok=True)
add = f"{inputs}/add.tile"
cubin = f"{scratch}/add.cubin"
broken = f"{scratch}/broken.tile"
with open(broken, "w") as file:
    file.write("kernel k(a: in f32[N]) grid (N) { let x = }\n")


def run(code, *arguments):
    done = subprocess.run([tool, *arguments, "--json"], capture_output=True, text=True, errors="replace")
    assert done.returncode == code, f"{arguments}: exit code {done.returncode}\n{done.stderr}"
    return json.loads(done.stdout)


def fields(value, schema, *names):
    assert value.get("schema", "") == schema, f"{value.get('schema')} is not {schema}"
    for name in names:
        assert name in value, f"{schema} has no {name}"


fields(run(0, "check", add), "tilec.diagnostics.1", "diagnostics", "left_out")
faults = run(1, "check", broken)
fields(faults, "tilec.diagnostics.1", "diagnostics")
first = faults["diagnostics"][0]
for name in ("code", "severity", "message", "file", "line", "column", "endLine", "endColumn"):
    assert name in first, f"a diagnostic has no {name}: {first}"
fields(run(0, "info"), "tilec.info.1", "version", "assembler", "devices", "cache", "architectures")
fields(run(0, "explain"), "tilec.codes.1", "codes")
fields(run(0, "explain", "E0401"), "tilec.code.1", "code", "kind", "title", "explanation")
fields(run(0, "run", add, "--device", "cpu", "-D", "N=10"), "tilec.run.1", "kernel", "device", "outputs", "findings")
artifact = run(0, "build", add, "--arch", "sm_90", "-o", cubin)
assert artifact == run(0, "inspect", cubin), "build and inspect describe one artifact in two ways"
for name in ("version", "name", "arch", "arrays", "launches", "binaries"):
    assert name in artifact, f"an artifact has no {name}"

# Tuning, also of a file whose name is no UTF-8, and of several files at once.
os.environ["TILEC_CUDA_DRIVER"] = f"{scratch}/no-driver"
odd = os.path.join(scratch, os.fsdecode(b"odd\xff.tile"))
with open(odd, "w") as file:
    file.write(open(add).read())
shutil.rmtree(f"{scratch}/tuned", ignore_errors=True)
cache = f"{scratch}/tuned/c.db"
tune = ["tune", odd, add, "--arch", "sm_90", "--problem", "N=1000", "--cache", cache]
tuned = run(0, *tune)
fields(tuned, "tilec.tune.1", "cache", "notes", "interrupted", "problems")
assert len(tuned["problems"]) == 2, "one problem of each file"
for name in ("recipe", "configurations", "winner", "rows", "command"):
    assert name in tuned["problems"][0], f"a problem has no {name}"
fields(run(0, "cache", "ls", "--cache", cache), "tilec.cache.1", "file", "entries")
fields(run(0, "cache", "stats", "--cache", cache), "tilec.cache-stats.1", "trials", "failed", "predicted")
trials = run(0, "cache", "show", "1", "--cache", cache)
fields(trials, "tilec.trials.1", "trials")
assert [t["winner"] for t in trials["trials"]].count(True) == 1
why = run(0, "cache", "why", odd, "--arch", "sm_90", "--problem", "N=1000", "--cache", cache)
fields(why, "tilec.cache-why.1", "verdicts")
assert why["verdicts"][0]["hit"], why
fields(run(3, "bench", odd, "-D", "N=1000"), "tilec.error.1", "error")

# Faults of use are JSON as well, and bytes that are no UTF-8 are replaced.
for wrong in (["check", "nowhere.tile"], ["check", "--no-such-option"], ["no-such-command"]):
    error = run(2, *wrong)
    fields(error, "tilec.error.1", "error")
    for name in ("kind", "message", "help"):
        assert name in error["error"], f"an error has no {name}: {error}"
    assert error["error"]["kind"] == "usage", error
fields(run(2, "check", os.fsdecode(b"\xff.tile")), "tilec.error.1", "error")
fields(run(1, "build", broken, "--arch", "sm_90"), "tilec.diagnostics.1", "diagnostics")
