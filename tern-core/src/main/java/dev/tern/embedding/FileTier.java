package dev.tern.embedding;

import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Where rows go that memory has no room for: a folder, and the memory that the tables made with
 * this tier share. A table takes of it as it grows, and what it took it keeps until it is closed;
 * once nothing is left each makes room for new rows by moving others to a file of its own, which a
 * thread of the tier writes meanwhile. What is in memory and what in a file never shows in a
 * result. The files are no checkpoints, have no names and are gone with their tables. Linux alone.
 * Tables of one tier may be used by several threads at once.
 */
public final class FileTier {
  /** After which the thread that writes ends, until there is something to write again. */
  private static final int IDLE_SECONDS = 1;

  private final Path folder;
  private final long memory;
  private final AtomicLong left;
  private final Executor writer;

  /** With a thread that writes the files, one thing at a time. */
  FileTier(Path folder, long memory, Executor writer) {
    this.folder = folder;
    this.memory = memory;
    this.writer = writer;
    left = new AtomicLong(memory);
  }

  /**
   * A tier of its own.
   *
   * @param folder takes files of about twice the bytes of the rows in them
   * @param memory bytes that tables may hold in memory, indexes and all else included, but for the
   *     rows in files that a {@link Lookup} has copies of, which belong to it: without insert all
   *     that it finds there; in training those looked up ahead, a 32nd of its table's memory
   */
  public static FileTier of(Path folder, long memory) {
    Objects.requireNonNull(folder, "folder");
    if (memory < 1) {
      throw new IllegalArgumentException(
          "file tier: got " + memory + " bytes of memory, expected 1 or more");
    }
    return new FileTier(folder, memory, newWriter());
  }

  private static Executor newWriter() {
    ThreadPoolExecutor writer =
        new ThreadPoolExecutor(
            1,
            1,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            Thread.ofPlatform().daemon().name("tern-spill").factory());
    writer.allowCoreThreadTimeOut(true);
    return writer;
  }

  /** Takes the files. */
  public Path folder() {
    return folder;
  }

  /** Bytes that tables may hold in memory. */
  public long memory() {
    return memory;
  }

  /** Bytes of these that no table has taken. */
  public long left() {
    return left.get();
  }

  /** Takes up to {@code most} bytes; 0 where less than {@code least} is left. */
  long take(long least, long most) {
    long before = left.getAndUpdate(bytes -> bytes < least ? bytes : bytes - Math.min(bytes, most));
    return before < least ? 0 : Math.min(before, most);
  }

  /** The thread that writes files. */
  Executor writer() {
    return writer;
  }

  void giveBack(long bytes) {
    left.addAndGet(bytes);
  }
}
