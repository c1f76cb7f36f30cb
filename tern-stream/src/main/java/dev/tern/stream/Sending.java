package dev.tern.stream;

import dev.tern.base.DataException;
import dev.tern.checkpoint.CheckpointFiles;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * One connection of a publisher, from where the topic ends. Memory for records is bounded: sending
 * waits while the brokers are behind. For one thread.
 */
final class Sending implements Closeable {
  /** Somebody else wrote between two records of this. */
  static final class InterleavedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    InterleavedException(String message) {
      super(message);
    }
  }

  private static final Map<String, String> DEFAULTS =
      Map.of(
          "buffer.memory", "33554432",
          "linger.ms", "0",
          "delivery.timeout.ms", "60000",
          "request.timeout.ms", "20000",
          "max.block.ms", "30000",
          "reconnect.backoff.max.ms", "5000",
          "enable.metrics.push", "false",
          "client.id", "tern");

  /** What a record has beside its content, headers included, at most. */
  private static final int OVERHEAD = 4_096;

  private final TopicAddress topic;
  private final PublishOptions options;
  private final TopicReader reader;
  private final KafkaProducer<byte[], byte[]> producer;
  private final int chunk;
  private final AtomicReference<RuntimeException> failure = new AtomicReference<>();

  /** The offset that the next record gets, if nobody else writes. */
  private long next;

  private long number;
  private long full = Chunk.NOWHERE;
  private Optional<String> takesOver = Optional.empty();
  private String lastHash = "";

  private Sending(
      TopicAddress topic,
      PublishOptions options,
      TopicReader reader,
      KafkaProducer<byte[], byte[]> producer) {
    this.topic = topic;
    this.options = options;
    this.reader = reader;
    this.producer = producer;
    int most = reader.facts().record().orElse(options.chunk() + OVERHEAD);
    if (most < 2 * OVERHEAD) {
      throw new StreamException(
          "%s: got a topic of records of at most %d bytes, expected %d at least; raise max.message.bytes of the topic"
              .formatted(topic, most, 2 * OVERHEAD));
    }
    chunk = Math.min(options.chunk(), most - OVERHEAD);
  }

  /**
   * Connects and looks at what the topic has.
   *
   * @throws StreamException if the topic is not fit, or has another run
   * @throws KafkaException if the brokers do not answer, or refuse
   */
  static Sending open(TopicAddress topic, ClientProperties properties, PublishOptions options) {
    TopicReader reader = TopicReader.open(topic, properties, options.create());
    try {
      Map<String, String> own =
          Map.of(
              "acks", "all",
              "enable.idempotence", "true",
              "max.request.size", Integer.toString(options.chunk() + OVERHEAD));
      KafkaProducer<byte[], byte[]> producer =
          new KafkaProducer<>(
              properties.with(topic, DEFAULTS, own),
              new ByteArraySerializer(),
              new ByteArraySerializer());
      try {
        Sending sending = new Sending(topic, options, reader, producer);
        reader.last().ifPresent(sending::goOnFrom);
        sending.next = reader.end();
        return sending;
      } catch (RuntimeException | Error e) {
        producer.close(Duration.ZERO);
        throw e;
      }
    } catch (RuntimeException | Error e) {
      reader.close();
      throw e;
    }
  }

  private void goOnFrom(Chunk last) {
    Announcement of = last.of();
    // A full checkpoint whose last records did not come has not taken over yet.
    takesOver = of.kind().isFull() && !last.isLast() ? of.takesOver() : Optional.empty();
    if (!of.run().equals(options.run())) {
      if (!options.takeOver()) {
        throw new StreamException(
            "%s: got %s of run %s at offset %d, expected run %s or an empty topic; name another topic, call this run so with --run, or give --take-over to follow it"
                .formatted(topic, of.name(), of.run(), last.offset(), options.run()));
      }
      takesOver = takesOver.or(() -> Optional.of(of.run()));
    }
    number = of.number();
    full = last.beginning();
    // Changes whose last records did not come are sent again, whole.
    lastHash = last.isLast() ? of.hash() : of.after().orElse("");
  }

  /** The hash of the last checkpoint that the topic has whole; empty if there is none. */
  String lastHash() {
    return lastHash;
  }

  /** Whether the next full checkpoint takes the topic over from another run. */
  boolean takesOver() {
    return takesOver.isPresent();
  }

  /** Whether who knows nothing finds a full checkpoint in the topic. */
  boolean hasBeginning() {
    return full >= 0 && full >= reader.begin();
  }

  /**
   * Sends a checkpoint to its end.
   *
   * @return bytes of its content
   * @throws DataException if the checkpoint goes or changes meanwhile
   * @throws KafkaException if brokers do not take it
   */
  long send(CheckpointFiles files) {
    number++;
    try {
      if (files.isFull() && options.full().isPresent()) {
        SharedFolder shared = new SharedFolder(options.full().get());
        String name = shared.add(files, options.run(), number);
        byte[] text = name.getBytes(StandardCharsets.UTF_8);
        var content = new Announcement.Content(text.length, 1);
        Announcement of = announcement(files, Announcement.Kind.FOLDER, content);
        String sum = HexFormat.of().formatHex(Incoming.sha256().digest(text));
        sent(of, first(write(of, 0, Chunk.NOWHERE, Optional.of(sum), ByteBuffer.wrap(text))));
        shared.removeOld(options.run());
        return text.length;
      }
      return sendContent(files);
    } catch (IOException e) {
      throw new DataException(
          files.folder() + ": got an error reading it (" + DataException.reason(e) + ")", e);
    }
  }

  private Announcement announcement(
      CheckpointFiles files, Announcement.Kind kind, Announcement.Content content) {
    return new Announcement(
        options.run(),
        number,
        kind,
        files.step(),
        files.hash(),
        files.previousHash(),
        content,
        files.isFull() ? takesOver : Optional.empty());
  }

  private long sendContent(CheckpointFiles files) throws IOException {
    try (PackedFiles packed = new PackedFiles(files.folder(), files.names())) {
      long bytes = packed.bytes();
      int chunks = (int) Math.min(Integer.MAX_VALUE, (bytes + chunk - 1) / chunk);
      if (chunks > Heads.MOST_CHUNKS) {
        throw new StreamException(
            "%s: got %s of %,d bytes, expected at most %d records; raise --chunk, or share full checkpoints by --full"
                .formatted(topic, files.name(), bytes, Heads.MOST_CHUNKS));
      }
      var kind = files.isFull() ? Announcement.Kind.FULL : Announcement.Kind.DELTA;
      Announcement of = announcement(files, kind, new Announcement.Content(bytes, chunks));
      MessageDigest sum = Incoming.sha256();
      long start = Chunk.NOWHERE;
      for (int index = 0; index < chunks; index++) {
        int size = (int) Math.min(chunk, bytes - (long) index * chunk);
        ByteBuffer content = ByteBuffer.allocate(size);
        packed.read(content);
        sum.update(content.flip().duplicate());
        Optional<String> end = Optional.empty();
        if (index == chunks - 1) {
          files.requireUnchanged(); // Without the last record nobody takes the others.
          end = Optional.of(HexFormat.of().formatHex(sum.digest()));
        }
        Future<RecordMetadata> future = write(of, index, start, end, content);
        if (index == 0) {
          start = first(future);
        } else if (index == chunks - 1) {
          await(future);
        }
      }
      sent(of, start);
      return bytes;
    }
  }

  private Future<RecordMetadata> write(
      Announcement of, int index, long start, Optional<String> sha256, ByteBuffer content) {
    throwFailure();
    Chunk record = new Chunk(Chunk.NOWHERE, of, index, start, full, sha256, content);
    String key = of.run() + "/" + of.name() + "/" + index;
    return producer.send(
        new ProducerRecord<>(
            topic.topic(),
            0,
            key.getBytes(StandardCharsets.US_ASCII),
            content.array(),
            Heads.write(record)),
        (metadata, error) -> {
          if (error != null) {
            failure.compareAndSet(
                null, error instanceof RuntimeException e ? e : new KafkaException(error));
          } else if (index > 0 && metadata.offset() != start + index) {
            failure.compareAndSet(null, interleaved(metadata.offset(), start + index));
          }
        });
  }

  private InterleavedException interleaved(long got, long expected) {
    return new InterleavedException(
        "%s: got offset %d for a record, expected %d, as somebody else writes there; let one publisher alone do so"
            .formatted(topic, got, expected));
  }

  /** The offset of the first record of a checkpoint. */
  private long first(Future<RecordMetadata> future) {
    long start = await(future);
    if (start != next) {
      throw interleaved(start, next);
    }
    return start;
  }

  private void throwFailure() {
    RuntimeException failed = failure.get();
    if (failed != null) {
      throw failed;
    }
  }

  private long await(Future<RecordMetadata> future) {
    try {
      long offset = future.get().offset();
      throwFailure();
      return offset;
    } catch (ExecutionException e) {
      throwFailure();
      throw e.getCause() instanceof RuntimeException cause
          ? cause
          : new KafkaException(e.getCause());
    } catch (InterruptedException e) {
      throw new InterruptException(e);
    }
  }

  private void sent(Announcement of, long start) {
    lastHash = of.hash();
    next = start + of.content().chunks();
    if (of.kind().isFull()) {
      full = start;
      takesOver = Optional.empty();
    }
  }

  /** Ends the connection; what was not taken yet is given up. */
  @Override
  public void close() {
    try (reader) {
      producer.close(Duration.ZERO);
    } catch (KafkaException _) {
      // There is nothing left to send.
    }
  }
}
