"""Runs the tool with a standard output whose reader is gone: it ends by itself, silently and without a signal."""
import os
import subprocess
import sys

for arguments in (["explain"], ["--help"], ["__tables"], ["completion", "bash"]):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([sys.argv[1], *arguments], stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    if done.returncode != 0 or done.stderr:
        sys.exit(f"{arguments}: exit code {done.returncode}: {done.stderr}")
