#!/usr/bin/env python3
"""Whole training steps of CTR models in PyTorch eager: the peer of `tern bench train`.

One step is: zero the gradients, look rows up, forward, mean binary cross-entropy on logits, backward,
update of dense weights and of embedding rows (sparse gradients). Needs PyTorch alone (no numpy).

Letters: B batch, S = 26 slots, D = 16 embedding width, X = 13 dense features, F = S*D + X = 429.
e (B, S, D) are the looked-up vectors, w (B, S) the first-order weights (a width-1 table), x (B, X) dense.
"linear" has a bias; every hidden layer is linear + ReLU; all models return one logit a row.

  first  sum over slots of w + linear(x: 13 -> 1)
  second 0.5 * sum over D of ((sum over slots of e)^2 - sum over slots of e^2)
  mlp    429-400-400-400-1 on concat(e flattened slot by slot, x)

  lr     first
  fm     first + second
  wdl    first + mlp
  deepfm first + second + mlp
  dcnv2  linear(829 -> 1) of concat(cross, deep); cross: three times c = c0 * (W c + b) + c with full
         W (429, 429), c0 = concat(e, x); deep: hidden layers 429-400-400-400. No first-order table.
  dlrm   z = 13-512-256-16 on x, ReLU after each layer; dot products of the 27 vectors [z, e] below the
         diagonal (351) after z: 367; then 512-256-1. No first-order table.

  mmoe   two tasks: 4 experts 429-256-128, a gate 429 -> 4 (no bias) and softmax for each task, then its tower
         128-64-1; two labels, the loss is the sum of their means. No first-order table.
  din    slots user, item and category, and T elements of item and category, k (B, T, 32), with the target
         q (B, 32) of the same table rows: factors 80-40-1 on concat(q, k, q - k, q * k), u = sum of factor * k;
         then 200-80-1 on concat(e, u). No dense features.
  bst    tokens are the elements and, last, the target, with a learned vector (16) of their place, counted from
         the target: (B, T + 1, 48); one block with 3 heads, of which the target alone is computed: s = norm(x +
         attention(x)), norm(s + linear(leaky_relu(linear(s: 48 -> 64)))); then 256-128-1 on concat(e, target).
  twotower  items are slots C1 to C8, named by C3; users the other 18 slots and x: each 256-128-64, the last layer
         linear, then of length 1. Scores (B, B) are 20 times the products, less the logarithm of how often the
         column's item occurs in a batch (streaming: one over the mean gap); an item is no negative of itself; the
         loss is the softmax's, over rows labelled 1.

The other models are those of zoo.py, with the sizes and first weights in the folder that --weights names, as
`tern bench train` writes it; their tables have rows of the width there, those of ffm 25 times fewer. ple, sharedbottom
and esmm have two labels, neumf and gmf a user and an item alone, 0.3 and 0.7 of --rows-total, without dense features.

Rows of din, bst, dien, sasrec and hstu: users, items and categories are 0.3, 0.69 and 0.01 of --rows-total; --longest elements in
each row, or with --lengths any from 0 to --longest, padded and masked. Streams: user 0, item 1, category 2,
elements 3 and 4 (element t of row r is number r * longest + t), lengths 33, a second label 32.

Rows of the others: 26 slots whose sizes are in criteo_cardinalities.json (10 million in all; --rows-total scales them).
Ids: a power law per slot, p(id) ~ (id + 1)^-1.05, by inverse transform of a counter-based generator
(splitmix64), so that any other program can draw the same ids: see `uniform` and `power_law`. Dense
features are uniform in [-1, 1), labels are 1 with probability 0.25. Batches are made before the clock
starts and used in turn. Streams of the generator: slot s draws from stream s, dense features from 30,
labels from 31; row r of the n-th batch is row n * B + r of each stream.

Tables: `merged` (the default and the fastest) is one table of all slots that holds the first-order weight
as its 17th column, `joined` has one table of width 16 and one of width 1, `separate` has one nn.Embedding
per slot and width. Slot offsets of the first two are added to the ids before the clock starts.

Optimizers: `adam` is fused Adam for dense weights and SparseAdam for tables (only rows of the batch
move), `adagrad` and `sgd` apply to both. lr 0.001 (adam), 0.01 (adagrad), 0.05 (sgd).
Initial values: torch's own for linear layers, normal(0, 0.01) for tables.

With --in-turn each line on standard input asks for one repeat, which the answer, a JSON object with
`value`, gives in samples a second; --repeats does not count, and the result comes when the input ends.

With --device cuda all weights, tables and batches lie on the first CUDA device, batches before the clock starts.

With --compile the dense part (everything after the look-up) goes through torch.compile; the look-up
stays eager, because the compiler does not produce sparse gradients.
"""

import argparse
import json
import math
import os
import platform
import statistics
import sys
import time

import torch
from torch import nn

import zoo

SLOTS, DIM, DENSE, ALPHA = 26, 16, 13, 1.05
FLAT = SLOTS * DIM + DENSE
MODELS = ("lr", "fm", "wdl", "deepfm", "dcnv2", "dlrm", "mmoe", "din", "bst", "twotower")
READ = (
    ("dcn", "deepcrossing", "transformer", "sharedbottom", "esmm", "neumf", "gmf", "pnn", "nfm", "afm", "fwfm", "ffm")
    + ("autoint", "xdeepfm", "fibinet", "gdcn", "masknet", "finalmlp", "finalnet", "wukong", "eulernet", "ple")
    + ("dlrm_dcnv2", "dien", "sasrec", "hstu")
)
SEQUENCES = ("din", "bst", "dien", "sasrec", "hstu")
TWO_LABELS = ("mmoe", "ple", "sharedbottom", "esmm")
PAIRS = ("neumf", "gmf")
WIDE_ROWS = 25
FIRST_ORDER = ("lr", "fm", "wdl", "deepfm")
WAKING = 5  # steps before a repeat in turn that do not count: threads wake up, caches fill
RATES = {"adam": 1e-3, "adagrad": 1e-2, "sgd": 5e-2}


def cardinalities(rows_total):
    """Slot sizes of the shared file scaled to `rows_total`; the largest slot takes the rounding."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "criteo_cardinalities.json")
    with open(path) as file:
        listed = json.load(file)
    sizes = [max(1, size * rows_total // listed["total"]) for size in listed["cardinalities"]]
    largest = sizes.index(max(sizes))
    sizes[largest] += rows_total - sum(sizes)
    return sizes


def uniform(seed, stream, count):
    """`count` doubles in [0, 1). Value i is the top 53 bits of the splitmix64 finalizer applied to
    ((seed << 40) + (stream << 32) + i + 1) * 0x9E3779B97F4A7C15 modulo 2^64, times 2^-53."""

    def logical_shift(z, bits):
        return (z >> bits) & ((1 << (64 - bits)) - 1)

    def signed(value):
        return value - (1 << 64) if value >= 1 << 63 else value

    i = torch.arange(1, count + 1, dtype=torch.int64) + ((seed << 40) + (stream << 32))
    z = i * signed(0x9E3779B97F4A7C15)
    z = (z ^ logical_shift(z, 30)) * signed(0xBF58476D1CE4E5B9)
    z = (z ^ logical_shift(z, 27)) * signed(0x94D049BB133111EB)
    z = z ^ logical_shift(z, 31)
    return logical_shift(z, 11).double() * 2.0**-53


def power_law(u, size):
    """Ids in [0, size) from uniforms: y^(1-a) is uniform between 1 and (size+1)^(1-a), id = floor(y) - 1."""
    exponent = 1.0 - ALPHA
    top = math.pow(size + 1, exponent)
    y = ((top - 1.0) * u + 1.0) ** (1.0 / exponent)
    return (y.floor().long() - 1).clamp_(0, size - 1)


def make_batches(count, batch, sizes, tables, seed):
    """`count` batches of (ids, x, label); ids are (B, S) with offsets, or (S, B) without for `separate`."""
    ids = torch.stack([power_law(uniform(seed, slot, count * batch), size) for slot, size in enumerate(sizes)])
    if tables != "separate":
        ids = ids + torch.tensor([0] + sizes[:-1]).cumsum(0).unsqueeze(1)
    x = (uniform(seed, 30, count * batch * DENSE) * 2 - 1).float().view(-1, DENSE)
    label = (uniform(seed, 31, count * batch) < 0.25).float()
    batches = []
    for at in range(0, count * batch, batch):
        rows = slice(at, at + batch)
        part = ids[:, rows] if tables == "separate" else ids[:, rows].t()
        batches.append((part.contiguous(), x[rows], label[rows]))
    return batches


def make_pairs(count, options, sizes):
    """`count` batches of (ids, x, label) of users and items, with no dense features."""
    rows = count * options.batch
    columns = [power_law(uniform(options.seed, s, rows), sizes[s]) for s in range(2)]
    ids = torch.stack([columns[0], columns[1] + sizes[0]], 1)
    label = (uniform(options.seed, 31, rows) < 0.25).float()
    return [(i.contiguous(), i.new_zeros(len(i), 0).float(), y) for i, y in zip(ids.split(options.batch), label.split(options.batch))]


def sequence_sizes(rows_total):
    users, items = int(0.3 * rows_total), int(0.69 * rows_total)
    return [users, items, rows_total - users - items]


def make_sequences(count, options, sizes):
    """`count` batches of (ids, mask, label): ids (B, 3 + 2 T) are user, item, category, then item and category of
    each element; mask (B, T) or None where all rows are full."""
    rows, longest, seed = count * options.batch, options.longest, options.seed
    offsets = [0, sizes[0], sizes[0] + sizes[1]]
    columns = [power_law(uniform(seed, s, rows), sizes[s]) + offsets[s] for s in range(3)]
    items = power_law(uniform(seed, 3, rows * longest), sizes[1]) + offsets[1]
    kinds = power_law(uniform(seed, 4, rows * longest), sizes[2]) + offsets[2]
    elements = torch.stack([items, kinds], 1).view(rows, 2 * longest)
    ids = torch.cat([torch.stack(columns, 1), elements], 1)
    lengths = (uniform(seed, 33, rows) * (longest + 1)).long()
    mask = None if options.lengths == "full" else torch.arange(longest) < lengths.unsqueeze(1)
    label = (uniform(seed, 31, rows) < 0.25).float()
    batches = []
    for at in range(0, rows, options.batch):
        part = slice(at, at + options.batch)
        batches.append((ids[part].contiguous(), None if mask is None else mask[part], label[part]))
    return batches


def table(rows, width):
    weight = torch.empty(rows, width).normal_(0, 0.01)
    return nn.Embedding(rows, width, sparse=True, _weight=weight)


class Lookup(nn.Module):
    """Ids to (e, w); a model that needs only one of them gets an empty tensor for the other."""

    def __init__(self, model, sizes, tables, vector_width):
        super().__init__()
        self.layout = tables
        widths = [vector_width, 1 if model in FIRST_ORDER else 0]
        if tables == "merged":
            widths = [sum(widths)]
        self.widths, self.vector_width = widths, vector_width
        rows = sizes if tables == "separate" else [sum(sizes)]
        self.tables = nn.ModuleList(nn.ModuleList(table(r, width) for r in rows) for width in widths if width)

    def forward(self, ids):
        if self.layout == "separate":
            found = [torch.stack([t(i) for t, i in zip(group, ids)], 1) for group in self.tables]
        else:
            found = [group[0](ids) for group in self.tables]
        if self.layout == "merged":
            width = found[0].shape[2]
            return found[0].split([self.vector_width, width - self.vector_width], 2)
        nothing = found[0][..., :0]
        return (found.pop(0) if self.widths[0] else nothing), (found.pop(0) if self.widths[1] else nothing)


def hidden(*widths):
    layers = [[nn.Linear(a, b), nn.ReLU(inplace=True)] for a, b in zip(widths, widths[1:])]
    return nn.Sequential(*[layer for pair in layers for layer in pair])


class FactorModel(nn.Module):
    """lr, fm, wdl and deepfm: sums of the first-order, second-order and mlp parts."""

    def __init__(self, second, deep):
        super().__init__()
        self.second = second
        self.linear = nn.Linear(DENSE, 1)
        self.mlp = nn.Sequential(hidden(FLAT, 400, 400, 400), nn.Linear(400, 1)) if deep else None

    def forward(self, e, w, x):
        logit = w.sum((1, 2)) + self.linear(x).squeeze(1)
        if self.second:
            total = e.sum(1)  # (B, D)
            logit = logit + 0.5 * (total.square().sum(1) - e.square().sum((1, 2)))
        if self.mlp is not None:
            logit = logit + self.mlp(torch.cat([e.flatten(1), x], 1)).squeeze(1)
        return logit


class DcnV2(nn.Module):
    def __init__(self):
        super().__init__()
        self.cross = nn.ModuleList(nn.Linear(FLAT, FLAT) for _ in range(3))
        self.deep = hidden(FLAT, 400, 400, 400)
        self.out = nn.Linear(FLAT + 400, 1)

    def forward(self, e, w, x):
        start = torch.cat([e.flatten(1), x], 1)
        c = start
        for layer in self.cross:
            c = torch.addcmul(c, start, layer(c))
        return self.out(torch.cat([c, self.deep(start)], 1)).squeeze(1)


class Dlrm(nn.Module):
    def __init__(self):
        super().__init__()
        self.bottom = hidden(DENSE, 512, 256, DIM)
        self.top = nn.Sequential(hidden(DIM + (SLOTS + 1) * SLOTS // 2, 512, 256), nn.Linear(256, 1))
        row, column = torch.tril_indices(SLOTS + 1, SLOTS + 1, -1)
        self.register_buffer("below", row * (SLOTS + 1) + column)

    def forward(self, e, w, x):
        z = self.bottom(x)
        vectors = torch.cat([z.unsqueeze(1), e], 1)  # (B, 27, D)
        dots = torch.bmm(vectors, vectors.transpose(1, 2)).flatten(1).index_select(1, self.below)
        return self.top(torch.cat([z, dots], 1)).squeeze(1)


class Mmoe(nn.Module):
    def __init__(self):
        super().__init__()
        self.experts = nn.ModuleList(hidden(FLAT, 256, 128) for _ in range(4))
        self.gates = nn.ModuleList(nn.Linear(FLAT, 4, bias=False) for _ in range(2))
        self.towers = nn.ModuleList(nn.Sequential(hidden(128, 64), nn.Linear(64, 1)) for _ in range(2))

    def forward(self, e, w, x):
        flat = torch.cat([e.flatten(1), x], 1)
        outputs = torch.stack([expert(flat) for expert in self.experts], 1)  # (B, 4, 128)
        logits = []
        for gate, tower in zip(self.gates, self.towers):
            weights = gate(flat).softmax(1).unsqueeze(1)
            logits.append(tower(torch.bmm(weights, outputs).squeeze(1)))
        return torch.cat(logits, 1)


def parts(e):
    """Slots (B, 48), target (B, 32) and elements (B, T, 32) of the vectors of `make_sequences`."""
    return e[:, :3].flatten(1), e[:, 1:3].flatten(1), e[:, 3:].reshape(e.shape[0], -1, 2 * DIM)


class Din(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.Sequential(hidden(8 * DIM, 80, 40), nn.Linear(40, 1))
        self.deep = nn.Sequential(hidden(5 * DIM, 200, 80), nn.Linear(80, 1))

    def forward(self, e, w, mask):
        slots, target, k = parts(e)
        q = target.unsqueeze(1).expand_as(k)
        factors = self.attention(torch.cat([q, k, q - k, q * k], 2))  # (B, T, 1)
        if mask is not None:
            factors = factors * mask.unsqueeze(2)
        u = torch.bmm(factors.transpose(1, 2), k).squeeze(1)
        return self.deep(torch.cat([slots, u], 1)).squeeze(1)


class Bst(nn.Module):
    HEADS = 3

    def __init__(self, longest):
        super().__init__()
        width = 3 * DIM
        self.places = nn.Parameter(torch.empty(longest + 1, DIM).uniform_(-0.0173, 0.0173))
        self.queries, self.keys = nn.Linear(width, width), nn.Linear(width, width)
        self.values, self.out = nn.Linear(width, width), nn.Linear(width, width)
        self.between, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.inner, self.outer = nn.Linear(width, 64), nn.Linear(64, width)
        self.deep = nn.Sequential(hidden(3 * DIM + width, 256, 128), nn.Linear(128, 1))

    def forward(self, e, w, mask):
        slots, target, k = parts(e)
        batch, longest = k.shape[0], k.shape[1]
        places = self.places[1:].flip(0).expand(batch, -1, -1)
        allowed = None
        if mask is not None:
            lengths = mask.sum(1, keepdim=True)
            places = self.places[(lengths - torch.arange(longest, device=mask.device)).clamp(min=0)]
            allowed = nn.functional.pad(mask, (0, 1), value=True)[:, None, None, :]
        elements = torch.cat([k, places], 2)
        x = torch.cat([target, self.places[:1].expand(batch, -1)], 1).unsqueeze(1)
        tokens = torch.cat([elements, x], 1)

        def split(y):
            return y.view(batch, y.shape[1], self.HEADS, -1).transpose(1, 2)

        q, keys, values = split(self.queries(x)), split(self.keys(tokens)), split(self.values(tokens))
        found = nn.functional.scaled_dot_product_attention(q, keys, values, attn_mask=allowed)
        found = found.transpose(1, 2).reshape(batch, -1)
        s = self.between(x.squeeze(1) + self.out(found))
        token = self.after(s + self.outer(nn.functional.leaky_relu(self.inner(s), 0.01)))
        return self.deep(torch.cat([slots, token], 1)).squeeze(1)


class TwoTower(nn.Module):
    ITEMS, KEY = 8, 2

    def __init__(self):
        super().__init__()
        self.item = nn.Sequential(hidden(self.ITEMS * DIM, 256, 128), nn.Linear(128, 64))
        self.user = nn.Sequential(hidden((SLOTS - self.ITEMS) * DIM + DENSE, 256, 128), nn.Linear(128, 64))

    def forward(self, e, x, label, keys, log_rates):
        users = nn.functional.normalize(self.user(torch.cat([e[:, self.ITEMS :].flatten(1), x], 1)), dim=1)
        items = nn.functional.normalize(self.item(e[:, : self.ITEMS].flatten(1)), dim=1)
        scores = (20 * users) @ items.T - log_rates
        own = scores.diagonal()
        others = scores.masked_fill(keys.unsqueeze(1) == keys, -1e30)
        losses = nn.functional.softplus(torch.logsumexp(others, 1) - own)
        return (losses * label).sum() / label.sum()


class Read(nn.Module):
    """A model of zoo.py on what `make_batches` or `make_sequences` give."""

    def __init__(self, model, folder):
        super().__init__()
        index, arrays = zoo.read(folder)
        if index["model"] != model:
            raise ValueError(f"--weights: got those of {index['model']}, expected those of {model}")
        self.net = zoo.Zoo(index, zoo.weights(arrays))
        self.width = next(array.shape[1] for name, array in arrays.items() if name.startswith("table."))
        self.has_sequence = model in SEQUENCES

    def forward(self, e, w, x):
        """x is (B, X), or the mask of sequences."""
        if not self.has_sequence:
            return self.net(e, x)
        keys = e[:, 3:].reshape(e.shape[0], -1, 2 * self.width)
        return self.net(e[:, :3], e.new_zeros(e.shape[0], 0), keys=keys, mask=x, query=e[:, 1:3].flatten(1))


class Rates:
    """The mean gap between rows with an item, in batches, for each row of the tables."""

    def __init__(self, rows, device):
        self.gap, self.seen, self.gaps = (torch.zeros(rows, device=device) for _ in range(3))
        self.now = 0

    def log(self, keys):
        self.now += 1
        items, row, counts = torch.unique(keys, return_inverse=True, return_counts=True)
        mean, before, seen = self.gap[items], self.gaps[items], self.seen[items]
        gap = (self.now - seen) / counts
        gaps = (before + counts).clamp_(max=50)
        counted = torch.where(before > 0, torch.minimum(gap, 10 * mean), gap)
        later = mean + (counts / gaps).clamp_(max=1) * (counted - mean)
        fresh = seen == 0
        gap = torch.where(fresh, gap, later)
        self.gap[items], self.gaps[items] = gap, gaps.masked_fill(fresh, 0)
        self.seen[items] = float(self.now)
        return -gap.log()[row]


def dense_part(model, longest=0):
    if model == "twotower":
        return TwoTower()
    if model == "mmoe":
        return Mmoe()
    if model == "din":
        return Din()
    if model == "bst":
        return Bst(longest)
    if model == "dcnv2":
        return DcnV2()
    if model == "dlrm":
        return Dlrm()
    return FactorModel(second=model in ("fm", "deepfm"), deep=model in ("wdl", "deepfm"))


def on_device(part, device):
    """A tensor, or the list of one for each slot, on a device."""
    return [each.to(device) for each in part] if isinstance(part, list) else part.to(device)


def optimizers(kind, dense, sparse):
    lr = RATES[kind]
    if kind == "adam":
        return [torch.optim.Adam(dense, lr, fused=True), torch.optim.SparseAdam(sparse, lr)]
    make = torch.optim.Adagrad if kind == "adagrad" else torch.optim.SGD
    return [make(dense, lr, fused=True), make(sparse, lr, foreach=False)]


def measure(options, model, kind, threads, sizes, batches):
    """Samples per second of one case: median over repeats of `steps` steps each. They follow on each
    other, or come when standard input asks for them."""
    torch.set_num_threads(threads)
    torch.manual_seed(options.seed)
    net = (Read(model, options.weights) if model in READ else dense_part(model, options.longest)).to(options.device)
    width = net.width if model in READ else 0 if model == "lr" else DIM
    lookup = Lookup(model, sizes, options.tables, width).to(options.device)
    batches = [tuple(part if part is None else on_device(part, options.device) for part in batch) for batch in batches]
    steppers = optimizers(kind, list(net.parameters()), list(lookup.parameters()))
    forward = torch.compile(net) if options.compile else net
    loss_of = nn.functional.binary_cross_entropy_with_logits
    rates = Rates(sum(sizes), options.device) if model == "twotower" else None
    losses = []

    def run(steps, first):
        for step in range(first, first + steps):
            ids, x, label = batches[step % len(batches)]
            for stepper in steppers:
                stepper.zero_grad(set_to_none=True)
            e, w = lookup(ids)
            if rates is not None:
                keys = ids[:, TwoTower.KEY]
                loss = forward(e, x, label, keys, rates.log(keys))
            else:
                found = forward(e, w, x)
                logits, added = found if isinstance(found, tuple) else (found, 0.0)
                loss = loss_of(logits, label) if label.dim() == 1 else loss_of(logits, label, reduction="sum") / len(label)
                loss = loss + added if torch.is_tensor(added) else loss
            loss.backward()
            for stepper in steppers:
                stepper.step()
        losses.append(loss.item())

    run(options.warmup, 0)
    runs, done = [], options.warmup
    for _ in sys.stdin if options.in_turn else range(options.repeats):
        if options.in_turn:
            run(WAKING, done)
            done += WAKING
        start = time.perf_counter()
        run(options.steps, done)
        done += options.steps
        runs.append(1000 * (time.perf_counter() - start) / options.steps)
        if options.in_turn:
            print(json.dumps({"value": 1000 * options.batch / runs[-1]}), flush=True)
    median = statistics.median(runs)
    name = f"{model} batch={options.batch} optimizer={kind}" + (" compile" if options.compile else "")
    return {
        "bench": "train",
        "case": name,
        "threads": threads,
        "value": round(1000 * options.batch / median, 1),
        "unit": "samples/s",
        "median_ms": round(median, 3),
        "runs": [round(1000 * options.batch / ms, 1) for ms in runs],
        "spread": round((max(runs) - min(runs)) / median, 3),
        "loss": [round(losses[0], 5), round(losses[-1], 5)],
        "tables": options.tables,
    }


def parse():
    def listed(text):
        return [part.strip() for part in text.split(",") if part.strip()]

    parser = argparse.ArgumentParser(description="training steps per second in PyTorch", allow_abbrev=False)
    parser.add_argument("--models", type=listed, default=["deepfm", "dlrm", "dcnv2", "wdl"], help=",".join(MODELS + READ))
    parser.add_argument("--weights", help="a folder with the weights of one model of zoo.py")
    parser.add_argument("--batch", type=int, default=4096)
    parser.add_argument("--threads", type=listed, default=["2"], help="one number or several: 1,2")
    parser.add_argument("--steps", type=int, default=20, help="steps in one repeat")
    parser.add_argument("--warmup", type=int, default=5, help="steps before the clock")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--optimizer", type=listed, default=["adam"], help="adam, adagrad, sgd; several: a,b")
    parser.add_argument("--tables", choices=["merged", "joined", "separate"], default="merged")
    parser.add_argument("--rows-total", type=int, default=10_000_000)
    parser.add_argument("--longest", type=int, default=50, help="elements of a sequence")
    parser.add_argument("--lengths", choices=["full", "any"], default="full")
    parser.add_argument("--batches", type=int, default=32, help="distinct batches, used in turn")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--compile", action="store_true", help="torch.compile the dense part")
    parser.add_argument("--in-turn", action="store_true", help="a repeat for each line on standard input")
    parser.add_argument("--json", action="store_true", help="only JSON lines on stdout, no heading")
    options = parser.parse_args()
    for flag, given, known in (("--models", options.models, MODELS + READ), ("--optimizer", options.optimizer, RATES)):
        for name in given:
            if name not in known:
                parser.error(f"{flag}: got {name}, expected one of {', '.join(known)}")
    if options.tables != "merged" and set(options.models) & {*SEQUENCES, *READ, "twotower"}:
        parser.error("--tables: expected merged for din and bst, which share rows, twotower and the models of zoo.py")
    if set(options.models) & {*READ} and (options.weights is None or len(options.models) > 1):
        parser.error("--weights: expected a folder, and one model alone, with a model of zoo.py; tern bench train gives them")
    if options.rows_total < 1000:
        parser.error(f"--rows-total: got {options.rows_total}, expected at least 1000")
    if options.warmup < 1 or options.steps < 1 or options.repeats < 1:
        parser.error("--warmup, --steps and --repeats: expected at least 1")
    return options


def rows_of(model, options):
    """The sizes of tables, and batches."""
    if model in SEQUENCES:
        sizes = sequence_sizes(options.rows_total)
        return sizes, make_sequences(options.batches, options, sizes)
    if model in PAIRS:
        users = int(0.3 * options.rows_total)
        sizes = [users, options.rows_total - users]
        return sizes, make_pairs(options.batches, options, sizes)
    sizes = cardinalities(options.rows_total // WIDE_ROWS if model == "ffm" else options.rows_total)
    batches = make_batches(options.batches, options.batch, sizes, options.tables, options.seed)
    if model in TWO_LABELS:
        second = (uniform(options.seed, 32, options.batches * options.batch) < 0.25).float().split(options.batch)
        batches = [(ids, x, torch.stack([label, other], 1)) for (ids, x, label), other in zip(batches, second)]
    return sizes, batches


def main():
    options = parse()
    sizes = cardinalities(options.rows_total)
    if not options.json:
        print(f"# torch {torch.__version__}, {platform.machine()}, {torch.backends.cpu.get_cpu_capability()}")
        print(f"# {sum(sizes)} rows in {len(sizes)} slots: {sizes}")
    for model in options.models:
        sizes, batches = rows_of(model, options)
        for kind in options.optimizer:
            for threads in options.threads:
                result = measure(options, model, kind, int(threads), sizes, batches)
                print(json.dumps(result, separators=(",", ":")), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
