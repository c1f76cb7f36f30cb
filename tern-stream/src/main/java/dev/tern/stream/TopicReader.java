package dev.tern.stream;

import dev.tern.base.DataException;
import java.io.Closeable;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Reads a topic of one partition from any place. For one thread, except {@link #wakeUp}. */
final class TopicReader implements Closeable {
  private static final Duration ANSWER = Duration.ofSeconds(5);
  private static final Duration POLL = Duration.ofMillis(200);
  private static final Duration TAIL = Duration.ofSeconds(20);

  /** How far before the end a record of Tern's is looked for, if others wrote the last ones. */
  private static final int[] BACK = {1, 16, 256, 4_096};

  /** Memory for records stays below the third of these, whatever the size of a checkpoint. */
  private static final Map<String, String> DEFAULTS =
      Map.of(
          "max.partition.fetch.bytes", "4194304",
          "max.poll.records", "16",
          "fetch.max.bytes", "16777216",
          "request.timeout.ms", "15000",
          "default.api.timeout.ms", "15000",
          "reconnect.backoff.max.ms", "5000",
          "enable.metrics.push", "false",
          "client.id", "tern");

  private static final Map<String, String> OWN =
      Map.of(
          "enable.auto.commit",
          "false",
          "auto.offset.reset",
          "none",
          "allow.auto.create.topics",
          "false");

  private final TopicAddress topic;
  private final TopicFacts facts;
  private final TopicPartition partition;
  private final List<TopicPartition> partitions;
  private final KafkaConsumer<byte[], byte[]> consumer;

  private TopicReader(
      TopicAddress topic, TopicFacts facts, KafkaConsumer<byte[], byte[]> consumer) {
    this.topic = topic;
    this.facts = facts;
    this.consumer = consumer;
    partition = new TopicPartition(topic.topic(), 0);
    partitions = List.of(partition);
    consumer.assign(partitions);
  }

  /**
   * Connects.
   *
   * @param create whether to make the topic, if it is not there
   * @throws StreamException if the topic is not fit
   * @throws KafkaException if the brokers do not answer, or refuse
   */
  static TopicReader open(TopicAddress topic, ClientProperties properties, boolean create) {
    TopicFacts facts = TopicFacts.ask(topic, properties, create);
    return new TopicReader(
        topic,
        facts,
        new KafkaConsumer<>(
            properties.with(topic, DEFAULTS, OWN),
            new ByteArrayDeserializer(),
            new ByteArrayDeserializer()));
  }

  TopicFacts facts() {
    return facts;
  }

  /** The offset of the first record that is still there. */
  long begin() {
    return offset(consumer.beginningOffsets(partitions, ANSWER));
  }

  /** The offset behind the last record. */
  long end() {
    return offset(consumer.endOffsets(partitions, ANSWER));
  }

  private long offset(Map<TopicPartition, Long> offsets) {
    return Optional.ofNullable(offsets.get(partition))
        .orElseThrow(() -> new KafkaException("no offset of " + partition));
  }

  /** Reads on from there. */
  void seek(long offset) {
    consumer.seek(partition, offset);
  }

  /** The offset that is read next; behind all that {@link #poll} gave or left out. */
  long position() {
    return consumer.position(partition, ANSWER);
  }

  /** The next records, none if there are none for a moment. */
  List<ConsumerRecord<byte[], byte[]>> poll() {
    try {
      return consumer.poll(POLL).records(partition);
    } catch (NoClassDefFoundError e) {
      throw Troubles.codec(topic, e).orElseThrow(() -> e);
    }
  }

  /** The last record of a checkpoint; empty if there is none. Reading goes on elsewhere then. */
  Optional<Chunk> last() {
    long begin = begin();
    long end = end();
    Optional<Chunk> last = Optional.empty();
    for (int back : BACK) {
      if (last.isEmpty() && end > begin) {
        last = lastFrom(Math.max(begin, end - back), end);
      }
    }
    return last;
  }

  private Optional<Chunk> lastFrom(long from, long end) {
    Optional<Chunk> last = Optional.empty();
    seek(from);
    long limit = System.nanoTime() + TAIL.toNanos();
    while (position() < end) {
      if (System.nanoTime() > limit) {
        throw new org.apache.kafka.common.errors.TimeoutException(
            "no records from offset " + from + " for " + TAIL.toSeconds() + " s");
      }
      for (ConsumerRecord<byte[], byte[]> each : poll()) {
        Optional<Chunk> chunk = chunk(each);
        last = chunk.isPresent() ? chunk : last;
      }
    }
    return last;
  }

  private static Optional<Chunk> chunk(ConsumerRecord<byte[], byte[]> each) {
    try {
      return each.value() == null
          ? Optional.empty()
          : Optional.of(Heads.read(each.offset(), each.headers(), each.value()));
    } catch (DataException _) {
      return Optional.empty();
    }
  }

  /** Ends a wait of another thread with {@code WakeupException}. */
  void wakeUp() {
    consumer.wakeup();
  }

  @Override
  public void close() {
    consumer.close(CloseOptions.timeout(Duration.ofSeconds(1)));
  }
}
