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

    def gru(self, name, x, mask, factors=None):
        """(B, T, H): the state after each element; elements behind the end leave it as it was."""
        gates, recurrent = self.linear(name + ".gates", x), self.weights[name + ".recurrent"]
        state, states = torch.zeros(self.rows, recurrent.shape[0]), []
        for t in range(x.shape[1]):
            given, found = gates[:, t].chunk(3, 1), (state @ recurrent).chunk(3, 1)
            update = torch.sigmoid(given[0] + found[0])
            if factors is not None:
                update = update * factors[:, t : t + 1]
            candidate = torch.tanh(given[2] + torch.sigmoid(given[1] + found[1]) * found[2])
            state = torch.where(mask[:, t : t + 1], (1 - update) * state + update * candidate, state)
            states.append(state)
        return torch.stack(states, 1)

    def dien(self, e):
        keys, mask, lengths = self.sequence()
        states = self.gru("interest.seen.states", keys, mask)
        if self.index["auxiliary"] > 0:
            others = torch.zeros_like(keys).masked_scatter(mask.unsqueeze(2), keys[mask].flip(0))
            own, other = ((states[:, :-1] * x[:, 1:]).sum(2) for x in (keys, others))
            losses = (F.softplus(-own) + F.softplus(other)) * mask[:, 1:]
            self.added = self.index["auxiliary"] * (losses.sum(1) / (lengths - 1).clamp(min=1)).mean()
        wanted = self.query(e) @ self.weights["interest.seen.attention"]
        fit = (states * wanted.unsqueeze(1)).sum(2).masked_fill(~mask, -1e9)
        last = self.gru("interest.seen.evolution", states, mask, fit.softmax(1))[:, -1]
        return self.deep(torch.cat([self.flat(e), last], 1))

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

    def sasrec(self, e):
        keys, mask, lengths = self.sequence()
        longest, heads = keys.shape[1], self.index["heads"]
        places = (lengths.unsqueeze(1) - 1 - torch.arange(longest)).clamp(min=0)
        x = keys * keys.shape[2] ** 0.5 + self.weights["transformer.seen.places"][places]
        # Elements see those up to themselves; rows behind the end see something and are not read.
        allowed = torch.ones(longest, longest, dtype=torch.bool).tril()
        block = 0
        while f"transformer.seen.{block}.inner.weight" in self.weights:
            name = f"transformer.seen.{block}"
            before = self.norm(name + ".before", x)
            q, k, v = (self.linear(f"{name}.attention.{part}", before) for part in ("queries", "keys", "values"))
            found = []
            for one, two, three in zip(q.chunk(heads, 2), k.chunk(heads, 2), v.chunk(heads, 2)):
                scores = one @ two.transpose(1, 2) / one.shape[2] ** 0.5
                found.append(scores.masked_fill(~allowed, -torch.inf).softmax(2) @ three)
            s = x + self.linear(name + ".attention.out", torch.cat(found, 2))
            x = s + self.linear(name + ".outer", F.relu(self.linear(name + ".inner", self.norm(name + ".between", s))))
            block += 1
        return self.fit(e, x, mask, lengths)

    def fit(self, e, x, mask, lengths):
        """The last element of each sequence times the candidate, and layers over all columns."""
        ends = x[torch.arange(self.rows), (lengths - 1).clamp(min=0)]
        vector = self.norm("transformer.seen.last", ends) * mask.any(1, keepdim=True)
        return (vector * self.query(e)).sum(1) + self.deep(self.flat(e))

    def hstu(self, e):
        keys, mask, lengths = self.sequence()
        longest, heads, width = keys.shape[1], self.index["heads"], keys.shape[2]
        places = (lengths.unsqueeze(1) - 1 - torch.arange(longest)).clamp(min=0)
        x = keys * width**0.5 + self.weights["transformer.seen.places"][places]
        most = len(self.weights["transformer.seen.places"])
        distance = torch.arange(longest).unsqueeze(1) - torch.arange(longest)
        layer = 0
        while f"transformer.seen.{layer}.all.weight" in self.weights:
            name = f"transformer.seen.{layer}"
            u, v, q, k = F.silu(self.linear(name + ".all", self.norm(name + ".before", x))).chunk(4, 2)
            bias = self.weights[name + ".distances"][distance.clamp(min=0), 0]
            found = []
            for one, two, three in zip(q.chunk(heads, 2), k.chunk(heads, 2), v.chunk(heads, 2)):
                scores = F.silu(one @ two.transpose(1, 2) + bias) / most
                found.append((scores * (distance >= 0)) @ three)
            x = x + self.linear(name + ".out", self.norm(name + ".after", torch.cat(found, 2)) * u)
            layer += 1
        return self.fit(e, x, mask, lengths)

    def neumf(self, e):
        factors = e[:, 0, : self.width] * e[:, 1, : self.width]
        hidden = self.mlp("deep", self.flat(e[:, :, self.width :]))
        return self.linear("out", torch.cat([factors, hidden], 1)).squeeze(1)

    def gmf(self, e):
        return self.linear("out", e[:, 0] * e[:, 1]).squeeze(1)

    # Products of pairs of slots.

    def pair(self, e):
        """The vectors of the left and of the right slot of each pair: (0, 1), (0, 2), ..., (1, 2), ..."""
        left, right = torch.triu_indices(e.shape[1], e.shape[1], 1)
        return e[:, left], e[:, right]

    def pnn(self, e):
        parts = [self.flat(e)]
        if self.index["form"] in ("inner", "both"):
            dots = e @ e.transpose(1, 2)
            row, column = torch.tril_indices(e.shape[1], e.shape[1], -1)
            parts.append(dots[:, row, column])
        if self.index["form"] in ("outer", "both"):
            total = e.sum(1)
            parts.append(torch.einsum("bi,bj->bij", total, total).flatten(1))
        return self.deep(torch.cat(parts, 1))

    def nfm(self, e):
        left, right = self.pair(e[:, :, 1:])
        return self.first("linear", e) + self.deep(torch.cat([(left * right).sum(1), self.dense], 1))

    def afm(self, e):
        left, right = self.pair(e[:, :, 1:])
        products = left * right
        scores = self.linear("attention.score", F.relu(self.linear("attention.hidden", products)))
        pooled = (scores.softmax(1) * products).sum(1)
        return self.first("linear", e) + self.linear("out", pooled).squeeze(1)

    def fwfm(self, e):
        v, logit, pair = e[:, :, 1:], self.first("linear", e), 0
        for i in range(v.shape[1]):
            for j in range(i):
                logit = logit + self.weights["pairs.weight"][pair, 0] * (v[:, i] * v[:, j]).sum(1)
                pair += 1
        return logit

    def ffm(self, e):
        slots, logit = e.shape[1], self.first("linear", e)
        v = e[:, :, 1:].reshape(self.rows, slots, slots, self.width)
        for i in range(slots):
            for j in range(i + 1, slots):
                logit = logit + (v[:, i, j] * v[:, j, i]).sum(1)
        return logit

    def tokens(self, e):
        return torch.cat([self.dense.unsqueeze(2) * self.weights["numbers.weight"], e], 1)

    def autoint(self, e):
        x, heads, layer = self.tokens(e), self.index["heads"], 0
        while f"attention.{layer}.queries.weight" in self.weights:
            q, k, v, r = (self.linear(f"attention.{layer}.{part}", x) for part in ("queries", "keys", "values", "residual"))
            found = []
            for one, two, three in zip(q.chunk(heads, 2), k.chunk(heads, 2), v.chunk(heads, 2)):
                found.append((one @ two.transpose(1, 2)).softmax(2) @ three)
            x = F.relu(torch.cat(found, 2) + r)
            layer += 1
        logit = self.linear("attention.out", x.flatten(1)).squeeze(1)
        return logit + self.deep(self.flat(e)) if "out.weight" in self.weights else logit

    def xdeepfm(self, e):
        start = x = e[:, :, 1:]
        sums, layer = [], 0
        while f"cross.{layer}.weight" in self.weights:
            crossed = torch.einsum("bhd,bfd->bhfd", x, start).flatten(1, 2)
            x = torch.einsum("bid,io->bod", crossed, self.weights[f"cross.{layer}.weight"])
            sums.append(x.sum(2))
            layer += 1
        return self.first("linear", e) + self.deep(self.flat(start)) + self.linear("cross.out", torch.cat(sums, 1)).squeeze(1)

    def bilinear(self, v):
        w, products, pair = self.weights["bilinear.weight"], [], 0
        for i in range(v.shape[1]):
            for j in range(i + 1, v.shape[1]):
                matrix = w[{"pair": pair, "field": i, "one": 0}[self.index["form"]]]
                products.append((v[:, i] @ matrix) * v[:, j])
                pair += 1
        return torch.cat(products, 1)

    def fibinet(self, e):
        v = e[:, :, 1:]
        weights = F.relu(self.linear("excite", F.relu(self.linear("squeeze", v.mean(2)))))
        read = torch.cat([self.bilinear(v), self.bilinear(v * weights.unsqueeze(2)), self.dense], 1)
        return self.first("linear", e) + self.deep(read)

    # Layers over all features side by side.

    def gdcn(self, e):
        start = c = self.flat(e)
        layer = 0
        while f"cross.{layer}.weight" in self.weights:
            c = start * self.linear(f"cross.{layer}", c) * torch.sigmoid(self.linear(f"cross.{layer}.gate", c)) + c
            layer += 1
        if self.index["form"] == "stacked":
            return self.deep(c)
        return self.linear("out", torch.cat([c, self.mlp("deep", start)], 1)).squeeze(1)

    def masknet(self, e):
        features, start, made, block = self.flat(e), self.flat(self.norm("norm", e)), [], 0
        h = start
        while f"block.{block}.weight" in self.weights:
            name = f"block.{block}"
            mask = self.linear(name + ".mask.out", self.mlp(name + ".mask", features))
            out = F.relu(self.norm(name + ".norm", self.linear(name, mask * h)))
            made.append(out)
            h = out if self.index["form"] == "stacked" else start
            block += 1
        return self.deep(h if self.index["form"] == "stacked" else torch.cat(made, 1))

    def finalmlp(self, e):
        h = []
        for name in ("first", "second"):
            gate = self.linear(name + ".gate.out", self.mlp(name + ".gate", self.weights[name + ".context"]))
            h.append(self.mlp(name, 2 * torch.sigmoid(gate) * self.flat(e)))
        logit = self.linear("first.out", h[0]) + self.linear("second.out", h[1])
        matrices = self.weights["bilinear"]
        for one, two, matrix in zip(h[0].chunk(len(matrices), 1), h[1].chunk(len(matrices), 1), matrices):
            logit = logit + (one.unsqueeze(1) @ matrix @ two.unsqueeze(2)).squeeze(2)
        return logit.squeeze(1)

    def finalnet(self, e):
        logits = []
        for name in ("first", "second"):
            h, layer = self.flat(e), 0
            while f"{name}.{layer}.weight" in self.weights:
                one, two = self.linear(f"{name}.{layer}", h).chunk(2, 1)
                h = F.relu(one + one * two)
                layer += 1
            if layer > 0:
                logits.append(self.linear(name + ".out", h).squeeze(1))
        mean = sum(logits) / len(logits)
        if len(logits) > 1:
            taught = torch.sigmoid(mean).detach()
            self.added = sum(F.binary_cross_entropy_with_logits(y, taught) for y in logits)
        return mean

    def wukong(self, e):
        x, layer = self.tokens(e), 0
        while f"cross.{layer}.narrow" in self.weights:
            name = f"cross.{layer}"
            met = x @ (x.transpose(1, 2) @ self.weights[name + ".narrow"])
            met = self.linear(name + ".products", self.mlp(name + ".mlp", self.norm(name + ".before", met.flatten(1))))
            sums = torch.einsum("bnd,nm->bmd", x, self.weights[name + ".sums.weight"])
            both = torch.cat([met.reshape(self.rows, -1, self.width), sums], 1)
            residual = self.weights.get(name + ".residual.weight")
            kept = x if residual is None else torch.einsum("bnd,nm->bmd", x, residual)
            x = self.norm(name + ".after", both + kept)
            layer += 1
        return self.deep(x.flatten(1))

    def eulernet(self, e):
        angle, layer = self.tokens(e), 0
        z = torch.polar(self.weights["lengths"].expand_as(angle).contiguous(), angle)
        while f"cross.{layer}.orders" in self.weights:
            name = f"cross.{layer}"
            logs = torch.log(z.real.square() + z.imag.square() + 1e-8) / 2
            orders = self.weights[name + ".orders"]
            logs = torch.einsum("bnd,nm->bmd", logs, orders) + self.weights[name + ".lengths"]
            turned = torch.einsum("bnd,nm->bmd", torch.atan2(z.imag, z.real), orders) + self.weights[name + ".angles"]
            parts = [F.relu(self.linear(name + ".plain", x.flatten(1))).view_as(logs) for x in (z.real, z.imag)]
            z = torch.complex(*parts) + torch.exp(torch.complex(logs, turned))
            layer += 1
        return self.linear("out", (z.real + z.imag).flatten(1)).squeeze(1)

    def ple(self, e):
        groups, experts, level = ("0", "1", "shared"), self.index["experts"], 0
        x = {g: self.flat(e) for g in groups}
        while f"level.{level}.0.expert.0.0.weight" in self.weights:
            name, outputs, following = f"level.{level}", {}, {}
            for g in groups:
                outputs[g] = [self.mlp(f"{name}.{g}.expert.{i}", x[g]) for i in range(experts)]
            for g in groups:
                gate = f"{name}.{g}.gate"
                if gate + ".out.weight" in self.weights:
                    seen = sum(outputs.values(), []) if g == "shared" else outputs[g] + outputs["shared"]
                    weights = self.linear(gate + ".out", self.mlp(gate, x[g])).softmax(1)
                    following[g] = (weights.unsqueeze(2) * torch.stack(seen, 1)).sum(1)
            x = following
            level += 1
        return torch.cat([self.tower(0, x["0"]), self.tower(1, x["1"])], 1)

    def dlrm_dcnv2(self, e):
        start = c = torch.cat([self.mlp("bottom", self.dense), e.flatten(1)], 1)
        layer = 0
        while f"cross.{layer}.v" in self.weights:
            c = start * (c @ self.weights[f"cross.{layer}.v"] @ self.weights[f"cross.{layer}.u"] + self.weights[f"cross.{layer}.bias"]) + c
            layer += 1
        return self.deep(c)

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
            model.added = 0
            logits = model.logits().reshape(labels.shape)
            loss = F.binary_cross_entropy_with_logits(logits, labels, reduction="none").mean(0).sum() + model.added
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
