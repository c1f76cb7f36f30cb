package dev.tern.tensor;

import dev.tern.internal.eager.Eager;
import dev.tern.internal.ir.Node;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * Computes tensors op by op when they are asked for, and keeps the values. It is for programs whose
 * shapes or control flow depend on values. Each tensor and each that it needs is computed once,
 * from what variables hold at the moment of the call. Values take a fixed budget of memory. Where
 * room is short, some are dropped and computed again when they are needed, to the same bits.
 *
 * <pre>{@code
 * try (Session session = device.session(64 << 20)) {
 *   Tensor x = Tensor.of(Shape.of(3), 1, 2, 3);
 *   while (session.item(x.sum()) < 1000) { // each round reads what the one before computed
 *     x = x.mul(x).add(1);
 *   }
 *   List<Tensor> gradients = Tensor.gradients(loss, weights);
 *   session.run(gradients); // uses values of the forward pass that are still there
 * }
 * }</pre>
 *
 * <p>Ops are not fused, so a {@link Computation} is faster where shapes are known. It may add up
 * sums over several dimensions in another order.
 *
 * <p>Ops run on a thread of the session's own while the caller goes on. An op that failed fails
 * what needs it; the error names the op and the line that asked for it. Writing a {@link Variable},
 * by its methods, by {@link #store} or by a Computation's update, waits for the ops that read it.
 * What was computed from the old content and was asked for (by {@code run}, {@code get} or {@code
 * item}) is kept; what came up on the way cannot be used any more, which is an error. The tensor of
 * a variable, and a view of it, has no value of its own: it shows what the variable holds when it
 * is read.
 *
 * <p>A tensor's value goes when the tensor and all recorded from it are unreachable, or by {@link
 * #release}. Any number of threads may call.
 */
public final class Session implements AutoCloseable {
  /** When callers learn of errors. */
  public enum Level {
    /** A call returns when its ops are done, and throws their errors. */
    SYNCHRONOUS,
    /**
     * The call throws if an op cannot fit into the budget; other errors show when values are read.
     */
    ERRORS_SYNCHRONOUS,
    /** All errors show when values are read. */
    ASYNCHRONOUS,
  }

  /**
   * What was done so far.
   *
   * @param runs of ops
   * @param runsAgain of these, those that computed what had been dropped
   * @param evictions values dropped for want of room
   * @param bytes of values in memory, in steps of 64
   * @param peakBytes most of them at any time, with what ops take while they run
   * @param budget most there may be
   * @param recipes ops that are remembered
   */
  public record Statistics(
      long runs,
      long runsAgain,
      long evictions,
      long bytes,
      long peakBytes,
      long budget,
      int recipes) {}

  private final Eager eager;
  private final Level level;

  Session(Eager eager, Level level) {
    this.eager = eager;
    this.level = level;
  }

  /** Asks for tensors. At level SYNCHRONOUS, returns when they are computed. */
  public void run(Tensor... tensors) {
    run(List.of(tensors));
  }

  /** Asks for tensors. At level SYNCHRONOUS, returns when they are computed. */
  public void run(List<Tensor> tensors) {
    List<Node> nodes = tensors.stream().map(Tensor::node).toList();
    if (level == Level.SYNCHRONOUS) {
      eager.runToEnd(nodes);
    } else {
      eager.run(nodes);
    }
  }

  /**
   * The elements of a tensor, row-major, converted to float.
   *
   * @throws IllegalStateException when an op failed that it takes, or the session is closed
   */
  public float[] get(Tensor tensor) {
    return eager.get(tensor.node());
  }

  /** The one element of a tensor. */
  public float item(Tensor tensor) {
    if (tensor.shape().elements() != 1) {
      throw new IllegalArgumentException(
          "item: got shape " + tensor.shape() + ", expected one element; use get");
    }
    return get(tensor)[0];
  }

  /**
   * Computes tensors and writes them into variables of their shapes and types; all are computed
   * before the first is written. Returns when it is done.
   *
   * @throws IllegalArgumentException when a shape or type is not that of the variable
   * @throws IllegalStateException when one of them cannot be computed
   */
  public void store(Map<Variable, Tensor> updates) {
    if (level == Level.SYNCHRONOUS) {
      run(List.copyOf(updates.values()));
    }
    eager.store(
        updates.entrySet().stream()
            .sorted(Comparator.comparingLong(update -> update.getKey().number()))
            .map(update ->
                new Eager.Update(update.getKey().tensor().node(), update.getValue().node()))
            .toList());
  }

  /** Drops the values of tensors. Asked for again, a tensor is computed anew. */
  public void release(Tensor... tensors) {
    eager.release(List.of(tensors).stream().map(Tensor::node).toList());
  }

  /** Returns when all ops asked for so far are done. */
  public void sync() {
    eager.sync();
  }

  /** What was done so far, without the ops that wait. */
  public Statistics statistics() {
    Eager.Counts c = eager.counts();
    return new Statistics(
        c.runs(),
        c.runsAgain(),
        c.evictions(),
        c.bytes().current(),
        c.bytes().peak(),
        eager.budget(),
        c.ops());
  }

  /**
   * Ends the session after the op that runs, and frees its memory. Who waits for a value gets an
   * IllegalStateException.
   */
  @Override
  public void close() {
    eager.close();
  }
}
