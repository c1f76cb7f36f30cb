package dev.tern.train;

import dev.tern.embedding.TableShard;
import dev.tern.exchange.Exchange;
import dev.tern.exchange.Mesh;
import dev.tern.exchange.Reduction;
import dev.tern.internal.memory.Memory;
import dev.tern.tensor.Variable;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;

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
  private final MemorySegment flag =
      Memory.allocate(Arena.ofAuto(), Long.BYTES, Long.BYTES, "flag of ranks");

  private Ranks(Optional<Mesh> mesh, int firstLane, int endLane) {
    this.mesh = mesh;
    this.firstLane = firstLane;
    this.endLane = endLane;
  }

  /** One rank, which has all lanes, also of batches larger than the options say. */
  static Ranks alone() {
    return new Ranks(Optional.empty(), 0, Integer.MAX_VALUE);
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

  /** The end of this rank's lanes in a full batch; of one rank alone there is none. */
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

  /** Throws if a batch has rows beyond the lanes that ranks share. */
  void requireRows(int rows, int batch) {
    if (mesh.isPresent() && rows > batch) {
      throw new IllegalArgumentException(
          "train: got a batch of %d rows on %d ranks, expected at most the %d of the options, whose lanes they share"
              .formatted(rows, mesh.get().ranks(), batch));
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

  /** Does what others wait for; if it fails, the work of all ranks ends. */
  <T> T together(Supplier<T> work) {
    try {
      return work.get();
    } catch (RuntimeException | Error e) {
      abort(e);
      throw e;
    }
  }

  /**
   * Throws unless all ranks say the same of what they train, and where it stands.
   *
   * @param run model, options, encoder and state
   */
  void requireAlike(Supplier<String> run) {
    if (mesh.isEmpty()) {
      return;
    }
    UUID print = UUID.nameUUIDFromBytes(run.get().getBytes(StandardCharsets.UTF_8));
    if (!alike(print.getMostSignificantBits()) | !alike(print.getLeastSignificantBits())) {
      throw new IllegalStateException(
          "train: got another run on one rank than on another, expected the same model, options, encoder, and step to go on from, on all %d; have all ranks begin alike"
              .formatted(mesh.get().ranks()));
    }
  }

  private boolean alike(long own) {
    return reduced(own, Reduction.LONG_MIN) == reduced(own, Reduction.LONG_MAX);
  }

  private long reduced(long own, Reduction reduction) {
    Memory.setLong(flag.address(), own);
    mesh.orElseThrow().allReduce(flag, reduction).await();
    return Memory.getLong(flag.address());
  }

  /** Whether some rank says so. */
  boolean any(boolean says) {
    return mesh.isEmpty() ? says : reduced(says ? 1 : 0, Reduction.LONG_MAX) != 0;
  }

  /** Ends the work of all ranks, as this one cannot go on. */
  void abort(Throwable reason) {
    mesh.ifPresent(ranks -> ranks.abort(String.valueOf(reason.getMessage())));
  }
}
