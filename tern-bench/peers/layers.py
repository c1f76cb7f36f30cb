"""The layers of `tern bench layers` as one would write them in PyTorch; `ops.py` serves them."""
import torch
import torch.nn.functional as F

EPSILON = 1e-5
DICE_EPSILON = 1e-8
RATE = 0.2


def numbers(*sizes):
    """An input whose gradient is asked for, uniform in [-2, 2)."""
    return (torch.rand(sizes) * 4 - 2).requires_grad_()


def weights(*sizes):
    return (torch.rand(sizes) * 0.2 - 0.1).requires_grad_()


def batch_norm(x, gamma, beta):
    return F.batch_norm(x, None, None, gamma, beta, training=True, eps=EPSILON)


def second_order(v):
    return 0.5 * (v.sum(1).square() - v.square().sum(1)).sum(1)


def dot_interaction(rows, columns):
    """DLRM's: a batched product, of which the part under the diagonal is kept."""
    return lambda v: torch.bmm(v, v.transpose(1, 2))[:, rows, columns]


def cross_v1(x0, x, w, b):
    return torch.addcmul(b + x, x0, torch.mm(x, w))


def cross_v2(x0, x, w, b):
    return torch.addcmul(x, x0, torch.addmm(b, x, w))


def cross_low_rank(x0, x, v, u, b):
    return torch.addcmul(x, x0, torch.addmm(b, torch.mm(x, v), u))


def dice(x, alpha):
    p = torch.sigmoid(F.batch_norm(x, None, None, training=True, eps=DICE_EPSILON))
    return x * (alpha + p * (1 - alpha))


def field_weighted(rows, columns):
    """FwFM's: the pairs' products, then their weighted sum."""
    products = dot_interaction(rows, columns)
    return lambda v, w: torch.mm(products(v), w).view(-1)


def layer(name, sizes):
    """The function and its inputs."""
    if name == "softmax":
        return lambda x: F.softmax(x, 1), [numbers(*sizes)]
    if name == "log-softmax":
        return lambda x: F.log_softmax(x, 1), [numbers(*sizes)]
    if name == "layer norm":
        columns = sizes[1:]
        function = lambda x, gamma, beta: F.layer_norm(x, columns, gamma, beta, EPSILON)
        return function, [numbers(*sizes), numbers(*columns), numbers(*columns)]
    if name == "batch norm":
        return batch_norm, [numbers(*sizes), numbers(sizes[1]), numbers(sizes[1])]
    if name == "bce with logits":
        return F.binary_cross_entropy_with_logits, [numbers(*sizes), torch.rand(sizes)]
    if name == "fm second order":
        return second_order, [numbers(*sizes)]
    if name == "dot interaction":
        rows, columns = torch.tril_indices(sizes[1], sizes[1], -1)
        return dot_interaction(rows, columns), [numbers(*sizes)]
    if name == "field-weighted products":
        rows, columns = torch.tril_indices(sizes[1], sizes[1], -1)
        return field_weighted(rows, columns), [numbers(*sizes), weights(len(rows), 1)]
    if name == "cross v2 low rank":
        batch, width, rank = sizes
        inputs = [numbers(batch, width), numbers(batch, width)]
        inputs += [weights(width, rank), weights(rank, width), numbers(width)]
        return cross_low_rank, inputs
    if name in ("cross v1", "cross v2"):
        width = sizes[1]
        matrix = weights(width, 1 if name == "cross v1" else width)
        function = cross_v1 if name == "cross v1" else cross_v2
        return function, [numbers(*sizes), numbers(*sizes), matrix, numbers(width)]
    if name == "prelu":
        return F.prelu, [numbers(*sizes), numbers(sizes[1])]
    if name == "dice":
        return dice, [numbers(*sizes), numbers(sizes[1])]
    if name == "dropout":
        return lambda x: F.dropout(x, RATE, training=True), [numbers(*sizes)]
    raise ValueError(f"layer: got {name}, expected one of this file")


def work(name, sizes, backward, compiled):
    """A call of the layer: forward alone, or with the gradients of all inputs that want one."""
    function, inputs = layer(name, sizes)
    if not backward:
        inputs = [x.detach() for x in inputs]
    if compiled:
        function = torch.compile(function, dynamic=False)
    if not backward:
        return lambda: function(*inputs)
    wanted = [x for x in inputs if x.requires_grad]
    with torch.enable_grad():
        upstream = torch.rand_like(function(*inputs)) * 2 - 1

    def both():
        with torch.enable_grad():
            result = function(*inputs)
        return torch.autograd.grad(result, wanted, upstream)

    return both


BATCHES = 16


def zipf(rows, count):
    """Ids as `tern bench` draws them: rank r in proportion to about r ** -1.05, scattered."""
    last = rows ** -0.05
    rank = (1 + torch.rand(count, dtype=torch.float64) * (last - 1)) ** (1 / -0.05)
    return (rank.long() - 1).clamp(max=rows - 1) * 1000003 % rows


def pooling(mode, sizes, backward):
    """Forms of pooling bags of ids: the gradient merged by id, or the step of SGD taken at once."""
    rows, batch, hotness, width = sizes
    bag = torch.nn.EmbeddingBag(rows, width, mode=mode, sparse=True)
    ids = [zipf(rows, batch * hotness) for _ in range(BATCHES)]
    offsets = torch.arange(0, batch * hotness, hotness)
    upstream = torch.rand(batch, width) * 2e-3 - 1e-3
    calls = [0]

    def step(finish):
        calls[0] += 1
        with torch.enable_grad():
            result = bag(ids[calls[0] % BATCHES], offsets)
        return finish(torch.autograd.grad(result, bag.weight, upstream)[0])

    def forward():
        calls[0] += 1
        return bag(ids[calls[0] % BATCHES], offsets)

    if not backward:
        return [forward]
    return [
        lambda: step(lambda gradient: gradient.coalesce()),
        lambda: step(lambda gradient: bag.weight.data.add_(gradient, alpha=-0.01)),
    ]


OPTIMIZERS = {
    "sgd": lambda parameters: torch.optim.SGD(parameters, lr=0.01),
    "adagrad": lambda parameters: torch.optim.Adagrad(parameters, lr=0.01),
    "adam": lambda parameters: torch.optim.SparseAdam(parameters, lr=0.01),
}


def table(rows, width, batch, stream, optimizer):
    """A table's part of a step, one id a bag: pool, gradient, step of the optimizer."""
    bag = torch.nn.EmbeddingBag(rows, width, mode="sum", sparse=True)
    draw = zipf if stream == "zipf" else lambda bound, count: torch.randint(bound, (count,))
    ids = [draw(rows, batch) for _ in range(BATCHES)]
    offsets = torch.arange(batch)
    upstream = torch.rand(batch, width) * 2e-3 - 1e-3
    calls = [0]

    rule = OPTIMIZERS[optimizer](bag.parameters())

    def step():
        calls[0] += 1
        rule.zero_grad()
        with torch.enable_grad():
            bag(ids[calls[0] % BATCHES], offsets).backward(upstream)
        rule.step()

    return step
