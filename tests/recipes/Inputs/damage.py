"""damage.py flip|truncate FILE: damages a database. damage.py full BYTES COMMAND…: no file may grow beyond BYTES."""
import os
import resource
import signal
import sys

action, target = sys.argv[1:3]
PAGE = 4096
if action == "full":
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(target), int(target)))
    os.execvp(sys.argv[3], sys.argv[3:])
elif action == "truncate":
    os.truncate(target, os.path.getsize(target) // 2)
else:
    with open(target, "r+b") as file:
        # The kind of some page in the middle.
        at = os.path.getsize(target) // PAGE // 2 * PAGE
        file.seek(at)
        kind = file.read(1)[0]
        file.seek(at)
        file.write(bytes([kind ^ 0x10]))
