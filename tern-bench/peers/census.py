#!/usr/bin/env python3
"""CTR models on the Census Income data (UCI Adult) in PyTorch: the quality reference of `examples/census.yaml`.

Needs PyTorch alone (no numpy). Files: adult.data and adult.test as UCI publishes them (comma and space
separated, no header, `?` for missing kept as a category, test labels end with a full stop).

Features: eight categorical columns by a vocabulary of the training file (a value never seen there gets a
row of its own that is never trained), embedding width 16; six numeric columns as log1p, standardised with
mean and standard deviation of the training file. x is (B, 6), e is (B, 8, 16), both as in train.py:

  first  sum over columns of a width-1 embedding + linear(x: 6 -> 1), the latter not with --no-wide-dense
  second 0.5 * sum over D of ((sum over columns of e)^2 - sum over columns of e^2)
  deep   134-128-64, ReLU then dropout after each layer, on concat(e flattened column by column, x)

  wdl    first + linear(64 -> 1) of deep
  deepfm first + second + linear(64 -> 1) of deep
  mmoe   two tasks, as in `examples/census-tasks.yaml`: income, and never married; without the columns
         marital-status and relationship. 4 experts 102-128-64, ReLU then dropout; for each task a gate
         102 -> 4 without bias, softmax, and a tower 64-32-1; the loss is the sum of both
  dcnv2  linear(198 -> 1) of concat(cross, deep), cross: --cross times c = c0 * (W c + b) + c on the 134 inputs

Of mmoe the last epoch counts, and the AUC of each task. Training: mean binary cross-entropy on logits, Adam, rows shuffled in each epoch, last short batch kept,
test AUC (ties count half) after each epoch; the best epoch of each seed counts (so the number flatters:
the epoch is chosen on the test rows). Initial values: tables normal(0, 0.01); linear layers, weight and
bias alike, uniform in +-1/sqrt(fan_in), torch's own, or with `--init xavier` Glorot uniform and zero bias.

What moves the result: table values of deviation 1 (torch's own default) cost 0.004 (wdl) to 0.036 (deepfm);
anything from 0.001 to 0.1 is alike. dcnv2 needs its three cross layers: two lose 0.002. Without linear(x)
wdl loses 0.0005. Sparse or dense embedding gradients, initial linear values and dropout change less than
seeds do.
"""

import argparse
import json
import math
import statistics
import sys

import torch
from torch import nn

COLUMNS = (
    "age workclass fnlwgt education education-num marital-status occupation relationship race sex "
    "capital-gain capital-loss hours-per-week native-country income"
).split()
NUMERIC = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
CATEGORICAL = ("workclass", "education", "marital-status", "occupation", "relationship", "race", "sex", "native-country")
MODELS = ("wdl", "deepfm", "dcnv2", "mmoe")
FIRST = ("wdl", "deepfm", "dcnv2")
TOLD = ("marital-status", "relationship")  # they tell the second task


def read(path):
    rows = []
    with open(path) as file:
        for number, line in enumerate(file, 1):
            fields = [field.strip() for field in line.split(",")]
            if len(fields) == len(COLUMNS):
                rows.append(dict(zip(COLUMNS, fields)))
            elif line.strip() and not line.startswith("|"):
                raise SystemExit(f"{path} line {number}: got {len(fields)} fields, expected {len(COLUMNS)}")
    return rows


class Encoder:
    """Vocabularies, means and deviations of the training rows; `encode` turns rows into (ids, x, label)."""

    def __init__(self, rows, columns):
        self.columns, self.vocabulary = columns, []
        for column in columns:
            seen = {}
            for row in rows:
                seen.setdefault(row[column], len(seen))
            self.vocabulary.append(seen)
        self.sizes = [len(seen) + 1 for seen in self.vocabulary]  # the last row of each is for unseen values
        logs = self.logs(rows)
        self.mean, self.deviation = logs.mean(0), logs.std(0, unbiased=False)

    def logs(self, rows):
        return torch.tensor([[math.log1p(float(row[c])) for c in NUMERIC] for row in rows], dtype=torch.float64)

    def encode(self, rows):
        start, offsets = 0, []
        for size in self.sizes:
            offsets.append(start)
            start += size
        ids = [
            [start + seen.get(row[c], len(seen)) for c, seen, start in zip(self.columns, self.vocabulary, offsets)]
            for row in rows
        ]
        x = ((self.logs(rows) - self.mean) / self.deviation).float()
        income = torch.tensor([float(row["income"].startswith(">50K")) for row in rows])
        if len(self.columns) == len(CATEGORICAL):
            return torch.tensor(ids), x, income
        never = torch.tensor([float(row["marital-status"] == "Never-married") for row in rows])
        return torch.tensor(ids), x, torch.stack([income, never], 1)


class Census(nn.Module):
    def __init__(self, options, model, rows):
        super().__init__()
        self.kind = model
        width = options.embedding
        flat = len(CATEGORICAL) * width + len(NUMERIC)
        self.tables = nn.ModuleDict({"e": self.table(rows, width, options)})
        self.cross, out = nn.ModuleList(), 0
        if model == "dcnv2":
            self.cross, out = nn.ModuleList(nn.Linear(flat, flat) for _ in range(options.cross)), flat
        else:
            self.tables["w"] = self.table(rows, 1, options)
            self.linear = nn.Linear(len(NUMERIC), 1) if options.wide_dense else None
        sizes = [flat] + options.hidden
        layers = [[nn.Linear(a, b), nn.ReLU(), nn.Dropout(options.dropout)] for a, b in zip(sizes, sizes[1:])]
        self.deep = nn.Sequential(*[layer for triple in layers for layer in triple])
        self.out = nn.Linear(sizes[-1] + out, 1)
        if options.init == "xavier":
            for layer in self.modules():
                if isinstance(layer, nn.Linear):
                    nn.init.xavier_uniform_(layer.weight)
                    nn.init.zeros_(layer.bias)

    @staticmethod
    def table(rows, width, options):
        return nn.Embedding(rows, width, sparse=options.sparse, _weight=torch.randn(rows, width) * options.embedding_std)

    def forward(self, ids, x):
        e = self.tables["e"](ids)
        start = torch.cat([e.flatten(1), x], 1)
        deep = self.deep(start)
        if self.kind == "dcnv2":
            c = start
            for layer in self.cross:
                c = torch.addcmul(c, start, layer(c))
            return self.out(torch.cat([c, deep], 1)).squeeze(1)
        logit = self.tables["w"](ids).sum((1, 2)) + self.out(deep).squeeze(1)
        if self.linear is not None:
            logit = logit + self.linear(x).squeeze(1)
        if self.kind == "deepfm":
            logit = logit + 0.5 * (e.sum(1).square().sum(1) - e.square().sum((1, 2)))
        return logit


class CensusTasks(nn.Module):
    def __init__(self, options, rows, columns):
        super().__init__()
        flat = columns * options.embedding + len(NUMERIC)
        self.tables = nn.ModuleDict({"e": Census.table(rows, options.embedding, options)})

        def hidden(*sizes):
            layers = [[nn.Linear(a, b), nn.ReLU(), nn.Dropout(options.dropout)] for a, b in zip(sizes, sizes[1:])]
            return nn.Sequential(*[layer for triple in layers for layer in triple])

        width = options.hidden[-1]
        self.experts = nn.ModuleList(hidden(flat, *options.hidden) for _ in range(4))
        self.gates = nn.ModuleList(nn.Linear(flat, 4, bias=False) for _ in range(2))
        self.towers = nn.ModuleList(nn.Sequential(hidden(width, 32), nn.Linear(32, 1)) for _ in range(2))

    def forward(self, ids, x):
        start = torch.cat([self.tables["e"](ids).flatten(1), x], 1)
        experts = torch.stack([expert(start) for expert in self.experts], 1)
        logits = []
        for gate, tower in zip(self.gates, self.towers):
            weights = gate(start).softmax(1).unsqueeze(2)
            logits.append(tower((weights * experts).sum(1)))
        return torch.cat(logits, 1)


def auc(score, label):
    """Area under the ROC curve; pairs of equal scores count half."""
    values, place, count = torch.unique(score, return_inverse=True, return_counts=True)
    last = count.cumsum(0).double()
    rank = (last - (count.double() - 1) / 2)[place]  # mean rank, from 1
    positive = label.sum().double()
    negative = label.numel() - positive
    return ((rank[label > 0].sum() - positive * (positive + 1) / 2) / (positive * negative)).item()


def train(options, model, seed, rows, training, test):
    torch.manual_seed(seed)
    net = CensusTasks(options, rows, training[0].shape[1]) if model == "mmoe" else Census(options, model, rows)
    tables = list(net.tables.parameters())
    dense = [p for name, p in net.named_parameters() if not name.startswith("tables.")]
    if options.sparse:
        steppers = [torch.optim.Adam(dense, options.lr, fused=True), torch.optim.SparseAdam(tables, options.lr)]
    else:
        steppers = [torch.optim.Adam(dense + tables, options.lr, fused=True)]
    loss_of = nn.functional.binary_cross_entropy_with_logits
    ids, x, label = training
    reached = []
    for _ in range(options.epochs):
        net.train()
        for take in torch.randperm(len(label)).split(options.batch):
            for stepper in steppers:
                stepper.zero_grad(set_to_none=True)
            tasks = label.shape[1] if label.dim() == 2 else 1
            (tasks * loss_of(net(ids[take], x[take]), label[take])).backward()
            for stepper in steppers:
                stepper.step()
        net.eval()
        with torch.no_grad():
            logit = net(test[0], test[1])
            if test[2].dim() == 2:
                reached.append([auc(logit[:, task], test[2][:, task]) for task in range(2)])
            else:
                reached.append((auc(logit, test[2]), loss_of(logit, test[2]).item()))
    return reached


def parse():
    parser = argparse.ArgumentParser(description="CTR models on Census Income in PyTorch", allow_abbrev=False)
    parser.add_argument("--train", required=True, help="adult.data")
    parser.add_argument("--test", required=True, help="adult.test")
    parser.add_argument("--model", default=",".join(FIRST), help="one or several, with commas")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--lr", type=float, default=0.002)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--embedding", type=int, default=16)
    parser.add_argument("--embedding-std", type=float, default=0.01)
    parser.add_argument("--no-wide-dense", dest="wide_dense", action="store_false", help="first without linear(x)")
    parser.add_argument("--hidden", default="128,64")
    parser.add_argument("--cross", type=int, default=3, help="cross layers of dcnv2")
    parser.add_argument("--init", choices=["torch", "xavier"], default="torch", help="of linear layers")
    parser.add_argument("--sparse", action="store_true", help="sparse gradients and SparseAdam for embeddings")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    options.hidden = [int(size) for size in options.hidden.split(",")]
    for name in options.model.split(","):
        if name not in MODELS:
            parser.error(f"--model: got {name}, expected one of {', '.join(MODELS)}")
    return options


def tasks(options, rows, training, test):
    """Prints the AUC of each task after the last epoch of each seed."""
    last = []
    for seed in options.seeds.split(","):
        reached = train(options, "mmoe", int(seed), rows, training, test)
        last.append(reached[-1])
        print(f"# mmoe seed {seed}: " + " ".join(f"{a:.4f}/{b:.4f}" for a, b in reached), flush=True)
    for task, name in enumerate(("income", "never married")):
        runs = [pair[task] for pair in last]
        result = {"bench": "census", "case": f"mmoe {name}", "value": round(statistics.mean(runs), 5)}
        result |= {"unit": "test AUC", "runs": [round(area, 5) for area in runs]}
        print(json.dumps(result, separators=(",", ":")), flush=True)


def main():
    options = parse()
    torch.set_num_threads(options.threads)
    training_rows, test_rows = read(options.train), read(options.test)
    for model in options.model.split(","):
        columns = [c for c in CATEGORICAL if model != "mmoe" or c not in TOLD]
        encoder = Encoder(training_rows, columns)
        training, test = encoder.encode(training_rows), encoder.encode(test_rows)
        if model == "mmoe":
            tasks(options, sum(encoder.sizes), training, test)
            continue
        best = []
        for seed in options.seeds.split(","):
            reached = train(options, model, int(seed), sum(encoder.sizes), training, test)
            best.append(max(area for area, _ in reached))
            print(f"# {model} seed {seed}: " + " ".join(f"{area:.4f}" for area, _ in reached), flush=True)
        result = {"bench": "census", "case": model, "value": round(statistics.mean(best), 5), "unit": "test AUC"}
        result["runs"] = [round(area, 5) for area in best]
        print(json.dumps(result, separators=(",", ":")), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
