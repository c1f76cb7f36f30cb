package dev.tern.stream;

import dev.tern.base.DataException;
import dev.tern.base.Workers;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.WakeupException;

/**
 * Brings the checkpoints of a topic into a folder, as a {@link Publisher} sends them, for who
 * serves the folder:
 *
 * <pre>{@code
 * TopicAddress topic = TopicAddress.of("kafka://broker:9092/ads");
 * FollowOptions options = FollowOptions.of(Path.of("spool"));
 * try (Follower follower = Follower.start(topic, ClientProperties.NONE, options, System.err::println)) {
 *   follower.awaitFirst();
 *   try (ServedModel model = ServedModel.open(follower.folder(), ServedOptions.DEFAULT)) {
 *     model.start();
 *     ...
 *   }
 * }
 * }</pre>
 *
 * <p>It begins at the newest full checkpoint of the topic, or goes on where it was. A checkpoint
 * appears in the folder whole, after all its bytes were checked, and only behind those that it
 * follows; whatever is damaged, missing, sent twice, out of order, too large, of another run or not
 * sent to its end is left out, told of once and counted. Where brokers do not answer, the folder
 * stays as it is, and it goes on asking.
 */
public final class Follower implements AutoCloseable {
  private static final Duration FIRST_PAUSE = Duration.ofMillis(500);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);
  private static final Duration LOOK_EVERY = Duration.ofSeconds(1);

  /** How long brokers may be silent at the start before what the folder has is served. */
  private static final Duration SILENCE = Duration.ofSeconds(10);

  private final TopicAddress topic;
  private final ClientProperties properties;
  private final Consumer<String> notes;
  private final FollowOptions options;
  private final Spool spool;
  private final Assembly assembly;
  private final Thread thread;
  private final long started = System.nanoTime();

  private final LongAdder taken = new LongAdder();
  private final LongAdder bytes = new LongAdder();
  private final Map<Refusal, LongAdder> refused = new EnumMap<>(Refusal.class);

  private volatile boolean closing;
  private volatile long inStepNanos;
  private volatile boolean wasInStep;
  private volatile long behind;
  private volatile Optional<TopicReader> reading = Optional.empty();

  // For the thread that reads.
  private String topicId = "";
  private boolean isDoubted;
  private boolean isSilent;
  private String lastTrouble = "";

  // Under the lock of this.
  private boolean isReady;
  private Optional<RuntimeException> failure = Optional.empty();

  private Follower(
      TopicAddress topic,
      ClientProperties properties,
      FollowOptions options,
      Consumer<String> notes) {
    this.topic = topic;
    this.properties = properties;
    this.options = options;
    this.notes = notes;
    for (Refusal each : Refusal.values()) {
      refused.put(each, new LongAdder());
    }
    KafkaLogging
        .quiet(); // Before there are threads: loggers of a system that begins are no loggers.
    spool = Spool.open(options.spool());
    assembly = new Assembly(spool, options, new Heard());
    thread = Thread.ofPlatform().daemon().name("tern-stream").start(this::run);
  }

  /**
   * Begins to read on a thread of its own.
   *
   * @param notes takes a line for each thing that who runs it should know
   * @throws DataException if another process has the folder
   */
  public static Follower start(
      TopicAddress topic,
      ClientProperties properties,
      FollowOptions options,
      Consumer<String> notes) {
    return new Follower(topic, properties, options, notes);
  }

  /** Where the checkpoints are, as in the folder of a run. */
  public Path folder() {
    return options.spool();
  }

  /**
   * Waits until the folder has the newest checkpoint of the topic. Where brokers are silent for 10
   * seconds, one from before will do.
   *
   * @throws StreamException if the topic is not fit, or may not be read
   */
  public synchronized void awaitFirst() throws InterruptedException {
    while (!isReady && failure.isEmpty()) {
      wait();
    }
    if (!isReady) {
      throw failure.orElseThrow();
    }
  }

  private synchronized void ready() {
    isReady = true;
    notifyAll();
  }

  private synchronized void failed(RuntimeException e) {
    if (!isReady) {
      failure = Optional.of(e);
      notifyAll();
    }
  }

  private synchronized boolean hasFailed() {
    return failure.isPresent();
  }

  private synchronized boolean isReady() {
    return isReady;
  }

  /** What it knows and has done. */
  public FollowState state() {
    Map<Refusal, Long> counts = new EnumMap<>(Refusal.class);
    refused.forEach((why, count) -> counts.put(why, count.sum()));
    double age = wasInStep ? (System.nanoTime() - inStepNanos) / 1e9 : Double.POSITIVE_INFINITY;
    return new FollowState(age, behind, taken.sum(), bytes.sum(), counts);
  }

  private final class Heard implements Assembly.Events {
    @Override
    public void took(Announcement of, long last) {
      spool.position(new Position(topicId, last + 1, of.run(), of.number(), of.hash()));
      taken.increment();
    }

    @Override
    public void refused(Refusal why, String text) {
      Optional.ofNullable(refused.get(why)).ifPresent(LongAdder::increment);
      isDoubted |= why == Refusal.ORDER;
      if (!text.isEmpty()) {
        notes.accept(topic + ": " + text);
      }
    }
  }

  private void run() {
    Duration pause = FIRST_PAUSE;
    try {
      while (!closing && !hasFailed()) {
        try (TopicReader reader = TopicReader.open(topic, properties, false)) {
          reading = Optional.of(reader);
          follow(reader);
          pause = FIRST_PAUSE;
        } catch (WakeupException _) {
          pause = FIRST_PAUSE; // By close.
        } catch (OffsetOutOfRangeException e) {
          notes.accept(
              topic
                  + ": got records that are gone before they were read, expected the topic to keep"
                  + " them longer; Tern begins anew at the newest full checkpoint");
        } catch (StreamException e) {
          trouble(e, false);
        } catch (KafkaException e) {
          trouble(Troubles.told(topic, e), Troubles.passes(e));
        } catch (DataException | UncheckedIOException e) {
          trouble(e, true);
        }
        reading = Optional.empty();
        if (!closing && !hasFailed()) {
          Thread.sleep(pause);
          pause =
              pause.multipliedBy(2).compareTo(LONGEST_PAUSE) > 0
                  ? LONGEST_PAUSE
                  : pause.multipliedBy(2);
        }
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException | Error e) {
      failed(new IllegalStateException(topic + ": " + e, e));
      notes.accept(topic + ": reading ends by an error in Tern itself: " + e);
      throw e;
    }
  }

  /** Says what is wrong, once; ends at the start if that will not pass. */
  private void trouble(RuntimeException e, boolean passes) {
    if (closing) {
      return;
    }
    if (!passes && !isReady()) {
      failed(e);
      return;
    }
    String text = String.valueOf(e.getMessage());
    if (!text.equals(lastTrouble)) {
      lastTrouble = text;
      notes.accept(text + "; Tern goes on trying" + (isReady() ? "; what is there is served" : ""));
    }
    readyWithoutAnswer();
  }

  private void readyWithoutAnswer() {
    boolean waited = System.nanoTime() - started > SILENCE.toNanos();
    if (waited && !isReady() && spool.hasCheckpoint()) {
      notes.accept(topic + ": the checkpoint that was there before is served meanwhile");
      ready();
    }
  }

  /** Reads from where it was, or from the newest full checkpoint, until the topic is another. */
  private void follow(TopicReader reader) {
    topicId = reader.facts().id();
    isDoubted = false;
    long next = beginning(reader);
    reader.seek(next);
    long target = reader.end();
    long looked = System.nanoTime();
    inStep(next, target);
    while (!closing) {
      for (ConsumerRecord<byte[], byte[]> each : poll(reader)) {
        if (each.value() != null) {
          bytes.add(each.value().length);
        }
        assembly.take(each.offset(), each.headers(), each.value());
      }
      next = reader.position(); // Offsets have gaps, such as the ends of transactions.
      if (next >= target && !isReady() && spool.hasCheckpoint()) {
        ready();
      }
      if (System.nanoTime() - looked > LOOK_EVERY.toNanos()) {
        looked = System.nanoTime();
        if (!look(reader, next)) {
          return;
        }
      }
    }
  }

  private static Iterable<ConsumerRecord<byte[], byte[]>> poll(TopicReader reader) {
    return reader.poll();
  }

  /** Compares where it is with the topic; false if the topic is another one now. */
  private boolean look(TopicReader reader, long next) {
    long end;
    try {
      end = reader.end();
    } catch (TimeoutException e) {
      if (!isSilent) {
        isSilent = true;
        notes.accept(
            Troubles.told(topic, e).getMessage()
                + "; Tern goes on trying, what is there is served");
      }
      readyWithoutAnswer();
      return true;
    }
    if (isSilent) {
      isSilent = false;
      notes.accept(topic + ": the brokers answer again");
    }
    lastTrouble = "";
    if (end < next || isDoubted && !isSameTopic()) {
      notes.accept(
          topic + ": got another topic of this name, or one that lost records; Tern begins anew");
      return false;
    }
    isDoubted = false;
    inStep(next, end);
    return true;
  }

  private boolean isSameTopic() {
    return TopicFacts.ask(topic, properties, false).id().equals(topicId);
  }

  private void inStep(long next, long end) {
    behind = end - next;
    if (behind <= 0) {
      inStepNanos = System.nanoTime();
      wasInStep = true;
    }
  }

  /** The offset to begin at, with the assembly told of it. */
  private long beginning(TopicReader reader) {
    long begin = reader.begin();
    long end = reader.end();
    Optional<Position> known =
        spool
            .position()
            .filter(at -> at.topic().equals(topicId) && at.next() >= begin && at.next() <= end);
    assembly.begin(known);
    if (known.isPresent()) {
      return known.get().next();
    }
    Optional<Chunk> last = reader.last();
    long full = last.map(Chunk::beginning).orElse(Chunk.NOWHERE);
    if (full >= begin) {
      return full;
    }
    if (full != Chunk.NOWHERE) {
      notes.accept(
          "%s: got a last full checkpoint at offset %d, expected one at %d or later, as the topic keeps no others; the next one will serve. Let the topic keep records longer"
              .formatted(topic, full, begin));
    } else if (last.isEmpty()) {
      notes.accept(topic + ": got no checkpoint yet; Tern waits for the first full one");
    }
    return last.map(Chunk::start).filter(start -> start >= begin).orElse(begin);
  }

  /** Ends reading; the folder stays. */
  @Override
  public void close() {
    closing = true;
    reading.ifPresent(TopicReader::wakeUp);
    thread.interrupt();
    Workers.awaitEnd(thread);
    try {
      spool.close();
    } catch (IOException e) {
      throw new UncheckedIOException(
          options.spool() + ": cannot be closed: " + DataException.reason(e), e);
    }
  }
}
