package dev.tern.stream;

import dev.tern.base.DataException;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.checkpoint.CheckpointFiles;
import dev.tern.checkpoint.CheckpointMark;
import dev.tern.checkpoint.CheckpointWatch;
import dev.tern.checkpoint.CheckpointWatch.Changes;
import dev.tern.checkpoint.CheckpointWatch.Follow;
import dev.tern.checkpoint.CheckpointWatch.Found;
import dev.tern.checkpoint.CheckpointWatch.Whole;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InterruptException;

/**
 * Sends the checkpoints of a run to a topic of one partition, for {@link Follower}s:
 *
 * <pre>{@code
 * try (Publisher publisher =
 *     Publisher.of(Path.of("runs/ads"), topic, ClientProperties.NONE, PublishOptions.of("ads"), System.err::println)) {
 *   publisher.publish(); // what the topic lacks
 *   publisher.follow(); // and what training writes, until this thread is interrupted
 * }
 * }</pre>
 *
 * <p>It keeps nothing beside the run and the topic: whatever was sent is found in the topic, so a
 * publisher that was stopped at any moment goes on there. Where brokers are slow it waits, and
 * where training is faster it goes on at the newest full checkpoint; so no backlog grows.
 */
public final class Publisher implements AutoCloseable {
  /** What nothing follows and everything comes after. */
  private static final CheckpointMark NOTHING = new CheckpointMark(-1, "", List.of(), "");

  private static final Duration LOOK_EVERY = Duration.ofSeconds(1);
  private static final Duration KEPT_EVERY = Duration.ofMinutes(1);
  private static final Duration FIRST_PAUSE = Duration.ofMillis(500);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

  /** How long {@link #publish} tries to reach the brokers. */
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /** How often it begins anew because somebody else writes, or the checkpoint goes. */
  private static final int MOST_TRIES = 5;

  private final Path run;
  private final TopicAddress topic;
  private final ClientProperties properties;
  private final PublishOptions options;
  private final Consumer<String> notes;

  /** Empty until the run has a folder of checkpoints. */
  private Optional<CheckpointWatch> watch = Optional.empty();

  private Optional<Sending> sending = Optional.empty();
  private CheckpointMark mark = NOTHING;
  private int tries;
  private int interleaved;
  private long checked = System.nanoTime();

  private Publisher(
      Path run,
      TopicAddress topic,
      ClientProperties properties,
      PublishOptions options,
      Consumer<String> notes) {
    KafkaLogging.quiet();
    this.run = run;
    this.topic = topic;
    this.properties = properties;
    this.options = options;
    this.notes = notes;
  }

  /**
   * For a run's folder, or a checkpoint.
   *
   * @param notes takes a line for each checkpoint that is sent, and for each thing that who runs it
   *     should know
   */
  public static Publisher of(
      Path run,
      TopicAddress topic,
      ClientProperties properties,
      PublishOptions options,
      Consumer<String> notes) {
    return new Publisher(run, topic, properties, options, notes);
  }

  /**
   * Sends what the topic lacks: the newest full checkpoint and what follows it.
   *
   * @return checkpoints that were sent
   * @throws DataException if the run has no whole checkpoint
   * @throws StreamException if the topic is not fit or has another run, or brokers do not answer
   *     for a minute
   */
  public int publish() throws InterruptedException {
    int sent = 0;
    long end = System.nanoTime() + PATIENCE.toNanos();
    Duration pause = FIRST_PAUSE;
    while (true) {
      try {
        Optional<List<CheckpointFiles>> parts = look();
        if (parts.isEmpty()) {
          if (mark.equals(NOTHING)) {
            Checkpoint.openLatest(run); // Says what is wrong.
          }
          return sent;
        }
        sent += send(parts.get());
      } catch (KafkaException e) {
        requireRetry(e, System.nanoTime() < end);
        pause = rest(pause);
      }
    }
  }

  /**
   * Sends what training writes, until the thread is interrupted. Waits for brokers that do not
   * answer.
   *
   * @throws StreamException if the topic is not fit, has another run, or somebody else writes there
   */
  public void follow() throws InterruptedException {
    Duration pause = FIRST_PAUSE;
    String trouble = "";
    while (!Thread.currentThread().isInterrupted()) {
      try {
        requireBeginning();
        Optional<List<CheckpointFiles>> parts = look();
        if (parts.isPresent()) {
          send(parts.get());
        } else {
          await();
        }
        if (!trouble.isEmpty()) {
          notes.accept(topic + ": goes on");
          trouble = "";
        }
        pause = FIRST_PAUSE;
      } catch (KafkaException e) {
        requireRetry(e, true);
        trouble = told(Troubles.told(topic, e), trouble);
        pause = rest(pause);
      } catch (DataException | UncheckedIOException e) {
        disconnect();
        tries = 0;
        trouble = told(e, trouble);
        pause = rest(pause);
      }
    }
    throw new InterruptedException();
  }

  /** Says what is wrong, unless that was said last. */
  private String told(RuntimeException e, String last) {
    String text = e.getMessage() + "; Tern goes on trying";
    if (!text.equals(last)) {
      notes.accept(text);
    }
    return text;
  }

  private void await() throws InterruptedException {
    if (watch.isPresent()) {
      watch.get().await(LOOK_EVERY);
    } else {
      Thread.sleep(LOOK_EVERY);
    }
  }

  private void requireRetry(KafkaException e, boolean hasTime) throws InterruptedException {
    disconnect();
    if (e instanceof InterruptException) {
      throw new InterruptedException();
    }
    if (!hasTime || !Troubles.passes(e)) {
      throw Troubles.told(topic, e);
    }
  }

  private static Duration rest(Duration pause) throws InterruptedException {
    Thread.sleep(pause);
    Duration longer = pause.multipliedBy(2);
    return longer.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : longer;
  }

  /** Sends all again if the topic no longer keeps its last full checkpoint. */
  private void requireBeginning() {
    if (sending.isEmpty() || System.nanoTime() - checked < KEPT_EVERY.toNanos()) {
      return;
    }
    checked = System.nanoTime();
    if (!sending.get().lastHash().isEmpty() && !sending.get().hasBeginning()) {
      notes.accept(
          topic
              + ": got a topic that no longer keeps its last full checkpoint, expected it to keep"
              + " records longer; it is sent again");
      mark = NOTHING;
    }
  }

  /** What the topic lacks, in order; empty for nothing. */
  private Optional<List<CheckpointFiles>> look() {
    if (Checkpoint.isAt(run)) {
      if (!mark.equals(NOTHING)) {
        return Optional.empty();
      }
      Checkpoint checkpoint = Checkpoint.open(run);
      mark = checkpoint.mark();
      return Optional.of(checkpoint.files());
    }
    if (watch.isEmpty()
        && (Files.isDirectory(run.resolve("checkpoints")) || Checkpoint.existsAt(run))) {
      watch = Optional.of(CheckpointWatch.of(run));
    }
    Optional<Found> found = watch.flatMap(each -> each.next(mark, Follow.LATEST, this::damaged));
    found.ifPresent(next -> mark = next.mark());
    return found.map(next ->
        switch (next) {
          case Whole whole -> whole.checkpoint().files();
          case Changes changes -> List.of(changes.delta().files());
        });
  }

  private void damaged(Path checkpoint, RuntimeException reason) {
    notes.accept(reason.getMessage() + "; it is not sent");
  }

  /** Sends those that the topic does not have; gives how many. */
  private int send(List<CheckpointFiles> parts) {
    int sent = 0;
    try {
      Sending to = connected();
      for (CheckpointFiles part : parts.subList(first(parts, to), parts.size())) {
        long begin = System.nanoTime();
        long bytes = to.send(part);
        sent++;
        notes.accept(
            "published %s of run %s, %,d bytes in %s s"
                .formatted(
                    part.name(),
                    options.run(),
                    bytes,
                    String.format(Locale.ROOT, "%.1f", (System.nanoTime() - begin) / 1e9)));
      }
      tries = 0;
      interleaved = 0;
    } catch (DataException e) {
      again(e); // Training removed it, as a newer one is there.
    } catch (Sending.InterleavedException e) {
      interleaved(e);
    } catch (RuntimeException | Error e) {
      disconnect();
      throw e;
    }
    return sent;
  }

  /** Looks again what the topic has; ends if that happens often. */
  private void interleaved(RuntimeException e) {
    disconnect();
    interleaved++;
    if (interleaved >= MOST_TRIES) {
      throw new StreamException(String.valueOf(e.getMessage()), e);
    }
    notes.accept(e.getMessage() + "; Tern looks again what the topic has");
  }

  private void again(RuntimeException e) {
    disconnect();
    tries++;
    if (tries >= MOST_TRIES) {
      throw e;
    }
  }

  /** The first of the parts that the topic lacks; to take over takes a full one. */
  private static int first(List<CheckpointFiles> parts, Sending to) {
    if (to.hasBeginning() && !to.takesOver()) {
      for (int i = 0; i < parts.size(); i++) {
        if (parts.get(i).hash().equals(to.lastHash())) {
          return i + 1;
        }
      }
    }
    return 0;
  }

  private Sending connected() {
    if (sending.isEmpty()) {
      sending = Optional.of(Sending.open(topic, properties, options));
      checked = System.nanoTime();
    }
    return sending.get();
  }

  /** The next look begins at the newest full checkpoint, and the topic says what it lacks. */
  private void disconnect() {
    sending.ifPresent(Sending::close);
    sending = Optional.empty();
    mark = NOTHING;
  }

  /** Ends the connection. */
  @Override
  public void close() {
    disconnect();
    watch.ifPresent(CheckpointWatch::close);
  }
}
