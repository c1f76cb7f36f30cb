package dev.tern.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.checkpoint.CheckpointFiles;
import dev.tern.checkpoint.DeltaRuns;
import dev.tern.data.Batch;
import dev.tern.predict.ModelVersion;
import dev.tern.predict.Predictor;
import dev.tern.predict.ScoreOptions;
import dev.tern.predict.ServedModel;
import dev.tern.predict.ServedOptions;
import dev.tern.train.PlantedRuns;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;

/** Publishers and followers of a broker in this process. */
final class StreamTest {
  @TempDir static Path temp;
  private static KafkaBroker broker;

  private final ConcurrentLinkedQueue<String> notes = new ConcurrentLinkedQueue<>();
  private Path run;
  private Path spool;
  private TopicAddress topic;

  @BeforeAll
  static void start() {
    broker = KafkaBroker.start(temp.resolve("broker"));
  }

  @AfterAll
  static void stop() {
    broker.close();
  }

  @BeforeEach
  void names(TestInfo test) {
    String name = test.getTestMethod().orElseThrow().getName();
    run = temp.resolve(name).resolve("run");
    spool = temp.resolve(name).resolve("spool");
    topic = broker.topic(name);
  }

  private Publisher publisher(PublishOptions options) {
    return Publisher.of(run, topic, ClientProperties.NONE, options, notes::add);
  }

  private static PublishOptions options(String name) {
    return new PublishOptions(name, 4_096, Optional.empty(), false, true);
  }

  private int publish(PublishOptions options) throws InterruptedException {
    try (Publisher publisher = publisher(options)) {
      return publisher.publish();
    }
  }

  private Follower follow() {
    return Follower.start(topic, ClientProperties.NONE, FollowOptions.of(spool), notes::add);
  }

  private void await(BooleanSupplier condition) throws InterruptedException {
    for (int i = 0; i < 6_000 && !condition.getAsBoolean(); i++) {
      Thread.sleep(5);
    }
    assertThat(condition.getAsBoolean()).as("notes: %s", notes).isTrue();
  }

  /** The latest step in the spool; -1 while it changes. */
  private long step() {
    try {
      return Checkpoint.openLatest(spool).step();
    } catch (DataException | UncheckedIOException e) {
      return -1;
    }
  }

  private void assertSameBytes() throws IOException {
    for (CheckpointFiles part : Checkpoint.openLatest(run).files()) {
      assertThat(PlantedRuns.contents(spool.resolve("checkpoints").resolve(part.name())))
          .isEqualTo(PlantedRuns.contents(part.folder()));
    }
  }

  @Test
  void whatTrainingWritesIsServedElsewhereToTheBit() throws Exception {
    PublishedRun.train(run, 1, 2);
    Thread publishing;
    AtomicReference<Throwable> failed = new AtomicReference<>();
    try (Publisher publisher = publisher(options("a"))) {
      publishing =
          Thread.ofPlatform()
              .start(() -> {
                try {
                  publisher.follow();
                } catch (InterruptedException e) {
                  // The end of the test.
                } catch (RuntimeException e) {
                  failed.set(e);
                }
              });
      await(() -> notes.stream().anyMatch(note -> note.contains("step-2.delta")));
      try (Follower follower = follow()) {
        follower.awaitFirst();
        try (ServedModel model = ServedModel.open(follower.folder(), ServedOptions.DEFAULT)) {
          assertScores(model, 2);
          PublishedRun.train(run, 1, 5);
          await(() -> {
            model.refresh();
            return step() == 5 && servedStep(model) == 5;
          });
          assertScores(model, 5);
        }
        await(() -> follower.state().taken() == 5);
        assertThat(follower.state().refused().values()).containsOnly(0L);
      }
      publishing.interrupt();
      publishing.join();
    }
    assertThat(failed).hasValue(null);
    assertSameBytes();
  }

  private static long servedStep(ServedModel model) {
    try (ModelVersion version = model.pin()) {
      return version.step();
    }
  }

  private void assertScores(ServedModel model, long step) {
    Batch rows = DeltaRuns.ROWS;
    try (ModelVersion version = model.pin();
        Predictor predictor = Predictor.open(Checkpoint.openLatest(run), ScoreOptions.DEFAULT)) {
      assertThat(version.step()).isEqualTo(step);
      assertThat(version.score(rows)).isEqualTo(predictor.score(rows));
    }
  }

  @Test
  void aPublisherGoesOnWithWhatTheTopicLacks() throws Exception {
    PublishedRun.train(run, 1, 2);
    assertThat(publish(options("a"))).isEqualTo(2);
    assertThat(publish(options("a"))).isZero();
    PublishedRun.train(run, 1, 4);
    assertThat(publish(options("a"))).isEqualTo(2);
    try (Follower follower = follow()) {
      follower.awaitFirst();
      await(() -> step() == 4);
    }
    assertSameBytes();
    PublishedRun.train(run, 1, 5);
    publish(options("a"));
    notes.clear();
    try (Follower follower = follow()) { // Goes on where it was.
      await(() -> step() == 5 && follower.state().taken() > 0);
      await(() -> follower.state().ageSeconds() < 60);
      assertThat(follower.state().taken()).isEqualTo(1);
    }
  }

  @Test
  void whatWasNotSentToItsEndIsSentAgain() throws Exception {
    List<CheckpointFiles> parts = PublishedRun.train(run, 1, 3);
    publish(options("a"));
    PublishedRun.train(run, 1, 4);
    CheckpointFiles last = Checkpoint.openLatest(run).files().getLast();
    assertThat(parts).doesNotContain(last);
    long end = end();
    List<Sent> half = Sent.of(last, "a", 4, end).subList(0, 2);
    write(half.stream().map(each -> each.with("tern-full", Optional.of("0"))).toList());
    assertThat(publish(options("a"))).isEqualTo(1);
    try (Follower follower = follow()) {
      follower.awaitFirst();
      await(() -> step() == 4);
      await(() -> follower.state().refused().get(Refusal.HALF) == 1);
    }
    assertSameBytes();
  }

  private long end() {
    try (TopicReader reader = TopicReader.open(topic, ClientProperties.NONE, false)) {
      return reader.end();
    }
  }

  private void write(List<Sent> records) throws Exception {
    Map<String, Object> settings = Map.of("bootstrap.servers", topic.brokers());
    byte[] key = {};
    try (var producer =
        new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
      for (Sent each : records) {
        producer
            .send(new ProducerRecord<>(topic.topic(), 0, key, each.value(), each.headers()))
            .get();
      }
    }
  }

  private void writeUnchecked(Sent record) {
    try {
      write(List.of(record));
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  /** Writes a record in a transaction, whose end takes an offset and is no record. */
  private void writeInTransaction(Sent record) {
    Map<String, Object> settings =
        Map.of("bootstrap.servers", topic.brokers(), "transactional.id", topic.topic());
    try (var producer =
        new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
      producer.initTransactions();
      producer.beginTransaction();
      producer.send(
          new ProducerRecord<>(topic.topic(), 0, new byte[0], record.value(), record.headers()));
      producer.commitTransaction();
    }
  }

  @Test
  void aTopicThatEndsWithTheEndOfATransactionIsReadToItsEnd() throws Exception {
    PublishedRun.train(run, 1, 2);
    publish(options("a"));
    writeInTransaction(new Sent(List.of(), new byte[] {1}));
    try (Follower follower = follow()) {
      await(() -> follower.state().behind() == 0 && Double.isFinite(follower.state().ageSeconds()));
      follower.awaitFirst();
      assertThat(step()).isEqualTo(2);
    }
  }

  @Test
  void whoeverElseWritesTheTopicIsNoticed() throws Exception {
    PublishedRun.train(run, 1, 2);
    try (Publisher publisher = publisher(options("a"))) {
      assertThat(publisher.publish()).isEqualTo(2);
      write(List.of(new Sent(List.of(), new byte[] {1})));
      PublishedRun.train(run, 1, 3);
      publisher.publish();
      assertThat(notes).anyMatch(note -> note.contains("somebody else writes there"));
      for (int step = 4; step < 10; step++) { // Each time what is lacking comes through.
        write(List.of(new Sent(List.of(), new byte[] {1})));
        PublishedRun.train(run, 1, step);
        publisher.publish();
      }
    }
    try (Follower follower = follow()) {
      follower.awaitFirst();
      await(() -> step() == 9);
      await(() -> follower.state().refused().get(Refusal.DAMAGED) == 7);
    }
    assertSameBytes();
  }

  @Test
  void whoeverWritesBetweenAllCheckpointsEndsThePublisher() throws Exception {
    PublishedRun.train(run, 1, 8);
    Consumer<String> writing =
        note -> {
          if (note.startsWith("published")) {
            writeUnchecked(new Sent(List.of(), new byte[] {1}));
          }
        };
    try (Publisher publisher =
        Publisher.of(run, topic, ClientProperties.NONE, options("a"), writing)) {
      assertThatThrownBy(publisher::publish)
          .isInstanceOf(StreamException.class)
          .hasMessageContaining("let one publisher alone do so");
    }
    assertThat(publish(options("a"))).isLessThan(8);
    try (Follower follower = follow()) {
      follower.awaitFirst();
      await(() -> step() == 8);
    }
    assertSameBytes();
  }

  @Test
  void fullCheckpointsMayLieInASharedFolder() throws Exception {
    Path shared = temp.resolve("shared");
    PublishedRun.train(run, 1, 3);
    assertThat(publish(new PublishOptions("a", 4_096, Optional.of(shared), false, true)))
        .isEqualTo(3);
    FollowOptions options = new FollowOptions(spool, Long.MAX_VALUE, Optional.of(shared));
    try (Follower follower = Follower.start(topic, ClientProperties.NONE, options, notes::add)) {
      follower.awaitFirst();
      await(() -> step() == 3);
    }
    assertSameBytes();
  }

  @Test
  void anotherRunNeedsToTakeOver() throws Exception {
    PublishedRun.train(run, 1, 3);
    publish(options("day1"));
    try (Follower follower = follow()) {
      follower.awaitFirst();
      run = temp.resolve("day2");
      PublishedRun.train(run, 2, 2);
      assertThatThrownBy(() -> publish(options("day2")))
          .isInstanceOf(StreamException.class)
          .hasMessageContaining("of run day1 at offset ")
          .hasMessageContaining("--take-over");
      assertThat(publish(new PublishOptions("day2", 4_096, Optional.empty(), true, false)))
          .isEqualTo(2);
      await(() -> step() == 2);
      assertThat(follower.state().refused().values()).containsOnly(0L);
    }
    assertSameBytes();
  }

  @Test
  void aTakeOverOfTheSameCheckpointsIsSentAndAnother() throws Exception {
    PublishedRun.train(run, 1, 2);
    publish(options("day1"));
    try (Follower follower = follow()) {
      follower.awaitFirst();
      assertThat(publish(new PublishOptions("day2", 4_096, Optional.empty(), true, false)))
          .isEqualTo(2);
      PublishedRun.train(run, 1, 3);
      assertThat(publish(options("day2"))).isEqualTo(1);
      await(() -> step() == 3);
      assertThat(follower.state().refused().values()).containsOnly(0L);
    }
    assertSameBytes();
  }

  @Test
  void aTakeOverThatBrokeIsTakenUpAgain() throws Exception {
    List<CheckpointFiles> before = PublishedRun.train(run, 1, 2);
    publish(options("day1"));
    try (Follower follower = follow()) {
      follower.awaitFirst();
      run = temp.resolve("broke2");
      List<CheckpointFiles> parts = PublishedRun.train(run, 2, 1);
      List<Sent> half = Sent.of(parts.getFirst(), "day2", 9, end(), Optional.of("day1"));
      write(half.subList(0, half.size() - 1));
      assertThat(publish(options("day2"))).isEqualTo(1);
      await(() -> follower.state().taken() == before.size() + 1);
      assertThat(follower.state().refused().get(Refusal.FOREIGN)).isZero();
    }
    assertSameBytes();
  }

  @Test
  void aTopicThatNoLongerHasAFullCheckpointGetsItAgain() throws Exception {
    PublishedRun.train(run, 1, 3);
    publish(options("a"));
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", topic.brokers()))) {
      var gone = Map.of(new TopicPartition(topic.topic(), 0), RecordsToDelete.beforeOffset(3));
      admin.deleteRecords(gone).all().get();
    }
    try (Follower follower = follow()) {
      await(() -> notes.stream().anyMatch(note -> note.contains("the topic keeps no others")));
      assertThat(publish(options("a"))).isEqualTo(3);
      follower.awaitFirst();
      await(() -> step() == 3);
    }
    assertSameBytes();
  }

  @Test
  void topicsOfSeveralPartitionsAreRefused() throws Exception {
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", topic.brokers()))) {
      admin.createTopics(List.of(new NewTopic(topic.topic(), 2, (short) 1))).all().get();
    }
    PublishedRun.train(run, 1, 1);
    String said = "got a topic of 2 partitions, expected 1";
    assertThatThrownBy(() -> publish(options("a")))
        .isInstanceOf(StreamException.class)
        .hasMessageContaining(topic.toString())
        .hasMessageContaining(said);
    try (Follower follower = follow()) {
      assertThatThrownBy(follower::awaitFirst)
          .isInstanceOf(StreamException.class)
          .hasMessageContaining(said);
    }
  }

  @Test
  void brokersThatAreDownAreWaitedForAtTheStartAndLater() throws Exception {
    PublishedRun.train(run, 1, 2);
    publish(options("a"));
    broker.stop();
    var impatient =
        new ClientProperties(
            Map.of("default.api.timeout.ms", "1500", "request.timeout.ms", "1000"));
    try (Follower follower =
        Follower.start(topic, impatient, FollowOptions.of(spool), notes::add)) {
      await(() -> notes.stream().anyMatch(note -> note.contains("got no answer from the brokers")));
      assertThat(follower.state().ageSeconds()).isInfinite();
      broker.startAgain();
      follower.awaitFirst();
      await(() -> step() == 2);
      await(() -> follower.state().ageSeconds() < 60);
      assertThat(follower.state().behind()).isZero();
    }
    assertThat(notes).anyMatch(note -> note.endsWith("Tern goes on trying"));
  }
}
