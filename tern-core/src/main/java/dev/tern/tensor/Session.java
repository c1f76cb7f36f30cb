package dev.tern.tensor;

import dev.tern.internal.eager.Eager;
import dev.tern.internal.ir.Node;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * Computes tensors op by op when they are asked for, and keeps the values. It is for programs whose
 * shapes or control flow depend on values. Each tensor, and each tensor that it needs, is computed
 * once, from what variables hold at the moment of the call. Values take a fixed budget of memory.
 * Where room is short, some are dropped and computed again when needed, to the same bits.
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
 * <p>Ops are not fused, so a {@link Computation} is faster where shapes are known. A Computation
 * may add up sums over several dimensions in another order.
 *
 * <p>Ops run on a thread of the session while the caller goes on. If an op fails, all ops that need
 * it fail; the error names the op and the line that asked for it.
 *
 * <p>Writes to a {@link Variable}, by its methods, by {@link #store} or by a Computation's update,
 * wait for the ops that read it. Values that were computed from the old content are kept if they
 * were asked for by {@code run}, {@code get} or {@code item}. Other values from the old content
 * cannot be used any more; to need one is an error. The tensor of a variable, and a view of it,
 * shows what the variable holds when it is read.
 *
 * <p>A value is freed by {@link #release}, or when its tensor and all tensors recorded from it are
 * unreachable. Any number of threads may call.
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
   * @param runsAgain runs that computed a dropped value again
   * @param evictions values dropped because room was short
   * @param bytes of values in memory, in steps of 64
   * @param peakBytes most bytes at any time, with what ops take while they run
   * @param budget limit of the bytes
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

  /** {@link #run(List)}. */
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
   * @throws IllegalStateException when an op that it needs failed, or the session is closed
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
   * Computes tensors and writes them into variables of the same shapes and types; all are computed
   * before the first is written. Returns when it is done.
   *
   * @throws IllegalArgumentException when a variable has another shape or type
   * @throws IllegalStateException when a tensor cannot be computed
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

  /** Drops the values of tensors, which are computed again when asked for again. */
  public void release(Tensor... tensors) {
    eager.release(List.of(tensors).stream().map(Tensor::node).toList());
  }

  /** Returns when all ops asked for so far are done. */
  public void sync() {
    eager.sync();
  }

  /** What was done so far; ops that wait do not count. */
  public Statistics statistics() {
    Eager.Counts c = eager.counts();
    long bytes = c.bytes().current();
    long peak = c.bytes().peak();
    return new Statistics(
        c.runs(), c.runsAgain(), c.evictions(), bytes, peak, eager.budget(), c.ops());
  }

  /**
   * Ends the session after the op that runs, and frees its memory. Calls that wait for a value
   * throw an IllegalStateException.
   */
  @Override
  public void close() {
    eager.close();
  }
}
