package dev.tern.serve.http;

import dev.tern.serve.ServedVersion;
import dev.tern.serve.wire.RefusedException;
import java.util.Optional;
import java.util.OptionalLong;

/** A model that requests are answered by: at one step at a time, which may change between them. */
interface LiveModel extends AutoCloseable {
  /** The version that answers now, held until the lease is closed. */
  Lease lease();

  /** The step of training that is served. */
  long step();

  /** When this step was taken into use, in milliseconds since 1970. */
  long loadedMillis();

  /** Bytes of memory outside the heap: tables, weights, working memory. */
  long memoryBytes();

  /** What is known about its updates and its candidates. */
  default Facts facts() {
    return new Facts(0, 0, Optional.empty(), Optional.empty());
  }

  /**
   * Facts for who watches a model.
   *
   * @param deltas updates so far that were taken as changes
   * @param deltaRows ids of tables that these changed
   * @param writtenMillis when the checkpoint served was written, where that is known
   * @param candidates items that it finds, if it does
   */
  record Facts(
      long deltas, long deltaRows, Optional<Long> writtenMillis, Optional<Candidates> candidates) {}

  /**
   * Items that are compared.
   *
   * @param bytes of their vectors, outside the heap
   */
  record Candidates(int items, long bytes) {}

  /** Drives the model until its first request is as fast as later ones. No request is under way. */
  void warmUp();

  /** From here on serves the checkpoints that training writes, if it was opened so. */
  void follow();

  /**
   * Serves another step.
   *
   * @param step one that can still be loaded; empty is the newest
   * @throws RefusedException where there is no such step, or the model cannot change
   */
  void load(OptionalLong step);

  /** What brings its checkpoints; empty if they are in the folder by themselves. */
  default Optional<ModelFeed> feed() {
    return Optional.empty();
  }

  /** Frees it; no lease is open. */
  @Override
  void close();

  /** A version of a model while a request uses it. */
  interface Lease extends AutoCloseable {
    ServedVersion version();

    @Override
    void close();
  }
}
