#!/usr/bin/env python3
"""Models of Tern in PyTorch, from weights and batches that `tern bench parity` has written.

Reads index.json and data.bin of a folder, trains by plain gradient descent (all rows of all tables are
dense parameters) and prints the loss of each step before its update, as a JSON list. Parameters have the
names that Tern gives them; a matrix is (inputs, outputs). The loss is the mean binary cross entropy on
logits, of several labels the sum of their means; of two towers it is the softmax over the items of the batch.
"""

import json
import os
import sys

import torch
import torch.nn.functional as F


class Model:
    def __init__(self, folder):
        with open(os.path.join(folder, "index.json")) as file:
            self.index = json.load(file)
        with open(os.path.join(folder, "data.bin"), "rb") as file:
            data = bytearray(file.read())
        self.arrays = {}
        for name, entry in self.index["arrays"].items():
            kind = torch.float32 if entry["type"] == "f32" else torch.int64
            count = 1
            for size in entry["shape"]:
                count *= size
            flat = torch.frombuffer(data, dtype=kind, offset=entry["at"], count=count) if count else torch.zeros(0, dtype=kind)
            self.arrays[name] = flat.reshape(entry["shape"]).clone()
        self.weights = {n: t.requires_grad_() for n, t in self.arrays.items() if not n.startswith("batch.")}
        self.kind = self.index["model"]
        self.width = self.index["embedding"]
        self.slots = self.index["slots"]

    # A batch.

    def begin(self, number):
        self.number_of_batch = number
        self.dense = self.arrays[f"batch.{number}.dense"]
        self.rows = self.dense.shape[0]

    def ids(self, slot):
        name = f"batch.{self.number_of_batch}.{slot[0]}"
        return self.arrays[name + ".ids"], self.arrays[name + ".offsets"]

    def number(self, slot):
        """(B, W): the vector of a number. Row 0 of the table is that of a missing one."""
        name, table, way, bounds = slot
        x, rows = self.arrays[f"batch.{self.number_of_batch}.raw.{name}"], self.weights["table." + table]
        missing = x.isnan()
        x = torch.nan_to_num(x).contiguous()
        bounds = torch.tensor(bounds)
        if way == "field":
            vectors = x.unsqueeze(1) * rows[1]
        elif way == "buckets":
            vectors = rows[1 + torch.bucketize(x, bounds, right=True)]
        else:
            low, high = bounds[:-1], bounds[1:]
            encoded = ((x.unsqueeze(1) - low) / (high - low)).clamp(0, 1)
            vectors = encoded @ rows[2 : 2 + len(low)] + rows[1]
        return torch.where(missing.unsqueeze(1), rows[0], vectors)

    def pooled(self, square=False):
        """(B, S, W): the sums of the rows of each slot that is pooled, or of their squares; a number is one."""
        sums = []
        for slot in self.slots:
            if slot[2] in ("field", "buckets", "piecewise"):
                vectors = self.number(slot)
                sums.append(vectors.square() if square else vectors)
            if slot[2] == "pooled":
                ids, offsets = self.ids(slot)
                rows = self.weights["table." + slot[1]][ids]
                rows = rows.square() if square else rows
                row = torch.repeat_interleave(torch.arange(self.rows), offsets[1:] - offsets[:-1])
                sums.append(torch.zeros(self.rows, rows.shape[1]).index_add(0, row, rows))
        return torch.stack(sums, 1)

    def sequence(self):
        """(B, T, C * D) with zeros behind the end, and where there are elements, (B, T)."""
        slots = [slot for slot in self.slots if slot[2] == "sequence"]
        offsets = self.ids(slots[0])[1]
        lengths = offsets[1:] - offsets[:-1]
        longest = max(1, int(lengths.max()))
        place = torch.arange(longest).unsqueeze(0)
        mask = place < lengths.unsqueeze(1)
        at = (offsets[:-1].unsqueeze(1) + place).clamp(max=max(0, int(offsets[-1]) - 1))
        columns = [self.weights["table." + slot[1]][self.ids(slot)[0][at]] for slot in slots]
        return torch.cat(columns, 2) * mask.unsqueeze(2), mask, lengths

    def query(self, e):
        pooled = [slot for slot in self.slots if slot[2] == "pooled"]
        tables = [slot[1] for slot in pooled]
        return torch.cat([e[:, tables.index(slot[1])] for slot in self.slots if slot[2] == "sequence"], 1)

    # Layers.

    def linear(self, name, x):
        y = x @ self.weights[name + ".weight"]
        bias = self.weights.get(name + ".bias")
        return y if bias is None else y + bias

    def mlp(self, name, x):
        layer = 0
        while f"{name}.{layer}.weight" in self.weights:
            x = F.relu(self.linear(f"{name}.{layer}", x))
            layer += 1
        return x

    def norm(self, name, x):
        return F.layer_norm(x, x.shape[-1:], self.weights[name + ".gamma"], self.weights[name + ".beta"], 1e-5)

    def attend(self, name, q, k, v, mask=None):
        """Multi-head attention of (B, Q, W) over (B, T, W)."""
        heads = self.index["heads"]
        b, t, w = k.shape

        def split(x):
            return x.reshape(b, x.shape[1], heads, w // heads).transpose(1, 2)

        allowed = None if mask is None else mask[:, None, None, :]
        found = F.scaled_dot_product_attention(
            split(self.linear(name + ".queries", q)),
            split(self.linear(name + ".keys", k)),
            split(self.linear(name + ".values", v)),
            attn_mask=allowed,
        )
        return self.linear(name + ".out", found.transpose(1, 2).reshape(b, q.shape[1], w))

    def flat(self, e):
        return torch.cat([e.flatten(1), self.dense], 1)

    def first(self, name, e):
        return e[:, :, 0].sum(1) + self.linear(name, self.dense).squeeze(1)

    def pairs(self, e):
        """Of all features of a row: those of one slot meet too."""
        squares = self.pooled(square=True)[:, :, 1:]
        return 0.5 * (e[:, :, 1:].sum(1).square() - squares.sum(1)).sum(1)

    def deep(self, x):
        return self.linear("out", self.mlp("deep", x)).squeeze(1)

    # Models: a logit a row, or of several labels (B, K).

    def logits(self):
        e = self.pooled()
        return getattr(self, self.kind)(e)

    def lr(self, e):
        return self.first("linear", e)

    def fm(self, e):
        return self.first("linear", e) + self.pairs(e)

    def wdl(self, e):
        return self.first("wide", e) + self.deep(self.flat(e[:, :, 1:]))

    def deepfm(self, e):
        return self.first("linear", e) + self.pairs(e) + self.deep(self.flat(e[:, :, 1:]))

    def crossed(self, e, matrices):
        start = c = self.flat(e)
        layer = 0
        while f"cross.{layer}.weight" in self.weights:
            weight, bias = self.weights[f"cross.{layer}.weight"], self.weights[f"cross.{layer}.bias"]
            c = start * (c @ weight + bias) + c if matrices else start * (c @ weight.reshape(-1, 1)) + bias + c
            layer += 1
        return self.linear("out", torch.cat([c, self.mlp("deep", start)], 1)).squeeze(1)

    def dcn(self, e):
        return self.crossed(e, False)

    def dcnv2(self, e):
        return self.crossed(e, True)

    def dlrm(self, e):
        z = self.mlp("bottom", self.dense)
        vectors = torch.cat([z.unsqueeze(1), e], 1)
        dots = vectors @ vectors.transpose(1, 2)
        row, column = torch.tril_indices(vectors.shape[1], vectors.shape[1], -1)
        return self.linear("out", self.mlp("top", torch.cat([z, dots[:, row, column]], 1))).squeeze(1)

    def deepcrossing(self, e):
        x = self.flat(e)
        unit = 0
        while f"unit.{unit}.inner.weight" in self.weights:
            x = F.relu(x + self.linear(f"unit.{unit}.outer", F.relu(self.linear(f"unit.{unit}.inner", x))))
            unit += 1
        return self.linear("out", x).squeeze(1)

    def transformer(self, e):
        numbers = self.dense.unsqueeze(2) * self.weights["numbers.weight"] + self.weights["numbers.bias"]
        x = torch.cat([self.weights["first"].expand(self.rows, 1, -1), numbers, e], 1)
        block = 0
        while f"block.{block}.inner.weight" in self.weights:
            name = f"block.{block}"
            before = self.norm(name + ".before", x)
            x = x + self.attend(name + ".attention", before, before, before)
            x = x + self.linear(name + ".outer", F.relu(self.linear(name + ".inner", self.norm(name + ".between", x))))
            block += 1
        return self.linear("out", F.relu(self.norm("last.norm", x[:, 0]))).squeeze(1)

    def tower(self, task, x):
        return self.linear(f"out.{task}", self.mlp(f"tower.{task}", x))

    def sharedbottom(self, e):
        shared = self.mlp("bottom", self.flat(e))
        return torch.cat([self.tower(0, shared), self.tower(1, shared)], 1)

    def mmoe(self, e):
        x = self.flat(e)
        experts = []
        while f"expert.{len(experts)}.0.weight" in self.weights:
            experts.append(self.mlp(f"expert.{len(experts)}", x))
        outputs = torch.stack(experts, 1)
        logits = []
        for task in range(2):
            gate = self.linear(f"gate.{task}.out", self.mlp(f"gate.{task}", x)).softmax(1)
            logits.append(self.tower(task, (gate.unsqueeze(2) * outputs).sum(1)))
        return torch.cat(logits, 1)

    def esmm(self, e):
        x = self.flat(e)
        click, buy = self.tower(0, x), self.tower(1, x)
        both = -F.softplus(-click) - F.softplus(-buy)
        return torch.cat([click, both - torch.log(-torch.expm1(both))], 1)

    def din(self, e):
        keys, mask, _ = self.sequence()
        query = self.query(e).unsqueeze(1).expand(-1, keys.shape[1], -1)
        hidden = torch.cat([query, keys, query - keys, query * keys], 2)
        hidden = F.relu(self.linear("attention.seen.0", hidden))
        hidden = self.mlp("attention.seen.rest", hidden)
        factors = self.linear("attention.seen.out", hidden) * mask.unsqueeze(2)
        return self.deep(torch.cat([self.flat(e), (factors * keys).sum(1)], 1))

    def bst(self, e):
        keys, mask, lengths = self.sequence()
        longest = keys.shape[1]
        # The target stands behind the last element of each sequence.
        target = F.one_hot(lengths, longest + 1).bool()
        tokens = F.pad(keys, (0, 0, 0, 1)) + target.unsqueeze(2) * self.query(e).unsqueeze(1)
        mask = F.pad(mask, (0, 1)) | target
        places = (lengths.unsqueeze(1) - torch.arange(longest + 1)).clamp(min=0)
        x = torch.cat([tokens, self.weights["transformer.seen.places"][places]], 2)
        block = 0
        while f"transformer.seen.{block}.inner.weight" in self.weights:
            name = f"transformer.seen.{block}"
            s = self.norm(name + ".between", x + self.attend(name + ".attention", x, x, x, mask))
            hidden = F.leaky_relu(self.linear(name + ".inner", s), 0.01)
            x = self.norm(name + ".after", s + self.linear(name + ".outer", hidden))
            block += 1
        return self.deep(torch.cat([self.flat(e), x[target]], 1))

    def neumf(self, e):
        factors = e[:, 0, : self.width] * e[:, 1, : self.width]
        hidden = self.mlp("deep", self.flat(e[:, :, self.width :]))
        return self.linear("out", torch.cat([factors, hidden], 1)).squeeze(1)

    def gmf(self, e):
        return self.linear("out", e[:, 0] * e[:, 1]).squeeze(1)

    # Two towers: a loss of their own.

    def tower_vectors(self, name, of_items):
        e, items = self.pooled(), self.index["items"]
        slots = [s for s, slot in enumerate(self.slots) if (slot[0] in items) == of_items]
        numbers = [n for n, number in enumerate(self.index["numbers"]) if (number in items) == of_items]
        x = torch.cat([e[:, slots].flatten(1), self.dense[:, numbers]], 1)
        return F.normalize(self.linear(name + ".out", self.mlp(name, x)), dim=1)

    def item_rates(self, ids):
        """Rows a batch with each row's item: one over the mean gap between them, until there are 50 the mean of
        all, then moving; a gap counts as ten times the mean at most. Before the first gap, one over the batches so
        far."""
        if self.number_of_batch == 0:
            self.gaps = {}
        distinct, row, counts = torch.unique(ids, return_inverse=True, return_counts=True)
        rates = []
        for item, count in zip(distinct.tolist(), counts.tolist()):
            now = self.number_of_batch + 1
            if item not in self.gaps:
                mean, gaps = now / count, 0
            else:
                mean, seen, before = self.gaps[item]
                gap = (now - seen) / count
                gaps = min(before + count, 50)
                mean += min(1.0, count / gaps) * ((min(gap, 10 * mean) if before else gap) - mean)
            self.gaps[item] = (mean, now, gaps)
            rates.append(1 / mean)
        return torch.tensor(rates)[row]

    def twotower_loss(self, labels):
        users, items = self.tower_vectors("user", False), self.tower_vectors("item", True)
        key = next(slot for slot in self.slots if slot[0] == self.index["items"][0])
        ids = self.ids(key)[0]
        scores = users @ items.T / self.index["temperature"] - torch.log(self.item_rates(ids))
        same = (ids.unsqueeze(1) == ids.unsqueeze(0)) & ~torch.eye(self.rows, dtype=torch.bool)
        chosen = torch.log_softmax(scores.masked_fill(same, -torch.inf), 1).diagonal()
        return -(labels.squeeze(1) * chosen).sum() / labels.sum()


def main():
    model = Model(sys.argv[1])
    losses = []
    for step in range(model.index["steps"]):
        model.begin(step)
        labels = model.arrays[f"batch.{step}.labels"]
        if model.kind == "twotower":
            loss = model.twotower_loss(labels)
        else:
            logits = model.logits().reshape(labels.shape)
            loss = F.binary_cross_entropy_with_logits(logits, labels, reduction="none").mean(0).sum()
        losses.append(loss.item())
        names = list(model.weights)
        gradients = torch.autograd.grad(loss, [model.weights[name] for name in names], allow_unused=True)
        with torch.no_grad():
            for name, gradient in zip(names, gradients):
                if gradient is not None:
                    model.weights[name] -= model.index["rate"] * gradient
    print(json.dumps(losses))
    return 0


if __name__ == "__main__":
    sys.exit(main())
