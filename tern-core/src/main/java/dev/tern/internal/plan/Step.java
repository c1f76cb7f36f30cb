package dev.tern.internal.plan;

import dev.tern.base.DType;
import dev.tern.internal.ir.Op;
import dev.tern.internal.kernel.KernelSpec;
import dev.tern.internal.kernel.matmul.Epilogue;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * One step of a plan. Places are byte offsets into storages, so a plan holds no addresses and
 * serves every program of its structure. A step holds no code either: the kernel of a fused step is
 * looked up when the plan is bound to memory.
 */
public sealed interface Step {
  /** Byte {@code offset} of storage {@code storage}. */
  record Place(int storage, long offset) {}

  /**
   * Elements in a storage: element {@code (i, j, ...)} lies {@code i * strides[0] + j * strides[1]
   * + ...} elements behind the place.
   */
  record Strided(Place place, int[] strides) {
    /** Whether elements of these sizes lie in row-major order without gaps. */
    public boolean isDense(int[] sizes) {
      int dense = 1;
      for (int axis = sizes.length - 1; axis >= 0; axis--) {
        if (sizes[axis] > 1 && strides[axis] != dense) {
          return false;
        }
        dense *= sizes[axis];
      }
      return true;
    }
  }

  /** {@code rows} rows from a place on, one after the other. */
  record Rows(Place place, int rows) {}

  /**
   * Numbers of rows.
   *
   * @param gaps whether -1 stands for no row
   */
  record RowNumbers(Place place, DType type, int count, boolean gaps) {}

  /** Memory whose content matters during the step alone. */
  record Scratch(Place place, long bytes) {}

  /**
   * The loops of a fused kernel.
   *
   * @param sizes outermost first
   * @param strides elements between neighbours, for each operand along each of {@code sizes}
   * @param reduced elements of each store that is reduced into, 0 for one that is overwritten
   * @param unit chunks start at multiples of this many indices
   * @param chunks pieces of the outermost loop, a function of the shape alone
   */
  record Loops(int[] sizes, int[][] strides, long[] reduced, int unit, int chunks) {
    /** First index of chunk {@code chunk} of the outermost loop. */
    public int chunkStart(int chunk) {
      return Epilogue.start(sizes[0], unit, chunks, chunk);
    }

    /** Whether a store is a reduction over the outermost loop. */
    public boolean isAcross(int store) {
      return reduced[store] > 0 && strides[strides.length - reduced.length + store][0] == 0;
    }

    /** Whether any store is. */
    public boolean isAcross() {
      return IntStream.range(0, reduced.length).anyMatch(this::isAcross);
    }

    /** Points of the iteration space. */
    public long elements() {
      return Arrays.stream(sizes).asLongStream().reduce(1, (a, b) -> a * b);
    }

    /** Floats that partial results of reductions over the outermost loop need, in all chunks. */
    long partialElements() {
      return chunks == 1
          ? 0
          : IntStream.range(0, reduced.length)
              .filter(this::isAcross)
              .mapToLong(store -> reduced[store] * chunks)
              .sum();
    }

    private double operandBytes() {
      double bytes = 0;
      for (int[] steps : strides) {
        double elements = 1;
        for (int axis = 0; axis < sizes.length; axis++) {
          elements *= steps[axis] == 0 ? 1 : sizes[axis];
        }
        bytes += 4 * elements;
      }
      return bytes;
    }
  }

  /**
   * A fused kernel.
   *
   * @param scalars constants
   * @param operands places of loads, then stores
   * @param partials place of partial results of reductions over the outermost loop
   */
  record Fused(KernelSpec spec, float[] scalars, List<Place> operands, Loops loops, Place partials)
      implements Step {
    Fused at(List<Place> places, Place newPartials) {
      return new Fused(spec, scalars, places, loops, newPartials);
    }
  }

  /** Sizes of {@code batch} products of an m by k and a k by n matrix. */
  record ProductSizes(int batch, int m, int n, int k) {}

  /** Matrix products; each matrix has a stride of the batch, of rows and of columns. */
  record MatMul(Strided a, Strided b, Strided c, ProductSizes sizes, Scratch scratch)
      implements Step {
    MatMul at(Place newC, Place newScratch) {
      Strided moved = new Strided(newC, c.strides);
      return new MatMul(a, b, moved, sizes, new Scratch(newScratch, scratch.bytes));
    }
  }

  /**
   * A product, and a kernel that takes the rows of its C as they become final.
   *
   * @param passesRows whether C never lies in memory as a whole: its place is part of the scratch
   *     memory and holds the rows that each worker has at hand
   */
  record MatMulThen(MatMul product, Fused then, boolean passesRows) implements Step {}

  /** Rows of {@code width} words of 4 bytes, picked from a table; zeros where there is no row. */
  record Gather(Rows table, RowNumbers index, Place out, int width) implements Step {}

  /** Adds rows of {@code width} to rows of {@code out}, which are zeros at first. */
  record ScatterAdd(RowNumbers index, Place values, Rows out, int width) implements Step {}

  /** Reduces runs of rows of {@code width}, dense; {@code offsets} says where each run begins. */
  record SegmentReduce(Op.Reduce.Kind kind, Rows values, Rows offsets, Place out, int width)
      implements Step {}

  /** Whole numbers about sequences. */
  record Index(Op.Index op, List<Input> inputs, Place out, int count) implements Step {
    /** {@code count} rows of {@code width}, dense. */
    public record Input(Place place, DType type, int count, int width) {}

    private double inputBytes() {
      return inputs.stream()
          .mapToDouble(s -> (double) s.type().bytes() * s.count() * s.width())
          .sum();
    }
  }

  /** Moves {@code bytes}. */
  record Copy(Place in, Place out, long bytes) implements Step {}

  /** {@code count} uniform numbers. */
  record Uniform(Place seed, int stream, Place out, int count) implements Step {}

  /** Conversion of elements. */
  record Cast(Strided in, DType from, Strided out, DType to, int[] sizes) implements Step {
    /** How many. */
    public long elements() {
      return Arrays.stream(sizes).asLongStream().reduce(1, (a, b) -> a * b);
    }
  }

  /** Sizes of dense {@code [batch, n, d]}: n vectors of d elements in each sample. */
  record Vectors(int batch, int n, int d) {}

  /** Dot products of all pairs of vectors of each sample; with a gradient, theirs of x. */
  record DotInteraction(Place x, Optional<Place> gradient, Place out, Vectors sizes)
      implements Step {}

  /** The sum of these products in each sample; with a gradient, the gradient of x. */
  record PairSums(Place x, Optional<Place> gradient, Place out, Vectors sizes) implements Step {}

  /** States of {@code width} numbers, one for each row. */
  record States(int rows, int width) {}

  /**
   * States of a gated recurrent unit over runs of rows, or the gradients that they get in all.
   *
   * @param inputs of the op but its offsets, dense and in order
   */
  record Gru(boolean isGradient, List<Place> inputs, Rows offsets, Place out, States states)
      implements Step {}

  /** A name for people: the op, or the fused expression. */
  default String label() {
    return switch (this) {
      case Fused s -> s.spec().expression();
      case MatMul(Strided a, Strided b, _, ProductSizes(int batch, int m, int n, int k), _) ->
          "matmul "
              + (batch > 1 ? batch + " times " : "")
              + (m + "x" + k + (a.strides()[2] == 1 ? "" : "t"))
              + (" by " + k + "x" + n + (b.strides()[2] == 1 ? "" : "t"));
      case MatMulThen s -> s.product().label() + ", then " + s.then().label();
      case Gather _ -> "gather";
      case ScatterAdd _ -> "scatterAdd";
      case SegmentReduce s -> "segmentReduce " + s.kind();
      case Index s -> "index " + s.op().rule();
      case Copy _ -> "copy";
      case Uniform _ -> "uniform";
      case Cast _ -> "cast";
      case DotInteraction s -> "dotInteraction" + (s.gradient().isEmpty() ? "" : "Gradient");
      case PairSums s -> "pairSums" + (s.gradient().isEmpty() ? "" : "Gradient");
      case Gru s -> s.isGradient() ? "gruGradient" : "gru";
    };
  }

  /** The fused kernel that the step runs. */
  default Optional<Fused> kernel() {
    return switch (this) {
      case Fused s -> Optional.of(s);
      case MatMulThen s -> Optional.of(s.then());
      default -> Optional.empty();
    };
  }

  /** Arithmetic operations; a mathematical function counts as one. */
  default double flops() {
    return switch (this) {
      case Fused s -> s.loops().elements() * (double) s.spec().instructions().size();
      case MatMul(_, _, _, ProductSizes(int batch, int m, int n, int k), _) ->
          2.0 * batch * m * n * k;
      case MatMulThen s -> s.product().flops() + s.then().flops();
      case ScatterAdd s -> (double) s.index().count() * s.width();
      case SegmentReduce s -> (double) s.values().rows() * s.width();
      case Index s -> s.count();
      case DotInteraction(_, Optional<Place> gradient, _, Vectors(int batch, int n, int d)) ->
          (gradient.isEmpty() ? 1.0 : 2.0) * batch * n * (n - 1) * d;
      case PairSums(_, _, _, Vectors(int batch, int n, int d)) -> 3.0 * batch * n * d;
      case Gru(_, _, _, _, States(int rows, int width)) ->
          6.0 * rows * width * width + 12.0 * rows * width;
      case Gather _, Copy _, Uniform _, Cast _ -> 0;
    };
  }

  /** Bytes of the operands, each element once. */
  default double traffic() {
    return switch (this) {
      case Fused s -> s.loops().operandBytes();
      case MatMul(_, _, _, ProductSizes(int batch, int m, int n, int k), _) ->
          4.0 * batch * ((double) m * k + (double) k * n + (double) m * n);
      case MatMulThen s -> s.product().traffic() + s.then().traffic();
      case Gather s -> 8.0 * s.index().count() * s.width();
      case ScatterAdd s -> 4.0 * s.width() * (s.index().count() + s.out().rows());
      case SegmentReduce s -> 4.0 * s.width() * (s.offsets().rows() - 1 + s.values().rows());
      case Index s -> s.inputBytes() + 4.0 * s.count();
      case Copy s -> 2.0 * s.bytes();
      case Uniform s -> 4.0 * s.count();
      case Cast s -> (s.from().bytes() + s.to().bytes()) * (double) s.elements();
      case DotInteraction(_, Optional<Place> gradient, _, Vectors(int batch, int n, int d)) ->
          4.0 * batch * n * ((gradient.isEmpty() ? d : 2 * d) + (n - 1) / 2.0);
      case PairSums(_, Optional<Place> gradient, _, Vectors(int batch, int n, int d)) ->
          4.0 * batch * ((gradient.isEmpty() ? 1.0 : 2.0) * n * d + 1);
      case Gru(boolean isGradient, _, _, _, States(int rows, int width)) ->
          4.0 * rows * width * (isGradient ? 6 : 4) + 12.0 * width * width;
    };
  }
}
