package dev.tern.exchange;

/**
 * An operation of a {@link Mesh} in flight. The thread that began it may compute meanwhile and
 * waits for it in the end, exactly once:
 *
 * <pre>{@code
 * mesh.allReduce(gradients, Reduction.FLOAT_SUM).await();       // at once
 *
 * Exchange ids = mesh.allToAll(out, outStarts, in, inStarts, received).start();
 * compute();                                                    // ids move meanwhile
 * long bytes = ids.await();
 * }</pre>
 *
 * <p>Until {@link #await} returns, the memory of the operation belongs to it: what is sent must not
 * change, what is received is not whole, and neither may be freed. Handles are used again for later
 * operations, so one is of no use after its wait.
 */
public final class Exchange {
  private final MeshDriver driver;
  private final Collective collective;

  Exchange(MeshDriver driver, Collective collective) {
    this.driver = driver;
    this.collective = collective;
  }

  /**
   * Has the thread of the mesh move the bytes of this operation while nobody waits for one. Without
   * it they move only while some thread waits, which costs less: leave it out where {@link #await}
   * follows at once.
   *
   * @return this handle
   */
  public Exchange start() {
    driver.start(collective);
    return this;
  }

  /** Whether it is done or can never be: then {@link #await} returns, or throws, at once. */
  public boolean isDone() {
    return driver.isDone(collective);
  }

  /**
   * Waits until this rank has sent and received all that the operation asks of it. If this thread
   * is interrupted, the mesh ends on all ranks.
   *
   * @return bytes received from other ranks, those of partial sums included
   * @throws MeshException if the mesh failed: a peer ended, was late, sent something else, or
   *     somebody called {@link Mesh#abort}. The memory of the operation is not touched any more
   * @throws IllegalStateException if somebody waited for it before
   */
  public long await() {
    return driver.await(collective);
  }
}
