package dev.tern.cli.board;

import dev.tern.base.DataException;
import dev.tern.internal.json.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A run of an MLflow server, told of a run while it trains: its configuration as parameters, its
 * metrics by step. A thread of its own follows {@code metrics.jsonl}, which is thus the queue: a
 * server that is slow or gone costs training nothing and memory for {@link #MOST} values. What it
 * did not take is sent again until training ends, and then for {@link #PATIENCE} at most.
 */
public final class MlflowLog implements AutoCloseable {
  /** How training ended, in MLflow's words. */
  public enum End {
    /** It came to its end. */
    FINISHED,
    /** It ended in an error. */
    FAILED,
    /** It was interrupted. */
    KILLED
  }

  /**
   * Where to log a run.
   *
   * @param server the address of the server
   * @param experiment the name of the experiment, made where there is none
   * @param run the name of the run
   * @param tags values by key
   */
  public record Target(URI server, String experiment, String run, Map<String, String> tags) {
    /** Reads the address of a server, as in {@code http://127.0.0.1:5000}. */
    public static URI address(String text) {
      URI server;
      try {
        server = new URI(text);
      } catch (URISyntaxException e) {
        throw noAddress(text, e);
      }
      if (server.getRawUserInfo() != null) {
        throw new IllegalArgumentException(
            "--mlflow: got an address with a user in it, expected none; put"
                + " MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, or"
                + " MLFLOW_TRACKING_TOKEN, into the environment");
      }
      String scheme = String.valueOf(server.getScheme());
      boolean isWeb = scheme.equals("http") || scheme.equals("https");
      if (!isWeb || server.getHost() == null || server.getRawQuery() != null) {
        throw noAddress(text, null);
      }
      return server;
    }

    private static IllegalArgumentException noAddress(
        String text, @Nullable URISyntaxException cause) {
      return new IllegalArgumentException(
          "--mlflow: got "
              + text
              + ", expected the address of a tracking server, as in http://127.0.0.1:5000",
          cause);
    }
  }

  /** Values of a request; a server takes 1,000 at most. */
  static final int MOST = 500;

  /** Parameters of a request; a server takes 100 at most. */
  static final int MOST_PARAMETERS = 100;

  private static final Duration PATIENCE = Duration.ofSeconds(5);
  private static final long POLL_MILLIS = 1_000;
  private static final long LONGEST_PAUSE_MILLIS = 30_000;

  private final MlflowServer server;
  private final Target target;
  private final Map<String, String> configuration;
  private final Consumer<String> notes;
  private final Duration patience;
  private final Path metrics;
  private final MetricsTail tail;

  /** What an earlier part of the run left. */
  private final Optional<String> before;

  private final long begunMillis = System.currentTimeMillis();
  private final CountDownLatch ended = new CountDownLatch(1);
  private final Thread follower =
      Thread.ofPlatform().daemon().name("tern-mlflow").unstarted(this::follow);

  private final Line line = new Line();
  private final List<Json> pending = new ArrayList<>();
  private Optional<String> run = Optional.empty();
  private long zeroMillis;
  private boolean told;

  private volatile End end = End.FAILED;
  private volatile long logged;
  private volatile Optional<String> failure = Optional.empty();

  private MlflowLog(
      Target target,
      Path folder,
      Map<String, String> configuration,
      Consumer<String> notes,
      Duration patience) {
    this.target = target;
    this.configuration = configuration;
    this.notes = notes;
    this.patience = patience;
    server = new MlflowServer(target.server(), System.getenv());
    metrics = FolderFacts.metrics(folder);
    tail = new MetricsTail(metrics);
    before = state(metrics);
  }

  /**
   * Begins to follow a run.
   *
   * @param folder the run's, which may not be there yet
   * @param configuration values by path
   * @param notes takes a line when the server is first in trouble, on any thread
   */
  public static MlflowLog follow(
      Target target, Path folder, Map<String, String> configuration, Consumer<String> notes) {
    return follow(target, folder, configuration, notes, PATIENCE);
  }

  /** The same with another time that {@link #close} waits. */
  static MlflowLog follow(
      Target target,
      Path folder,
      Map<String, String> configuration,
      Consumer<String> notes,
      Duration patience) {
    MlflowLog log = new MlflowLog(target, folder, configuration, notes, patience);
    log.follower.start();
    return log;
  }

  /** Says how training ended, before {@link #close}; it failed if nobody says so. */
  public void ends(End how) {
    end = how;
  }

  /** After {@link #close}: what the server lacks and why, if it lacks anything. */
  public Optional<String> failure() {
    return failure;
  }

  private void follow() {
    try (server) {
      boolean last;
      do {
        last = ended.await(POLL_MILLIS, TimeUnit.MILLISECONDS);
        poll();
      } while (!last);
      if (run.isPresent()) {
        send(() -> server.end(run.get(), end.name(), System.currentTimeMillis()));
      }
    } catch (UncheckedIOException e) {
      fail(e.getCause() instanceof IOException cause ? cause : new IOException(e));
    } catch (IOException e) {
      fail(e);
    } catch (InterruptedException _) {
      fail(new IOException("no answer in time"));
    } catch (RuntimeException e) {
      fail(new IOException("an error in Tern itself, " + e, e));
    }
  }

  /** Sends what is new. A run that goes on has the lines of its first part until it begins. */
  private void poll() throws IOException, InterruptedException {
    if (run.isEmpty() && !isOfThisTraining()) {
      return;
    }
    try {
      tail.poll(new Sent());
    } catch (InterruptedSending e) {
      Thread.currentThread().interrupt();
      throw new InterruptedException();
    }
    flush();
  }

  private boolean isOfThisTraining() {
    Optional<String> now = state(metrics);
    return now.isPresent() && !now.equals(before);
  }

  /** What tells a file from another one of its name; empty without a file. */
  private static Optional<String> state(Path file) {
    try {
      BasicFileAttributes now = Files.readAttributes(file, BasicFileAttributes.class);
      return Optional.of(now.fileKey() + " " + now.size() + " " + now.lastModifiedTime());
    } catch (IOException _) {
      return Optional.empty();
    }
  }

  /** Thrown through {@link MetricsTail}, which knows no such exception. */
  private static final class InterruptedSending extends RuntimeException {
    private static final long serialVersionUID = 1;

    InterruptedSending(InterruptedException cause) {
      super(cause);
    }
  }

  private final class Sent implements MetricsTail.Lines {
    @Override
    public void restart() {
      // Not of a run that trains: it begins its file once. What comes again, the server knows.
    }

    @Override
    public void line(byte[] bytes, int from, int length) {
      if (!line.read(bytes, from, length)) {
        return;
      }
      try {
        if (run.isEmpty()) {
          begin();
        }
        add();
        if (pending.size() >= MOST) {
          flush();
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      } catch (InterruptedException e) {
        throw new InterruptedSending(e);
      }
    }

    @Override
    public void tooLong() {
      // The board counts these.
    }
  }

  private void begin() throws IOException, InterruptedException {
    zeroMillis = begunMillis - (long) (line.seconds() * 1000);
    String[] id = {""};
    send(() -> {
      String experiment = server.experiment(target.experiment());
      id[0] = server.create(experiment, target.run(), begunMillis, target.tags());
    });
    List<Json> all = MlflowKeys.parameters(configuration);
    for (int from = 0; from < all.size(); from += MOST_PARAMETERS) {
      List<Json> part = all.subList(from, Math.min(all.size(), from + MOST_PARAMETERS));
      send(() -> server.log(id[0], List.of(), part));
    }
    run = Optional.of(id[0]);
  }

  private void add() {
    for (Figure figure : Figure.values()) {
      if (!figure.isOfTask() || line.tasks().isEmpty()) {
        metric(TensorBoardFiles.name(figure), line.of(figure));
      }
    }
    for (int task = 0; task < line.tasks().size(); task++) {
      String name = MlflowKeys.task(line.tasks().get(task), task);
      for (Figure figure : Figure.values()) {
        if (figure.isOfTask()) {
          metric(TensorBoardFiles.name(figure) + "/" + name, Curves.value(line, task, figure));
        }
      }
    }
  }

  private void metric(String key, double value) {
    if (Double.isFinite(value)) {
      pending.add(
          Json.object()
              .put("key", (line.isEval() ? "eval/" : "train/") + key)
              .put("value", value)
              .put("timestamp", zeroMillis + (long) (line.seconds() * 1000))
              .put("step", line.step()));
    }
  }

  private void flush() throws IOException, InterruptedException {
    for (int from = 0; from < pending.size(); from += MOST) {
      List<Json> part = pending.subList(from, Math.min(pending.size(), from + MOST));
      send(() -> server.log(run.orElseThrow(), part, List.of()));
    }
    if (!pending.isEmpty()) {
      pending.clear();
      logged = line.step();
    }
  }

  /** A call. */
  private interface Call {
    void run() throws IOException, InterruptedException;
  }

  /** Calls until it succeeds, is refused for good, or training has ended before the last try. */
  private void send(Call call) throws IOException, InterruptedException {
    long pause = POLL_MILLIS;
    while (true) {
      boolean last = ended.getCount() == 0;
      try {
        call.run();
        return;
      } catch (MlflowServer.RefusedException e) {
        throw e;
      } catch (IOException e) {
        if (last) {
          throw e;
        }
        tell(e);
        boolean isOver = ended.await(pause, TimeUnit.MILLISECONDS);
        pause = isOver ? pause : Math.min(2 * pause, LONGEST_PAUSE_MILLIS);
      }
    }
  }

  private void tell(IOException e) {
    if (!told) {
      told = true;
      notes.accept(said(e) + "; training goes on, and what is due is sent again until it ends");
    }
  }

  private void fail(IOException e) {
    failure =
        Optional.of(
            said(e)
                + "; "
                + (run.isEmpty() ? "nothing is logged" : "logged are steps up to " + logged)
                + ", and "
                + metrics
                + " has all");
  }

  private String said(IOException e) {
    return "--mlflow "
        + target.server()
        + ": got "
        + DataException.reason(e)
        + ", expected a tracking server that takes the run";
  }

  /** Sends what has come and how training ended; waits for it 5 seconds at most. */
  @Override
  public void close() {
    ended.countDown();
    try {
      if (!follower.join(patience)) {
        follower.interrupt();
        follower.join(PATIENCE);
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }
}
