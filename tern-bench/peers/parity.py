#!/usr/bin/env python3
"""Models of Tern in PyTorch, from weights and batches that `tern bench parity` has written.

Reads index.json and data.bin of a folder, trains by plain gradient descent (all rows of all tables are
dense parameters) and prints the loss of each step before its update, as a JSON list. Parameters have the
names that Tern gives them; a matrix is (inputs, outputs). The loss is the mean binary cross entropy on
logits, of several labels the sum of their means; of two towers it is the softmax over the items of the batch.
"""

import json
import sys

import torch
import torch.nn.functional as F

import zoo


class Model:
    def __init__(self, folder):
        self.index, self.arrays = zoo.read(folder)
        self.tables = {n: t.requires_grad_() for n, t in self.arrays.items() if n.startswith("table.")}
        self.zoo = zoo.Zoo(self.index, zoo.weights(self.arrays))
        self.kind = self.index["model"]
        self.slots = self.index["slots"]

    def weights(self):
        return [*self.zoo.parameters(), *self.tables.values()]

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
        x, rows = self.arrays[f"batch.{self.number_of_batch}.raw.{name}"], self.tables["table." + table]
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
                rows = self.tables["table." + slot[1]][ids]
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
        columns = [self.tables["table." + slot[1]][self.ids(slot)[0][at]] for slot in slots]
        return torch.cat(columns, 2) * mask.unsqueeze(2), mask

    def query(self, e):
        pooled = [slot for slot in self.slots if slot[2] == "pooled"]
        tables = [slot[1] for slot in pooled]
        return torch.cat([e[:, tables.index(slot[1])] for slot in self.slots if slot[2] == "sequence"], 1)

    def logits(self):
        """A logit a row, or of several labels (B, K), and what the loss has beside that of labels."""
        e = self.pooled()
        columns = {"squares": self.pooled(square=True)}
        if any(slot[2] == "sequence" for slot in self.slots):
            columns["keys"], columns["mask"] = self.sequence()
            columns["query"] = self.query(e)
        return self.zoo(e, self.dense, **columns)

    # Two towers: a loss of their own.

    def tower_vectors(self, name, of_items):
        e, items = self.pooled(), self.index["items"]
        slots = [s for s, slot in enumerate(self.slots) if (slot[0] in items) == of_items]
        numbers = [n for n, number in enumerate(self.index["numbers"]) if (number in items) == of_items]
        x = torch.cat([e[:, slots].flatten(1), self.dense[:, numbers]], 1)
        return F.normalize(self.zoo.linear(name + ".out", self.zoo.mlp(name, x)), dim=1)

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
            logits, added = model.logits()
            losses_of_rows = F.binary_cross_entropy_with_logits(logits.reshape(labels.shape), labels, reduction="none")
            loss = losses_of_rows.mean(0).sum() + added
        losses.append(loss.item())
        gradients = torch.autograd.grad(loss, model.weights(), allow_unused=True)
        with torch.no_grad():
            for weight, gradient in zip(model.weights(), gradients):
                if gradient is not None:
                    weight -= model.index["rate"] * gradient
    print(json.dumps(losses))
    return 0


if __name__ == "__main__":
    sys.exit(main())
