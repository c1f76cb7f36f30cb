package dev.tern.bench.fuzz;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import dev.tern.internal.ir.Gradients;
import dev.tern.internal.ir.Leaves;
import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Nodes;
import dev.tern.internal.ir.Op;
import dev.tern.internal.ir.Op.Index.Rule;
import dev.tern.internal.ir.Program;
import dev.tern.internal.ir.Recurrence;
import dev.tern.internal.ir.Sequences;
import dev.tern.internal.memory.Buffer;
import dev.tern.internal.memory.Memory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Programs drawn at random, each a pure function of its seed: a few leaves, then ops of every kind
 * on what there is, among them the compositions that models are made of, then outputs, gradients
 * and updates of leaves in place. One in twelve is large enough to be cut into chunks; one in eight
 * has infinities, NaN, negative zeros and subnormal numbers among its data.
 */
final class RandomPrograms {
  /** Most elements of products of matrices with their own transposes. */
  private static final int MOST_PRODUCTS = 1 << 24;

  private static final int[] SIZES = {0, 1, 2, 3, 7, 8, 15, 16, 17, 63, 64, 65};

  /** Sizes of states, around those of vectors, and how many there are at most. */
  private static final int[] UNITS = {1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 33};

  private static final int MOST_STATES = 40;
  private static final int[] LARGE = {1, 3, 8, 17, 32, 65, 96, 128, 257, 1000};
  private static final float[] SPECIAL = {
    0,
    -0f,
    1,
    Float.MIN_VALUE,
    -Float.MIN_NORMAL,
    Float.MAX_VALUE,
    Float.POSITIVE_INFINITY,
    Float.NEGATIVE_INFINITY,
    Float.NaN
  };
  private static final int MAX_ELEMENTS = 6_000;
  private static final int MAX_LARGE_ELEMENTS = 200_000;
  private static final int KINDS = 31;

  private final SplittableRandom random;
  private final boolean large;
  private final boolean special;
  private final List<Node> leaves = new ArrayList<>();
  private final List<Node> nodes = new ArrayList<>();

  private RandomPrograms(long seed) {
    random = new SplittableRandom(seed);
    large = random.nextInt(12) == 0;
    special = random.nextInt(8) == 0;
  }

  /** The program of {@code seed}. Its leaves live as long as it is reachable. */
  static Program of(long seed) {
    return new RandomPrograms(seed).program();
  }

  private Program program() {
    int m = size();
    int n = size();
    for (Shape shape :
        List.of(Shape.of(m, n), Shape.of(m, n), Shape.of(n), Shape.of(m, 1), Shape.SCALAR)) {
      nodes.add(leaf(shape));
    }
    add(leaf(Shape.of(random.nextInt(1, 4), m, n)));
    add(half(Shape.of(m, n)));
    int count = nodes.size() + random.nextInt(3, large ? 10 : 24);
    for (int tries = 0; nodes.size() < count && tries < 200; tries++) {
      add(next(random.nextInt(KINDS), any(), any()));
    }
    List<Node> outputs = new ArrayList<>();
    for (int i = random.nextInt(1, 4); i > 0; i--) {
      outputs.add(any());
    }
    outputs.add(nodes.getLast());
    if (random.nextInt(3) == 0) {
      outputs.addAll(gradients());
    }
    return Program.of(outputs, updates());
  }

  /** Keeps values that are small enough; others are only read through these. */
  private void add(Node node) {
    if (node.shape().elements() <= (large ? MAX_LARGE_ELEMENTS : MAX_ELEMENTS)
        && node.type().isFloatLike()) {
      nodes.add(node);
    }
  }

  private Node any() {
    // The latest are drawn more often, so that chains grow.
    int from = random.nextInt(3) == 0 ? Math.max(0, nodes.size() - 4) : 0;
    return nodes.get(random.nextInt(from, nodes.size()));
  }

  private int size() {
    int[] sizes = large ? LARGE : SIZES;
    return sizes[random.nextInt(sizes.length)];
  }

  private float number() {
    boolean plain = !special || random.nextInt(16) > 0;
    return plain ? (float) random.nextDouble(-1, 1) : SPECIAL[random.nextInt(SPECIAL.length)];
  }

  private Node leaf(Shape shape) {
    float[] values = new float[shape.elements()];
    for (int i = 0; i < values.length; i++) {
      values[i] = number();
    }
    Node leaf = Leaves.of(shape, values);
    leaves.add(leaf);
    return leaf;
  }

  /** A leaf of half width, as floats. */
  private Node half(Shape shape) {
    DType type = random.nextBoolean() ? DType.F16 : DType.BF16;
    MemorySegment segment =
        Memory.allocate(Arena.ofAuto(), Math.max(1, 2L * shape.elements()), 64, "values");
    for (int i = 0; i < shape.elements(); i++) {
      short bits = (short) (Float.floatToRawIntBits(number()) >>> 16);
      boolean isNumber = type == DType.BF16 || (bits & 0x7C00) != 0x7C00;
      Memory.setShort(segment.address() + 2L * i, isNumber ? bits : (short) (bits & ~0x4000));
    }
    Buffer buffer = new Buffer(segment.address(), segment.byteSize(), segment);
    Node leaf = Nodes.leaf(buffer, shape, type);
    leaves.add(leaf);
    return Nodes.cast(leaf, DType.F32);
  }

  private Node next(int kind, Node a, Node b) {
    return switch (kind) {
      case 0, 1, 2 -> unary(a);
      case 3, 4, 5, 6 -> binary(a, partner(a, b));
      case 7 -> Nodes.select(Nodes.binary(Op.Binary.LT, a, partner(a, b)), a, Nodes.mul(a, 2));
      case 8, 9 -> reduce(a);
      case 10 -> slice(a);
      case 11 -> permute(a);
      case 12 -> reshape(a);
      case 13 -> broadcast(a);
      case 14 -> concat(a, b);
      case 15, 16 -> matmul(a);
      case 17 -> products(a);
      case 18 -> gather(a);
      case 19 -> scatterAdd(a);
      case 20 -> cast(a);
      case 21 -> dotInteraction(a);
      case 22 -> softmax(a);
      case 23 -> layerNorm(a);
      case 24 -> crossEntropy(a, partner(a, b));
      case 25 -> pairSums(a);
      case 26 -> timesOne(a);
      case 27, 28 -> sequences(a);
      case 29 -> gru(a);
      default -> dropout(a);
    };
  }

  /** Mostly where the op is defined and does not multiply errors, at times anywhere. */
  private Node unary(Node a) {
    Op.Unary op = Op.Unary.values()[random.nextInt(Op.Unary.values().length)];
    boolean anywhere = random.nextInt(4) == 0;
    Node x =
        switch (op) {
          case LOG, LOG1P, SQRT, RSQRT, RECIPROCAL -> anywhere ? a : positive(a);
          case EXP, EXPM1 -> anywhere ? a : Nodes.binary(Op.Binary.MIN, a, Nodes.constant(2));
          case COPY, DETACH, NEG, TANH, SIGMOID, SOFTPLUS, ERF, RELU, SQUARE, ABS, SIGN, NOT -> a;
          case SINPI, COSPI, ATAN -> a;
        };
    return Nodes.unary(op, x);
  }

  private static Node positive(Node a) {
    return Nodes.add(Nodes.unary(Op.Unary.ABS, a), Nodes.constant(0.5f));
  }

  /** {@code b} if it goes together with {@code a}, else a new leaf that does, or a constant. */
  private Node partner(Node a, Node b) {
    if (fits(a.shape(), b.shape())) {
      return b;
    }
    if (random.nextBoolean()) {
      return Nodes.constant((float) random.nextDouble(-2, 2));
    }
    int[] sizes = a.shape().toArray();
    for (int axis = 0; axis < sizes.length; axis++) {
      sizes[axis] = random.nextInt(3) == 0 ? 1 : sizes[axis];
    }
    return leaf(Shape.of(sizes));
  }

  private static boolean fits(Shape a, Shape b) {
    double elements = Math.max(a.elements(), b.elements());
    for (int i = 1; i <= Math.min(a.rank(), b.rank()); i++) {
      if (a.size(-i) != b.size(-i) && a.size(-i) != 1 && b.size(-i) != 1) {
        return false;
      }
      elements *= a.size(-i) == 1 || b.size(-i) == 1 ? Math.max(a.size(-i), b.size(-i)) : 1;
    }
    return elements <= Integer.MAX_VALUE;
  }

  private Node binary(Node a, Node b) {
    Op.Binary op = Op.Binary.values()[random.nextInt(Op.Binary.values().length)];
    boolean swap = random.nextInt(4) == 0 && op != Op.Binary.DIV;
    Node right = op == Op.Binary.DIV && random.nextInt(4) > 0 ? positive(b) : b;
    return swap ? Nodes.binary(op, right, a) : Nodes.binary(op, a, right);
  }

  private Node reduce(Node a) {
    if (a.shape().rank() == 0) {
      return a;
    }
    Op.Reduce.Kind[] kinds = Op.Reduce.Kind.values();
    int from = random.nextInt(a.shape().rank());
    int to = random.nextInt(from, a.shape().rank()) + 1;
    return Nodes.reduce(kinds[random.nextInt(kinds.length)], a, from, to);
  }

  private Node slice(Node a) {
    if (a.shape().rank() == 0) {
      return a;
    }
    int axis = random.nextInt(a.shape().rank());
    int from = random.nextInt(a.shape().size(axis) + 1);
    return Nodes.slice(a, axis, from, random.nextInt(from, a.shape().size(axis) + 1));
  }

  private Node permute(Node a) {
    List<Integer> axes = new ArrayList<>();
    for (int i = 0; i < a.shape().rank(); i++) {
      axes.add(random.nextInt(axes.size() + 1), i);
    }
    return Nodes.permute(a, axes);
  }

  /** Splits, joins and ones, in any place. */
  private Node reshape(Node a) {
    int rest = a.shape().elements();
    if (rest == 0) {
      return Nodes.reshape(a, Shape.of(0, random.nextInt(3)));
    }
    List<Integer> sizes = new ArrayList<>();
    for (int factor = 2; rest > 1 && sizes.size() < 2; factor++) {
      if (rest % factor == 0 && random.nextInt(3) == 0) {
        sizes.add(factor);
        rest /= factor;
      }
      factor = factor > 16 ? rest - 1 : factor;
    }
    sizes.add(random.nextInt(sizes.size() + 1), rest);
    if (random.nextInt(4) == 0) {
      sizes.add(random.nextInt(sizes.size() + 1), 1);
    }
    return Nodes.reshape(a, Shape.of(sizes.stream().mapToInt(Integer::intValue).toArray()));
  }

  private Node broadcast(Node a) {
    int[] sizes = a.shape().toArray();
    for (int i = 0; i < sizes.length; i++) {
      sizes[i] = sizes[i] == 1 ? random.nextInt(1, 9) : sizes[i];
    }
    Shape spread = Shape.of(sizes);
    if (sizes.length > 3 || random.nextBoolean()) {
      return Nodes.broadcast(a, spread);
    }
    int[] longer = new int[sizes.length + 1];
    longer[0] = random.nextInt(1, 4);
    System.arraycopy(sizes, 0, longer, 1, sizes.length);
    return Nodes.broadcast(a, Shape.of(longer));
  }

  private Node concat(Node a, Node b) {
    if (a.shape().rank() == 0) {
      return a;
    }
    int axis = random.nextInt(a.shape().rank());
    List<Node> parts = new ArrayList<>(List.of(a, Nodes.unary(Op.Unary.NEG, a)));
    boolean fits =
        b.shape().rank() == a.shape().rank()
            && b.shape().withSize(axis, 0).equals(a.shape().withSize(axis, 0));
    if (fits) {
      parts.add(random.nextInt(3), b);
    }
    if (random.nextInt(4) == 0) {
      parts.add(Nodes.full(a.shape().withSize(axis, random.nextInt(4)), 1));
    }
    Collections.swap(parts, 0, random.nextInt(parts.size()));
    return Nodes.concat(axis, parts);
  }

  /** A matrix of {@code rows} by {@code columns}, at times as the transpose of a leaf. */
  private Node matrix(int rows, int columns) {
    return random.nextBoolean()
        ? leaf(Shape.of(rows, columns))
        : Nodes.transpose(leaf(Shape.of(columns, rows)), 0, 1);
  }

  private Node matmul(Node a) {
    if (a.shape().rank() < 2) {
      return a;
    }
    Node left = a.shape().rank() == 2 ? a : Nodes.reshape(a, rows(a.shape()));
    left = random.nextBoolean() ? left : Nodes.transpose(left, 0, 1);
    return random.nextInt(4) > 0
        ? Nodes.matmul(left, matrix(left.shape().size(1), size()))
        : Nodes.matmul(matrix(size(), left.shape().size(0)), left);
  }

  /** All dimensions but the last as one. */
  private static Shape rows(Shape shape) {
    int last = shape.size(-1);
    return Shape.of(shape.elements() / Math.max(1, last), last);
  }

  /** Products of one matrix or of a few with their own transposes. */
  private Node products(Node a) {
    if (a.shape().rank() < 2 || a.shape().rank() > 3) {
      return a;
    }
    double larger = Math.max(a.shape().size(-1), a.shape().size(-2));
    double batch = a.shape().rank() == 3 ? a.shape().size(0) : 1;
    if (batch * larger * larger > MOST_PRODUCTS) {
      return a;
    }
    Node transposed = Nodes.transpose(a, -1, -2);
    return random.nextBoolean() ? Nodes.matmul(a, transposed) : Nodes.matmul(transposed, a);
  }

  private Node gather(Node a) {
    boolean fits = a.shape().rank() > 0 && a.shape().size(0) > 0 && a.type() == DType.F32;
    return fits ? Nodes.gather(a, index(size(), a.shape().size(0))) : a;
  }

  private Node scatterAdd(Node a) {
    int rows = random.nextInt(1, 20);
    boolean fits = a.shape().rank() > 0 && a.type() == DType.F32;
    return fits ? Nodes.scatterAdd(index(a.shape().size(0), rows), a, rows) : a;
  }

  /** The states of a recurrent unit. */
  private Node gru(Node a) {
    int width = UNITS[random.nextInt(UNITS.length)];
    boolean fits =
        a.shape().rank() == 2
            && a.type() == DType.F32
            && a.shape().size(0) <= MOST_STATES
            && a.shape().size(1) == 3 * width;
    Node gates = fits ? a : leaf(Shape.of(random.nextInt(MOST_STATES + 1), 3 * width));
    int rows = gates.shape().size(0);
    Node factors = random.nextBoolean() ? leaf(Shape.of(rows)) : Nodes.full(Shape.of(rows), 1);
    return Recurrence.states(gates, factors, matrix(width, 3 * width), parted(rows));
  }

  /** Offsets of runs of any lengths, at the end a few rows in none. */
  private Node parted(int rows) {
    int[] offsets = random.ints(random.nextInt(1, 12), 0, rows + 1).sorted().toArray();
    offsets[0] = 0;
    return Leaves.of(Shape.of(offsets.length), offsets);
  }

  /** Rows in sequences of any lengths, at the end a few in none. */
  private Node sequences(Node a) {
    if (a.shape().rank() == 0 || a.type() != DType.F32) {
      return a;
    }
    int rows = a.shape().size(0);
    Node parted = parted(rows);
    Rule end = random.nextBoolean() ? Rule.HEADS : Rule.TAILS;
    return switch (random.nextInt(6)) {
      case 0 -> Sequences.reduce(Op.Reduce.Kind.SUM, a, parted);
      case 1 -> Sequences.reduce(Op.Reduce.Kind.MAX, a, parted);
      case 2 -> Sequences.spread(Sequences.reduce(Op.Reduce.Kind.SUM, a, parted), parted, rows + 2);
      case 3 -> Nodes.gather(a, Sequences.ends(end, parted, rows, random.nextInt(4)), true);
      case 4 -> {
        Node mirror = Sequences.rows(Rule.MIRROR, parted, rows);
        yield Nodes.scatterAdd(mirror, a, rows, true);
      }
      default -> Nodes.cast(Sequences.lengths(parted, rows), DType.F32);
    };
  }

  /** Indices below {@code rows}, at times a view of a longer tensor. */
  private Node index(int count, int rows) {
    boolean view = random.nextBoolean();
    long[] values = random.longs(count + (view ? 3L : 0), 0, rows).toArray();
    Node index = Leaves.of(Shape.of(values.length), values);
    Node seen = view ? Nodes.slice(index, 0, 2, count + 2) : index;
    return random.nextBoolean() ? seen : Nodes.cast(seen, DType.I32);
  }

  /** There and back again. */
  private Node cast(Node a) {
    DType[] types = DType.values();
    return Nodes.cast(Nodes.cast(a, types[random.nextInt(types.length)]), DType.F32);
  }

  private Node dotInteraction(Node a) {
    int rank = a.shape().rank();
    if (rank == 3 && a.shape().size(1) <= 30) {
      return Nodes.dotInteraction(a);
    }
    int vectors = random.nextInt(1, 9);
    Node x = leaf(Shape.of(random.nextInt(20), vectors, size()));
    return Nodes.dotInteraction(random.nextBoolean() ? x : Nodes.unary(Op.Unary.TANH, x));
  }

  private Node pairSums(Node a) {
    if (a.shape().rank() == 3) {
      return Nodes.pairSums(a);
    }
    Node x = leaf(Shape.of(random.nextInt(20), random.nextInt(1, 30), size()));
    return Nodes.pairSums(random.nextBoolean() ? x : Nodes.unary(Op.Unary.TANH, x));
  }

  /** As gradients begin; nothing is computed for it. */
  private Node timesOne(Node a) {
    return random.nextBoolean() ? Nodes.mul(a, 1) : Nodes.mul(Nodes.constant(1), a);
  }

  private Node softmax(Node a) {
    if (a.shape().rank() == 0) {
      return a;
    }
    int axis = random.nextInt(a.shape().rank());
    Node most = Nodes.reduce(Op.Reduce.Kind.MAX, a, axis, axis + 1);
    Node shifted = Nodes.sub(a, most);
    Node powers = Nodes.unary(Op.Unary.EXP, shifted);
    Node sum = Nodes.reduce(Op.Reduce.Kind.SUM, powers, axis, axis + 1);
    boolean isLog = random.nextBoolean();
    Node result =
        isLog
            ? Nodes.sub(shifted, Nodes.unary(Op.Unary.LOG, sum))
            : Nodes.binary(Op.Binary.DIV, powers, sum);
    Op.Ruled.Rule rule = isLog ? Op.Ruled.Rule.LOG_SOFTMAX : Op.Ruled.Rule.SOFTMAX;
    return random.nextBoolean()
        ? result
        : Nodes.ruled(new Op.Ruled(rule, axis), result, List.of(a));
  }

  private Node layerNorm(Node a) {
    if (a.shape().rank() == 0) {
      return a;
    }
    int rank = a.shape().rank();
    float share = 1f / Math.max(1, a.shape().size(-1));
    Node mean = Nodes.mul(Nodes.reduce(Op.Reduce.Kind.SUM, a, rank - 1, rank), share);
    Node centred = Nodes.sub(a, mean);
    Node squares = Nodes.unary(Op.Unary.SQUARE, centred);
    Node variance = Nodes.mul(Nodes.reduce(Op.Reduce.Kind.SUM, squares, rank - 1, rank), share);
    Node scale = Nodes.unary(Op.Unary.RSQRT, Nodes.add(variance, Nodes.constant(0.1f)));
    Node gain = leaf(Shape.of(a.shape().size(-1)));
    Node normal = Nodes.mul(centred, scale);
    Op.Ruled rule = new Op.Ruled(Op.Ruled.Rule.NORMALIZE, rank - 1);
    Node result = random.nextBoolean() ? normal : Nodes.ruled(rule, normal, List.of(a, scale));
    return Nodes.mul(result, gain);
  }

  /** Of logits and labels, softplus(x) - x y. */
  private static Node crossEntropy(Node a, Node labels) {
    return Nodes.sub(Nodes.unary(Op.Unary.SOFTPLUS, a), Nodes.mul(a, labels));
  }

  private Node dropout(Node a) {
    Node seed = Leaves.of(Shape.of(1), new long[] {random.nextLong()});
    Node draws = Nodes.uniform(seed, random.nextInt(4), a.shape());
    Node kept = Nodes.binary(Op.Binary.LE, Nodes.constant(0.3f), draws);
    return Nodes.mul(a, Nodes.mul(kept, 1 / 0.7f));
  }

  /** Gradients of the sum of a value with respect to one or two leaves. */
  private List<Node> gradients() {
    Node value = any();
    Node weighed = Nodes.mul(value, Nodes.unary(Op.Unary.TANH, value));
    int rank = value.shape().rank();
    Node sum = rank == 0 ? weighed : Nodes.reduce(Op.Reduce.Kind.SUM, weighed, 0, rank);
    Node loss = Nodes.reshape(sum, Shape.SCALAR);
    return Gradients.of(loss, List.of(leaves.getLast(), leaves.get(random.nextInt(leaves.size()))));
  }

  /** New values of up to three leaves, each of a value of its shape. */
  private List<Program.Update> updates() {
    List<Program.Update> updates = new ArrayList<>();
    for (Node leaf : leaves) {
      List<Node> values =
          nodes.stream().filter(n -> n.shape().equals(leaf.shape()) && n != leaf).toList();
      if (updates.size() < 3 && !values.isEmpty() && random.nextBoolean()) {
        Node value = Nodes.cast(values.get(random.nextInt(values.size())), DType.F32);
        Node step = Nodes.mul(value, 0.1f);
        boolean half = leaf.type() != DType.F32;
        Node next =
            switch (random.nextInt(3)) {
              case 0 -> value;
              case 1 -> Nodes.sub(Nodes.cast(leaf, DType.F32), step);
              default -> Nodes.unary(Op.Unary.TANH, step);
            };
        updates.add(new Program.Update(leaf, half ? Nodes.cast(next, leaf.type()) : next));
      }
    }
    return updates;
  }
}
