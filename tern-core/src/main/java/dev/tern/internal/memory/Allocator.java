package dev.tern.internal.memory;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Off-heap memory under a hard budget. Blocks are 64-byte aligned and carved from slabs by best
 * fit; neighbours that are both free become one block. A request larger than a quarter of a slab
 * gets one of its own, which goes back to the system as soon as it is freed if it is larger than
 * ordinary slabs; those are kept for reuse until the budget needs their room. The budget, rounded
 * up to whole pages, bounds what is mapped, not only what is handed out.
 *
 * <p>Contents of a new block are undefined. Thread-safe. Sizes are bytes.
 */
public final class Allocator implements AutoCloseable {
  private static final long ALIGNMENT = 64;
  private static final long SMALLEST_SLAB = 64 << 10;
  private static final long LARGEST_SLAB = 16 << 20;
  private static final int HOLDERS_NAMED = 5;

  /** What one holder has: the sum over its live blocks. */
  public record Holding(String holder, long bytes) {}

  private final long budget;
  private final long slabBytes;
  private final Blocks blocks = new Blocks();
  private long live;
  private long peak;
  private long mapped;
  private long systemCalls;
  private boolean closed;

  private Allocator(long budget) {
    this.budget = budget;
    long share = Long.highestOneBit(Math.max(1, budget / 64));
    this.slabBytes = Math.clamp(share, SMALLEST_SLAB, LARGEST_SLAB);
  }

  /** An empty allocator that never maps more than {@code budgetBytes}, in whole pages. */
  public static Allocator of(long budgetBytes) {
    if (budgetBytes < 0) {
      throw new IllegalArgumentException(
          "memory budget: got "
              + budgetBytes
              + " bytes, expected at least 0; pass a size such as 2g");
    }
    return new Allocator(budgetBytes);
  }

  /**
   * A block of at least {@code bytes} (0 is legal and gives a block of its own), 64-byte aligned.
   *
   * @param holder who holds it, for messages and reports; many blocks may share a holder
   * @throws OutOfBudgetException when the budget has no room for it
   */
  public synchronized long allocate(long bytes, String holder) {
    requireOpen("allocate");
    if (bytes < 0) {
      throw new IllegalArgumentException(
          "allocate: got "
              + bytes
              + " bytes for "
              + holder
              + ", expected at least 0; check the sizes");
    }
    if (bytes > budget) {
      throw outOfBudget(bytes, holder);
    }
    long size = Math.max(ALIGNMENT, (bytes + ALIGNMENT - 1) & -ALIGNMENT);
    int block = blocks.bestFit(size);
    if (block == Blocks.NONE) {
      block = mapSlab(size);
    }
    if (block == Blocks.NONE) {
      throw outOfBudget(bytes, holder);
    }
    blocks.take(block, size, holder);
    live += size;
    peak = Math.max(peak, live);
    return blocks.address(block);
  }

  /**
   * Gives a block back.
   *
   * @throws IllegalStateException when {@code address} is not that of a live block: never allocated
   *     here, inside a block, or freed before
   */
  public synchronized void free(long address) {
    requireOpen("free");
    int block = blocks.find(address);
    if (block == Blocks.NONE) {
      throw new IllegalStateException(
          "free: got 0x%x, which is not live, expected a live block; free each block once"
              .formatted(address));
    }
    live -= blocks.size(block);
    int merged = blocks.release(block);
    if (blocks.isWholeSlab(merged) && blocks.size(merged) > slabBytes) {
      unmapSlab(merged);
    }
  }

  /** The most bytes that may be mapped. */
  public long budget() {
    return budget;
  }

  /** Bytes in live blocks, each rounded up to 64. */
  public synchronized long live() {
    return live;
  }

  /** The largest value {@link #live} ever had. */
  public synchronized long peak() {
    return peak;
  }

  /** Bytes held from the system: live blocks and the free room in slabs. */
  public synchronized long mapped() {
    return mapped;
  }

  /** How often memory was taken from the system or given back. */
  public synchronized long systemCalls() {
    return systemCalls;
  }

  /** Live bytes by holder, largest first, ties by name. */
  public synchronized List<Holding> holdings() {
    Map<String, Long> sums = new HashMap<>();
    blocks.forEachLive((holder, size) -> sums.merge(holder, size, Long::sum));
    List<Holding> result = new ArrayList<>();
    sums.forEach((holder, bytes) -> result.add(new Holding(holder, bytes)));
    result.sort(Comparator.comparingLong(Holding::bytes).reversed().thenComparing(Holding::holder));
    return List.copyOf(result);
  }

  /** Gives all memory back to the system, live blocks included; the allocator is then unusable. */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    blocks.forEachSlab(Pages::unmap);
    live = 0;
    mapped = 0;
  }

  /** A new slab with room for {@code size}, as one free block; NONE when the budget forbids it. */
  private int mapSlab(long size) {
    long most = Pages.whole(budget);
    if (Pages.whole(size) > most - mapped) {
      releaseFreeSlabs();
    }
    if (Pages.whole(size) > most - mapped) {
      return Blocks.NONE;
    }
    boolean shared = size <= slabBytes / 4;
    long bytes = Pages.whole(shared ? Math.min(slabBytes, most - mapped) : size);
    int block = blocks.addSlab(Pages.map(bytes), bytes);
    mapped += bytes;
    systemCalls++;
    return block;
  }

  private void releaseFreeSlabs() {
    for (int block : blocks.freeSlabs()) {
      unmapSlab(block);
    }
  }

  private void unmapSlab(int block) {
    long address = blocks.address(block);
    long bytes = blocks.size(block);
    blocks.removeSlab(block);
    mapped -= bytes;
    systemCalls++;
    Pages.unmap(address, bytes);
  }

  private OutOfBudgetException outOfBudget(long bytes, String holder) {
    StringBuilder text =
        new StringBuilder("allocate: got a request of %d bytes for %s".formatted(bytes, holder))
            .append(" with %d live and %d mapped".formatted(live, mapped))
            .append(", expected at most %d bytes in all".formatted(budget));
    List<Holding> holdings = holdings();
    if (!holdings.isEmpty()) {
      text.append("; largest holders:");
      holdings.stream()
          .limit(HOLDERS_NAMED)
          .forEach(h -> text.append(" %s %d,".formatted(h.holder(), h.bytes())));
      text.setLength(text.length() - 1);
    }
    text.append("; raise the memory budget, or use a smaller batch, model or table");
    return new OutOfBudgetException(text.toString());
  }

  private void requireOpen(String op) {
    if (closed) {
      throw new IllegalStateException(
          op + ": got a closed allocator, expected an open one; close it after its last user");
    }
  }
}
