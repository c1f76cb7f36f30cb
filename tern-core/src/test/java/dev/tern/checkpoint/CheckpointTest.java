package dev.tern.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.readers.Readers;
import dev.tern.embedding.config.RowLimits;
import dev.tern.internal.checkpoint.AtomicFolder;
import dev.tern.internal.json.Json;
import dev.tern.model.ModelConfig;
import dev.tern.model.ModelFactory;
import dev.tern.model.Network;
import dev.tern.nn.Features;
import dev.tern.nn.Model;
import dev.tern.optim.Optimizer;
import dev.tern.predict.Predictor;
import dev.tern.tensor.Device;
import dev.tern.tensor.Tensor;
import dev.tern.train.PlantedRuns;
import dev.tern.train.Progress;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Checkpoints that were damaged, lost or mistaken for others, and what each error says. */
final class CheckpointTest {
  private static final Batch ROWS = PlantedRuns.planted(5, 300);
  private static final ModelConfig MODEL = ModelConfig.of(ModelConfig.Type.DEEPFM, 2, 4);
  private static final TrainOptions OPTIONS =
      TrainOptions.of(Optimizer.adam(0.01f)).batch(100).shuffleRows(0);

  @TempDir Path folder;

  private Path saved(ModelFactory factory) {
    Path target = folder.resolve("saved");
    try (Device device = Device.cpu(1, 1L << 26);
        Trainer trainer = Trainer.create(device, PlantedRuns.encoder(ROWS), factory, OPTIONS)) {
      trainer.fit(Readers.inMemory(ROWS));
      trainer.save(target);
    }
    return target;
  }

  private static List<Path> files(Path checkpoint) throws IOException {
    try (Stream<Path> below = Files.walk(checkpoint)) {
      return below.filter(Files::isRegularFile).sorted().toList();
    }
  }

  @Test
  void aCheckpointSaysWhatItHolds() throws IOException {
    Path checkpoint = saved(MODEL);
    Checkpoint opened = Checkpoint.open(checkpoint);
    assertThat(opened.model()).contains(MODEL);
    assertThat(opened.step()).isEqualTo(3);
    assertThat(opened.encoder().rawSchema()).isEqualTo(ROWS.schema());
    assertThat(files(checkpoint).stream().map(f -> checkpoint.relativize(f).toString()))
        .containsExactlyInAnyOrder(
            "dense.safetensors",
            "encoders.json",
            "manifest.json",
            "manifest.sha256",
            "optimizer.safetensors",
            "tables/0.safetensors",
            "tables/1.safetensors",
            "tables/2.safetensors");
  }

  @Test
  void aByteChangedInAnyFileIsFoundAndTheFileNamed() throws IOException {
    Path checkpoint = saved(MODEL);
    for (Path file : files(checkpoint)) {
      byte[] whole = Files.readAllBytes(file);
      for (int at : new int[] {0, whole.length / 2, whole.length - 1}) {
        byte[] changed = whole.clone();
        changed[at] ^= 1;
        Files.write(file, changed);
        boolean hash = file.endsWith("manifest.sha256");
        assertThatThrownBy(() -> Checkpoint.open(checkpoint))
            .as("byte %d of %s", at, file)
            .isInstanceOf(DataException.class)
            .hasMessageContaining(
                hash ? checkpoint.resolve("manifest.json").toString() : file.toString());
      }
      Files.write(file, whole);
    }
    assertThat(Checkpoint.open(checkpoint).step()).isEqualTo(3);
  }

  @Test
  void aFolderThatIsNoCheckpointIsNotReplaced() throws IOException {
    Path mine = Files.createDirectories(folder.resolve("mine"));
    Path notes = Files.writeString(mine.resolve("notes.txt"), "a year of work");
    try (Device device = Device.cpu(1, 1L << 26);
        Trainer trainer = Trainer.create(device, PlantedRuns.encoder(ROWS), MODEL, OPTIONS)) {
      for (Path target : List.of(mine, notes)) {
        assertThatThrownBy(() -> trainer.save(target))
            .isInstanceOf(DataException.class)
            .hasMessageContaining(target + ": got a file or folder that is no checkpoint");
      }
      assertThat(notes).hasContent("a year of work");
      Path empty = Files.createDirectories(folder.resolve("empty"));
      trainer.save(empty);
      trainer.save(empty); // in place of the first
      assertThat(Checkpoint.open(empty).step()).isZero();
    }
  }

  @Test
  void aLostFileIsNamed() throws IOException {
    Path checkpoint = saved(MODEL);
    for (Path file : files(checkpoint)) {
      if (file.endsWith("manifest.json")) {
        continue;
      }
      byte[] whole = Files.readAllBytes(file);
      Files.delete(file);
      assertThatThrownBy(() -> Checkpoint.open(checkpoint))
          .isInstanceOf(DataException.class)
          .hasMessageContaining(file.toString())
          .hasMessageContaining("damaged");
      Files.write(file, whole);
    }
  }

  @Test
  void aCheckpointThatAnotherTookThePlaceOfIsNotReadAsAMixtureOfBoth() throws IOException {
    Path place = saved(MODEL);
    Checkpoint opened = Checkpoint.open(place);
    AtomicFolder.delete(place);
    TrainOptions longer = OPTIONS.epochs(2);
    try (Device device = Device.cpu(1, 1L << 26);
        Trainer trainer = Trainer.create(device, PlantedRuns.encoder(ROWS), MODEL, longer)) {
      trainer.fit(Readers.inMemory(ROWS));
      trainer.save(place);
    }
    Path out = folder.resolve("out");
    List<ThrowingCallable> readings = List.of(() -> load(opened), () -> opened.compact(out));
    for (ThrowingCallable reading : readings) {
      assertThatThrownBy(reading)
          .isInstanceOf(DataException.class)
          .hasMessageContainingAll(place + ": got another checkpoint", "open it again");
      assertThat(out).doesNotExist();
    }
    load(Checkpoint.open(place));
  }

  private static void load(Checkpoint checkpoint) {
    try (Device device = Device.cpu(1, 1L << 26)) {
      checkpoint.load(device).close();
    }
  }

  @Test
  void aFolderWithoutCheckpointIsNamed() throws IOException {
    Path empty = Files.createDirectories(folder.resolve("empty"));
    for (Path path : List.of(empty, folder.resolve("absent"))) {
      assertThat(Checkpoint.existsAt(path)).isFalse();
      assertThatThrownBy(() -> Checkpoint.open(path))
          .isInstanceOf(DataException.class)
          .hasMessageContaining(path + ": got no checkpoint")
          .hasMessageContaining("manifest.json");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"\"format\":3", "\"format\":0", "\"format\":\"1\"", "\"forma\":1"})
  void anotherVersionOfTheFormatIsRefused(String version) throws IOException {
    Path checkpoint = saved(MODEL);
    Path manifest = checkpoint.resolve("manifest.json");
    String text = Files.readString(manifest);
    assertThat(text).contains("\"format\":2");
    Files.writeString(manifest, text.replace("\"format\":2", version));
    assertThatThrownBy(() -> Checkpoint.open(checkpoint))
        .isInstanceOf(DataException.class)
        .hasMessageContaining(manifest.toString())
        .hasMessageContaining("expected 1 or 2; use the version of Tern that wrote it");
  }

  @Test
  void theFirstFormatIsReadAndItsFilesAreChecked() throws IOException {
    Path checkpoint = saved(MODEL);
    Path second = folder.resolve("second");
    Checkpoint.open(checkpoint).compact(second);
    Path manifest = checkpoint.resolve("manifest.json");
    Json.Obj json = Json.parseObject(Files.readString(manifest), "manifest");
    json.put("format", 1L);
    Json.Obj files = json.object("files");
    for (String name : List.copyOf(files.fields().keySet())) {
      files.put(name, Manifest.sha256(checkpoint.resolve(name)));
    }
    Files.writeString(manifest, json.toString());
    Files.writeString(checkpoint.resolve("manifest.sha256"), Manifest.sha256(manifest));
    Checkpoint first = Checkpoint.open(checkpoint);
    assertThat(first.step()).isEqualTo(3);
    Path third = folder.resolve("third");
    first.compact(third);
    assertThat(PlantedRuns.contents(third)).isEqualTo(PlantedRuns.contents(second));
    for (Path file : files(checkpoint)) {
      byte[] whole = Files.readAllBytes(file);
      byte[] changed = whole.clone();
      changed[whole.length / 2] ^= 4;
      Files.write(file, changed);
      assertThatThrownBy(() -> Checkpoint.open(checkpoint))
          .isInstanceOf(DataException.class)
          .hasMessageContaining("damaged");
      Files.write(file, whole);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "../outside",
        "/dev/zero",
        "tables/../../outside",
        "tables//0.safetensors",
        "a/b/c",
        ".",
        "a\\b",
        "a\u0000b",
        "é",
        ""
      })
  void aManifestThatNamesAFileElsewhereIsRefusedBeforeThatIsLookedAt(String name)
      throws IOException {
    Path checkpoint = saved(MODEL);
    Path manifest = nameFile(checkpoint, name);
    assertThatThrownBy(() -> Checkpoint.open(checkpoint))
        .isInstanceOf(DataException.class)
        .hasMessageStartingWith(manifest + ": \"files\": got the name ")
        .hasMessageContaining("damaged");
  }

  @Test
  void aManifestThatNamesAFolderIsRefused() throws IOException {
    Path checkpoint = saved(MODEL);
    nameFile(checkpoint, "tables");
    assertThatThrownBy(() -> Checkpoint.open(checkpoint))
        .isInstanceOf(DataException.class)
        .hasMessageContaining(checkpoint.resolve("tables") + ": got no such file");
  }

  /** Has the manifest of a checkpoint name one more file; gives the manifest. */
  private static Path nameFile(Path checkpoint, String name) throws IOException {
    Path manifest = checkpoint.resolve("manifest.json");
    Json.Obj json = Json.parseObject(Files.readString(manifest), "manifest");
    json.object("files").put(name, "00");
    Files.writeString(manifest, json.toString());
    Files.writeString(checkpoint.resolve("manifest.sha256"), Manifest.sha256(manifest));
    return manifest;
  }

  @ParameterizedTest
  @ValueSource(strings = {"WDL 2 4", "DEEPFM 3 4", "DEEPFM 2 5", "FM 2 4", "LR 2 4"})
  void aCheckpointOfAnotherModelIsRefusedAndItsFileNamed(String other) {
    Path checkpoint = saved(MODEL);
    String[] parts = other.split(" ");
    ModelConfig model =
        ModelConfig.of(
            ModelConfig.Type.valueOf(parts[0]),
            Integer.parseInt(parts[1]),
            Integer.parseInt(parts[2]));
    try (Device device = Device.cpu(1, 1L << 26)) {
      assertThatThrownBy(() -> Trainer.resume(device, checkpoint, model, OPTIONS))
          .isInstanceOf(DataException.class)
          .hasMessageContaining(checkpoint.toString())
          .hasMessageContaining(".safetensors")
          .hasMessageContaining("of another model");
    }
  }

  @Test
  void aCheckpointOfAnotherOptimizerIsNotResumed() {
    Path checkpoint = saved(MODEL);
    TrainOptions options = TrainOptions.of(Optimizer.adagrad(0.01f));
    try (Device device = Device.cpu(1, 1L << 26)) {
      assertThatThrownBy(() -> Trainer.resume(device, checkpoint, MODEL, options))
          .isInstanceOf(DataException.class)
          .hasMessageContaining("another model or optimizer");
    }
  }

  static List<TrainOptions> otherSteps() {
    return List.of(OPTIONS, OPTIONS.clipNorm(2), OPTIONS.clipNorm(1).weightDecay(0.1f));
  }

  @Test
  void aRunWithOtherLimitsOfRowsIsNotResumed() {
    Path target = folder.resolve("limited");
    RowLimits limits = RowLimits.NONE.withClipNorm(1).withBounds(-1, Float.POSITIVE_INFINITY);
    try (Device device = Device.cpu(1, 1L << 26);
        Trainer trainer =
            Trainer.create(
                device, PlantedRuns.encoder(ROWS), MODEL, OPTIONS.tables(t -> t.limits(limits)))) {
      trainer.save(target);
      Trainer.resume(device, target, MODEL, OPTIONS.tables(t -> t.limits(limits))).close();
      for (RowLimits other : List.of(RowLimits.NONE, limits.withBounds(-1, 2))) {
        assertThatThrownBy(
                () -> Trainer.resume(device, target, MODEL, OPTIONS.tables(t -> t.limits(other))))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageStartingWith("resume: got tables {");
      }
    }
  }

  @ParameterizedTest
  @MethodSource("otherSteps")
  void aRunWithOtherClippingOrDecayIsNotResumed(TrainOptions options) {
    Path target = folder.resolve("clipped");
    try (Device device = Device.cpu(1, 1L << 26);
        Trainer trainer =
            Trainer.create(device, PlantedRuns.encoder(ROWS), MODEL, OPTIONS.clipNorm(1))) {
      trainer.save(target);
      Trainer.resume(device, target, MODEL, OPTIONS.clipNorm(1)).close();
      assertThatThrownBy(() -> Trainer.resume(device, target, MODEL, options))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageStartingWith("resume: got optimizer {");
    }
  }

  /** The sum of all embeddings. */
  record SumOfEmbeddings(int embeddingWidth) implements Model {
    @Override
    public Tensor logits(Features x) {
      return x.embedded().sum(2).sum(1);
    }
  }

  @Test
  void aModelOfOnesOwnNeedsItsFactory() {
    Path checkpoint = saved((schema, parameters) -> new SumOfEmbeddings(2));
    assertThat(Checkpoint.open(checkpoint).model()).isEmpty();
    assertThatThrownBy(() -> Predictor.open(checkpoint))
        .isInstanceOf(DataException.class)
        .hasMessageContaining(checkpoint.toString())
        .hasMessageContaining("SumOfEmbeddings")
        .hasMessageContaining("pass the model's factory");
    try (Predictor predictor =
        Predictor.open(checkpoint, (schema, parameters) -> new SumOfEmbeddings(2))) {
      assertThat(predictor.score(ROWS)).hasSize(300);
    }
  }

  @Test
  void loadingTwiceGivesTheSameWeightsAndTables() throws IOException {
    Path checkpoint = saved(MODEL);
    try (Device device = Device.cpu(1, 1L << 26);
        Trainer trainer = Trainer.resume(device, checkpoint, MODEL, OPTIONS)) {
      Path again = folder.resolve("again");
      trainer.save(again);
      assertThat(PlantedRuns.contents(again)).isEqualTo(PlantedRuns.contents(checkpoint));
    }
    try (Device device = Device.cpu(1, 1L << 26);
        Network network = Checkpoint.open(checkpoint).load(device)) {
      assertThat(network.tables().rows()).isPositive();
      assertThat(network.parameters()).isNotEmpty();
    }
  }

  @Test
  void aRunThatFailedWithItsBestCheckpointAloneGoesOnFromThat() throws IOException {
    Path run = folder.resolve("run");
    TrainOptions options = OPTIONS.epochs(2).evaluateEvery(1).reportEvery(1);
    try (Device device = Device.cpu(1, 1L << 26)) {
      TrainOptions whole = options.checkpoints(folder.resolve("whole"), 0);
      try (Trainer trainer = Trainer.create(device, PlantedRuns.encoder(ROWS), MODEL, whole)) {
        trainer.fit(
            Readers.inMemory(ROWS), Optional.of(Readers.inMemory(ROWS)), Progress.Listener.none());
      }
      TrainOptions kept = options.checkpoints(run, 0);
      try (Trainer trainer = Trainer.create(device, PlantedRuns.encoder(ROWS), MODEL, kept)) {
        assertThatThrownBy(() ->
                trainer.fit(
                    Readers.inMemory(ROWS),
                    Optional.of(Readers.inMemory(ROWS)),
                    progress -> {
                      if (progress.step() == 2) {
                        throw new IllegalStateException("told");
                      }
                    }))
            .hasMessage("told");
      }
      assertThat(DeltaRuns.names(run)).containsExactly("best");
      assertThat(Checkpoint.existsAt(run)).isTrue();
      assertThat(Checkpoint.openLatest(run).step()).isEqualTo(1);
      try (Trainer trainer = Trainer.resume(device, run, MODEL, kept)) {
        assertThat(trainer.step()).isEqualTo(1);
        trainer.fit(
            Readers.inMemory(ROWS), Optional.of(Readers.inMemory(ROWS)), Progress.Listener.none());
      }
    }
    for (String name : List.of("best", "step-6")) {
      assertThat(PlantedRuns.contents(run.resolve(name)))
          .as(name)
          .isEqualTo(PlantedRuns.contents(folder.resolve("whole").resolve(name)));
    }
  }

  @Test
  void resumingTakesTheLatestCheckpointAndOpeningTheBest() throws IOException {
    Path run = folder.resolve("run");
    TrainOptions options =
        OPTIONS.epochs(6).evaluateEvery(1).checkpoints(run.resolve("checkpoints"), 1);
    try (Device device = Device.cpu(1, 1L << 26)) {
      long best;
      try (Trainer trainer = Trainer.create(device, PlantedRuns.encoder(ROWS), MODEL, options)) {
        trainer.fit(
            Readers.inMemory(ROWS),
            Optional.of(Readers.inMemory(ROWS)),
            progress -> {
              if (progress.step() == 5) {
                trainer.requestStop();
              }
            });
        best = Checkpoint.open(run).step();
        Files.move(run.resolve("checkpoints/best"), run.resolve("checkpoints/best.replaced"));
        assertThat(Checkpoint.open(run).step()).isEqualTo(best);
        assertThat(Checkpoint.openLatest(run).step()).isEqualTo(5);
      }
      // An older checkpoint than the latest stands as the best.
      try (Trainer other = Trainer.create(device, PlantedRuns.encoder(ROWS), MODEL, options)) {
        other.save(run.resolve("checkpoints/best"));
      }
      assertThat(Checkpoint.open(run).step()).isZero();
      try (Trainer resumed = Trainer.resume(device, run, MODEL, options)) {
        assertThat(resumed.step()).isEqualTo(5);
      }
    }
  }
}
