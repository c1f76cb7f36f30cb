package dev.tern.cli.board;

import dev.tern.base.DataException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Event files for TensorBoard, written from a run's metrics while it trains: {@code train} and
 * {@code eval} in a folder. A thread of its own follows {@code metrics.jsonl}, so a full disk costs
 * training nothing. A run that goes on from an earlier step has its lines written again, to new
 * files that make the earlier ones void from that step on.
 */
public final class TensorBoardFiles implements AutoCloseable {
  private static final long POLL_MILLIS = 1_000;

  /** What scalars are called, before the task. */
  private static final Map<Figure, String> NAMES = new EnumMap<>(Figure.class);

  static {
    for (Figure figure : Figure.values()) {
      NAMES.put(figure, figure.text());
    }
    NAMES.put(Figure.SPEED, "samples_per_second");
    NAMES.put(Figure.MEMORY, "memory_bytes");
    NAMES.put(Figure.ROWS, "tables/rows");
    NAMES.put(Figure.TABLE_BYTES, "tables/bytes");
  }

  /** What a figure is called outside Tern. */
  static String name(Figure figure) {
    return NAMES.getOrDefault(figure, "");
  }

  private final MetricsTail tail;
  private final Path folder;
  private final Line line = new Line();
  private final CountDownLatch ended = new CountDownLatch(1);
  private final Thread follower =
      Thread.ofPlatform().daemon().name("tern-events").unstarted(this::follow);
  private Optional<EventFile> train = Optional.empty();
  private Optional<EventFile> eval = Optional.empty();
  private Optional<String> failure = Optional.empty();

  private TensorBoardFiles(Path run, Path folder) {
    tail = new MetricsTail(FolderFacts.metrics(run));
    this.folder = folder;
  }

  /**
   * Begins to follow a run.
   *
   * @param run its folder, which may not be there yet
   * @param folder for the files
   */
  public static TensorBoardFiles follow(Path run, Path folder) {
    TensorBoardFiles files = new TensorBoardFiles(run, folder);
    files.follower.start();
    return files;
  }

  /** Why no more is written, if something failed. */
  public synchronized Optional<String> failure() {
    return failure;
  }

  private void follow() {
    try {
      do {
        poll();
      } while (!ended.await(POLL_MILLIS, TimeUnit.MILLISECONDS));
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized void poll() {
    if (failure.isPresent()) {
      return;
    }
    try {
      tail.poll(new Writing());
      if (train.isPresent()) {
        train.get().flush();
      }
      if (eval.isPresent()) {
        eval.get().flush();
      }
    } catch (UncheckedIOException e) {
      fail(cause(e));
    } catch (IOException e) {
      fail(e);
    }
  }

  private static IOException cause(UncheckedIOException e) {
    IOException cause = e.getCause();
    return cause == null ? new IOException(e) : cause;
  }

  private void fail(IOException e) {
    failure =
        Optional.of(
            folder
                + ": got an error writing events ("
                + DataException.reason(e)
                + "), expected free space; training goes on without them");
  }

  private final class Writing implements MetricsTail.Lines {
    @Override
    public void restart() {
      train.ifPresent(TensorBoardFiles::end);
      eval.ifPresent(TensorBoardFiles::end);
      train = Optional.empty();
      eval = Optional.empty();
    }

    @Override
    public void line(byte[] bytes, int from, int length) {
      if (line.read(bytes, from, length)) {
        try {
          write();
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      }
    }

    @Override
    public void tooLong() {
      // The board counts these.
    }
  }

  private void write() throws IOException {
    double now = System.currentTimeMillis() / 1000.0;
    EventFile to = file(now);
    for (Figure figure : Figure.values()) {
      if (!figure.isOfTask() || line.tasks().isEmpty()) {
        scalar(to, now, name(figure), line.of(figure));
      }
    }
    for (int task = 0; task < line.tasks().size(); task++) {
      for (Figure figure : Figure.values()) {
        if (figure.isOfTask()) {
          String tag = name(figure) + "/" + line.tasks().get(task);
          scalar(to, now, tag, Curves.value(line, task, figure));
        }
      }
    }
  }

  private void scalar(EventFile to, double now, String tag, double value) throws IOException {
    if (Double.isFinite(value)) {
      to.scalar(now, line.step(), tag, (float) value);
    }
  }

  private EventFile file(double now) throws IOException {
    Optional<EventFile> open = line.isEval() ? eval : train;
    if (open.isPresent()) {
      return open.get();
    }
    EventFile made = EventFile.create(folder.resolve(line.isEval() ? "eval" : "train"), (long) now);
    made.begin(now, line.step());
    if (line.isEval()) {
      eval = Optional.of(made);
    } else {
      train = Optional.of(made);
    }
    return made;
  }

  private static void end(EventFile file) {
    try {
      file.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Writes what has come, and ends. */
  @Override
  public void close() {
    ended.countDown(); // An interrupt would close the file that is read.
    try {
      follower.join();
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
    poll();
    synchronized (this) {
      try {
        train.ifPresent(TensorBoardFiles::end);
        eval.ifPresent(TensorBoardFiles::end);
      } catch (UncheckedIOException e) {
        fail(cause(e));
      }
    }
  }
}
