#!/usr/bin/env python3
"""Times single operations in PyTorch, one request a line on stdin, one answer a line on stdout.

`tern bench matmul`, `pointwise`, `layers` and `table` start it and ask for a round of each case in
turn with their own, so that both see the same pace of the machine. A request is a JSON object with
`op` and what the case is; the answer has `ns`, nanoseconds a call over one round of about `--round-ms`
milliseconds, after one call to wake the threads, and after rounds that warmed up on first sight of
the case.
"""
import argparse
import json
import sys
import time

import torch

import layers


def matmul(request):
    """C = op(A) op(B) into memory that is there; `ta` and `tb` say which one lies transposed."""
    m, n, k = request["m"], request["n"], request["k"]
    a = torch.randn((k, m) if request["ta"] else (m, k))
    b = torch.randn((n, k) if request["tb"] else (k, n))
    a = a.t() if request["ta"] else a
    b = b.t() if request["tb"] else b
    c = torch.empty(m, n)
    return lambda: torch.mm(a, b, out=c)


LR = 0.01


def momentum(w, m, g):
    m.mul_(0.9).sub_(g, alpha=LR)
    w.add_(m)


def adagrad(w, s, g):
    s.addcmul_(g, g)
    w.addcdiv_(g, s.sqrt().add_(1e-7), value=-LR)


def adam(w, m, v, g):
    m.mul_(0.9).add_(g, alpha=0.1)
    v.mul_(0.999).addcmul_(g, g, value=0.001)
    w.addcdiv_(m, v.sqrt().add_(1e-8), value=-LR)


# Kinds of inputs (full, positive, row, column) and the expression as one would write it in PyTorch.
EXPRESSIONS = {
    "add": ("ff", lambda a, b: a + b),
    "triad": ("ff", lambda a, b: torch.add(a, b, alpha=0.5)),
    "multiply-add": ("fff", lambda a, b, c: torch.addcmul(c, a, b)),
    "divide": ("fp", lambda a, b: a / b),
    "select": ("fff", lambda a, b, c: torch.where(a > 0, b, c)),
    "clamp": ("f", lambda a: torch.clamp(a, -1, 1)),
    "bias and relu": ("fr", lambda a, b: torch.relu_(a + b)),
    "scale rows": ("fc", lambda a, b: a * b),
    "sum and difference": ("ff", lambda a, b: (a + b, a - b)),
    "dropout": ("ff", lambda a, b: (b < 0.8) * 1.25 * a),
    "square root": ("p", torch.sqrt),
    "exp": ("f", torch.exp),
    "log": ("p", torch.log),
    "log1p": ("p", torch.log1p),
    "tanh": ("f", torch.tanh),
    "sigmoid": ("f", torch.sigmoid),
    "softplus": ("f", torch.nn.functional.softplus),
    "silu": ("f", torch.nn.functional.silu),
    "gelu by tanh": ("f", lambda a: torch.nn.functional.gelu(a, approximate="tanh")),
    "gradient of sigmoid": ("ff", lambda g, y: torch.ops.aten.sigmoid_backward(g, y)),
    "gradient of relu": ("ff", lambda g, y: torch.ops.aten.threshold_backward(g, y, 0)),
    "gradient of log loss": ("ff", lambda x, y: torch.sigmoid(x).sub_(y)),
    "sgd": ("ff", lambda w, g: w.sub_(g, alpha=LR)),
    "momentum": ("fff", momentum),
    "adagrad": ("fpf", adagrad),
    "adam": ("ffpf", adam),
}


def operand(kind, rows, columns):
    if kind == "r":
        return torch.rand(1, columns) * 4 - 2
    if kind == "c":
        return torch.rand(rows, 1) * 4 - 2
    values = torch.rand(rows, columns)
    return values * 1.9 + 0.1 if kind == "p" else values * 4 - 2


def pointwise(request):
    """The faster of eager evaluation and, where it works, `torch.compile`."""
    kinds, function = EXPRESSIONS[request["name"]]
    operands = [operand(kind, request["rows"], request["columns"]) for kind in kinds]
    forms = [function]
    if COMPILE:
        try:
            compiled = torch.compile(function, dynamic=False)
            compiled(*operands)
            forms.append(compiled)
        except Exception as error:  # no compiler, or no way to trace the expression
            print(f"not compiled: {request['name']}: {error}"[:200], file=sys.stderr)
    return fastest([lambda form=form: form(*operands) for form in forms])


def layer(request):
    forms = [layers.work(request["name"], request["sizes"], request["backward"], False)]
    if COMPILE:
        try:
            compiled = layers.work(request["name"], request["sizes"], request["backward"], True)
            compiled()
            forms.append(compiled)
        except Exception as error:
            print(f"not compiled: {request['name']}: {error}"[:200], file=sys.stderr)
    return fastest(forms)


def pooling(request):
    return fastest(layers.pooling(request["mode"], request["sizes"], request["backward"]))


def table(request):
    return layers.table(
        request["rows"], request["width"], request["batch"], request["ids"], request["optimizer"]
    )


def fastest(forms):
    return min(forms, key=lambda form: min(seconds(form) for _ in range(3))) if len(forms) > 1 else forms[0]


def seconds(work):
    calls = calls_for(work, 5e6)
    start = time.perf_counter_ns()
    for _ in range(calls):
        work()
    return (time.perf_counter_ns() - start) / calls


COMPILE = True
OPS = {"matmul": matmul, "pointwise": pointwise, "layer": layer, "pooling": pooling, "table": table}


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
    parser.add_argument("--eager", action="store_true", help="never compile")
    options = parser.parse_args()
    global COMPILE
    COMPILE = not options.eager
    torch.set_num_threads(options.threads)
    torch.set_grad_enabled(False)
    torch.manual_seed(1)
    nanos = options.round_ms * 1e6
    known, work, calls = None, None, 0
    for line in sys.stdin:
        request = json.loads(line)
        if line != known:
            work = OPS[request["op"]](request)
            calls = calls_for(work, nanos)
            known = line
        work()
        start = time.perf_counter_ns()
        for _ in range(calls):
            work()
        elapsed = time.perf_counter_ns() - start
        print(json.dumps({"ns": elapsed / calls}), flush=True)


if __name__ == "__main__":
    main()
