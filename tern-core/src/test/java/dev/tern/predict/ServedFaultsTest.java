package dev.tern.predict;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import dev.tern.checkpoint.CheckpointWatch.Follow;
import dev.tern.checkpoint.DeltaRuns;
import dev.tern.internal.checkpoint.FileDigest;
import dev.tern.predict.ModelEvent.How;
import dev.tern.predict.ModelEvent.Loaded;
import dev.tern.predict.ModelEvent.Refused;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a served model does when updates are damaged, too large, late or unwanted. */
final class ServedFaultsTest {
  @TempDir static Path trained;
  private static Path archive;

  @TempDir Path folder;

  private final List<ModelEvent> events = new ArrayList<>();

  @BeforeAll
  static void train() {
    archive = ServedRuns.archive(trained, DeltaRuns.options(), 2);
  }

  private Path served() {
    return folder.resolve("served");
  }

  private ServedModel open(ServedOptions options) {
    ServedRuns.deliver(archive, served(), "step-2");
    return ServedModel.open(served(), options, events::add);
  }

  private void deliver(int... deltas) {
    for (int step : deltas) {
      ServedRuns.deliver(archive, served(), ServedRuns.delta(step));
    }
  }

  private void assertServes(ServedModel model, String name) {
    try (ModelVersion version = model.pin()) {
      assertThat(version.step()).isEqualTo(ServedRuns.step(name));
      assertThat(version.score(ServedRuns.ROWS))
          .isEqualTo(ServedRuns.expected(archive, name, ScoreOptions.DEFAULT));
    }
  }

  private void refreshAll(ServedModel model) {
    while (model.refresh()) {
      // There may be more.
    }
  }

  private List<Refused> refused() {
    return events.stream().filter(Refused.class::isInstance).map(Refused.class::cast).toList();
  }

  /** Puts a changed copy of the changes of a step into the served folder. */
  private Path deliverChanged(int step, String file, Change change) throws IOException {
    Path writing = folder.resolve("changed");
    ServedRuns.copy(archive.resolve(ServedRuns.delta(step)), writing);
    Path content = writing.resolve(file);
    byte[] bytes = Files.readAllBytes(content);
    change.apply(bytes);
    Files.write(content, bytes);
    Path target = served().resolve(ServedRuns.delta(step));
    Files.move(writing, target);
    return target;
  }

  private interface Change {
    void apply(byte[] bytes);
  }

  /** Writes a manifest that fits the changed content of a file. */
  private static void sign(Path checkpoint, String file) throws IOException {
    Path manifest = checkpoint.resolve("manifest.json");
    String digest = FileDigest.of(checkpoint.resolve(file));
    String text = Files.readString(manifest);
    String changed = text.replaceAll("(\"" + file + "\" *: *\")[^\"]*", "$1" + digest);
    assertThat(changed).isNotEqualTo(text);
    Files.writeString(manifest, changed);
    Files.writeString(checkpoint.resolve("manifest.sha256"), FileDigest.sha256(manifest));
  }

  @Test
  void aDamagedUpdateIsToldOfOnceAndTheVersionBeforeServesUntilAFullOneComes() throws IOException {
    try (ServedModel model = open(ServedOptions.DEFAULT)) {
      deliver(4);
      refreshAll(model);
      Path damaged = deliverChanged(6, "tables/1.safetensors", bytes -> bytes[bytes.length - 1]++);
      deliver(8);
      for (int i = 0; i < 3; i++) {
        assertThat(model.refresh()).isFalse();
        assertServes(model, ServedRuns.delta(4));
      }
      assertThat(refused())
          .extracting(Refused::checkpoint)
          .containsExactly(served().resolve(ServedRuns.delta(8)), damaged);
      assertThat(refused().getLast().reason()).contains("1.safetensors: got digest");
      ServedRuns.deliver(archive, served(), "step-24");
      refreshAll(model);
      assertServes(model, "step-24");
    }
  }

  @Test
  void anUpdateWhoseFilesComeLateServesOnceTheyAreThere() throws IOException {
    try (ServedModel model = open(ServedOptions.DEFAULT)) {
      Path late = served().resolve(ServedRuns.delta(4));
      ServedRuns.copy(archive.resolve(ServedRuns.delta(4)), late);
      Files.delete(late.resolve("dense.safetensors"));
      assertThat(model.refresh()).isFalse();
      Files.copy(
          archive.resolve(ServedRuns.delta(4)).resolve("dense.safetensors"),
          late.resolve("dense.safetensors"));
      assertThat(model.refresh()).isTrue();
      assertServes(model, ServedRuns.delta(4));
      assertThat(refused()).hasSize(1);
    }
  }

  @Test
  void anUpdateWithoutTheOneBeforeWaitsForIt() {
    try (ServedModel model = open(ServedOptions.DEFAULT)) {
      deliver(4, 8);
      refreshAll(model);
      assertServes(model, ServedRuns.delta(4));
      assertThat(refused()).hasSize(1);
      assertThat(refused().getFirst().reason()).contains("step-6.delta", "no such folder");
      deliver(6);
      refreshAll(model);
      assertServes(model, ServedRuns.delta(8));
      assertThat(refused()).hasSize(1);
    }
  }

  @Test
  void updatesUnderEachOthersNamesAreNeverServed() throws IOException {
    try (ServedModel model = open(ServedOptions.DEFAULT)) {
      ServedRuns.copy(archive.resolve(ServedRuns.delta(6)), served().resolve(ServedRuns.delta(4)));
      ServedRuns.copy(archive.resolve(ServedRuns.delta(4)), served().resolve(ServedRuns.delta(6)));
      refreshAll(model);
      assertServes(model, "step-2");
      assertThat(refused()).hasSize(2);
    }
  }

  @Test
  void whatIsStillBeingWrittenOrWasReplacedIsNotLookedAt() throws IOException {
    try (ServedModel model = open(ServedOptions.DEFAULT)) {
      deliver(4);
      for (String ending : List.of(".writing", ".replaced", ".removed", ".1234.writing")) {
        Path partial = served().resolve(ServedRuns.delta(6) + ending);
        ServedRuns.copy(archive.resolve(ServedRuns.delta(6)), partial);
        Files.delete(partial.resolve("manifest.sha256"));
      }
      Files.createDirectories(served().resolve("step-9999x"));
      Files.writeString(served().resolve("step-10000"), "a file");
      refreshAll(model);
      assertServes(model, ServedRuns.delta(4));
      assertThat(refused()).isEmpty();
    }
  }

  @Test
  void anUpdateWithAWeightThatIsNoNumberIsRefused() throws IOException {
    try (ServedModel model = open(ServedOptions.DEFAULT)) {
      Path bad =
          deliverChanged(
              4,
              "dense.safetensors",
              bytes ->
                  ByteBuffer.wrap(bytes)
                      .order(ByteOrder.LITTLE_ENDIAN)
                      .putFloat(bytes.length - 4, Float.NaN));
      sign(bad, "dense.safetensors");
      refreshAll(model);
      assertServes(model, "step-2");
      assertThat(refused()).extracting(Refused::checkpoint).containsExactly(bad);
      assertThat(refused().getFirst().reason()).contains("infinite or no number");
      refreshAll(model);
      assertThat(refused()).hasSize(1);
    }
  }

  @Test
  void aRowWithAWeightThatIsInfiniteIsRefused() throws IOException {
    try (ServedModel model = open(ServedOptions.DEFAULT)) {
      // Weights lie behind the ids, so some float in the middle of the file is one.
      Path bad =
          deliverChanged(
              4,
              "tables/1.safetensors",
              bytes -> {
                ByteBuffer all = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
                int header = (int) all.getLong(0);
                String text = new String(bytes, 8, header, java.nio.charset.StandardCharsets.UTF_8);
                int from =
                    Integer.parseInt(
                        text.replaceAll(
                            "(?s).*\"weights\":\\{[^}]*\"data_offsets\":\\[([0-9]+).*", "$1"));
                all.putFloat(8 + header + from, Float.NEGATIVE_INFINITY);
              });
      sign(bad, "tables/1.safetensors");
      refreshAll(model);
      assertServes(model, "step-2");
      assertThat(refused().getFirst().reason()).contains("infinite or no number", "table ad");
    }
  }

  @Test
  void aPinnedVersionStaysAsItIsWhileUpdatesComeAndFoldOnceItIsGivenBack() {
    try (ServedModel model = open(ServedOptions.DEFAULT)) {
      float[] before = ServedRuns.expected(archive, "step-2", ScoreOptions.DEFAULT);
      try (ModelVersion pinned = model.pin()) {
        deliver(4, 6, 8);
        refreshAll(model);
        assertThat(pinned.score(ServedRuns.ROWS)).isEqualTo(before);
        assertServes(model, ServedRuns.delta(8));
        assertThat(model.earlierSteps()).containsExactly(6L, 4L, 2L);
        model.rollBack(4);
        assertServes(model, ServedRuns.delta(4));
        assertThat(pinned.score(ServedRuns.ROWS)).isEqualTo(before);
        model.goOn();
        refreshAll(model);
        assertServes(model, ServedRuns.delta(8));
        assertThat(pinned.score(ServedRuns.ROWS)).isEqualTo(before);
      }
      refreshAll(model);
      assertServes(model, ServedRuns.delta(8));
      model.rollBack(2);
      assertServes(model, "step-2");
    }
  }

  @Test
  void soManyUpdatesWaitForAPinnedVersionAndTheRestComesLater() {
    try (ServedModel model = open(ServedOptions.DEFAULT)) {
      try (ModelVersion pinned = model.pin()) {
        deliver(IntStream.rangeClosed(2, 11).map(i -> 2 * i).toArray());
        refreshAll(model);
        assertServes(model, ServedRuns.delta(2 + 2 * LayeredModel.MOST_WAITING));
        assertThat(pinned.step()).isEqualTo(2);
      }
      refreshAll(model);
      assertServes(model, ServedRuns.delta(22));
    }
  }

  @Test
  void aFullCheckpointThatGoesBeforeItIsReadGivesWayToWhatIsThereThen() {
    try (ServedModel model = open(ServedOptions.DEFAULT)) {
      deliver(4);
      try (ModelVersion pinned = model.pin()) {
        refreshAll(model);
        ServedRuns.deliver(archive, served(), "step-24");
        assertThat(model.refresh()).isFalse(); // It waits for the pinned version.
        assertThat(pinned.step()).isEqualTo(2);
        ServedRuns.remove(served(), "step-24");
        deliver(6);
      }
      refreshAll(model);
      assertThat(model.refresh()).isTrue();
      assertServes(model, ServedRuns.delta(6));
      assertThat(refused()).isEmpty();
    }
  }

  @Test
  void tooLargeChangesAndWhatFollowsThemAreLeftOutUntilTheNextFullCheckpoint() {
    try (ServedModel model = open(ServedOptions.DEFAULT.withDeltaMemory(1000))) {
      deliver(4, 6);
      refreshAll(model);
      assertServes(model, "step-2");
      assertThat(refused()).hasSize(1);
      ServedRuns.deliver(archive, served(), "step-24");
      refreshAll(model);
      assertServes(model, "step-24");
      assertThat(refused()).hasSize(1);
    }
  }

  @Test
  void memoryStaysWithinItsLimitAndEarlierStepsGoBeforeAnUpdateIsRefused() {
    long alone;
    long kept;
    try (ServedModel model = open(ServedOptions.DEFAULT.withUndo(0))) {
      alone = model.memoryInUse();
      deliver(4, 6, 8, 10, 12, 14, 16, 18, 20, 22);
      refreshAll(model);
      kept = model.memoryInUse();
      assertThat(model.earlierSteps()).isEmpty();
    }
    ServedRuns.remove(folder, "served");
    long limit = kept + (1 << 20);
    try (ServedModel model = open(ServedOptions.DEFAULT.withUndo(100).withMemory(limit))) {
      for (int step = 4; step <= 22; step += 2) {
        deliver(step);
        refreshAll(model);
        assertThat(model.memoryInUse()).isLessThanOrEqualTo(limit);
        assertServes(model, ServedRuns.delta(step));
      }
      assertThat(model.earlierSteps()).hasSizeBetween(1, 9);
    }
    ServedRuns.remove(folder, "served");
    events.clear();
    try (ServedModel model = open(ServedOptions.DEFAULT.withMemory(alone + 130_000))) {
      deliver(4);
      refreshAll(model);
      assertServes(model, "step-2");
      assertThat(refused().getFirst().reason()).contains("does not fit");
    }
  }

  @Test
  void anUpdateWaitsForTheMemoryThatAPinnedVersionHolds() {
    long kept;
    try (ServedModel model = open(ServedOptions.DEFAULT.withUndo(0))) {
      deliver(4, 6, 8, 10, 12, 14, 16);
      refreshAll(model);
      kept = model.memoryInUse();
    }
    ServedRuns.remove(folder, "served");
    events.clear();
    ServedOptions tight = ServedOptions.DEFAULT.withUndo(0).withMemory(kept + (1 << 20));
    try (ServedModel model = open(tight)) {
      try (ModelVersion pinned = model.pin()) {
        deliver(4, 6, 8, 10, 12, 14, 16); // Fewer than may wait, if there were memory.
        refreshAll(model);
        assertThat(pinned.step()).isEqualTo(2);
        try (ModelVersion last = model.pin()) {
          assertThat(last.step()).isLessThan(16);
        }
        assertThat(refused()).isEmpty();
      }
      refreshAll(model);
      assertServes(model, ServedRuns.delta(16));
      assertThat(refused()).isEmpty();
    }
  }

  @Test
  void memoryOfUpdatesComesBack() {
    try (ServedModel model = open(ServedOptions.DEFAULT.withUndo(0))) {
      ServedRuns.scores(model);
      long before = model.memoryInUse();
      for (int round = 0; round < 3; round++) {
        deliver(4, 6, 8);
        refreshAll(model);
        ServedRuns.scores(model);
        model.rollBack(2); // From the folder, as none is kept.
        assertServes(model, "step-2");
        ServedRuns.remove(served(), ServedRuns.delta(4), ServedRuns.delta(6), ServedRuns.delta(8));
        model.goOn();
        model.refresh();
        assertThat(model.memoryInUse()).as("round " + round).isLessThan(before + 300_000);
        if (round == 0) {
          before = Math.max(before, model.memoryInUse()); // Rows that came and went leave room.
        } else {
          assertThat(model.memoryInUse()).isEqualTo(before);
        }
      }
    }
  }

  @Test
  void anUpdateThatMovesTheMeanPredictionTooFarIsRefused() {
    float[] first = ServedRuns.expected(archive, "step-2", ScoreOptions.DEFAULT);
    float[] next = ServedRuns.expected(archive, ServedRuns.delta(4), ScoreOptions.DEFAULT);
    double shift = Math.abs(mean(first) - mean(next));
    for (boolean allowed : List.of(false, true)) {
      ServedRuns.remove(folder, "served");
      ServedOptions options = ServedOptions.DEFAULT.withMaxShift(shift * (allowed ? 1.01 : 0.99));
      events.clear();
      try (ServedModel model = open(options)) {
        ServedRuns.scores(model);
        deliver(4);
        refreshAll(model);
        assertServes(model, allowed ? ServedRuns.delta(4) : "step-2");
        assertThat(refused()).hasSize(allowed ? 0 : 1);
        ServedRuns.deliver(archive, served(), "step-24");
      }
    }
  }

  private static double mean(float[] scores) {
    return IntStream.range(0, scores.length).mapToDouble(i -> scores[i]).average().orElseThrow();
  }

  @Test
  void theBestCheckpointIsFollowedWhereItIsReplaced() throws IOException {
    ServedRuns.copy(archive.resolve("step-2"), served().resolve("checkpoints/best"));
    ServedRuns.copy(archive.resolve("step-24"), served().resolve("checkpoints/step-24"));
    try (ServedModel model =
        ServedModel.open(served(), ServedOptions.DEFAULT.withFollow(Follow.BEST), events::add)) {
      assertServes(model, "step-2");
      assertThat(model.refresh()).isFalse();
      ServedRuns.remove(served(), "checkpoints/best");
      assertThat(model.refresh()).isFalse();
      ServedRuns.copy(archive.resolve("step-24"), served().resolve("checkpoints/best"));
      assertThat(model.refresh()).isTrue();
      assertServes(model, "step-24");
    }
  }

  @Test
  void oneStepIsServedForGoodAndAnotherWhereOneAsksForIt() {
    ServedRuns.deliver(archive, served(), "step-2");
    deliver(4, 6, 8);
    ServedOptions options = ServedOptions.DEFAULT.withFollow(new Follow.Step(6));
    try (ServedModel model = ServedModel.open(served(), options)) {
      assertServes(model, ServedRuns.delta(6));
      assertThat(model.refresh()).isFalse();
      model.follow(new Follow.Step(4));
      refreshAll(model);
      assertServes(model, ServedRuns.delta(4));
      model.follow(Follow.LATEST);
      refreshAll(model);
      assertServes(model, ServedRuns.delta(8));
    }
    assertThatThrownBy(
            () -> ServedModel.open(served(), ServedOptions.DEFAULT.withFollow(new Follow.Step(5))))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("no whole checkpoint of step 5");
  }

  @Test
  void aSingleCheckpointIsServedForGood() {
    ServedRuns.deliver(archive, served(), "step-2");
    try (ServedModel model =
        ServedModel.open(served().resolve("step-2"), ServedOptions.DEFAULT, events::add)) {
      deliver(4);
      assertThat(model.refresh()).isFalse();
      assertServes(model, "step-2");
      assertThatThrownBy(() -> model.rollBack(7))
          .isInstanceOf(DataException.class)
          .hasMessageContaining("step 7");
    }
    assertThat(events).hasSize(1);
  }

  @Test
  void aRunWhoseNewestCheckpointIsDamagedBeginsWithTheNewestWholeOne() throws IOException {
    ServedRuns.deliver(archive, served(), "step-2");
    deliver(4);
    deliverChanged(6, "manifest.json", bytes -> bytes[3]++);
    try (ServedModel model = ServedModel.open(served(), ServedOptions.DEFAULT, events::add)) {
      assertServes(model, ServedRuns.delta(4));
      assertThat(refused()).hasSize(1);
      assertThat(events.getLast())
          .matches(
              e -> e instanceof Loaded(long step, How how, _, _) && step == 4 && how == How.WHOLE);
    }
  }

  @Test
  void rollingBackReadsAStepThatIsNoLongerInMemoryFromTheFolder() {
    try (ServedModel model = open(ServedOptions.DEFAULT.withUndo(1))) {
      deliver(4, 6, 8, 10);
      refreshAll(model);
      assertThat(model.earlierSteps()).containsExactly(8L);
      model.rollBack(4);
      assertServes(model, ServedRuns.delta(4));
      assertThat(model.refresh()).isFalse();
      assertThatThrownBy(() -> model.rollBack(5))
          .isInstanceOf(DataException.class)
          .hasMessageContaining("step 5");
      model.goOn();
      refreshAll(model);
      assertServes(model, ServedRuns.delta(10));
    }
  }

  @Test
  void aVersionIsGivenBackOnceForEachPinAndNoneIsPinnedAfterClose() {
    ServedModel model = open(ServedOptions.DEFAULT);
    ModelVersion one = model.pin();
    ModelVersion two = model.pin();
    assertThat(one).isSameAs(two);
    one.close();
    two.close();
    // In service, too: else the version would leave under those who come next.
    assertThatThrownBy(two::close)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("more pins back");
    model.pin().close();
    model.close();
    model.close();
    assertThatThrownBy(() -> model.rollBack(1))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("after close");
    assertThatThrownBy(two::close)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("more pins back");
    assertThatThrownBy(model::pin)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("after close");
    assertThat(model.memoryInUse()).isZero();
    assertThat(model.refresh()).isFalse();
  }

  @Test
  void optionsOutOfRangeAreRefused() {
    assertThat(Arrays.asList(0L, -1L))
        .allSatisfy(bytes ->
            assertThatThrownBy(() -> ServedOptions.DEFAULT.withMemory(bytes))
                .hasMessageContaining("memory " + bytes));
    assertThatThrownBy(() -> ServedOptions.DEFAULT.withUndo(-1)).hasMessageContaining("undo -1");
    assertThatThrownBy(() -> ServedOptions.DEFAULT.withMaxShift(Double.NaN))
        .hasMessageContaining("maxShift NaN");
    assertThatThrownBy(() -> ServedOptions.DEFAULT.withDeltaMemory(-1))
        .hasMessageContaining("deltaMemory -1");
  }
}
