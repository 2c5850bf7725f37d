#!/usr/bin/env python3
"""Every recipe equals the executor on the problems of its `check` list on the GPU, and under other tiles and hints."""
import itertools
import os
import re
import sys

from common import ROOT, Suite

# Settings that must not change a result: parameters and hints of one problem each.
VARIANTS = {
    "vector_add": ("N=70003,T=bf16", ["-D TN=256", "-D TN=4096"]),
    "fused_gelu": ("N=70003", ["-D TN=256", "-D TN=4096"]),
    "softmax": ("R=257,C=6000,T=bf16", [f"--hint num_worker_warps={w}" for w in (1, 4, 16)] + ["--hint occupancy=2"]),
    "rmsnorm": ("R=257,C=6000,T=bf16,eps=1e-6", [f"--hint num_worker_warps={w}" for w in (1, 4, 16)]),
    "matmul": ("M=200,N=136,K=136,T=f16", ["-D TM=64,TN=64,TK=32", "-D TM=128,TN=64,TK=64", "-D TM=64,TN=256,TK=32",
                                           "--hint num_worker_warps=8", "--hint a.load.latency=2,b.load.latency=6"]),
    "attention": ("B=1,HQ=4,HK=2,SQ=130,SK=200,D=64,T=f16,CAUSAL=true,pos=70,scale=0.125",
                  ["-D TM=64,TN=32", "-D TM=64,TN=64", "--hint num_worker_warps=8"]),
}


def problems(recipe):
    """The problems of a recipe's `check` list, lists multiplied out, as texts for -D."""
    text = re.search(r"^check:\n((?:  - .*\n)+)", recipe, re.M).group(1)
    for entry in re.findall(r"- \{(.*)\}", text):
        parts = re.findall(r"(\w+): (\[[^\]]*\]|[^,]+)", entry)
        names = [name for name, _ in parts]
        choices = [[v.strip() for v in value.strip("[]").split(",")] for _, value in parts]
        for values in itertools.product(*choices):
            yield ",".join(f"{name}={value}" for name, value in zip(names, values))


def main():
    os.chdir(ROOT)
    suite = Suite()
    only = sys.argv[2] if len(sys.argv) > 2 else ""
    calls = []
    for path in sorted((ROOT / "recipes").glob("*/recipe.yaml")):
        name = path.parent.name
        if only not in name:
            continue
        for problem in problems(path.read_text()):
            calls.append((f"{name} {problem}", ["run", f"recipes/{name}", "--device", "cuda:0", "-D", problem]))
        problem, settings = VARIANTS.get(name, ("", []))
        for setting in settings:
            flag, value = setting.split(" ", 1)
            extra = [argument for part in value.split(",") for argument in (flag, part)] if flag == "--hint" else [flag, value]
            calls.append((f"{name} {problem} {setting}",
                          ["run", f"recipes/{name}", "--device", "cuda:0", "-D", problem, *extra]))
    suite.run_all(calls)
    suite.finish()


if __name__ == "__main__":
    main()
