package dev.tern.internal.table.rows;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.base.DType;
import dev.tern.embedding.Floats;
import dev.tern.embedding.config.Combiner;
import dev.tern.internal.kernel.VectorSupport;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.optim.Optimizer;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The vector loops give the bits of the scalar loops. */
final class RowLoopsTest {
  private final Allocator allocator = Allocator.of(1L << 26);
  private final Loops vectors = new Loops(VectorSupport.available());
  private final Loops scalars = new Loops(false);

  /** All loops, with vectors or without. */
  private record Loops(boolean vectors, RowReads reads, UpdateLoops updates) {
    Loops(boolean vectors) {
      this(vectors, RowReads.of(vectors, DType.F32), new UpdateLoops(vectors));
    }
  }

  /** Rows with state, gradients and results, filled from a seed. */
  private final class Data implements AutoCloseable {
    final int width;
    final int count;
    final Floats rows;
    final Floats grads;
    final Floats out;
    final long[] addresses;
    final RowLookup lookup = new RowLookup();
    final int stride;

    Data(int width, int count) {
      this.width = width;
      this.count = count;
      stride = width + 1;
      SplittableRandom random = new SplittableRandom(31L * width + count);
      rows = new Floats(allocator, count * (3 * width + 1));
      grads = new Floats(allocator, count * stride);
      out = new Floats(allocator, count * stride);
      for (int i = 0; i < rows.length; i++) {
        // State (the later two thirds of a row) of squares must not be negative.
        boolean weight = i % (3 * width + 1) < width;
        rows.set(i, (float) random.nextDouble(weight ? -1 : 0, 1));
      }
      for (int i = 0; i < count; i++) {
        Memory.setInt(row(i) + 12L * width, i % 4); // a step of a last update
      }
      for (int i = 0; i < grads.length; i++) {
        grads.set(i, i % 11 == 0 ? 0 : (float) random.nextDouble(-1, 1));
        out.set(i, i);
      }
      addresses = random.ints(count, 0, Math.max(1, count)).mapToLong(this::row).toArray();
      lookup.addresses = addresses;
      lookup.inverse = random.ints(count, 0, Math.max(1, count)).toArray();
      lookup.bags = random.ints(count, 0, Math.max(1, count)).toArray();
      lookup.scales = new float[count];
      // Ids of 0, 1, 2, 3, 4 positions, as far as there are some.
      lookup.starts = new int[count + 1];
      for (int u = 0; u < count; u++) {
        lookup.starts[u + 1] = Math.min(count, lookup.starts[u] + u % 5);
      }
      for (int i = 0; i < count; i++) {
        lookup.scales[i] = 1f / (1 + i % 5);
      }
    }

    long row(int index) {
      return rows.address + 4L * (3 * width + 1) * index;
    }

    MatrixBlock block(Floats floats) {
      return new MatrixBlock().at(floats.address, 4L * stride);
    }

    /** Columns from {@code begin} on are the last part; pair sums lie behind each row. */
    RowParts parts(int begin) {
      RowParts parts = new RowParts(begin == 0 ? List.of(width) : List.of(begin, width - begin));
      for (int p = 0; p < parts.count(); p++) {
        parts.set(p, grads.address + 4L * p * begin, stride);
      }
      parts.setPairs(grads.address + 4L * width, stride);
      parts.setPooled(grads.address + 4L * begin, stride);
      return parts;
    }

    /** Runs steps on all rows, each with its state behind it, a block at a time. */
    void forEachBlock(Consumer<StepBlock> work) {
      StepBlock block = stepBlock();
      for (int from = 0; from < count; from += StepBlock.ROWS) {
        block.gradients.rows(from, Math.min(count, from + StepBlock.ROWS));
        work.accept(block);
      }
    }

    private StepBlock stepBlock() {
      StepBlock block = new StepBlock();
      block.weights = IntStream.range(0, count).mapToLong(this::row).toArray();
      block.states = block.weights;
      block.gradients.at(grads.address, 4L * stride).columns(0, width);
      return block;
    }

    @Override
    public void close() {
      rows.close();
      grads.close();
      out.close();
    }
  }

  private void same(int width, int count, String what, Consumer<Data> one, Consumer<Data> other) {
    try (Data a = new Data(width, count);
        Data b = new Data(width, count)) {
      one.accept(a);
      other.accept(b);
      assertThat(a.out.toArray()).as(what).isEqualTo(b.out.toArray());
      assertThat(a.rows.toArray()).as(what).isEqualTo(b.rows.toArray());
    }
  }

  private void both(int width, int count, Work work) {
    same(
        width,
        count,
        "width " + width + " count " + count,
        d -> work.run(vectors, d),
        d -> work.run(scalars, d));
  }

  /** A loop on data. */
  private interface Work {
    void run(Loops loops, Data data);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 4, 7, 8, 9, 15, 16, 17, 24, 31, 33, 63, 64, 65, 129})
  void sumsOfIdsAreThoseOfAPlainLoop(int width) {
    SplittableRandom random = new SplittableRandom(width);
    for (int count : new int[] {0, 1, 7, 64, 1000}) {
      RowLookup lookup = new RowLookup();
      lookup.fill(random.longs(count, 0, 1 + count / 2).toArray(), count);
      float[] values = new float[count * width];
      float[] plain = new float[lookup.unique() * width];
      for (int i = 0; i < values.length; i++) {
        values[i] = i % 9 == 0 ? -0f : (float) random.nextDouble(-1, 1);
        plain[lookup.inverse[i / width] * width + i % width] += values[i];
      }
      assertThat(IdSums.ofIds(lookup, width, values)).isEqualTo(plain);
      float[] scalar = new float[plain.length];
      IdSums.add(false, lookup, width, values, scalar);
      assertThat(scalar).isEqualTo(plain);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 4, 7, 8, 9, 15, 16, 17, 24, 31, 33, 63, 64, 65, 129})
  void copiesAndSumsHaveTheSameBits(int width) {
    copiesAndSumsHaveTheSameBits(0, width);
    copiesAndSumsHaveTheSameBits(1, width);
  }

  private void copiesAndSumsHaveTheSameBits(int begin, int width) {
    for (int count : new int[] {0, 1, 7, 8, 15, 16, 17, 63, 64, 65, 1000}) {
      both(
          width,
          count,
          (loops, d) ->
              loops.reads.gather(
                  d.addresses,
                  d.lookup.inverse,
                  d.block(d.out).rows(0, count).columns(begin, width)));
      // Bags of 0, 1, 2, 3 ... positions.
      int[] offsets = IntStream.range(0, 50).map(b -> Math.min(count, b * (b - 1) / 2)).toArray();
      int bags = Math.min(count, (int) IntStream.of(offsets).filter(o -> o < count).count());
      float[] weights = new float[count];
      for (int i = 0; i < count; i++) {
        weights[i] = i % 7 - 2.5f;
      }
      for (Combiner combiner : Combiner.values()) {
        both(
            width,
            count,
            (loops, d) ->
                loops.reads.pool(
                    d.lookup,
                    new PooledBags(combiner).set(offsets, weights, bags),
                    d.block(d.out).rows(0, bags).columns(begin, width)));
        both(
            width,
            count,
            (loops, d) ->
                loops.reads.pool(
                    d.lookup,
                    PooledBags.of(offsets, bags, combiner),
                    d.block(d.out).rows(0, bags).columns(begin, width)));
      }
      both(
          width,
          count,
          (loops, d) ->
              loops.updates.sumGradients(
                  d.lookup,
                  d.lookup.bags,
                  d.block(d.grads).columns(begin, width),
                  d.block(d.out).rows(Math.min(1, count), count)));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 4, 7, 8, 9, 15, 16, 17, 24, 31, 33, 65})
  void pairSumsHaveTheSameBits(int width) {
    for (DType storage : new DType[] {DType.F32, DType.F16, DType.BF16}) {
      for (int begin = 0; begin < Math.min(2, width); begin++) {
        pairSumsHaveTheSameBits(storage, begin, width);
      }
    }
  }

  private void pairSumsHaveTheSameBits(DType storage, int begin, int width) {
    int count = 300;
    int[] offsets = IntStream.range(0, 25).map(b -> b * (b - 1) / 2).toArray();
    int bags = offsets.length - 1;
    float[] weights = new float[count];
    for (int i = 0; i < count; i++) {
      weights[i] = i % 7 - 2.5f;
    }
    PooledBags weighted = new PooledBags(Combiner.SQRTN).set(offsets, weights, bags);
    weighted.check("t", 0, bags, count);
    both(
        width,
        count,
        (loops, d) -> {
          BagPairs pairs = new BagPairs(RowReads.of(loops.vectors, storage));
          pairs.pool(d.lookup, weighted, 0, bags, d.parts(begin));
          MatrixBlock sums = d.block(d.grads).rows(1, count);
          pairs.addGradients(d.lookup, d.parts(begin), sums);
          for (int i = 0; i < d.count * d.width; i++) {
            float sum = Memory.getFloat(sums.at(i / d.width, i % d.width));
            d.out.set(i, Float.isNaN(sum) ? 0 : sum);
          }
        });
  }

  @ParameterizedTest
  @MethodSource("dev.tern.embedding.RowUpdatesTest#optimizers")
  void updatesHaveTheSameBits(Optimizer optimizer) {
    for (int width : new int[] {1, 7, 8, 15, 16, 17, 63, 64, 65}) {
      for (int count : new int[] {0, 1, 7, 63, 64, 65, 130}) {
        for (float l2 : new float[] {0, 0.1f}) {
          OptimizerStep step = new OptimizerStep(optimizer, width, l2).at(0.1f, 9);
          both(
              width,
              count,
              (loops, d) -> d.forEachBlock(block -> loops.updates.update(step, block)));
        }
      }
    }
  }

  @ParameterizedTest
  @MethodSource("dev.tern.embedding.RowUpdatesTest#optimizers")
  void limitsHaveTheSameBits(Optimizer optimizer) {
    for (int width : new int[] {1, 7, 8, 15, 16, 17, 63, 64, 65}) {
      OptimizerStep step = new OptimizerStep(optimizer, width, 0).at(1, 5);
      for (int count : new int[] {0, 1, 7, 63, 64, 65, 130}) {
        both(
            width,
            count,
            (loops, d) ->
                d.forEachBlock(block -> {
                  loops.updates.clip(1, block);
                  loops.updates.update(step, block);
                  loops.updates.clamp(block, width, -0.0f, 0.4f);
                }));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 8, 17})
  void gatherCopiesTheRowOfEachPosition(int width) {
    try (Data d = new Data(width, 100)) {
      MatrixBlock out = d.block(d.out).rows(10, 60).columns(0, width);
      out.at(out.base - 10 * out.stride, out.stride);
      vectors.reads.gather(d.addresses, d.lookup.inverse, out);
      for (int i = 0; i < 50; i++) {
        for (int j = 0; j < width; j++) {
          long row = d.addresses[d.lookup.inverse[10 + i]];
          assertThat(d.out.get(i * d.stride + j)).isEqualTo(Memory.getFloat(row + 4L * j));
        }
      }
      assertThat(d.out.get(50 * d.stride)).isEqualTo(50f * d.stride);
    }
  }
}
