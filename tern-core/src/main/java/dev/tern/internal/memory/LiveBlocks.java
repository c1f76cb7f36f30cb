package dev.tern.internal.memory;

import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * All blocks of off-heap memory in the process, for the checked mode of {@link Memory}. An access
 * must lie in one live block; bounds are exact to the byte. Freed blocks are remembered, so that
 * the error for a use after free names the last holder. Of the blocks that arenas freed, the last
 * {@value #REMEMBERED} are remembered; of an allocator's, those that {@link GuardedBlocks} keeps.
 *
 * <p>Two tables, indexed by parts of the address, hold the blocks found last. They are read without
 * a lock. A stale entry does no harm: a block never changes, except that it ends, which is checked.
 *
 * <p>Thread-safe.
 */
final class LiveBlocks {
  private static final int REMEMBERED = 4096;
  private static final int MASK = (1 << 16) - 1;
  private static final int LINE_SHIFT = 6;
  private static final int REGION_SHIFT = 16;

  private static final Block NOWHERE = new Block(0, -1, "nobody", Optional.empty());
  private static final Block[] BY_LINE = nowhere();
  private static final Block[] BY_REGION = nowhere();

  /** Blocks by their first address, which do not overlap; live ones and remembered ones. */
  private static final ConcurrentSkipListMap<Long, Block> BLOCKS = new ConcurrentSkipListMap<>();

  /** Blocks of arenas, the oldest first. Each time one is added, the first two go if they ended. */
  private static final ArrayDeque<Block> OF_ARENAS = new ArrayDeque<>();

  private LiveBlocks() {}

  private static Block[] nowhere() {
    Block[] blocks = new Block[MASK + 1];
    Arrays.fill(blocks, NOWHERE);
    return blocks;
  }

  /** A block, which may have ended. */
  static final class Block {
    private final long address;
    private final long bytes;
    private final String holder;

    /** For a block of an arena: its memory is gone once this is collected or closed. */
    private final Optional<WeakReference<MemorySegment.Scope>> scope;

    private volatile boolean isFreed;

    private Block(
        long address,
        long bytes,
        String holder,
        Optional<WeakReference<MemorySegment.Scope>> scope) {
      this.address = address;
      this.bytes = bytes;
      this.holder = holder;
      this.scope = scope;
    }

    private boolean holds(long from, long count) {
      long offset = from - address;
      return offset >= 0 && offset <= bytes - count && isLive();
    }

    private boolean isLive() {
      if (isFreed || scope.isEmpty()) {
        return !isFreed;
      }
      MemorySegment.Scope end = scope.get().get();
      return end != null && end.isAlive();
    }

    private long end() {
      return address + bytes;
    }

    @Override
    public String toString() {
      String state = isLive() ? "" : ", freed";
      return String.format(
          Locale.ROOT, "\"%s\" (%,d bytes at 0x%x%s)", holder, bytes, address, state);
    }
  }

  /**
   * Checks an access.
   *
   * @throws AssertionError if no live block holds all of its bytes
   */
  static void require(long address, long bytes) {
    if (!BY_REGION[(int) (address >>> REGION_SHIFT) & MASK].holds(address, bytes)
        && !BY_LINE[(int) (address >>> LINE_SHIFT) & MASK].holds(address, bytes)) {
      find(address, bytes);
    }
  }

  private static void find(long address, long bytes) {
    Map.Entry<Long, Block> entry = BLOCKS.floorEntry(address);
    if (entry != null && entry.getValue().holds(address, bytes)) {
      BY_REGION[(int) (address >>> REGION_SHIFT) & MASK] = entry.getValue();
      BY_LINE[(int) (address >>> LINE_SHIFT) & MASK] = entry.getValue();
    } else if (bytes > 0) {
      throw new AssertionError(
          "memory: got an access of %d bytes %s, expected one inside a live block; "
                  .formatted(bytes, place(address))
              + "look for a wrong index or size, or for a use after free, where the stack begins");
    }
  }

  /** Where an address is, seen from the nearest block. */
  private static String place(long address) {
    Map.Entry<Long, Block> floor = BLOCKS.floorEntry(address);
    Map.Entry<Long, Block> above = BLOCKS.higherEntry(address);
    Block below = floor == null ? NOWHERE : floor.getValue();
    long past = address - below.end();
    if (below != NOWHERE && past < 0) {
      return "at offset %d of block %s".formatted(address - below.address, below);
    }
    if (above != null && (below == NOWHERE || above.getKey() - address < past)) {
      return "at %d bytes before block %s".formatted(above.getKey() - address, above.getValue());
    }
    return below == NOWHERE
        ? "at 0x%x, near no block".formatted(address)
        : "at %d bytes past the end of block %s".formatted(past, below);
  }

  /**
   * Adds the memory of a segment, unless a live block holds all of it. Slices of one segment may
   * come one after another and overlap: their memory becomes one block.
   */
  static synchronized void addUnknown(MemorySegment segment, String holder) {
    long from = segment.address();
    long end = from + segment.byteSize();
    Map.Entry<Long, Block> last = BLOCKS.floorEntry(from);
    if (last != null && last.getValue().holds(from, end - from)) {
      return;
    }
    last = BLOCKS.lowerEntry(end);
    while (last != null && last.getValue().end() > from && last.getValue().isLive()) {
      from = Math.min(from, last.getKey());
      end = Math.max(end, last.getValue().end());
      BLOCKS.remove(last.getKey());
      last = BLOCKS.lowerEntry(end);
    }
    add(new Block(from, end - from, holder, scope(segment)));
  }

  /** Adds the memory of a segment, which lives as long as its scope. */
  static void add(MemorySegment segment, String holder) {
    Block block = new Block(segment.address(), segment.byteSize(), holder, scope(segment));
    add(block);
    synchronized (OF_ARENAS) {
      OF_ARENAS.add(block);
      for (int i = 0; i < 2 && OF_ARENAS.size() > REMEMBERED; i++) {
        Block oldest = OF_ARENAS.remove();
        if (oldest.isLive()) {
          OF_ARENAS.add(oldest);
        } else {
          forget(oldest);
        }
      }
    }
  }

  private static Optional<WeakReference<MemorySegment.Scope>> scope(MemorySegment segment) {
    return Optional.of(new WeakReference<>(segment.scope()));
  }

  /** Adds a block that lives until {@link #end}. */
  static Block add(long address, long bytes, String holder) {
    return add(new Block(address, bytes, holder, Optional.empty()));
  }

  private static Block add(Block block) {
    Map.Entry<Long, Block> last = BLOCKS.lowerEntry(block.address + Math.max(1, block.bytes));
    while (last != null && last.getValue().end() > block.address) {
      if (last.getValue().isLive()) {
        throw new AssertionError(
            "memory: got block %s, expected one apart from block %s, which is live"
                .formatted(block, last.getValue()));
      }
      forget(last.getValue());
      last = BLOCKS.lowerEntry(last.getKey());
    }
    BLOCKS.put(block.address, block);
    return block;
  }

  /** Ends a block's life; it is remembered until {@link #forget}. */
  static void end(Block block) {
    block.isFreed = true;
  }

  /** Forgets a block that has ended. */
  static void forget(Block block) {
    BLOCKS.remove(block.address, block);
  }
}
