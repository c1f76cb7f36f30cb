package dev.tern.predict;

import dev.tern.data.Batch;
import dev.tern.data.encode.ColumnCounts;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.model.Network;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The contexts of a predictor, made when first needed. There are as many as threads can compute at
 * once, and no more: further callers wait for their turn, which costs less than memory for each of
 * them would.
 */
final class Contexts {
  private static final long MOST_WARMING_NANOS = 10_000_000_000L;

  private final FeatureEncoder encoder;
  private final Network network;
  private final ArrayDeque<Context> free = new ArrayDeque<>();
  private final int count;
  private int left;
  private boolean closed;

  /** For the one thread that prepares. */
  private boolean prepared;

  /**
   * @param threads that one call may have
   */
  Contexts(FeatureEncoder encoder, Network network, int threads) {
    this.encoder = encoder;
    this.network = network;
    count = Math.max(threads, Runtime.getRuntime().availableProcessors());
    left = count;
  }

  /**
   * A context of one's own until {@link #give}. An interrupt does not end the wait, but is kept.
   */
  Context take() {
    // A lock, as a concurrent queue would allocate an object for each call.
    synchronized (this) {
      boolean interrupted = false;
      while (free.isEmpty() && left == 0 && !closed) {
        try {
          wait();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
      if (closed) {
        throw new IllegalStateException("predictor: got a call after close; open a new one");
      }
      if (!free.isEmpty()) {
        return free.pollFirst();
      }
      left--;
    }
    try {
      return new Context(encoder, network);
    } catch (RuntimeException | Error e) {
      lost();
      throw e;
    }
  }

  private synchronized void lost() {
    left++;
    notify();
  }

  synchronized void give(Context context) {
    free.addFirst(context);
    notify();
  }

  /**
   * Writes the logits of rows {@code [from, to)} to the places of the same rows in {@code target},
   * and adds their unknown values to {@code counts}.
   */
  void logits(Batch rows, int from, int to, float[] target, Optional<ColumnCounts> counts) {
    Context context = take();
    try {
      for (int at = from; at < to; at += Context.MOST_ROWS) {
        context.logits(rows, at, Math.min(to, at + Context.MOST_ROWS), target);
        if (counts.isPresent()) {
          context.countUnknown(counts.get());
        }
      }
    } finally {
      give(context);
    }
  }

  /** As {@link #logits} for rows that are encoded already, which are not counted. */
  void encodedLogits(Batch rows, int from, int to, float[] target) {
    Context context = take();
    try {
      for (int at = from; at < to; at += Context.MOST_ROWS) {
        context.encodedLogits(rows, at, Math.min(to, at + Context.MOST_ROWS), target);
      }
    } finally {
      give(context);
    }
  }

  /**
   * Makes all contexts and runs their scorers until the JIT has compiled what these run, 10 seconds
   * at most.
   */
  void warmUp() {
    long end = System.nanoTime() + MOST_WARMING_NANOS;
    forAll(all -> {
      boolean ready = false;
      while (!ready && System.nanoTime() < end) {
        ready = true;
        for (Context context : all) {
          ready &= context.warmUp();
        }
      }
    });
  }

  /** Makes all contexts and their scorers, once. */
  void prepare() {
    if (!prepared) {
      forAll(all -> all.forEach(Context::prepare));
      prepared = true;
    }
  }

  private void forAll(Consumer<List<Context>> use) {
    List<Context> all = new ArrayList<>();
    try {
      for (int left = count; left > 0; left--) {
        all.add(take());
      }
      use.accept(all);
    } finally {
      all.forEach(this::give);
    }
  }

  /** Calls from here on are refused; no call may be under way. */
  synchronized void close() {
    closed = true;
    notifyAll();
    free.forEach(Context::close);
    free.clear();
  }
}
