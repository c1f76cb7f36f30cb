package dev.tern.internal.memory;

import java.lang.foreign.Arena;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** Memory of the system that no file backs. */
enum SystemMemory implements Backing {
  /** Address space is reserved; memory comes and goes by whole pages. On Linux. */
  PAGES {
    @Override
    public long reserve(long bytes) {
      return Pages.Linux.reserve(bytes);
    }

    @Override
    public int commit(long address, long bytes) {
      Pages.Linux.commit(address, bytes);
      return 1;
    }

    @Override
    public int decommit(long address, long bytes) {
      Pages.Linux.decommit(address, bytes);
      return 2;
    }

    @Override
    public int unreserve(long address, long bytes) {
      Pages.Linux.unreserve(address, bytes);
      return 1;
    }
  },

  /** Arenas of the JDK, whose memory comes and goes with the addresses. On other systems. */
  ARENAS {
    @Override
    public long reserve(long bytes) {
      Arena arena = Arena.ofShared();
      long address = arena.allocate(bytes, 64).address();
      ARENA_AT.put(address, arena);
      return address;
    }

    @Override
    public int decommit(long address, long bytes) {
      throw new AssertionError("decommit: " + this + " gives nothing back");
    }

    @Override
    public int unreserve(long address, long bytes) {
      Objects.requireNonNull(ARENA_AT.remove(address)).close();
      return 1;
    }
  },

  /** Addresses without memory, to try placements out. Calls are counted as for pages. */
  NOTHING {
    @Override
    public long reserve(long bytes) {
      return NEXT.getAndAdd(bytes);
    }

    @Override
    public int decommit(long address, long bytes) {
      return 2;
    }

    @Override
    public boolean isReadable() {
      return false;
    }
  };

  private static final Map<Long, Arena> ARENA_AT = new ConcurrentHashMap<>();
  private static final AtomicLong NEXT = new AtomicLong(Pages.HUGE_PAGE);

  /** The best there is on this system. */
  static Backing best() {
    return Pages.RESERVES ? PAGES : ARENAS;
  }

  @Override
  public boolean isWhole() {
    return this == ARENAS;
  }

  @Override
  public int commit(long address, long bytes) {
    return 1;
  }

  @Override
  public int unreserve(long address, long bytes) {
    return 1;
  }
}
