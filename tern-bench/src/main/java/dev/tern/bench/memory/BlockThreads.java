package dev.tern.bench.memory;

import java.util.Arrays;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.function.IntFunction;

/** Threads that go through a pattern at the same time, each with blocks of its own. */
final class BlockThreads implements AutoCloseable {
  /** Slots that nobody uses, so that what threads write does not share cache lines. */
  static final int APART = 128;

  private final CyclicBarrier start;
  private final CyclicBarrier end;
  private final long[] heaps;

  /** How often to go through the pattern; 0 ends the threads. The barriers publish it. */
  private int count;

  BlockThreads(BlockPattern pattern, IntFunction<BlockSource> source, int size) {
    start = new CyclicBarrier(size + 1);
    end = new CyclicBarrier(size + 1);
    heaps = new long[size];
    for (int i = 0; i < size; i++) {
      int index = i;
      BlockLoop loop = new BlockLoop(pattern, source.apply(pattern.slots() + APART));
      Thread.ofPlatform().daemon().start(() -> work(loop, index));
    }
  }

  /** Has all threads go through the pattern {@code times} times; returns the nanoseconds. */
  long run(int times) {
    count = times;
    // Before the others start: this thread may be the last to wake up.
    long from = System.nanoTime();
    await(start);
    await(end);
    return System.nanoTime() - from;
  }

  /** Bytes of heap that the last run took. */
  long heap() {
    return Arrays.stream(heaps).sum();
  }

  @Override
  public void close() {
    run(0);
  }

  private void work(BlockLoop loop, int index) {
    int times;
    do {
      await(start);
      times = count;
      if (times > 0) {
        heaps[index] = loop.run(times);
      } else {
        loop.end();
      }
      await(end);
    } while (times > 0);
  }

  private static void await(CyclicBarrier barrier) {
    try {
      barrier.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("bench allocator: interrupted in a round", e);
    } catch (BrokenBarrierException e) {
      throw new IllegalStateException("bench allocator: a thread failed", e);
    }
  }
}
