"""broken.py MANY LONG: a program of 2000 misspelt names, and one whose name is a page long."""
import sys

HEAD = "kernel k(a: in f32[N], c: out f32[N]) grid (N) {\n"
with open(sys.argv[1], "w") as file:
    names = "".join(f"    let v{i} = mispelt{i}\n" for i in range(2000))
    file.write(HEAD + names + "}\n")
with open(sys.argv[2], "w") as file:
    file.write(HEAD + f"    let v = {'q' * 4000}\n" + "}\n")
