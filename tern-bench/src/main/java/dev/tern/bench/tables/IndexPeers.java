package dev.tern.bench.tables;

import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.agrona.collections.Long2LongHashMap;
import org.jctools.maps.NonBlockingHashMapLong;

/**
 * Maps of other libraries from ids to row numbers, which grow from nothing. Each has loops of its
 * own: in shared ones the JIT would see all maps, and inline none.
 */
final class IndexPeers {
  private IndexPeers() {}

  /** A map under test. */
  interface Index extends AutoCloseable {
    /** Gives each id that has no row the next one. */
    void insert(long[] ids, int count);

    /** Whether every one of {@code ids[0 .. count)} has a row; looks all of them up. */
    boolean find(long[] ids, int count);

    long size();

    @Override
    default void close() {}
  }

  /** A name, and how to make an empty one. */
  record Contender(String name, Supplier<Index> maker) {}

  static List<Contender> all() {
    return List.of(
        new Contender("fastutil", FastUtil::new),
        new Contender("Agrona", Agrona::new),
        new Contender("JCTools", JcTools::new),
        new Contender("ConcurrentHashMap", Jdk::new));
  }

  private static final class FastUtil implements Index {
    private final Long2IntOpenHashMap map = new Long2IntOpenHashMap();

    FastUtil() {
      map.defaultReturnValue(-1);
    }

    @Override
    public void insert(long[] ids, int count) {
      for (int i = 0; i < count; i++) {
        map.putIfAbsent(ids[i], map.size());
      }
    }

    @Override
    public boolean find(long[] ids, int count) {
      long found = 0;
      for (int i = 0; i < count; i++) {
        found |= map.get(ids[i]);
      }
      return found >= 0;
    }

    @Override
    public long size() {
      return map.size();
    }
  }

  private static final class Agrona implements Index {
    private final Long2LongHashMap map = new Long2LongHashMap(-1);

    @Override
    public void insert(long[] ids, int count) {
      for (int i = 0; i < count; i++) {
        if (map.get(ids[i]) < 0) {
          map.put(ids[i], map.size());
        }
      }
    }

    @Override
    public boolean find(long[] ids, int count) {
      long found = 0;
      for (int i = 0; i < count; i++) {
        found |= map.get(ids[i]);
      }
      return found >= 0;
    }

    @Override
    public long size() {
      return map.size();
    }
  }

  private static final class JcTools implements Index {
    private final NonBlockingHashMapLong<Integer> map = new NonBlockingHashMapLong<>();
    private int rows;

    @Override
    public void insert(long[] ids, int count) {
      for (int i = 0; i < count; i++) {
        if (map.putIfAbsent(ids[i], Integer.valueOf(rows)) == null) {
          rows++;
        }
      }
    }

    @Override
    public boolean find(long[] ids, int count) {
      long found = 0;
      for (int i = 0; i < count; i++) {
        Integer row = map.get(ids[i]);
        found |= row == null ? -1 : row;
      }
      return found >= 0;
    }

    @Override
    public long size() {
      return rows;
    }
  }

  private static final class Jdk implements Index {
    private final ConcurrentHashMap<Long, Integer> map = new ConcurrentHashMap<>();
    private int rows;

    @Override
    public void insert(long[] ids, int count) {
      for (int i = 0; i < count; i++) {
        if (map.putIfAbsent(ids[i], rows) == null) {
          rows++;
        }
      }
    }

    @Override
    public boolean find(long[] ids, int count) {
      long found = 0;
      for (int i = 0; i < count; i++) {
        Integer row = map.get(ids[i]);
        found |= row == null ? -1 : row;
      }
      return found >= 0;
    }

    @Override
    public long size() {
      return rows;
    }
  }
}
