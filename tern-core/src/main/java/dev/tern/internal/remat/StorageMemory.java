package dev.tern.internal.remat;

import dev.tern.internal.memory.BlockArena;
import java.util.Optional;

/** The memory that a {@link Residency} fills. */
public sealed interface StorageMemory {
  /** No handle. */
  long NONE = BlockArena.NONE;

  /**
   * A handle to memory for a storage, or NONE where there is none.
   *
   * @param life how often it got memory before
   */
  long take(int storage, long bytes, int life);

  void give(long handle, long bytes);

  /** Gives memory to another storage; returns the new handle. */
  long pass(long handle, long bytes, int toStorage);

  /** Notes the new number of a storage. */
  default void renumber(long handle, int storage) {}

  /** Bytes there are in all. */
  long capacity();

  long used();

  /** The most bytes that were used at any time. */
  long peakUsed();

  /** The largest end of any storage so far. */
  long peakReserved();

  /** Copies bytes from one offset to a lower one; the ranges may overlap. */
  interface Mover {
    void move(long from, long to, long bytes);
  }

  /**
   * Places in an arena.
   *
   * @param mover moves storages to make one gap of several, unless there is none
   */
  record Placed(BlockArena arena, Foresight foresight, Optional<Mover> mover)
      implements StorageMemory {
    /** Places that stay the same until memory is given back. */
    public Placed(BlockArena arena, Foresight foresight) {
      this(arena, foresight, Optional.empty());
    }

    @Override
    public long take(int storage, long bytes, int life) {
      if (isFull(bytes)) {
        return NONE;
      }
      long offset = foresight.offset(storage, life);
      if (offset != Foresight.ANYWHERE && offset + bytes <= arena.capacity()) {
        long handle = arena.allocateAt(offset, bytes, storage);
        if (handle != NONE) {
          return handle;
        }
      }
      return arena.allocate(bytes, BlockArena.End.LOW, storage);
    }

    /** Whether foresight allows no more bytes, even if there is a place for them. */
    boolean isFull(long bytes) {
      return bytes > foresight.room() - arena.requestedBytes().current();
    }

    @Override
    public void give(long handle, long bytes) {
      arena.free(handle);
    }

    @Override
    public long pass(long handle, long bytes, int toStorage) {
      long offset = arena.offset(handle);
      arena.free(handle);
      return arena.allocateAt(offset, bytes, toStorage);
    }

    @Override
    public void renumber(long handle, int storage) {
      arena.setTag(handle, storage);
    }

    @Override
    public long capacity() {
      return arena.capacity();
    }

    @Override
    public long used() {
      return arena.allocatedBytes().current();
    }

    @Override
    public long peakUsed() {
      return arena.allocatedBytes().peak();
    }

    @Override
    public long peakReserved() {
      return arena.reservedBytes().peak();
    }
  }

  /** Bytes that are only counted, as if any gap could be used; published simulators do so. */
  final class Counted implements StorageMemory {
    private final long capacity;
    private long used;
    private long peak;

    public Counted(long capacity) {
      this.capacity = capacity;
    }

    @Override
    public long take(int storage, long bytes, int life) {
      if (bytes > capacity - used) {
        return NONE;
      }
      used += bytes;
      peak = Math.max(peak, used);
      return 0;
    }

    @Override
    public void give(long handle, long bytes) {
      used -= bytes;
    }

    @Override
    public long pass(long handle, long bytes, int toStorage) {
      return handle;
    }

    @Override
    public long capacity() {
      return capacity;
    }

    @Override
    public long used() {
      return used;
    }

    @Override
    public long peakUsed() {
      return peak;
    }

    @Override
    public long peakReserved() {
      return peak;
    }
  }
}
