package dev.tern.train;

import dev.tern.embedding.TableShard;
import dev.tern.exchange.Exchange;
import dev.tern.exchange.Mesh;
import dev.tern.exchange.Reduction;
import dev.tern.internal.memory.Memory;
import dev.tern.tensor.Variable;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;

/**
 * The ranks that train one model together, seen from one of them; or one alone. A rank has its
 * {@link TableShard#ofRank share} of the lanes of each batch and of the rows of each table, and all
 * dense parameters.
 */
final class Ranks {
  /** Adding it changes no number, not even -0. */
  private static final int NOTHING = Float.floatToRawIntBits(-0f);

  private final Optional<Mesh> mesh;
  private final int firstLane;
  private final int endLane;
  private final MemorySegment flag = Arena.ofAuto().allocate(Long.BYTES, Long.BYTES);

  private Ranks(Optional<Mesh> mesh, int firstLane, int endLane) {
    this.mesh = mesh;
    this.firstLane = firstLane;
    this.endLane = endLane;
  }

  /** One rank, which has all {@code lanes} of a full batch. */
  static Ranks alone(int lanes) {
    return new Ranks(Optional.empty(), 0, lanes);
  }

  /** The ranks of a mesh, which share the lanes of {@code options}. */
  static Ranks of(Mesh mesh, TrainOptions options) {
    require(mesh.ranks(), options);
    TableShard share = TableShard.ofRank(mesh.rank(), mesh.ranks());
    int each = options.lanes() / share.count();
    return new Ranks(Optional.of(mesh), each * share.number(), each * (share.number() + 1));
  }

  boolean isAlone() {
    return mesh.isEmpty();
  }

  /** The first of this rank's lanes. */
  int firstLane() {
    return firstLane;
  }

  /** The end of this rank's lanes in a full batch. */
  int endLane() {
    return endLane;
  }

  /** Throws if so many ranks cannot train with these options. */
  private static void require(int ranks, TrainOptions options) {
    int least = Math.max(2, TableShard.countOfRanks(ranks));
    if (options.lanes() < least) {
      throw new IllegalArgumentException(
          "train: got %d lanes on %d ranks, expected a power of two from %d on, as ranks compute whole lanes; set lanes"
              .formatted(options.lanes(), ranks, least));
    }
    if (!options.deltas().isNever()) {
      throw new IllegalArgumentException(
          "train: got checkpoints of changes on %d ranks, expected full ones; leave deltas out"
              .formatted(ranks));
    }
  }

  /** Sums of floats over all ranks, in place: {@link #begin}, then {@link #await}. */
  final class Sums {
    private final MemorySegment[] floats;
    private final Exchange[] running;

    private Sums(List<Variable> variables) {
      floats =
          variables.stream()
              .map(each -> each.memory().asSlice(0, 4L * each.shape().elements()))
              .toArray(MemorySegment[]::new);
      running = new Exchange[floats.length];
    }

    /**
     * Begins to add up; the floats are not whole until {@link #await}.
     *
     * @param has whether this rank has anything to add
     */
    void begin(boolean has) {
      for (int i = 0; mesh.isPresent() && i < floats.length; i++) {
        if (!has) {
          clear(floats[i]);
        }
        running[i] = mesh.get().allReduce(floats[i], Reduction.FLOAT_SUM).start();
      }
    }

    /** Waits until all have come. */
    void await() {
      for (int i = 0; mesh.isPresent() && i < floats.length; i++) {
        running[i].await();
      }
    }
  }

  /** Sums of these variables. */
  Sums sums(List<Variable> variables) {
    return new Sums(variables);
  }

  /** Makes floats such that adding them changes nothing. */
  static void clear(MemorySegment floats) {
    for (long at = 0; at < floats.byteSize(); at += Float.BYTES) {
      Memory.setInt(floats.address() + at, NOTHING);
    }
  }

  /** Whether some rank says so. */
  boolean any(boolean says) {
    if (mesh.isEmpty()) {
      return says;
    }
    Memory.setLong(flag.address(), says ? 1 : 0);
    mesh.get().allReduce(flag, Reduction.LONG_MAX).await();
    return Memory.getLong(flag.address()) != 0;
  }

  /** Ends the work of all ranks, as this one cannot go on. */
  void abort(Throwable reason) {
    mesh.ifPresent(ranks -> ranks.abort(String.valueOf(reason.getMessage())));
  }
}
