package dev.tern.onnx;

import dev.tern.base.DType;
import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Op;
import dev.tern.internal.ir.Program;
import dev.tern.internal.ir.Recorded;
import dev.tern.internal.memory.Buffer;
import dev.tern.internal.memory.Memory;
import dev.tern.model.ModelInputs;
import dev.tern.model.Network;
import dev.tern.nn.Features;
import dev.tern.nn.Pass;
import dev.tern.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/**
 * What a model computes of rows, for any number of them. Tern records a program for a number of
 * rows and for room of sequences; here it is recorded for several of these, and each number in it
 * that differs is taken as a sum of multiples of rows and rooms. A last recording checks that.
 */
final class ScoringProgram implements AutoCloseable {
  /** Numbers that models hardly have as sizes; each attempt takes others. */
  private static final int[] BASES = {61, 89, 113};

  private static final int ATTEMPTS = 3;

  /** The most terms that a constant that grows with rows may repeat after. */
  private static final int MOST_PERIOD = 16;

  /** The inputs of one recording. */
  private record Draw(long[] symbols, ModelInputs inputs, Features features, Program program) {}

  private final List<Draw> draws;
  private final Map<Node, Integer> numbers = new IdentityHashMap<>();
  private final Map<Buffer, String> leaves = new IdentityHashMap<>();

  private ScoringProgram(List<Draw> draws) {
    this.draws = draws;
    List<Node> nodes = first().program.nodes();
    for (int i = 0; i < nodes.size(); i++) {
      numbers.put(nodes.get(i), i);
    }
  }

  /**
   * Records what a model computes of rows.
   *
   * @param outputs tensors of a row each, from its features
   */
  static ScoringProgram record(Network network, Function<Features, List<Tensor>> outputs) {
    int sequences = network.sequences().size();
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      List<Draw> draws = new ArrayList<>();
      try {
        for (long[] symbols : symbols(sequences + 1, BASES[attempt])) {
          draws.add(draw(network, outputs, symbols));
        }
        if (areAlike(draws)) {
          return new ScoringProgram(draws);
        }
      } catch (RuntimeException | Error e) {
        draws.forEach(draw -> draw.inputs.close());
        throw e;
      }
      draws.forEach(draw -> draw.inputs.close());
    }
    throw new IllegalStateException(
        "onnx: got programs of other ops for other numbers of rows from %s, expected the same; it cannot be exported"
            .formatted(network.model().getClass().getSimpleName()));
  }

  /** A base, then with each number changed, then with all of them changed. */
  private static List<long[]> symbols(int count, int base) {
    List<long[]> all = new ArrayList<>();
    long[] first = new long[count];
    Arrays.setAll(first, s -> base + 26L * s);
    all.add(first);
    for (int s = 0; s < count; s++) {
      long[] changed = first.clone();
      changed[s] += 10;
      all.add(changed);
    }
    long[] last = new long[count];
    Arrays.setAll(last, s -> first[s] + 34 + 5L * s);
    all.add(last);
    return all;
  }

  private static Draw draw(
      Network network, Function<Features, List<Tensor>> outputs, long[] symbols) {
    List<Integer> rooms =
        Arrays.stream(symbols, 1, symbols.length).mapToObj(Math::toIntExact).toList();
    ModelInputs inputs = network.newInputs((int) symbols[0], rooms);
    try {
      Features features = inputs.features(Pass.scoring());
      List<Node> roots = outputs.apply(features).stream().map(Recorded::node).toList();
      return new Draw(symbols, inputs, features, Program.of(roots, List.of()));
    } catch (RuntimeException | Error e) {
      inputs.close();
      throw e;
    }
  }

  /** Whether the programs have the same ops on the same nodes. */
  private static boolean areAlike(List<Draw> draws) {
    List<Node> nodes = draws.getFirst().program.nodes();
    Map<Node, Integer> places = new IdentityHashMap<>();
    for (Draw draw : draws) {
      if (draw.program.nodes().size() != nodes.size()) {
        return false;
      }
      for (int i = 0; i < nodes.size(); i++) {
        places.put(draw.program.nodes().get(i), i);
      }
    }
    for (Draw draw : draws) {
      for (int i = 0; i < nodes.size(); i++) {
        if (!areAlike(nodes.get(i), draw.program.nodes().get(i), places)) {
          return false;
        }
      }
    }
    return true;
  }

  private static boolean areAlike(Node one, Node other, Map<Node, Integer> places) {
    boolean alike =
        one.op().getClass() == other.op().getClass()
            && one.type() == other.type()
            && one.shape().rank() == other.shape().rank()
            && one.inputs().size() == other.inputs().size()
            && (!(one.op() instanceof Enum<?>) || one.op() == other.op());
    for (int i = 0; alike && i < one.inputs().size(); i++) {
      alike = Objects.equals(places.get(one.input(i)), places.get(other.input(i)));
    }
    return alike;
  }

  private Draw first() {
    return draws.getFirst();
  }

  /** What the model reads, of the first recording. */
  Features features() {
    return first().features;
  }

  /** Names the leaves of the first recording that hold {@code tensor}. */
  void name(Tensor tensor, String name) {
    leaves.put(((Op.Leaf) Recorded.node(tensor).op()).buffer(), name);
  }

  /** The name of a leaf; none for one that holds numbers of the program's own. */
  Optional<String> name(Node leaf) {
    return Optional.ofNullable(leaves.get(((Op.Leaf) leaf.op()).buffer()));
  }

  List<Node> outputs() {
    return first().program.outputs();
  }

  /** What {@code of} gives for a node of the first recording, in all of them. */
  Size size(Node node, ToLongFunction<Node> of) {
    int number = Objects.requireNonNull(numbers.get(node));
    return size(draw -> of.applyAsLong(draw.program.nodes().get(number)), node);
  }

  private Size size(ToLongFunction<Draw> of, Node node) {
    long[] base = first().symbols;
    long value = of.applyAsLong(first());
    long[] factors = new long[base.length];
    long constant = value;
    for (int s = 0; s < factors.length; s++) {
      Draw changed = draws.get(1 + s);
      factors[s] = (of.applyAsLong(changed) - value) / (changed.symbols[s] - base[s]);
      constant -= factors[s] * base[s];
    }
    Size size = new Size(constant, factors);
    for (Draw draw : draws) {
      if (size.of(draw.symbols) != of.applyAsLong(draw)) {
        throw new IllegalStateException(
            "onnx: got %s, with a size that is no sum of multiples of rows, expected one; it cannot be exported"
                .formatted(node));
      }
    }
    return size;
  }

  /** The sizes of a node. */
  List<Size> shape(Node node) {
    List<Size> sizes = new ArrayList<>();
    for (int axis = 0; axis < node.shape().rank(); axis++) {
      int at = axis;
      sizes.add(size(node, each -> each.shape().size(at)));
    }
    return sizes;
  }

  /**
   * A vector of integers that grows with rows: element {@code i} is {@code add + mod (i % period) +
   * div (i / period)}.
   */
  record Ramp(Size length, int period, Size add, Size mod, Size div) {}

  /**
   * The integers of a leaf whose length depends on rows.
   *
   * @throws IllegalStateException if they are no {@link Ramp}
   */
  Ramp ramp(Node leaf) {
    int number = Objects.requireNonNull(numbers.get(leaf));
    for (int period = 1; period <= MOST_PERIOD && leaf.shape().rank() == 1; period++) {
      Optional<Ramp> found = ramp(leaf, number, period);
      if (found.isPresent()) {
        return found.get();
      }
    }
    throw new IllegalStateException(
        "onnx: got %s, constants that depend on the number of rows in no known way; it cannot be exported"
            .formatted(leaf));
  }

  private Optional<Ramp> ramp(Node leaf, int number, int period) {
    if (leaf.shape().size(0) <= period) {
      return Optional.empty();
    }
    ToLongFunction<Draw> zero = draw -> whole(draw.program.nodes().get(number), 0);
    Size add = size(zero, leaf);
    Size mod =
        period == 1
            ? Size.fixed(0)
            : size(
                draw -> whole(draw.program.nodes().get(number), 1) - zero.applyAsLong(draw), leaf);
    Size div =
        size(
            draw -> whole(draw.program.nodes().get(number), period) - zero.applyAsLong(draw), leaf);
    for (Draw draw : draws) {
      Node own = draw.program.nodes().get(number);
      for (int i = 0; i < own.shape().size(0); i++) {
        long expected =
            add.of(draw.symbols)
                + mod.of(draw.symbols) * (i % period)
                + div.of(draw.symbols) * (i / period);
        if (whole(own, i) != expected) {
          return Optional.empty();
        }
      }
    }
    return Optional.of(new Ramp(size(leaf, each -> each.shape().size(0)), period, add, mod, div));
  }

  private static long whole(Node leaf, int at) {
    long address = ((Op.Leaf) leaf.op()).buffer().address();
    return leaf.type() == DType.I64
        ? Memory.getLong(address + 8L * at)
        : Memory.getInt(address + 4L * at);
  }

  /** The elements of a leaf of integers. */
  static long[] wholes(Node leaf) {
    long[] values = new long[leaf.shape().elements()];
    Arrays.setAll(values, i -> whole(leaf, i));
    return values;
  }

  /** The elements of a leaf of floats. */
  static float[] floats(Node leaf) {
    float[] values = new float[leaf.shape().elements()];
    Memory.copyOut(((Op.Leaf) leaf.op()).buffer().address(), values, 0, values.length);
    return values;
  }

  @Override
  public void close() {
    draws.forEach(draw -> draw.inputs.close());
  }
}
