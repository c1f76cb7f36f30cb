package dev.tern.internal.search;

import dev.tern.base.Workers;
import dev.tern.internal.kernel.matmul.Epilogue;
import dev.tern.internal.kernel.matmul.MatMul;
import dev.tern.internal.kernel.matmul.ProductSpec;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Compares some users at a time with all items: a product of the users' vectors with each block of
 * {@link ItemVectors}. A score is the sum of its terms in order, by fused multiply-add, so it
 * depends neither on the number of users nor on threads. One thread at a time.
 */
final class ItemScores implements AutoCloseable {
  /** Multiples of items that a product of fewer than a block is of. */
  private static final int STEP = 64;

  /** Multiply-adds from which on it is worth waiting for vector code, and how long. */
  private static final double WORTH_WAITING = 2.5e8;

  private static final long MOST_WAITING_NANOS = 4_000_000_000L;

  private final Allocator allocator;
  private final Workers workers;
  private final int width;
  private final long users;
  private final long scores;
  private long scratch;
  private long scratchBytes;

  /** The products made last: of a whole block, and of a part of one. */
  private @Nullable Product whole;

  private @Nullable Product part;

  private record Product(int rows, int items, MatMul form) {}

  /**
   * @param rows users at a time, at most
   */
  ItemScores(Allocator allocator, Workers workers, int width, int rows) {
    this.allocator = allocator;
    this.workers = workers;
    this.width = width;
    MatMul.prepare();
    users = allocator.allocate(4L * rows * width, "user vectors");
    scores = allocator.allocate(4L * rows * ItemVectors.BLOCK, "scores of items");
    scratchBytes = MatMul.scratchBytes(rows, ItemVectors.BLOCK, width, workers.threads());
    scratch = allocator.allocate(scratchBytes, "scores of items");
  }

  /** Offers the scores of all items to the first {@code rows} users. */
  void compare(ItemVectors items, float[] vectors, int rows, BestScores[] best) {
    Memory.copyIn(vectors, 0, users, rows * width);
    awaitVectorCode((double) rows * items.size() * width);
    for (int block = 0; block < items.blocks(); block++) {
      int count = items.count(block);
      int columns = (count + STEP - 1) / STEP * STEP;
      product(rows, columns).form.run(users, items.address(block), scores);
      int first = block * ItemVectors.BLOCK;
      workers.run(rows, (row, _) -> best[row].offer(scores + 4L * columns * row, first, count));
    }
  }

  private Product product(int rows, int count) {
    boolean isWhole = count == ItemVectors.BLOCK;
    Product last = isWhole ? whole : part;
    if (last != null && last.rows == rows && last.items == count) {
      return last;
    }
    makeScratch(MatMul.scratchBytes(rows, count, width, workers.threads()));
    ProductSpec spec =
        new ProductSpec(width, 1, ItemVectors.STRIDE, 1, count, rows, count, width, false);
    Product made = new Product(rows, count, new MatMul(workers, spec, scratch, Epilogue.NONE));
    if (isWhole) {
      whole = made;
    } else {
      part = made;
    }
    return made;
  }

  /** Products of fewer users may take more of it, as their form is another one. */
  private void makeScratch(long bytes) {
    if (bytes > scratchBytes) {
      long larger = allocator.allocate(bytes, "scores of items");
      allocator.free(scratch);
      scratch = larger;
      scratchBytes = bytes;
      whole = null;
      part = null;
    }
  }

  private static void awaitVectorCode(double terms) {
    long end = System.nanoTime() + MOST_WAITING_NANOS;
    while (terms > WORTH_WAITING
        && MatMul.isPending()
        && System.nanoTime() < end
        && !Thread.currentThread().isInterrupted()) {
      LockSupport.parkNanos(1_000_000);
    }
  }

  @Override
  public void close() {
    allocator.free(users);
    allocator.free(scores);
    allocator.free(scratch);
  }
}
