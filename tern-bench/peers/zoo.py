"""Models of Tern in PyTorch, on weights that have the names that Tern gives them; a matrix is (inputs, outputs).

`parity.py` compares their losses with Tern's, `train.py` times them. Letters: B rows, S slots, D embedding width,
T elements of the longest sequence.
"""

import json
import math
import os

import torch
import torch.nn.functional as F
from torch import nn


def read(folder):
    """The index of a folder that `tern bench` wrote, and its arrays by name."""
    with open(os.path.join(folder, "index.json")) as file:
        index = json.load(file)
    with open(os.path.join(folder, "data.bin"), "rb") as file:
        data = bytearray(file.read())
    arrays = {}
    for name, entry in index["arrays"].items():
        kind = torch.float32 if entry["type"] == "f32" else torch.int64
        count = math.prod(entry["shape"])
        flat = torch.frombuffer(data, dtype=kind, offset=entry["at"], count=count) if count else torch.zeros(0, dtype=kind)
        arrays[name] = flat.reshape(entry["shape"]).clone()
    return index, arrays


def weights(arrays):
    """Those of the arrays that belong to layers."""
    return {name: array for name, array in arrays.items() if not name.startswith(("batch.", "table."))}


class Rows:
    """What a model reads of a batch.

    e: (B, S, W), the pooled vectors of slots; of models with a linear part column 0 is the linear weight.
    dense: (B, X). squares: (B, S, W), the sums of squares of what e sums; None where each slot has one id.
    keys: (B, T, E), the elements of a sequence, zeros behind its end; mask: (B, T), where there are some, None where
    all sequences are as long; query: (B, E), the vectors that elements are compared with.
    """

    def __init__(self, e, dense, squares=None, keys=None, mask=None, query=None):
        self.e, self.dense, self.squares = e, dense, squares
        self.keys, self.mask, self.query = keys, mask, query
        self.count = e.shape[0]

    def lengths(self):
        """(B)"""
        if self.mask is None:
            return torch.full((self.count,), self.keys.shape[1], device=self.keys.device)
        return self.mask.sum(1)

    def last(self, x):
        """The rows of (B, T, W) that belong to the last elements; row 0 where there is none."""
        if self.mask is None:
            return x[:, -1]
        return x[torch.arange(self.count, device=x.device), (self.lengths() - 1).clamp(min=0)]


class Zoo(nn.Module):
    """One model.

    index: `model`, `form`, `embedding`, `heads`, `experts`, `auxiliary`; weights: tensors by name.
    """

    def __init__(self, index, weights):
        super().__init__()
        self.kind, self.form, self.width = index["model"], index["form"], index["embedding"]
        self.heads, self.experts, self.auxiliary = index["heads"], index["experts"], index["auxiliary"]
        self.names = frozenset(weights)
        for name, weight in weights.items():
            self.register_parameter(self.key(name), nn.Parameter(weight))

    def forward(self, *columns, **others):
        """From the columns of Rows a logit a row, (B) or of several labels (B, K), and what the loss has beside that
        of labels."""
        found = getattr(self, self.kind)(Rows(*columns, **others))
        return found if isinstance(found, tuple) else (found, 0.0)

    # Weights.

    def has(self, name):
        return name in self.names

    def key(self, name):
        """Names of parameters have no dots, and are none of the methods'."""
        return "weight/" + name.replace(".", "/")

    def weight(self, name):
        return getattr(self, self.key(name))

    def layers(self, pattern):
        """The numbers for which there is a weight."""
        number = 0
        while self.has(pattern.format(number)):
            number += 1
        return range(number)

    # Layers.

    def linear(self, name, x):
        bias = self.weight(name + ".bias") if self.has(name + ".bias") else None
        return F.linear(x, self.weight(name + ".weight").t(), bias)

    def mlp(self, name, x):
        for layer in self.layers(name + ".{}.weight"):
            x = F.relu(self.linear(f"{name}.{layer}", x), inplace=True)
        return x

    def norm(self, name, x):
        return F.layer_norm(x, x.shape[-1:], self.weight(name + ".gamma"), self.weight(name + ".beta"), 1e-5)

    def split(self, x):
        """(B, T, W) to (B, heads, T, W / heads)."""
        return x.view(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2)

    def joined(self, x):
        return x.transpose(1, 2).flatten(2)

    def attend(self, name, q, k, v, mask=None, causal=False):
        """Multi-head attention of (B, Q, W) over (B, T, W)."""
        found = F.scaled_dot_product_attention(
            self.split(self.linear(name + ".queries", q)),
            self.split(self.linear(name + ".keys", k)),
            self.split(self.linear(name + ".values", v)),
            attn_mask=None if mask is None else mask[:, None, None, :],
            is_causal=causal,
        )
        return self.linear(name + ".out", self.joined(found))

    def flat(self, x, e=None):
        return torch.cat([(x.e if e is None else e).flatten(1), x.dense], 1)

    def first(self, name, x):
        return x.e[:, :, 0].sum(1) + self.linear(name, x.dense).squeeze(1)

    def deep(self, x):
        return self.linear("out", self.mlp("deep", x)).squeeze(1)

    def mixed(self, name, x):
        """(B, N, D) to (B, M, D): sums of vectors, by a matrix (N, M)."""
        return (x.transpose(1, 2) @ self.weight(name)).transpose(1, 2)

    def below(self, x):
        """The dot products of vectors (B, N, D) with those before them: (B, N (N - 1) / 2)."""
        row, column = torch.tril_indices(x.shape[1], x.shape[1], -1, device=x.device)
        return (x @ x.transpose(1, 2)).flatten(1).index_select(1, row * x.shape[1] + column)

    def pairs(self, x):
        """Of all features of a row: those of one slot meet too."""
        e = x.e[:, :, 1:]
        squares = e.square() if x.squares is None else x.squares[:, :, 1:]
        return 0.5 * (e.sum(1).square() - squares.sum(1)).sum(1)

    # Models of vectors side by side.

    def lr(self, x):
        return self.first("linear", x)

    def fm(self, x):
        return self.first("linear", x) + self.pairs(x)

    def wdl(self, x):
        return self.first("wide", x) + self.deep(self.flat(x, x.e[:, :, 1:]))

    def deepfm(self, x):
        return self.first("linear", x) + self.pairs(x) + self.deep(self.flat(x, x.e[:, :, 1:]))

    def crosses(self, start):
        """The cross layers of DCN-V2: matrices, full or of low rank."""
        c = start
        for layer in self.layers("cross.{}.bias"):
            name = f"cross.{layer}"
            if self.has(name + ".v"):
                met = F.linear(c @ self.weight(name + ".v"), self.weight(name + ".u").t(), self.weight(name + ".bias"))
            else:
                met = self.linear(name, c)
            c = torch.addcmul(c, start, met)
        return c

    def dcn(self, x):
        start = c = self.flat(x)
        for layer in self.layers("cross.{}.weight"):
            name = f"cross.{layer}"
            c = torch.addcmul(c + self.weight(name + ".bias"), start, c @ self.weight(name + ".weight"))
        return self.linear("out", torch.cat([c, self.mlp("deep", start)], 1)).squeeze(1)

    def dcnv2(self, x):
        start = self.flat(x)
        return self.linear("out", torch.cat([self.crosses(start), self.mlp("deep", start)], 1)).squeeze(1)

    def dlrm(self, x):
        z = self.mlp("bottom", x.dense)
        dots = self.below(torch.cat([z.unsqueeze(1), x.e], 1))
        return self.linear("out", self.mlp("top", torch.cat([z, dots], 1))).squeeze(1)

    def dlrm_dcnv2(self, x):
        return self.deep(self.crosses(torch.cat([self.mlp("bottom", x.dense), x.e.flatten(1)], 1)))

    def deepcrossing(self, x):
        h = self.flat(x)
        for unit in self.layers("unit.{}.inner.weight"):
            inner = F.relu(self.linear(f"unit.{unit}.inner", h), inplace=True)
            h = F.relu(h + self.linear(f"unit.{unit}.outer", inner), inplace=True)
        return self.linear("out", h).squeeze(1)

    def transformer(self, x):
        numbers = torch.addcmul(self.weight("numbers.bias"), x.dense.unsqueeze(2), self.weight("numbers.weight"))
        h = torch.cat([self.weight("first").expand(x.count, 1, -1), numbers, x.e], 1)
        for block in self.layers("block.{}.inner.weight"):
            name = f"block.{block}"
            before = self.norm(name + ".before", h)
            h = h + self.attend(name + ".attention", before, before, before)
            inner = F.relu(self.linear(name + ".inner", self.norm(name + ".between", h)), inplace=True)
            h = h + self.linear(name + ".outer", inner)
        return self.linear("out", F.relu(self.norm("last.norm", h[:, 0]))).squeeze(1)

    def gdcn(self, x):
        start = c = self.flat(x)
        for layer in self.layers("cross.{}.weight"):
            gate = torch.sigmoid(self.linear(f"cross.{layer}.gate", c))
            c = torch.addcmul(c, start * self.linear(f"cross.{layer}", c), gate)
        if self.form == "stacked":
            return self.deep(c)
        return self.linear("out", torch.cat([c, self.mlp("deep", start)], 1)).squeeze(1)

    def masknet(self, x):
        features, start = self.flat(x), self.flat(x, self.norm("norm", x.e))
        h, made = start, []
        for block in self.layers("block.{}.weight"):
            name = f"block.{block}"
            mask = self.linear(name + ".mask.out", self.mlp(name + ".mask", features))
            out = F.relu(self.norm(name + ".norm", self.linear(name, mask * h)))
            made.append(out)
            h = out if self.form == "stacked" else start
        return self.deep(h if self.form == "stacked" else torch.cat(made, 1))

    def finalmlp(self, x):
        h, flat = [], self.flat(x)
        for name in ("first", "second"):
            gate = self.linear(name + ".gate.out", self.mlp(name + ".gate", self.weight(name + ".context")))
            h.append(self.mlp(name, flat * (2 * torch.sigmoid(gate))))
        logit = self.linear("first.out", h[0]) + self.linear("second.out", h[1])
        matrices = self.weight("bilinear")
        pieces = zip(h[0].chunk(len(matrices), 1), h[1].chunk(len(matrices), 1), matrices.unbind(0))
        for one, two, matrix in pieces:
            logit = logit + ((one @ matrix) * two).sum(1, keepdim=True)
        return logit.squeeze(1)

    def finalnet(self, x):
        logits = []
        for name in ("first", "second"):
            h = self.flat(x)
            for layer in self.layers(name + ".{}.weight"):
                one, two = self.linear(f"{name}.{layer}", h).chunk(2, 1)
                h = F.relu(torch.addcmul(one, one, two), inplace=True)
            if self.has(name + ".0.weight"):
                logits.append(self.linear(name + ".out", h).squeeze(1))
        mean = sum(logits) / len(logits)
        if len(logits) == 1:
            return mean
        taught = torch.sigmoid(mean).detach()
        return mean, sum(F.binary_cross_entropy_with_logits(y, taught) for y in logits)

    # Models of several labels.

    def tower(self, task, x):
        return self.linear(f"out.{task}", self.mlp(f"tower.{task}", x))

    def towers(self, *inputs):
        return torch.cat([self.tower(task, x) for task, x in enumerate(inputs)], 1)

    def sharedbottom(self, x):
        shared = self.mlp("bottom", self.flat(x))
        return self.towers(shared, shared)

    def weighed(self, gate, x, outputs):
        """The sum of experts (B, K, W), each times what a gate gives it."""
        weights = self.linear(gate + ".out", self.mlp(gate, x)).softmax(1)
        return torch.bmm(weights.unsqueeze(1), outputs).squeeze(1)

    def mmoe(self, x):
        flat = self.flat(x)
        outputs = torch.stack([self.mlp(f"expert.{i}", flat) for i in self.layers("expert.{}.0.weight")], 1)
        return self.towers(*(self.weighed(f"gate.{task}", flat, outputs) for task in range(2)))

    def ple(self, x):
        flat, groups = self.flat(x), ("0", "1", "shared")
        read = {g: flat for g in groups}
        for level in self.layers("level.{}.0.expert.0.0.weight"):
            name = f"level.{level}"
            made = {g: [self.mlp(f"{name}.{g}.expert.{i}", read[g]) for i in range(self.experts)] for g in groups}
            following = {}
            for g in groups:
                gate = f"{name}.{g}.gate"
                if self.has(gate + ".out.weight"):
                    seen = sum(made.values(), []) if g == "shared" else made[g] + made["shared"]
                    following[g] = self.weighed(gate, read[g], torch.stack(seen, 1))
            read = following
        return self.towers(read["0"], read["1"])

    def esmm(self, x):
        flat = self.flat(x)
        click, buy = self.tower(0, flat), self.tower(1, flat)
        both = -F.softplus(-click) - F.softplus(-buy)
        return torch.cat([click, both - torch.log(-torch.expm1(both))], 1)

    # Models of users and items.

    def neumf(self, x):
        factors = x.e[:, 0, : self.width] * x.e[:, 1, : self.width]
        hidden = self.mlp("deep", self.flat(x, x.e[:, :, self.width :]))
        return self.linear("out", torch.cat([factors, hidden], 1)).squeeze(1)

    def gmf(self, x):
        return self.linear("out", x.e[:, 0] * x.e[:, 1]).squeeze(1)

    # Models of pairs of slots. Pairs are in the order (0, 1), (0, 2), ..., (1, 2), ...

    def sides(self, e):
        """The numbers of the left and of the right slot of each pair."""
        return torch.triu_indices(e.shape[1], e.shape[1], 1, device=e.device)

    def pnn(self, x):
        parts = [self.flat(x)]
        if self.form in ("inner", "both"):
            parts.append(self.below(x.e))
        if self.form in ("outer", "both"):
            total = x.e.sum(1)
            parts.append((total.unsqueeze(2) * total.unsqueeze(1)).flatten(1))
        return self.deep(torch.cat(parts, 1))

    def nfm(self, x):
        e = x.e[:, :, 1:]
        met = 0.5 * (e.sum(1).square() - e.square().sum(1))
        return self.first("linear", x) + self.deep(torch.cat([met, x.dense], 1))

    def afm(self, x):
        e = x.e[:, :, 1:]
        left, right = self.sides(e)
        products = e.index_select(1, left) * e.index_select(1, right)
        scores = self.linear("attention.score", F.relu(self.linear("attention.hidden", products), inplace=True))
        pooled = torch.bmm(scores.softmax(1).transpose(1, 2), products).squeeze(1)
        return self.first("linear", x) + self.linear("out", pooled).squeeze(1)

    def fwfm(self, x):
        return self.first("linear", x) + (self.below(x.e[:, :, 1:]) @ self.weight("pairs.weight")).squeeze(1)

    def ffm(self, x):
        slots = x.e.shape[1]
        v = x.e[:, :, 1:].reshape(x.count, slots, slots, self.width)
        return self.first("linear", x) + (v * v.transpose(1, 2)).sum(3).triu(1).sum((1, 2))

    def tokens(self, x):
        return torch.cat([x.dense.unsqueeze(2) * self.weight("numbers.weight"), x.e], 1)

    def autoint(self, x):
        h = self.tokens(x)
        for layer in self.layers("attention.{}.queries.weight"):
            q, k, v, r = (self.linear(f"attention.{layer}.{part}", h) for part in ("queries", "keys", "values", "residual"))
            found = F.scaled_dot_product_attention(self.split(q), self.split(k), self.split(v), scale=1.0)
            h = F.relu(self.joined(found) + r, inplace=True)
        logit = self.linear("attention.out", h.flatten(1)).squeeze(1)
        return logit + self.deep(self.flat(x)) if self.has("out.weight") else logit

    def xdeepfm(self, x):
        e = x.e[:, :, 1:]
        start = h = e.transpose(1, 2).contiguous()  # (B, D, S)
        sums = []
        for layer in self.layers("cross.{}.weight"):
            crossed = h.unsqueeze(3) * start.unsqueeze(2)
            h = self.linear(f"cross.{layer}", crossed.flatten(2))
            sums.append(h.sum(1))
        logit = self.first("linear", x) + self.deep(self.flat(x, e))
        return logit + self.linear("cross.out", torch.cat(sums, 1)).squeeze(1) if sums else logit

    def bilinear(self, v):
        """(B, S, D) to (B, P * D)."""
        left, right = self.sides(v)
        w, of_slots = self.weight("bilinear.weight"), v.transpose(0, 1)
        if self.form == "pair":
            turned = torch.bmm(of_slots.index_select(0, left), w)
        elif self.form == "field":
            turned = torch.bmm(of_slots, w).index_select(0, left)
        else:
            turned = (of_slots @ w[0]).index_select(0, left)
        return (turned * of_slots.index_select(0, right)).transpose(0, 1).flatten(1)

    def fibinet(self, x):
        e = x.e[:, :, 1:]
        weights = F.relu(self.linear("excite", F.relu(self.linear("squeeze", e.mean(2)))))
        read = torch.cat([self.bilinear(e), self.bilinear(e * weights.unsqueeze(2)), x.dense], 1)
        return self.first("linear", x) + self.deep(read)

    def wukong(self, x):
        h = self.tokens(x)
        for layer in self.layers("cross.{}.narrow"):
            name = f"cross.{layer}"
            met = h @ (h.transpose(1, 2) @ self.weight(name + ".narrow"))
            met = self.linear(name + ".products", self.mlp(name + ".mlp", self.norm(name + ".before", met.flatten(1))))
            both = torch.cat([met.view(x.count, -1, self.width), self.mixed(name + ".sums.weight", h)], 1)
            residual = name + ".residual.weight"
            h = self.norm(name + ".after", both + (self.mixed(residual, h) if self.has(residual) else h))
        return self.deep(h.flatten(1))

    def eulernet(self, x):
        angle = self.tokens(x)
        length = self.weight("lengths")
        real, imaginary = length * torch.cos(angle), length * torch.sin(angle)
        for layer in self.layers("cross.{}.orders"):
            name = f"cross.{layer}"
            logs = 0.5 * torch.log(real.square() + imaginary.square() + 1e-8)
            length = torch.exp(self.mixed(name + ".orders", logs) + self.weight(name + ".lengths"))
            angle = self.mixed(name + ".orders", torch.atan2(imaginary, real)) + self.weight(name + ".angles")
            plain = [F.relu(self.linear(name + ".plain", part.flatten(1))).view_as(length) for part in (real, imaginary)]
            real, imaginary = plain[0] + length * torch.cos(angle), plain[1] + length * torch.sin(angle)
        return self.linear("out", (real + imaginary).flatten(1)).squeeze(1)

    # Models of sequences.

    def din(self, x):
        query = x.query.unsqueeze(1).expand_as(x.keys)
        hidden = torch.cat([query, x.keys, query - x.keys, query * x.keys], 2)
        hidden = F.relu(self.linear("attention.seen.0", hidden), inplace=True)
        factors = self.linear("attention.seen.out", self.mlp("attention.seen.rest", hidden))
        if x.mask is not None:
            factors = factors * x.mask.unsqueeze(2)
        found = torch.bmm(factors.transpose(1, 2), x.keys).squeeze(1)
        return self.deep(torch.cat([self.flat(x), found], 1))

    def gru(self, name, inputs, mask, factors=None):
        """The states (B, H) after each element; elements behind the end leave it as it was."""
        gates, recurrent = self.linear(name + ".gates", inputs), self.weight(name + ".recurrent")
        state, states = inputs.new_zeros(inputs.shape[0], recurrent.shape[0]), []
        for t in range(inputs.shape[1]):
            given, found = gates[:, t].chunk(3, 1), (state @ recurrent).chunk(3, 1)
            update = torch.sigmoid(given[0] + found[0])
            if factors is not None:
                update = update * factors[:, t : t + 1]
            candidate = torch.tanh(torch.addcmul(given[2], torch.sigmoid(given[1] + found[1]), found[2]))
            following = torch.lerp(state, candidate, update)
            state = following if mask is None else torch.where(mask[:, t : t + 1], following, state)
            states.append(state)
        return states

    def dien(self, x):
        states = torch.stack(self.gru("interest.seen.states", x.keys, x.mask), 1)
        wanted = x.query @ self.weight("interest.seen.attention")
        fit = torch.bmm(states, wanted.unsqueeze(2)).squeeze(2)
        if x.mask is not None:
            fit = fit.masked_fill(~x.mask, -1e9)
        last = self.gru("interest.seen.evolution", states, x.mask, fit.softmax(1))[-1]
        logit = self.deep(torch.cat([self.flat(x), last], 1))
        return (logit, self.auxiliary * self.next_element(x, states)) if self.auxiliary > 0 else logit

    def next_element(self, x, states):
        """The mean over rows of the mean of what tells each following element from another one of the batch: the one as
        far from the end of all as it is from the start. One in the middle has no other."""
        mask = torch.ones(x.keys.shape[:2], dtype=torch.bool, device=x.keys.device) if x.mask is None else x.mask
        elements = x.keys[mask]
        place = torch.arange(len(elements), device=mask.device)
        others = torch.zeros_like(x.keys).masked_scatter(mask.unsqueeze(2), elements.flip(0))
        has_other = torch.zeros_like(mask).masked_scatter(mask, place != place.flip(0))
        own, other = ((states[:, :-1] * y[:, 1:]).sum(2) for y in (x.keys, others))
        losses = (F.softplus(-own) + F.softplus(other) * has_other[:, 1:]) * mask[:, 1:]
        return (losses.sum(1) / (x.lengths() - 1).clamp(min=1)).mean()

    def bst(self, x):
        longest, lengths = x.keys.shape[1], x.lengths()
        # The target stands behind the last element of each sequence.
        target = F.one_hot(lengths, longest + 1).bool()
        tokens = F.pad(x.keys, (0, 0, 0, 1)) + target.unsqueeze(2) * x.query.unsqueeze(1)
        mask = None if x.mask is None else F.pad(x.mask, (0, 1)) | target
        places = (lengths.unsqueeze(1) - torch.arange(longest + 1)).clamp(min=0)
        h = torch.cat([tokens, self.weight("transformer.seen.places")[places]], 2)
        for block in self.layers("transformer.seen.{}.inner.weight"):
            name = f"transformer.seen.{block}"
            s = self.norm(name + ".between", h + self.attend(name + ".attention", h, h, h, mask))
            inner = F.leaky_relu(self.linear(name + ".inner", s), 0.01)
            h = self.norm(name + ".after", s + self.linear(name + ".outer", inner))
        return self.deep(torch.cat([self.flat(x), h[target]], 1))

    def placed(self, x):
        """Elements with the vectors of their places, counted from the last element."""
        weights, longest = self.weight("transformer.seen.places"), x.keys.shape[1]
        if x.mask is None:
            places = weights[:longest].flip(0)
        else:
            places = weights[(x.lengths().unsqueeze(1) - 1 - torch.arange(longest, device=x.mask.device)).clamp(min=0)]
        return x.keys * x.keys.shape[2] ** 0.5 + places

    def fit(self, x, h):
        """The last element of each sequence times the candidate, and layers over all columns."""
        vector = self.norm("transformer.seen.last", x.last(h))
        if x.mask is not None:
            vector = vector * x.mask.any(1, keepdim=True)
        return (vector * x.query).sum(1) + self.deep(self.flat(x))

    def sasrec(self, x):
        # Elements see those up to themselves; rows behind the end see something and are not read.
        h = self.placed(x)
        for block in self.layers("transformer.seen.{}.inner.weight"):
            name = f"transformer.seen.{block}"
            before = self.norm(name + ".before", h)
            s = h + self.attend(name + ".attention", before, before, before, causal=True)
            inner = F.relu(self.linear(name + ".inner", self.norm(name + ".between", s)), inplace=True)
            h = s + self.linear(name + ".outer", inner)
        return self.fit(x, h)

    def hstu(self, x):
        h, longest, most = self.placed(x), x.keys.shape[1], len(self.weight("transformer.seen.places"))
        place = torch.arange(longest, device=h.device)
        distance = place.unsqueeze(1) - place
        for layer in self.layers("transformer.seen.{}.all.weight"):
            name = f"transformer.seen.{layer}"
            u, v, q, k = F.silu(self.linear(name + ".all", self.norm(name + ".before", h))).chunk(4, 2)
            bias = self.weight(name + ".distances")[distance.clamp(min=0), 0]
            scores = F.silu(self.split(q) @ self.split(k).transpose(2, 3) + bias) / most
            found = self.joined((scores * (distance >= 0)) @ self.split(v))
            h = h + self.linear(name + ".out", self.norm(name + ".after", found) * u)
        return self.fit(x, h)
