package dev.tern.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.checkpoint.CheckpointFiles;
import dev.tern.internal.json.Json;
import dev.tern.train.PlantedRuns;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What of a topic comes into the spool, and what is refused. */
final class AssemblyTest {
  @TempDir static Path runs;
  private static List<CheckpointFiles> parts = List.of();
  private static List<CheckpointFiles> others = List.of();

  @TempDir Path temp;

  private final List<String> taken = new ArrayList<>();
  private final List<Refusal> refused = new ArrayList<>();
  private final List<String> told = new ArrayList<>();
  private Spool spool;
  private Assembly assembly;
  private long offset;

  @BeforeAll
  static void train() {
    parts = PublishedRun.train(runs.resolve("a"), 1, 4);
    others = PublishedRun.train(runs.resolve("b"), 2, 2);
    assertThat(parts.stream().map(CheckpointFiles::name))
        .containsExactly("step-1", "step-2.delta", "step-3.delta", "step-4.delta");
  }

  @BeforeEach
  void open() {
    open(Long.MAX_VALUE, Optional.empty());
  }

  private void open(long most, Optional<Path> full) {
    spool = Spool.open(temp.resolve("spool"));
    assembly =
        new Assembly(spool, new FollowOptions(temp.resolve("spool"), most, full), new Heard());
    assembly.begin(Optional.empty());
  }

  @AfterEach
  void close() throws IOException {
    spool.close();
  }

  private final class Heard implements Assembly.Events {
    @Override
    public void took(Announcement of, long last) {
      taken.add(of.name());
    }

    @Override
    public void refused(Refusal why, String text) {
      refused.add(why);
      if (!text.isEmpty()) {
        told.add(text);
      }
    }
  }

  private void take(List<Sent> records) {
    for (Sent each : records) {
      assembly.take(offset, each.headers(), each.value());
      offset++;
    }
  }

  private List<Sent> sent(int part, long number) {
    return Sent.of(parts.get(part), "a", number, offset);
  }

  private void takeAll() {
    for (int i = 0; i < parts.size(); i++) {
      take(sent(i, i + 1));
    }
  }

  private List<String> names() {
    return spool.chain().stream().map(Spool.Part::name).toList();
  }

  private Path checkpoints() {
    return temp.resolve("spool/checkpoints");
  }

  @Test
  void checkpointsComeWithTheirBytesInOrder() throws IOException {
    takeAll();
    assertThat(taken).containsExactly("step-1", "step-2.delta", "step-3.delta", "step-4.delta");
    assertThat(refused).isEmpty();
    for (CheckpointFiles part : parts) {
      assertThat(PlantedRuns.contents(checkpoints().resolve(part.name())))
          .isEqualTo(PlantedRuns.contents(part.folder()));
    }
    assertThat(Checkpoint.openLatest(temp.resolve("spool")).step()).isEqualTo(4);
  }

  @Test
  void aFullCheckpointTakesThePlaceOfWhatWasThere() {
    takeAll();
    take(Sent.of(others.getFirst(), "b", 9, offset, Optional.of("a")));
    assertThat(taken).hasSize(5);
    assertThat(checkpoints().toFile().list()).containsExactly("step-1");
    assertThat(spool.chain().getFirst().hash()).isEqualTo(others.getFirst().hash());
    take(Sent.of(others.get(1), "b", 10, offset));
    assertThat(names()).containsExactly("step-1", "step-2.delta");
    assertThat(refused).isEmpty();
  }

  @Test
  void aMissingCheckpointOfChangesStopsThoseBehindItUntilAFullOneComes() {
    take(sent(0, 1));
    take(sent(2, 3));
    take(sent(3, 4));
    assertThat(names()).containsExactly("step-1");
    assertThat(refused).containsExactly(Refusal.GAP, Refusal.GAP);
    assertThat(told).singleElement().asString().contains("step-3.delta", "step-1", "next full");
    take(sent(0, 5));
    take(sent(1, 6));
    assertThat(names()).containsExactly("step-1", "step-2.delta");
  }

  @Test
  void whatIsSentTwiceOrOutOfOrderIsRefused() {
    take(sent(0, 1));
    take(sent(1, 2));
    take(sent(1, 2));
    take(sent(0, 1));
    assertThat(names()).containsExactly("step-1", "step-2.delta");
    assertThat(refused).containsExactly(Refusal.ORDER, Refusal.ORDER);
    take(sent(2, 3));
    assertThat(names()).hasSize(3);
  }

  @Test
  void recordsSentTwiceAreLeftOut() {
    List<Sent> records = new ArrayList<>(sent(0, 1));
    records.add(2, records.get(1));
    take(records);
    assertThat(taken).containsExactly("step-1");
    assertThat(refused).containsExactly(Refusal.ORDER);
  }

  @ParameterizedTest
  @CsvSource({"1, 2", "2, 3"})
  void recordsInAnotherOrderAreRefused(int first, int second) {
    List<Sent> records = new ArrayList<>(sent(0, 1));
    Sent moved = records.get(first);
    records.set(first, records.get(second));
    records.set(second, moved);
    take(records);
    assertThat(taken).isEmpty();
    assertThat(refused).contains(Refusal.HALF);
    assertThat(checkpoints().toFile().list()).isEmpty();
    take(sent(0, 2));
    assertThat(taken).containsExactly("step-1");
  }

  @Test
  void whatIsNotSentToItsEndIsLeftOutWhenTheNextBegins() {
    List<Sent> whole = sent(0, 1);
    take(whole.subList(0, whole.size() - 1));
    assertThat(checkpoints().toFile().list()).isEmpty();
    take(sent(0, 2));
    assertThat(taken).containsExactly("step-1");
    assertThat(refused).containsExactly(Refusal.HALF);
    assertThat(told).singleElement().asString().contains("step-1", "expected them all");
  }

  @Test
  void anotherRunIsRefusedWithoutDisturbingThisOne() {
    take(sent(0, 1));
    List<Sent> mine = sent(1, 2);
    List<Sent> foreign = Sent.of(others.getFirst(), "b", 7, offset + 2);
    take(mine.subList(0, 2));
    take(foreign);
    take(Sent.of(others.get(1), "b", 8, offset));
    take(mine.subList(2, mine.size()));
    assertThat(taken).containsExactly("step-1", "step-2.delta");
    assertThat(refused).containsExactly(Refusal.FOREIGN, Refusal.FOREIGN);
    assertThat(told).singleElement().asString().contains("run b", "expected run a", "--take-over");
  }

  @Test
  void anyBitThatTurnedIsFound() {
    SplittableRandom random = new SplittableRandom(5);
    for (int time = 0; time < 30; time++) {
      List<Sent> records = new ArrayList<>(sent(0, time + 1));
      int at = random.nextInt(records.size());
      Sent each = records.get(at);
      int bit = random.nextInt(each.value().length);
      records.set(at, time % 2 == 0 ? each.damaged(bit) : each.forged(bit));
      take(records);
      assertThat(taken).isEmpty();
      assertThat(refused).hasSize(time + 1).containsOnly(Refusal.DAMAGED);
    }
    take(sent(0, 100));
    assertThat(taken).containsExactly("step-1");
  }

  @ParameterizedTest
  @CsvSource({
    "tern-format, 2, format",
    "tern-format, , tern-format",
    "tern-run, a b, tern-run",
    "tern-number, -1, tern-number",
    "tern-number, 99999999999999999999, tern-number",
    "tern-kind, half, tern-kind",
    "tern-kind, delta, tern-after",
    "tern-hash, xyz, tern-hash",
    "tern-bytes, 1, bytes",
    "tern-chunks, 0, tern-chunk",
    "tern-chunks, 2000000000, tern-chunks",
    "tern-chunk, 8, tern-chunk",
    "tern-crc32c, 00000000, CRC-32C",
    "tern-after, 0, tern-after"
  })
  void headersThatAreNoneAreRefused(String name, String text, String said) {
    List<Sent> records = new ArrayList<>(sent(0, 1));
    records.set(0, records.getFirst().with(name, Optional.ofNullable(text)));
    take(records);
    assertThat(taken).isEmpty();
    assertThat(refused).containsExactly(Refusal.DAMAGED);
    assertThat(told).singleElement().asString().startsWith("offset 0: got").contains(said);
  }

  @Test
  void recordsOfOtherProgramsAreLeftOut() {
    List<Sent> records = sent(0, 1);
    take(records.subList(0, 2));
    take(List.of(new Sent(List.of(), new byte[] {1, 2, 3})));
    assembly.take(offset++, List.of(), null);
    take(records.subList(2, records.size()));
    assertThat(taken).containsExactly("step-1");
    assertThat(refused).containsExactly(Refusal.DAMAGED, Refusal.DAMAGED);
  }

  @Test
  void anAnnouncementOfAnotherCheckpointThanCameIsRefused() {
    String hash = others.getFirst().hash();
    List<Sent> records =
        sent(0, 1).stream().map(each -> each.with("tern-hash", Optional.of(hash))).toList();
    take(records);
    assertThat(taken).isEmpty();
    assertThat(refused).containsExactly(Refusal.DAMAGED);
    assertThat(told.getFirst()).contains("as announced");
  }

  @Test
  void whatIsTooLargeIsRefusedBeforeItIsWritten() throws IOException {
    spool.close();
    long full = size(parts.getFirst());
    open(full + 10, Optional.empty());
    take(sent(0, 1));
    take(sent(1, 2));
    assertThat(taken).containsExactly("step-1");
    assertThat(refused).containsExactly(Refusal.OVERSIZE);
    assertThat(told.getFirst()).contains("step-2.delta", "--spool-limit");
    take(sent(0, 3));
    assertThat(taken).hasSize(2);
  }

  private static long size(CheckpointFiles files) throws IOException {
    try (PackedFiles packed = new PackedFiles(files.folder(), files.names())) {
      return packed.bytes();
    }
  }

  @Test
  void whatIsThereIsNotWrittenAgainAfterANewBeginning() throws IOException {
    takeAll();
    Path manifest = checkpoints().resolve("step-1/manifest.json");
    Object key = key(manifest);
    assembly.begin(Optional.empty());
    take(sent(0, 1));
    assertThat(names()).containsExactly("step-1");
    assertThat(key(manifest)).isEqualTo(key);
    take(sent(1, 2));
    assertThat(names()).containsExactly("step-1", "step-2.delta");
  }

  private static Object key(Path file) throws IOException {
    return Files.readAttributes(file, BasicFileAttributes.class).fileKey();
  }

  @Test
  void aSpoolIsKnownAgainWithItsPosition() throws IOException {
    take(sent(0, 1));
    take(sent(1, 2));
    Position position = new Position("id", offset, "a", 2, parts.get(1).hash());
    spool.position(position);
    take(sent(2, 3)); // Came, but the process ended before it kept the position.
    spool.close();
    open(Long.MAX_VALUE, Optional.empty());
    assertThat(spool.position()).contains(position);
    assembly.begin(Optional.of(position));
    take(sent(2, 3));
    take(sent(3, 4));
    assertThat(names()).hasSize(4);
    assertThat(refused).isEmpty();
  }

  @Test
  void aDamagedSpoolIsReadAnew() throws IOException {
    take(sent(0, 1));
    spool.position(new Position("id", offset, "a", 1, parts.getFirst().hash()));
    Path table = checkpoints().resolve("step-1/tables/0.safetensors");
    byte[] bytes = Files.readAllBytes(table);
    bytes[bytes.length - 1] ^= 1;
    Files.write(table, bytes);
    assertThat(spool.position()).isEmpty();
    Files.writeString(temp.resolve("spool/position"), "next=x");
    assertThat(spool.position()).isEmpty();
  }

  @Test
  void aFolderServesOneProcessAtATime() {
    assertThatThrownBy(() -> Spool.open(temp.resolve("spool")).close())
        .isInstanceOf(DataException.class)
        .hasMessageContaining("--spool");
  }

  @Test
  void aFullCheckpointMayLieInASharedFolder() throws IOException {
    spool.close();
    SharedFolder shared = new SharedFolder(temp.resolve("shared"));
    open(Long.MAX_VALUE, Optional.of(shared.path()));
    String name = shared.add(parts.getFirst(), "a", 1);
    take(List.of(folder(name, 1)));
    take(sent(1, 2));
    assertThat(names()).containsExactly("step-1", "step-2.delta");
    assertThat(PlantedRuns.contents(checkpoints().resolve("step-1")))
        .isEqualTo(PlantedRuns.contents(parts.getFirst().folder()));
    for (int i = 2; i < 6; i++) {
      shared.add(parts.getFirst(), "a", i);
    }
    shared.removeOld("a");
    assertThat(shared.path().resolve("a").toFile().list()).containsExactlyInAnyOrder("4", "5");
  }

  @ParameterizedTest
  @CsvSource({"../../etc/1/step-1", "a/1/step-1/../..", "/a/1/step-1", "../1/step-1", "a/9/step-9"})
  void aNameThatLeadsOutOfTheSharedFolderOrNowhereIsRefused(String name) throws IOException {
    spool.close();
    open(Long.MAX_VALUE, Optional.of(Files.createDirectories(temp.resolve("shared/folder"))));
    take(List.of(folder(name, 1)));
    assertThat(taken).isEmpty();
    assertThat(refused).containsExactly(Refusal.DAMAGED);
  }

  @Test
  void whatCannotBeCopiedNowIsTriedAgainButNotForGood() throws IOException {
    spool.close();
    Path shared = Files.createDirectories(temp.resolve("shared"));
    open(Long.MAX_VALUE, Optional.of(shared));
    Files.writeString(shared.resolve("a"), "no folder");
    for (int time = 1; time < Assembly.MOST_COPIES; time++) {
      assertThatThrownBy(() -> take(List.of(folder("a/1/step-1", 1))))
          .isInstanceOf(UncheckedIOException.class)
          .hasMessageContaining("a/1/step-1");
      assembly.begin(Optional.empty());
    }
    assertThat(refused).isEmpty();
    take(List.of(folder("a/1/step-1", 1)));
    assertThat(refused).containsExactly(Refusal.DAMAGED);
    Files.delete(shared.resolve("a"));
    take(List.of(folder(new SharedFolder(shared).add(parts.getFirst(), "a", 2), 2)));
    assertThat(taken).containsExactly("step-1");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"../../outside", "/dev/zero", "tables/../../x", "a\u0000b", "tables", "tables/"})
  void aManifestThatNamesWhatIsNoFileOfTheCheckpointIsRefused(String name) throws IOException {
    Path hostile = temp.resolve("hostile");
    SharedFolder.copy(parts.getFirst(), hostile);
    CheckpointFiles good = CheckpointFiles.read(hostile);
    Path manifest = hostile.resolve("manifest.json");
    Json.Obj json = Json.parseObject(Files.readString(manifest), "manifest");
    json.object("files").put(name, "00");
    Files.writeString(manifest, json.toString());
    String hash = HexFormat.of().formatHex(Incoming.sha256().digest(Files.readAllBytes(manifest)));
    Files.writeString(hostile.resolve("manifest.sha256"), hash);
    List<Sent> records =
        Sent.of(good, "a", 1, offset).stream()
            .map(each -> each.with("tern-hash", Optional.of(hash)))
            .toList();
    take(records);
    assertThat(taken).isEmpty();
    assertThat(refused).containsExactly(Refusal.DAMAGED);
    assertThat(told.getFirst()).contains("manifest.json");
    take(sent(0, 2));
    assertThat(taken).containsExactly("step-1");
  }

  private static Sent folder(String name, long number) {
    byte[] text = name.getBytes(StandardCharsets.UTF_8);
    Announcement of =
        new Announcement(
            "a",
            number,
            Announcement.Kind.FOLDER,
            parts.getFirst().step(),
            parts.getFirst().hash(),
            Optional.empty(),
            new Announcement.Content(text.length, 1),
            Optional.empty());
    String sum = HexFormat.of().formatHex(Incoming.sha256().digest(text));
    return Sent.of(new Chunk(-1, of, 0, -1, -1, Optional.of(sum), ByteBuffer.wrap(text)));
  }
}
