package dev.tern.internal.table.rows;

import dev.tern.embedding.config.TableConfig;
import dev.tern.internal.memory.Memory;

/**
 * Sums of the dot products of all pairs of rows within a bag, and their gradients. With {@code v_i}
 * the columns of the last part of row {@code i} and {@code f_i} the row's factor, bag {@code b} has
 *
 * <pre>
 * s_b = sum over i < k of dot(f_i v_i, f_k v_k)
 * d s_b / d v_i = f_i (p_b - f_i v_i), where p_b = sum over k of f_k v_k is the pooled vector
 * </pre>
 *
 * <p>Each row meets the sum of the rows before it, so the work is that of pooling (Rendle,
 * "Factorization Machines", ICDM 2010, lemma 3.1). Example: rows 2, 3 and 5 of one column and
 * factors 1 have the sum 2 * 3 + (2 + 3) * 5 = 31. A bag of one row has the sum 0 and the gradient
 * 0. Columns are added in order, so the bits do not depend on the length of vectors.
 */
final class BagPairs {
  private final RowReads reads;

  BagPairs(RowReads reads) {
    this.reads = reads;
  }

  /** For the rows of a table, with vectors if this process has them. */
  static BagPairs fastest(TableConfig config) {
    return new BagPairs(RowReads.fastest(config));
  }

  /** Writes the sums of bags {@code [from, to)} to {@link RowParts#pairsAt}. */
  void pool(RowLookup lookup, PooledBags bags, int from, int to, RowParts out) {
    for (int b = from; b < to; b++) {
      Memory.setFloat(out.pairsAt(b), 0);
    }
    if (!bags.arePlural()) {
      return;
    }
    MatrixBlock vectors = out.part(out.count() - 1, from, to);
    int lanes = reads.lanes;
    int j = vectors.begin;
    for (; j <= vectors.end - lanes; j += lanes) {
      switch (reads.form) {
        case F32 -> VectorBagPairs.pool(lookup, bags, out, vectors, j);
        case F16 -> VectorBagPairs.poolF16(lookup, bags, out, vectors, j);
        case BF16 -> VectorBagPairs.poolBf16(lookup, bags, out, vectors, j);
        case INT8 -> VectorBagPairs.poolInt8(reads.scaleAt, lookup, bags, out, vectors, j);
      }
    }
    for (; j < vectors.end; j++) {
      pool(lookup, bags, out, vectors, j);
    }
  }

  private void pool(RowLookup lookup, PooledBags bags, RowParts out, MatrixBlock vectors, int j) {
    for (int b = vectors.from; b < vectors.to; b++) {
      int end = bags.end(b);
      float scale = bags.scale(b);
      float before = 0;
      float sum = 0;
      for (int i = bags.begin(b); i < end; i++) {
        float row = bags.factor(scale, i) * reads.get(lookup.row(i), j);
        sum = Math.fma(before, row, sum);
        before += row;
      }
      add(sum, out.pairsAt(b));
    }
  }

  static void add(float value, long address) {
    Memory.setFloat(address, Memory.getFloat(address) + value);
  }

  /**
   * Adds the gradients of a grouped lookup to the rows of {@code sums}, in order of position. Rows
   * still have the weights that were pooled.
   *
   * @param gradients has the gradient of each bag's sum, and the bag's pooled vector
   */
  void addGradients(RowLookup lookup, RowParts gradients, MatrixBlock sums) {
    MatrixBlock vectors = gradients.part(gradients.count() - 1, 0, 0);
    int lanes = reads.lanes;
    int j = vectors.begin;
    for (; j <= vectors.end - lanes; j += lanes) {
      switch (reads.form) {
        case F32 -> VectorBagPairs.addGradients(lookup, gradients, sums, j);
        case F16 -> VectorBagPairs.addGradientsF16(lookup, gradients, sums, j);
        case BF16 -> VectorBagPairs.addGradientsBf16(lookup, gradients, sums, j);
        case INT8 -> throw new IllegalStateException("pair sums: got a table for reading alone");
      }
    }
    for (; j < vectors.end; j++) {
      addGradients(lookup, gradients, sums, j);
    }
  }

  private void addGradients(RowLookup lookup, RowParts gradients, MatrixBlock sums, int j) {
    for (int u = sums.from; u < sums.to; u++) {
      float row = reads.get(lookup.addresses[u], j);
      float sum = Memory.getFloat(sums.at(u, j));
      for (int place = lookup.starts[u]; place < lookup.starts[u + 1]; place++) {
        int bag = lookup.bags[place];
        float factor = lookup.scales[place];
        float others = Memory.getFloat(gradients.pooledAt(bag, j)) - factor * row;
        sum = Math.fma(factor * Memory.getFloat(gradients.pairsAt(bag)), others, sum);
      }
      Memory.setFloat(sums.at(u, j), sum);
    }
  }
}
