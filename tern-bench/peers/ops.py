#!/usr/bin/env python3
"""Times single operations in PyTorch, one request a line on stdin, one answer a line on stdout.

`tern bench matmul` starts it and asks for a round of each case in turn with its own, so that both
see the same pace of the machine. A request is a JSON object with `op` and its sizes; the answer has
`ns`, nanoseconds a call over one round of at least `--round-ms` milliseconds, after a round that
warmed up on first sight of the case. `{"op": "version"}` answers with PyTorch's version.
"""
import argparse
import json
import sys
import time

import torch


def matmul(request):
    """C = op(A) op(B) into memory that is there; `ta` and `tb` say which one lies transposed."""
    m, n, k = request["m"], request["n"], request["k"]
    a = torch.randn((k, m) if request["ta"] else (m, k))
    b = torch.randn((n, k) if request["tb"] else (k, n))
    a = a.t() if request["ta"] else a
    b = b.t() if request["tb"] else b
    c = torch.empty(m, n)
    return lambda: torch.mm(a, b, out=c)


OPS = {"matmul": matmul}


def calls_for(work, nanos):
    """How many calls fill a round, found by doubling; they warm up too."""
    calls = 1
    while True:
        start = time.perf_counter_ns()
        for _ in range(calls):
            work()
        elapsed = time.perf_counter_ns() - start
        if elapsed >= nanos:
            return max(1, round(calls * nanos / elapsed))
        calls *= 2


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--round-ms", type=float, default=40)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.set_grad_enabled(False)
    torch.manual_seed(1)
    nanos = options.round_ms * 1e6
    known, work, calls = None, None, 0
    for line in sys.stdin:
        request = json.loads(line)
        if request["op"] == "version":
            print(json.dumps({"version": torch.__version__}), flush=True)
            continue
        if line != known:
            work = OPS[request["op"]](request)
            calls = calls_for(work, nanos)
            known = line
        start = time.perf_counter_ns()
        for _ in range(calls):
            work()
        elapsed = time.perf_counter_ns() - start
        print(json.dumps({"ns": elapsed / calls}), flush=True)


if __name__ == "__main__":
    main()
