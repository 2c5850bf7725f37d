#!/usr/bin/env python3
"""npy.py FILE DESCR EXTENT…: writes an .npy file whose elements are 0, 1, 2, … (DESCR such as <f4, <i4, |u1)."""
import struct
import sys

file, descr, *extents = sys.argv[1:]
extents = tuple(int(e) for e in extents)
count = 1
for extent in extents:
    count *= extent
code = {"f4": "f", "f8": "d", "i4": "i", "i8": "q", "u1": "B", "u2": "H", "f2": "e"}[descr[1:]]
header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {extents}, }}"
header += " " * (63 - (len(header) + 10) % 64) + "\n"
limit = {"B": 256, "H": 65536, "e": 2048}.get(code, 1 << 31)
with open(file, "wb") as out:
    out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
    out.write(struct.pack(f"<{count}{code}", *(i % limit for i in range(count))))
