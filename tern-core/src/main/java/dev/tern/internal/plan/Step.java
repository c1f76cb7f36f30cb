package dev.tern.internal.plan;

import dev.tern.internal.kernel.CompiledKernel;
import dev.tern.tensor.DType;
import java.util.List;

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
      int chunks)
      implements Step {
    /** Chunks of a flat loop start at multiples of this many elements: a cache line. */
    static final int FLAT_UNIT = 16;

    /** First index of chunk {@code chunk} of the outermost loop. */
    public int chunkStart(int chunk) {
      if (sizes.length > 1) {
        return (int) ((long) sizes[0] * chunk / chunks);
      }
      long units = (sizes[0] + FLAT_UNIT - 1L) / FLAT_UNIT;
      return (int) Math.min(sizes[0], units * chunk / chunks * FLAT_UNIT);
    }

    Fused withPartials(Place place) {
      return new Fused(kernel, operands, sizes, strides, scalars, reduced, place, chunks);
    }
  }

  /** {@code batch} matrix products; strides in elements: batch, row, column of a, b and c. */
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
      Place scratch)
      implements Step {}

  /**
   * {@code count} rows of {@code width} from {@code table} ({@code rows} rows) at {@code index}.
   */
  record Gather(
      Place table, int rows, Place index, DType indexType, Place out, int count, int width)
      implements Step {}

  /** Adds {@code count} rows of {@code width} into {@code rows} zeroed rows at {@code index}. */
  record ScatterAdd(
      Place index, DType indexType, Place values, Place out, int rows, int count, int width)
      implements Step {}

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
      case MatMul matmul -> "matmul " + matmul.m() + "x" + matmul.n() + "x" + matmul.k();
      case Gather gather -> "gather";
      case ScatterAdd scatter -> "scatterAdd";
      case Copy copy -> "copy";
      case Uniform uniform -> "uniform";
      case Cast cast -> "cast";
      case DotInteraction interaction -> "dotInteraction";
      case DotInteractionGradient gradient -> "dotInteractionGradient";
      case PairSums sums -> "pairSums";
      case PairSumsGradient gradient -> "pairSumsGradient";
    };
  }
}
