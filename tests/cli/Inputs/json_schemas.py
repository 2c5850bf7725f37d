"""json_schemas.py TILEC INPUTS SCRATCH: every command with --json prints one value with the fields that it promises."""
import json
import os
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


# Faults of use are JSON as well, and bytes that are no UTF-8 are replaced.
for wrong in (["check", "nowhere.tile"], ["check", "--no-such-option"], ["no-such-command"]):
    error = run(2, *wrong)
    fields(error, "tilec.error.1", "error")
    for name in ("kind", "message", "help"):
        assert name in error["error"], f"an error has no {name}: {error}"
    assert error["error"]["kind"] == "usage", error
fields(run(2, "check", os.fsdecode(b"\xff.tile")), "tilec.error.1", "error")
fields(run(1, "build", broken, "--arch", "sm_90"), "tilec.diagnostics.1", "diagnostics")
