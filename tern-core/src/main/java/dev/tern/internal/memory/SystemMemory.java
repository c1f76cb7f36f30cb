package dev.tern.internal.memory;

import java.util.concurrent.atomic.AtomicLong;

/** Memory of the system that no file backs. */
enum SystemMemory implements Backing {
  /** Address space is reserved; memory comes and goes by whole pages. */
  PAGES {
    @Override
    public long reserve(long bytes) {
      return Pages.reserve(bytes);
    }

    @Override
    public int commit(long address, long bytes) {
      Pages.commit(address, bytes);
      return 1;
    }

    @Override
    public int decommit(long address, long bytes) {
      Pages.decommit(address, bytes);
      return 2;
    }

    @Override
    public int unreserve(long address, long bytes) {
      Pages.unreserve(address, bytes);
      return 1;
    }
  },

  /** Memory comes with the address space and goes with it: where nothing can be reserved. */
  ARENAS {
    @Override
    public long reserve(long bytes) {
      return Pages.mapArena(bytes);
    }

    @Override
    public int decommit(long address, long bytes) {
      throw new AssertionError("decommit: " + this + " gives nothing back");
    }

    @Override
    public int unreserve(long address, long bytes) {
      Pages.unmapArena(address, bytes);
      return 1;
    }
  },

  /** Addresses without memory, to try placements out; calls are counted as for pages. */
  NOTHING {
    @Override
    public long reserve(long bytes) {
      return NEXT.getAndAdd(bytes);
    }

    @Override
    public int decommit(long address, long bytes) {
      return 2;
    }
  };

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
  public boolean gives() {
    return this != ARENAS;
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
