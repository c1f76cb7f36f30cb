package dev.tern.internal.table.rows;

import static dev.tern.internal.table.rows.VectorRows.all;
import static dev.tern.internal.table.rows.VectorRows.load;
import static dev.tern.internal.table.rows.VectorRows.store;

import dev.tern.internal.kernel.HalfVectors;
import dev.tern.internal.memory.Memory;
import jdk.incubator.vector.FloatVector;

/**
 * The loops of {@link BagPairs} on {@link VectorRows#LANES} columns from column {@code j} on, with
 * the same operations for each element. Each encoding has a loop of its own, as {@link VectorRows}
 * says.
 */
final class VectorBagPairs {
  private VectorBagPairs() {}

  static void pool(RowLookup lookup, PooledBags bags, RowParts out, MatrixBlock vectors, int j) {
    for (int b = vectors.from; b < vectors.to; b++) {
      int end = bags.end(b);
      float scale = bags.scale(b);
      FloatVector before = all(0);
      FloatVector sum = all(0);
      for (int i = bags.begin(b); i < end; i++) {
        FloatVector row = all(bags.factor(scale, i)).mul(load(lookup.row(i) + 4L * j));
        sum = before.fma(row, sum);
        before = before.add(row);
      }
      addLanes(sum, out.pairsAt(b));
    }
  }

  static void poolF16(RowLookup lookup, PooledBags bags, RowParts out, MatrixBlock vectors, int j) {
    for (int b = vectors.from; b < vectors.to; b++) {
      int end = bags.end(b);
      float scale = bags.scale(b);
      FloatVector before = all(0);
      FloatVector sum = all(0);
      for (int i = bags.begin(b); i < end; i++) {
        FloatVector weights = HalfVectors.loadF16(lookup.row(i) + 2L * j);
        FloatVector row = all(bags.factor(scale, i)).mul(weights);
        sum = before.fma(row, sum);
        before = before.add(row);
      }
      addLanes(sum, out.pairsAt(b));
    }
  }

  static void poolBf16(
      RowLookup lookup, PooledBags bags, RowParts out, MatrixBlock vectors, int j) {
    for (int b = vectors.from; b < vectors.to; b++) {
      int end = bags.end(b);
      float scale = bags.scale(b);
      FloatVector before = all(0);
      FloatVector sum = all(0);
      for (int i = bags.begin(b); i < end; i++) {
        FloatVector weights = HalfVectors.loadBf16(lookup.row(i) + 2L * j);
        FloatVector row = all(bags.factor(scale, i)).mul(weights);
        sum = before.fma(row, sum);
        before = before.add(row);
      }
      addLanes(sum, out.pairsAt(b));
    }
  }

  static void poolInt8(
      int scaleAt, RowLookup lookup, PooledBags bags, RowParts out, MatrixBlock vectors, int j) {
    for (int b = vectors.from; b < vectors.to; b++) {
      int end = bags.end(b);
      float scale = bags.scale(b);
      FloatVector before = all(0);
      FloatVector sum = all(0);
      for (int i = bags.begin(b); i < end; i++) {
        FloatVector weights = VectorRows.loadInt8(lookup.row(i), scaleAt, j);
        FloatVector row = all(bags.factor(scale, i)).mul(weights);
        sum = before.fma(row, sum);
        before = before.add(row);
      }
      addLanes(sum, out.pairsAt(b));
    }
  }

  /** Adds lane after lane, as the scalar loop adds columns. Only constant lanes are fast. */
  private static void addLanes(FloatVector sum, long address) {
    float total = Memory.getFloat(address) + sum.lane(0);
    total += sum.lane(1);
    total += sum.lane(2);
    total += sum.lane(3);
    if (VectorRows.LANES == 8) {
      total += sum.lane(4);
      total += sum.lane(5);
      total += sum.lane(6);
      total += sum.lane(7);
    }
    Memory.setFloat(address, total);
  }

  static void addGradients(RowLookup lookup, RowParts gradients, MatrixBlock sums, int j) {
    for (int u = sums.from; u < sums.to; u++) {
      FloatVector row = load(lookup.addresses[u] + 4L * j);
      addGradients(lookup, gradients, sums, u, row, j);
    }
  }

  static void addGradientsF16(RowLookup lookup, RowParts gradients, MatrixBlock sums, int j) {
    for (int u = sums.from; u < sums.to; u++) {
      FloatVector row = HalfVectors.loadF16(lookup.addresses[u] + 2L * j);
      addGradients(lookup, gradients, sums, u, row, j);
    }
  }

  static void addGradientsBf16(RowLookup lookup, RowParts gradients, MatrixBlock sums, int j) {
    for (int u = sums.from; u < sums.to; u++) {
      FloatVector row = HalfVectors.loadBf16(lookup.addresses[u] + 2L * j);
      addGradients(lookup, gradients, sums, u, row, j);
    }
  }

  private static void addGradients(
      RowLookup lookup, RowParts gradients, MatrixBlock sums, int u, FloatVector row, int j) {
    int end = lookup.starts[u + 1];
    FloatVector sum = load(sums.at(u, j));
    for (int place = lookup.starts[u]; place < end; place++) {
      int bag = lookup.bags[place];
      float factor = lookup.scales[place];
      FloatVector others = load(gradients.pooledAt(bag, j)).sub(all(factor).mul(row));
      sum = all(factor * Memory.getFloat(gradients.pairsAt(bag))).fma(others, sum);
    }
    store(sum, sums.at(u, j));
  }
}
