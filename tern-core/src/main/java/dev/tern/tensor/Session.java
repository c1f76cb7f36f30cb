package dev.tern.tensor;

import dev.tern.internal.eager.Eager;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * Computes tensors op by op as they are asked for, and keeps what it computed: for programs whose
 * shapes or control flow depend on values. Each tensor, and each it needs, is computed once; its
 * value is that of the moment it was asked for. Values lie within a fixed budget: where there is no
 * room some are dropped, and computed again when they are needed, which gives the same bits.
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
 * <p>Ops run one by one, not fused, so a {@link Computation}, planned as a whole, is faster where
 * shapes are known; and sums over several dimensions may there be added up in another order.
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
  /** When callers get to know of errors. */
  public enum Level {
    /** All is done, and errors are thrown, before a call returns. */
    SYNCHRONOUS,
    /** An op that cannot fit into the budget is refused at the call. */
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

  Session(Eager eager) {
    this.eager = eager;
  }

  /** Has tensors computed. */
  public void run(Tensor... tensors) {
    run(List.of(tensors));
  }

  /** Has tensors computed. */
  public void run(List<Tensor> tensors) {
    eager.run(tensors.stream().map(Tensor::node).toList());
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
    eager.store(
        updates.entrySet().stream()
            .sorted(Comparator.comparingLong(update -> update.getKey().number()))
            .map(update ->
                new Eager.Update(update.getKey().tensor().node(), update.getValue().node()))
            .toList());
  }

  /** Gives up the values of tensors; asked for again, they are computed anew. */
  public void release(Tensor... tensors) {
    eager.release(List.of(tensors).stream().map(Tensor::node).toList());
  }

  /** Returns when all that was asked for is done. */
  public void sync() {
    eager.sync();
  }

  /** What was done; ops that wait are not in it. */
  public Statistics statistics() {
    Eager.Statistics s = eager.statistics();
    return new Statistics(
        s.runs(), s.runsAgain(), s.evictions(), s.bytes(), s.peakBytes(), s.budget(), s.recipes());
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
