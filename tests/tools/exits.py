#!/usr/bin/env python3
"""exits.py CODE COMMAND…: runs a command, passes its output on, and succeeds when it exits with CODE."""
import subprocess
import sys

done = subprocess.run(sys.argv[2:], stdin=subprocess.DEVNULL)
if done.returncode != int(sys.argv[1]):
    print(f"exits.py: exit code {done.returncode}, not {sys.argv[1]}")
    sys.exit(1)
