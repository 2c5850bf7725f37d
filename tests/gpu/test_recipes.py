#!/usr/bin/env python3
"""Every recipe equals the executor on its ragged shapes, for several inputs and tile sizes, on the GPU."""
from common import Suite

LENGTHS = [1, 255, 1000, 2**20 + 3]
ROWS, COLUMNS = [1, 3, 4097], [1, 33, 1000, 6000]


def main():
    suite = Suite()
    for n in LENGTHS:
        for tile in (None, 256, 4096):
            extra = [] if tile is None else ["-D", f"TN={tile}"]
            suite.run(f"vector_add {n} {tile}", "run", "recipes/vector_add", "--device", "cuda:0", "-D", f"N={n}", *extra)
            suite.run(f"fused_gelu {n} {tile}", "run", "recipes/fused_gelu", "--device", "cuda:0", "-D", f"N={n}", *extra,
                      "x=normal:0,10")
    for rows in ROWS:
        for columns in COLUMNS:
            for dtype in ("f32", "f16", "bf16"):
                suite.run(f"softmax {rows}x{columns} {dtype}", "run", "recipes/softmax", "--device", "cuda:0",
                          "-D", f"R={rows},C={columns},T={dtype}", "x=normal:0,8")
    # Hints never change results.
    for hint in ("occupancy=2", "num_worker_warps=1", "num_worker_warps=4", "num_worker_warps=16"):
        suite.run(f"softmax {hint}", "run", "recipes/softmax", "--device", "cuda:0", "-D", "R=257,C=6000,T=bf16",
                  "--hint", hint)
    suite.finish()


if __name__ == "__main__":
    import os
    from common import ROOT
    os.chdir(ROOT)
    main()
