package dev.tern.internal.table.tier;

import java.nio.file.Path;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The folder, the memory and the writing thread that the tables of a file tier share. A table takes
 * memory as it grows and keeps it until it is closed. Several threads may take and give back.
 */
public final class TierMemory {
  /** The writing thread ends when it has no work for so long; new work starts another. */
  private static final int IDLE_SECONDS = 1;

  private final Path folder;
  private final long memory;
  private final AtomicLong left;
  private final Executor writer;

  /**
   * Memory of which no table has taken any.
   *
   * @param memory bytes
   * @param writer runs one task at a time, which writes files
   */
  public TierMemory(Path folder, long memory, Executor writer) {
    this.folder = folder;
    this.memory = memory;
    this.writer = writer;
    left = new AtomicLong(memory);
  }

  /** Memory with a thread that writes the files. */
  public static TierMemory of(Path folder, long memory) {
    ThreadPoolExecutor writer =
        new ThreadPoolExecutor(
            1,
            1,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            Thread.ofPlatform().daemon().name("tern-spill").factory());
    writer.allowCoreThreadTimeOut(true);
    return new TierMemory(folder, memory, writer);
  }

  public Path folder() {
    return folder;
  }

  /** Bytes that tables may hold in memory. */
  public long memory() {
    return memory;
  }

  /** Bytes that no table has taken. */
  public long left() {
    return left.get();
  }

  /** Takes up to {@code most} bytes; none, and returns 0, if less than {@code least} is left. */
  public long take(long least, long most) {
    long before = left.getAndUpdate(bytes -> bytes < least ? bytes : bytes - Math.min(bytes, most));
    return before < least ? 0 : Math.min(before, most);
  }

  Executor writer() {
    return writer;
  }

  public void giveBack(long bytes) {
    left.addAndGet(bytes);
  }
}
