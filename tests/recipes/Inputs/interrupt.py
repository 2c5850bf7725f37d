"""interrupt.py TILEC RECIPE CACHE: Ctrl-C in the middle of a long tune, then the rest."""
import json
import os
import signal
import subprocess
import sys
import time

tool, recipe, cache = sys.argv[1:]
environment = {**os.environ, "TILEC_CUDA_DRIVER": cache + ".none"}
command = [tool, "tune", recipe, "--arch", "sm_90", "--problem", "N=1000", "--set", "TN=128,256,512,1024", "--set",
           "num_worker_warps=1,2,4,8,16", "--set", "occupancy=1,2,4", "--jobs", "1", "--cache", cache]


def stored():
    done = subprocess.run([tool, "cache", "ls", "--json", "--cache", cache], capture_output=True, text=True,
                          env=environment)
    entries = json.loads(done.stdout).get("entries") if done.returncode == 0 else None
    return entries[0]["trials"] if entries else 0


# A signal before anything is measured, and one after the first rows.
for rows in (0, 1):
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    if rows == 0:
        child.stderr.readline()
    while stored() < rows and child.poll() is None:
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=120)
    assert child.returncode == 130, f"exit code {child.returncode}\n{out}{err}"
    assert "interrupted:" in out, out
    assert "no winner" not in out, out
    assert ("best so far:" in out) == (stored() > 0), out

kept = stored()
done = subprocess.run(command + ["--json"], capture_output=True, text=True, env=environment)
assert done.returncode == 0, done.stderr
result = json.loads(done.stdout)
problem = result["problems"][0]
assert result["schema"] == "tilec.tune.1" and not result["interrupted"]
assert problem["reused"] == kept and len(problem["rows"]) == problem["configurations"] > kept, problem["reused"]
