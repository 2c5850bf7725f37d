#!/usr/bin/env python3
"""Builds of one row's kernel against each other and the row's peers, in one loop: what a change of the code is worth.

usage: race.py ROW NAME=CUBIN… [--rounds N] [--sustained]

Each cubin lies beside its launch plan, as `tilec build` leaves them; the first is what the others are compared with.
"""
import argparse
import statistics
import sys

from stats import compare, spread


def main():
    parser = argparse.ArgumentParser(description="builds of one kernel in one loop")
    parser.add_argument("row")
    parser.add_argument("builds", nargs="+", metavar="NAME=CUBIN")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--sustained", action="store_true")
    options = parser.parse_args()

    import torch
    from driver import Driver
    from harness import Harness
    from peers import ROWS
    from versus import Measurement
    row = next((r for r in ROWS if r.name == options.row), None)
    if not row:
        parser.error(f"no row is called '{options.row}'; there are {', '.join(r.name for r in ROWS)}")
    torch.manual_seed(0)
    torch.zeros(1, device="cuda")
    harness = Harness(torch, Driver())
    calls, first = {}, None
    for build in options.builds:
        name, _, cubin = build.partition("=")
        try:
            measurement = Measurement(torch, harness, row, cubin, options.rounds)
            measurement.check("ours", measurement.ours)
        except Exception as error:  # the others can still be compared
            print(f"{name:20} {type(error).__name__}: {str(error)[:200]}")
            continue
        calls[name] = measurement.ours
        first = first or (name, measurement)
    if not first:
        return 1
    base, measurement = first
    calls[base + " again"] = measurement.ours
    if not options.no_peers:
        calls.update(measurement.peers())
    harness.warm()
    times = harness.race(calls, options.rounds, "sustained" if options.sustained else "cool")
    print(f"{row.name}, A/A ±{spread(times[base], times[base + ' again']) * 100:.1f} %")
    for name in calls:
        against = compare(times[base], times[name])
        low, high = against["interval"]
        print(f"  {name:20} {statistics.median(times[name]):9.4f} ms  {against['ratio']:.3f} [{low:.3f}, {high:.3f}] of {base}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
