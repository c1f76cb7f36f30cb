package dev.tern.internal.memory;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Where the memory of a {@link Range} comes from. Methods return how many system calls they made.
 */
enum Backing {
  /** Address space is reserved; memory comes and goes by whole pages. */
  PAGES {
    @Override
    long reserve(long bytes) {
      return Pages.reserve(bytes);
    }

    @Override
    int commit(long address, long bytes) {
      Pages.commit(address, bytes);
      return 1;
    }

    @Override
    int decommit(long address, long bytes) {
      Pages.decommit(address, bytes);
      return 2;
    }

    @Override
    int unreserve(long address, long bytes) {
      Pages.unreserve(address, bytes);
      return 1;
    }
  },

  /** Memory comes with the address space and goes with it: where nothing can be reserved. */
  ARENAS {
    @Override
    long reserve(long bytes) {
      return Pages.mapArena(bytes);
    }

    @Override
    int unreserve(long address, long bytes) {
      Pages.unmapArena(address, bytes);
      return 1;
    }
  },

  /** Nothing is behind the addresses; calls are counted as those of pages: to rehearse. */
  NOTHING {
    @Override
    long reserve(long bytes) {
      return NEXT.getAndAdd(bytes);
    }

    @Override
    int decommit(long address, long bytes) {
      return 2;
    }
  };

  private static final AtomicLong NEXT = new AtomicLong(Pages.HUGE_PAGE);

  /** The best there is on this system. */
  static Backing ofSystem() {
    return Pages.RESERVES ? PAGES : ARENAS;
  }

  /** An address of {@code bytes}, or 0 when there are none. */
  abstract long reserve(long bytes);

  int commit(long address, long bytes) {
    return 1;
  }

  int decommit(long address, long bytes) {
    throw new UnsupportedOperationException("decommit: got " + this);
  }

  int unreserve(long address, long bytes) {
    return 1;
  }
}
