package dev.tern.internal.plan;

import dev.tern.base.DType;
import dev.tern.internal.ir.Op;
import dev.tern.internal.kernel.emit.CompiledKernel;
import dev.tern.internal.kernel.matmul.Epilogue;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * One thing the interpreter does: places are byte offsets into storages, so a plan holds no
 * addresses and serves every program of its structure.
 */
public sealed interface Step {
  /** Byte {@code offset} of storage {@code storage}. */
  record Place(int storage, long offset) {}

  /**
   * A fused kernel over {@code sizes} (outermost first).
   *
   * @param operands places of loads, then stores
   * @param strides elements between neighbours, for each operand along each of {@code sizes}
   * @param scalars constants
   * @param reduced elements of each store that is reduced into, 0 for one that is overwritten
   * @param partials place of partial results of reductions over the outermost dimension
   * @param unit chunks start at multiples of this many indices
   * @param chunks pieces of the outermost dimension, a function of the shape alone
   */
  record Fused(
      CompiledKernel kernel,
      List<Place> operands,
      int[] sizes,
      int[][] strides,
      float[] scalars,
      long[] reduced,
      Place partials,
      int unit,
      int chunks)
      implements Step {
    /** First index of chunk {@code chunk} of the outermost loop. */
    public int chunkStart(int chunk) {
      return Epilogue.start(sizes[0], unit, chunks, chunk);
    }

    /** Whether a store is a reduction over the outermost loop. */
    public boolean isAcross(int store) {
      int loads = operands.size() - reduced.length;
      return reduced[store] > 0 && strides[loads + store][0] == 0;
    }

    /** Whether any is. */
    public boolean isAcross() {
      return IntStream.range(0, reduced.length).anyMatch(this::isAcross);
    }

    /** Points of the iteration space. */
    public long elements() {
      return Arrays.stream(sizes).asLongStream().reduce(1, (a, b) -> a * b);
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

    Fused inChunks(int unit, int chunks) {
      return new Fused(kernel, operands, sizes, strides, scalars, reduced, partials, unit, chunks);
    }

    Fused withOperands(List<Place> places) {
      return new Fused(kernel, places, sizes, strides, scalars, reduced, partials, unit, chunks);
    }

    Fused withPartials(Place place) {
      return new Fused(kernel, operands, sizes, strides, scalars, reduced, place, unit, chunks);
    }
  }

  /**
   * {@code batch} matrix products; strides in elements: batch, row, column of a, b and c.
   *
   * @param scratch place of {@code scratchBytes}
   */
  record MatMul(
      Place a,
      int[] aStrides,
      Place b,
      int[] bStrides,
      Place c,
      int[] cStrides,
      int batch,
      int m,
      int n,
      int k,
      Place scratch,
      long scratchBytes)
      implements Step {
    MatMul with(Place newC, Place newScratch) {
      return new MatMul(
          a, aStrides, b, bStrides, newC, cStrides, batch, m, n, k, newScratch, scratchBytes);
    }
  }

  /**
   * A product, and a kernel that takes the rows of its C as they become final.
   *
   * @param passesRows whether C is never written: its place is part of the scratch memory and holds
   *     the rows at hand of each worker
   */
  record MatMulThen(MatMul product, Fused then, boolean passesRows) implements Step {}

  /**
   * {@code count} rows of {@code width} words of 4 bytes from {@code table} ({@code rows} rows) at
   * {@code index}; with {@code gaps}, zeros at -1.
   */
  record Gather(
      Place table,
      int rows,
      Place index,
      DType indexType,
      boolean gaps,
      Place out,
      int count,
      int width)
      implements Step {}

  /**
   * Adds {@code count} rows of {@code width} into {@code rows} zeroed rows at {@code index}; with
   * {@code gaps}, none at -1.
   */
  record ScatterAdd(
      Place index,
      DType indexType,
      boolean gaps,
      Place values,
      Place out,
      int rows,
      int count,
      int width)
      implements Step {}

  /** Reduces {@code rows} rows of {@code width}, dense, to {@code count} by {@code offsets}. */
  record SegmentReduce(
      Op.Reduce.Kind kind, Place values, Place offsets, Place out, int rows, int count, int width)
      implements Step {}

  /** Whole numbers about sequences. */
  record Index(Op.Index op, List<Source> inputs, Place out, int count) implements Step {
    /** An input: {@code count} rows of {@code width}, dense. */
    public record Source(Place place, DType type, int count, int width) {}

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

  /** Conversion of elements; strides as in {@link Fused}. */
  record Cast(
      Place in, DType from, int[] inStrides, Place out, DType to, int[] outStrides, int[] sizes)
      implements Step {}

  /** Pairwise dots of {@code [batch, n, d]}, dense. */
  record DotInteraction(Place x, Place out, int batch, int n, int d) implements Step {}

  /** Gradient of {@link DotInteraction}. */
  record DotInteractionGradient(Place x, Place gradient, Place out, int batch, int n, int d)
      implements Step {}

  /** Sums of the pairwise dots of {@code [batch, n, d]}, dense. */
  record PairSums(Place x, Place out, int batch, int n, int d) implements Step {}

  /** Gradient of {@link PairSums}. */
  record PairSumsGradient(Place x, Place gradient, Place out, int batch, int n, int d)
      implements Step {}

  /** A name for people: the op, or the fused expression. */
  default String label() {
    return switch (this) {
      case Fused fused -> fused.kernel().spec().expression();
      case MatMul s ->
          "matmul "
              + (s.batch() > 1 ? s.batch() + " times " : "")
              + (s.m() + "x" + s.k() + (s.aStrides()[2] == 1 ? "" : "t"))
              + (" by " + s.k() + "x" + s.n() + (s.bStrides()[2] == 1 ? "" : "t"));
      case MatMulThen s -> s.product().label() + ", then " + s.then().label();
      case Gather gather -> "gather";
      case ScatterAdd scatter -> "scatterAdd";
      case SegmentReduce s -> "segmentReduce " + s.kind();
      case Index s -> "index " + s.op().rule();
      case Copy copy -> "copy";
      case Uniform uniform -> "uniform";
      case Cast cast -> "cast";
      case DotInteraction interaction -> "dotInteraction";
      case DotInteractionGradient gradient -> "dotInteractionGradient";
      case PairSums sums -> "pairSums";
      case PairSumsGradient gradient -> "pairSumsGradient";
    };
  }

  /** The state of its code: {@link CompiledKernel#state}, or nothing for other than kernels. */
  default String state() {
    return switch (this) {
      case Fused fused -> fused.kernel().state();
      case MatMulThen s -> s.then().kernel().state();
      default -> "";
    };
  }

  /** Arithmetic operations; a mathematical function counts as one. */
  default double flops() {
    return switch (this) {
      case Fused fused -> fused.elements() * (double) fused.kernel().spec().instructions().size();
      case MatMul s -> 2.0 * s.batch() * s.m() * s.n() * s.k();
      case MatMulThen s -> s.product().flops() + s.then().flops();
      case ScatterAdd s -> (double) s.count() * s.width();
      case SegmentReduce s -> (double) s.rows() * s.width();
      case Index s -> s.count();
      case DotInteraction s -> (double) s.batch() * s.n() * (s.n() - 1) * s.d();
      case DotInteractionGradient s -> 2.0 * s.batch() * s.n() * (s.n() - 1) * s.d();
      case PairSums s -> 3.0 * s.batch() * s.n() * s.d();
      case PairSumsGradient s -> 3.0 * s.batch() * s.n() * s.d();
      case Gather s -> 0;
      case Copy s -> 0;
      case Uniform s -> 0;
      case Cast s -> 0;
    };
  }

  /** Bytes of the operands, each element once. */
  default double traffic() {
    return switch (this) {
      case Fused fused -> fused.operandBytes();
      case MatMul s ->
          4.0
              * s.batch()
              * ((double) s.m() * s.k() + (double) s.k() * s.n() + (double) s.m() * s.n());
      case MatMulThen s -> s.product().traffic() + s.then().traffic();
      case Gather s -> 8.0 * s.count() * s.width();
      case ScatterAdd s -> 4.0 * s.width() * (s.count() + s.rows());
      case SegmentReduce s -> 4.0 * s.width() * (s.count() + s.rows());
      case Index s -> s.inputBytes() + 4.0 * s.count();
      case Copy s -> 2.0 * s.bytes();
      case Uniform s -> 4.0 * s.count();
      case Cast s ->
          (s.from().bytes() + s.to().bytes())
              * (double) Arrays.stream(s.sizes()).asLongStream().reduce(1, (a, b) -> a * b);
      case DotInteraction s -> 4.0 * s.batch() * s.n() * (s.d() + (s.n() - 1) / 2.0);
      case DotInteractionGradient s -> 4.0 * s.batch() * s.n() * (2 * s.d() + (s.n() - 1) / 2.0);
      case PairSums s -> 4.0 * s.batch() * ((double) s.n() * s.d() + 1);
      case PairSumsGradient s -> 4.0 * s.batch() * (2.0 * s.n() * s.d() + 1);
    };
  }
}
