package dev.tern.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DType;
import dev.tern.base.DataException;
import dev.tern.embedding.config.Eviction;
import dev.tern.embedding.config.WhenFull;
import dev.tern.internal.checkpoint.AtomicFolder;
import dev.tern.internal.checkpoint.RowShape;
import dev.tern.internal.checkpoint.SafeTensors;
import dev.tern.internal.json.Json;
import dev.tern.internal.runtime.DeviceAccess;
import dev.tern.tensor.Device;
import dev.tern.train.PlantedRuns;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A full checkpoint of tables with a row policy and two of changes, damaged in every file: the
 * error names the file and says what to do, and nothing on the disk changes.
 */
final class DamagedChainTest {
  private static final TrainOptions OPTIONS =
      DeltaRuns.options()
          .tables(t ->
              t.rows(
                  DeltaRuns.COUNTED
                      .withMaxRows(20, WhenFull.UNKNOWN)
                      .withRoomMadeBy(new Eviction.LeastRecent(), 20)))
          .deltas(DeltaRuns.everySteps(1, 100));
  private static final List<String> PARTS = List.of("step-1", "step-2.delta", "step-3.delta");

  @TempDir static Path made;
  @TempDir Path run;

  @BeforeAll
  static void train() throws IOException {
    DeltaRuns.run(made, OPTIONS.checkpoints(made, 0), false, 3);
    assertThat(DeltaRuns.names(made)).isEqualTo(PARTS);
  }

  @BeforeEach
  void copy() throws IOException {
    copy(made, run);
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> below = Files.walk(from)) {
      for (Path path : (Iterable<Path>) below::iterator) {
        Path target = to.resolve(from.relativize(path).toString());
        if (Files.isDirectory(path)) {
          Files.createDirectories(target);
        } else {
          Files.copy(path, target);
        }
      }
    }
  }

  private static List<Path> files(Path folder) throws IOException {
    try (Stream<Path> below = Files.walk(folder)) {
      return below.filter(Files::isRegularFile).sorted().toList();
    }
  }

  /** Opening and resuming fail with {@code said} in the message, and change nothing. */
  private void assertRefused(String as, String... said) throws IOException {
    byte[] before = PlantedRuns.contents(run);
    assertThatThrownBy(() -> Checkpoint.openLatest(run))
        .as(as)
        .isInstanceOf(DataException.class)
        .hasMessageContainingAll(said)
        .hasMessageContainingAll(": got ", "expected ", "; ");
    assertThat(PlantedRuns.contents(run)).isEqualTo(before);
  }

  private void assertNotResumed(String as, String... said) throws IOException {
    byte[] before = PlantedRuns.contents(run);
    try (Device device = Device.cpu(1, 1L << 27)) {
      assertThatThrownBy(() -> Trainer.resume(device, run, DeltaRuns.MODEL, OPTIONS).close())
          .as(as)
          .isInstanceOf(DataException.class)
          .hasMessageContainingAll(said)
          .hasMessageContainingAll("got ", "expected ", "; ");
      assertThat(DeviceAccess.allocator(device).live()).isZero();
    }
    assertThat(PlantedRuns.contents(run)).isEqualTo(before);
  }

  /** Where its hash is wrong, the manifest or its hash is named. */
  private static String named(Path file) {
    return (file.endsWith("manifest.sha256") ? file.resolveSibling("manifest.") : file).toString();
  }

  @Test
  void whatIsDamagedOpensWhenItIsWholeAgain() {
    assertThat(Checkpoint.openLatest(run).step()).isEqualTo(3);
    assertThat(Checkpoint.openLatest(run).parts()).hasSize(3);
  }

  @Test
  void everyFileCutShortOrWithMoreBytesIsRefused() throws IOException {
    for (Path file : files(run)) {
      byte[] whole = Files.readAllBytes(file);
      for (int length : new int[] {0, 1, 7, whole.length / 3, whole.length - 1}) {
        Files.write(file, Arrays.copyOf(whole, length));
        assertRefused(file + " of " + length + " bytes", named(file));
      }
      if (!file.endsWith("manifest.sha256")) {
        Files.write(file, Arrays.copyOf(whole, whole.length + 1));
        assertRefused(file + " and a byte", named(file));
      }
      Files.write(file, whole);
    }
  }

  @Test
  void everyFileWithAChangedByteIsRefusedWhereverThatIs() throws IOException {
    for (Path file : files(run)) {
      byte[] whole = Files.readAllBytes(file);
      for (int range = 0; range < 12; range++) {
        int at = (int) ((long) range * (whole.length - 1) / 11);
        byte[] changed = whole.clone();
        changed[at] ^= (byte) (1 << range % 8);
        Files.write(file, changed);
        assertRefused("byte " + at + " of " + file, named(file));
      }
      Files.write(file, whole);
    }
  }

  @Test
  void everyLostFileIsNamed() throws IOException {
    for (Path file : files(run)) {
      byte[] whole = Files.readAllBytes(file);
      Files.delete(file);
      assertRefused("no " + file, file.toString());
      Files.write(file, whole);
    }
  }

  @Test
  void aLostPartIsNamedWithTheOneThatNeedsIt() throws IOException {
    for (int lost = 0; lost < 2; lost++) {
      Path part = run.resolve(PARTS.get(lost));
      Path away = run.resolve("away");
      Files.move(part, away);
      assertRefused(
          "no " + part,
          part + ": got no such folder",
          run.resolve(PARTS.get(lost + 1)).toString(),
          "put it back");
      Files.move(away, part);
    }
  }

  @Test
  void partsThatChangedPlacesAreRefused() throws IOException {
    Path away = run.resolve("away");
    Files.move(run.resolve("step-2.delta"), away);
    Files.move(run.resolve("step-3.delta"), run.resolve("step-2.delta"));
    Files.move(away, run.resolve("step-3.delta"));
    assertRefused("exchanged", run.resolve("step-3.delta").toString(), "step-2.delta", "its name");
  }

  @Test
  void changesToAnotherFullCheckpointAreRefused() throws IOException {
    Path other = run.resolveSibling("other-" + run.getFileName());
    TrainOptions options = OPTIONS.seed(2);
    DeltaRuns.run(other, options.checkpoints(other, 0), false, 3);
    for (String part : PARTS.subList(0, 2)) {
      AtomicFolder.delete(run.resolve(part));
      copy(other.resolve(part), run.resolve(part));
      assertRefused(part + " of another run", "belong to another checkpoint");
      AtomicFolder.delete(run.resolve(part));
      copy(made.resolve(part), run.resolve(part));
    }
  }

  /** Writes manifests anew from that of {@code part} on, as a faulty writer would have. */
  private void rewrite(int part, UnaryOperator<String> edit) throws IOException {
    for (int i = part; i < PARTS.size(); i++) {
      Path folder = run.resolve(PARTS.get(i));
      Path file = folder.resolve(Manifest.NAME);
      Json.Obj json = Json.parseObject(Files.readString(file), "manifest");
      Json.Obj facts = Json.object();
      json.fields()
          .forEach((name, value) -> {
            if (!List.of("format", "previous", "files").contains(name)) {
              facts.put(name, value);
            }
          });
      List<String> names = List.copyOf(json.object("files").fields().keySet());
      Optional<Manifest.Previous> previous =
          i == 0
              ? Optional.empty()
              : Optional.of(Manifest.Previous.of(run.resolve(PARTS.get(i - 1))));
      Manifest.write(folder, Manifest.digests(folder, names), facts, previous, 1);
      if (i == part) {
        Files.writeString(file, edit.apply(Files.readString(file)));
        Files.writeString(folder.resolve("manifest.sha256"), Manifest.sha256(file));
      }
    }
  }

  @Test
  void manifestsEditedWithTheirHashesAreRefusedAndNamed() throws IOException {
    List<List<String>> edits =
        List.of(
            List.of("\"format\":2", "\"format\":9", "use the version of Tern that wrote it"),
            List.of("\"format\":2", "\"format\":\"x\"", "use the version of Tern"),
            List.of("\"files\":", "\"fils\":", "\"files\": got none"),
            List.of("\"state\":", "\"stat\":", "\"state\": got none"),
            List.of("\"step\":", "\"stop\":", "\"step\": got none"),
            List.of("\"bestAuc\":\"NaN\"", "\"bestAuc\":\"much\"", "much"));
    for (int part = 0; part < PARTS.size(); part++) {
      Path manifest = run.resolve(PARTS.get(part)).resolve(Manifest.NAME);
      for (List<String> edit : edits) {
        rewrite(
            part,
            text -> {
              assertThat(text).contains(edit.get(0));
              return text.replace(edit.get(0), edit.get(1));
            });
        assertThatThrownBy(() -> Checkpoint.openLatest(run))
            .as("%s in %s", edit, manifest)
            .isInstanceOf(DataException.class)
            .hasMessageContainingAll(manifest.toString(), edit.get(2), "; ");
        for (String name : PARTS) {
          AtomicFolder.delete(run.resolve(name));
        }
        copy();
      }
    }
    rewrite(2, text -> text.replace("\"folder\":\"step-2.delta\"", "\"folder\":\"../../x\""));
    assertRefused("a path", "got a checkpoint that follows ../../x");
  }

  /** Tables' files that are not what any table left, though all hashes are right. */
  @Test
  void impossibleTablesAreRefusedAndNamed() throws IOException {
    List<String> ofAll = List.of("ids", "gone", "filter_words");
    List<String> ofTheLast =
        List.of("ids", "gone", "history", "filter_words", "filter_size", "metadata");
    List<String> refused = new ArrayList<>();
    for (int part = 0; part < PARTS.size(); part++) {
      Path file = run.resolve(PARTS.get(part)).resolve("tables/2.safetensors");
      for (String array : part == 2 ? ofTheLast : ofAll) {
        byte[] whole = Files.readAllBytes(file);
        if (overwrite(file, array)) {
          rewrite(part, text -> text);
          assertNotResumed(array + " of " + file, "tables/2.safetensors");
          refused.add(array);
        }
        Files.write(file, whole);
      }
    }
    assertThat(refused).containsAll(ofTheLast);
  }

  @Test
  void aFilterThatGrewOrShrankAsNoneCanIsRefused() throws IOException {
    Path file = run.resolve(PARTS.get(2)).resolve("tables/2.safetensors");
    byte[] whole = Files.readAllBytes(file);
    for (long size : new long[] {1L << 40, 0, -1}) {
      put(file, "filter_size", size);
      rewrite(2, text -> text);
      assertThatThrownBy(() -> Checkpoint.openLatest(run).compact(run.resolve("compact")))
          .isInstanceOf(DataException.class)
          .hasMessageContainingAll(file.toString(), "got a filter of " + size + " words after one");
      assertThat(run.resolve("compact")).doesNotExist();
      Files.write(file, whole);
    }
  }

  private static void put(Path path, String array, long first) throws IOException {
    byte[] bytes = Files.readAllBytes(path);
    ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    try (SafeTensors file = SafeTensors.open(path)) {
      buffer.putLong((int) (8 + buffer.getLong(0) + file.entry(array).offset()), first);
    }
    Files.write(path, bytes);
  }

  @Test
  void rowsOfNoWeightsOrOfWholeNumbersAreNoTable() throws IOException {
    for (DType type : List.of(DType.F32, DType.I32)) {
      Path file = run.resolve(type + ".safetensors");
      long width = type == DType.F32 ? 0 : 4;
      SafeTensors.Layout layout =
          new SafeTensors.Layout()
              .add("ids", DType.I64, 0)
              .add("weights", type, 0, width)
              .add("state", DType.F32, 0, 0);
      SafeTensors.create(file, layout, Map.of()).close();
      assertThatThrownBy(() -> RowShape.of(file))
          .isInstanceOf(DataException.class)
          .hasMessageContainingAll(file.toString(), "got weights of type " + type);
    }
  }

  /** Makes the first number of an array the largest; whether there is one, and a second. */
  private static boolean overwrite(Path path, String array) throws IOException {
    byte[] bytes = Files.readAllBytes(path);
    ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    try (SafeTensors file = SafeTensors.open(path)) {
      boolean small = !array.equals("filter_size") && !array.equals("history");
      if (!file.names().contains(array) || file.entry(array).elements() < (small ? 2 : 1)) {
        return false;
      }
      int at = (int) (8 + buffer.getLong(0) + file.entry(array).offset());
      if (array.equals("metadata")) {
        buffer.putInt(at, Integer.MAX_VALUE);
      } else {
        buffer.putLong(at, Long.MAX_VALUE);
      }
    }
    Files.write(path, bytes);
    return true;
  }
}
