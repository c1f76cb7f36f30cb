package dev.tern.checkpoint.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.checkpoint.DeltaRuns;
import dev.tern.tensor.Device;
import dev.tern.train.PlantedRuns;
import dev.tern.train.Trainer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Sparse model files of HugeCTR 2.x and 3.0, made byte by byte, come into a table of width 5. */
final class HugeCtrRowsTest {
  /** Of the table that rows come into. */
  private static final int SLOT = 1;

  @TempDir private Path folder;
  private Path checkpoint = Path.of("");
  private Path model = Path.of("");

  @BeforeEach
  void saveATable() {
    checkpoint = folder.resolve("checkpoint");
    model = folder.resolve("0_sparse_10.model");
    try (Device device = Device.cpu(1, 1L << 27);
        Trainer trainer =
            Trainer.create(
                device,
                PlantedRuns.encoder(DeltaRuns.ROWS),
                DeltaRuns.MODEL,
                DeltaRuns.options())) {
      trainer.save(checkpoint);
    }
  }

  /** The bytes of records: of each key its weights are key / 2, 1, 2, 3, 4. */
  private static byte[] records(RecordLayout layout, long... keysAndSlots) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    boolean wide = layout == RecordLayout.I64 || layout == RecordLayout.I64_SLOT;
    boolean slots = layout == RecordLayout.U32_SLOT || layout == RecordLayout.I64_SLOT;
    for (int i = 0; i < keysAndSlots.length; i += 2) {
      long key = keysAndSlots[i];
      put(bytes, key, wide ? 8 : 4);
      if (slots) {
        put(bytes, keysAndSlots[i + 1], 8);
      }
      for (int j = 0; j < 5; j++) {
        put(bytes, Float.floatToIntBits(j == 0 ? key / 2f : j), 4);
      }
    }
    return bytes.toByteArray();
  }

  private static void put(ByteArrayOutputStream bytes, long value, int count) {
    for (int i = 0; i < count; i++) {
      bytes.write((int) (value >>> (8 * i)));
    }
  }

  /** The lines of the table into which the model was read. */
  private TableImport.Source source(Optional<RecordLayout> layout) {
    return new TableImport.Source(model, TableFormat.HUGECTR, layout);
  }

  private List<String> imported(Optional<RecordLayout> layout) throws IOException {
    Path target = Files.createTempDirectory(folder, "target").resolve("checkpoint");
    Checkpoint before = Checkpoint.open(checkpoint);
    long rows = TableImport.write(before, SLOT, source(layout), target);
    Path lines = target.resolveSibling("lines");
    assertThat(TableExport.write(Checkpoint.open(target), SLOT, TableFormat.TEXT, lines))
        .isEqualTo(rows);
    return Files.readAllLines(lines);
  }

  private void assertRefused(Optional<RecordLayout> layout, String... parts) {
    Path target = folder.resolve("refused");
    Checkpoint before = Checkpoint.open(checkpoint);
    assertThatThrownBy(() -> TableImport.write(before, SLOT, source(layout), target))
        .isInstanceOf(DataException.class)
        .hasMessageStartingWith(model + ": ")
        .hasMessageContainingAll(parts);
    assertThat(folder).isDirectoryNotContaining(path -> path.toString().contains("refused"));
  }

  @ParameterizedTest
  @EnumSource(RecordLayout.class)
  void theLengthTellsTheLayoutWhereOneFits(RecordLayout layout) throws IOException {
    Files.write(model, records(layout, 7, SLOT, 3, SLOT, 4_000_000_000L, SLOT, 5, SLOT, 9, SLOT));
    List<String> rows = imported(Optional.empty());
    assertThat(rows)
        .containsExactly(
            "3\t1.5\t1.0\t2.0\t3.0\t4.0",
            "5\t2.5\t1.0\t2.0\t3.0\t4.0",
            "7\t3.5\t1.0\t2.0\t3.0\t4.0",
            "9\t4.5\t1.0\t2.0\t3.0\t4.0",
            "4000000000\t2.0E9\t1.0\t2.0\t3.0\t4.0");
    assertThat(imported(Optional.of(layout))).isEqualTo(rows);
  }

  @Test
  void keysOf8BytesHaveASign() throws IOException {
    Files.write(model, records(RecordLayout.I64, -2, 0));
    assertThat(imported(Optional.empty())).containsExactly("-2\t-1.0\t1.0\t2.0\t3.0\t4.0");
  }

  @ParameterizedTest
  @EnumSource(
      value = RecordLayout.class,
      names = {"U32_SLOT", "I64_SLOT"})
  void rowsOfOtherSlotsStayOut(RecordLayout layout) throws IOException {
    Files.write(model, records(layout, 7, 0, 3, SLOT, 7, 2, 3, 0, 6, SLOT));
    assertThat(imported(Optional.empty()))
        .containsExactly("3\t1.5\t1.0\t2.0\t3.0\t4.0", "6\t3.0\t1.0\t2.0\t3.0\t4.0");
  }

  @Test
  void aFileOfSeveralBlocksIsReadWhole() throws IOException {
    long[] keysAndSlots = new long[2 * 100_003];
    for (int i = 0; i < keysAndSlots.length; i += 2) {
      keysAndSlots[i] = i;
    }
    Files.write(model, records(RecordLayout.I64, keysAndSlots));
    List<String> rows = imported(Optional.empty());
    assertThat(rows).hasSize(100_003);
    assertThat(rows.getLast()).isEqualTo("200004\t100002.0\t1.0\t2.0\t3.0\t4.0");
  }

  @Test
  void aLengthThatFitsSeveralLayoutsAsksForOne() throws IOException {
    // 7 records of 24 bytes are as long as 6 of 28.
    Files.write(model, records(RecordLayout.U32, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0));
    assertRefused(
        Optional.empty(), "got 168 bytes", "u32 (24 bytes) or i64 (28 bytes);", "(--record)");
    assertThat(imported(Optional.of(RecordLayout.U32))).hasSize(7);
    assertThat(imported(Optional.of(RecordLayout.I64))).hasSize(6);
  }

  @Test
  void aFileWithoutBytesAsksForTheLayoutToo() throws IOException {
    Files.write(model, new byte[0]);
    assertRefused(Optional.empty(), "got 0 bytes", "u32_slot (32 bytes)");
    assertThat(imported(Optional.of(RecordLayout.U32))).isEmpty();
  }

  @Test
  void aFileCutShortIsRefusedWithItsEnd() throws IOException {
    byte[] whole = records(RecordLayout.I64_SLOT, 7, SLOT, 3, SLOT);
    for (int length : new int[] {71, 37, 35, 23, 1}) {
      Files.write(model, Arrays.copyOf(whole, length));
      assertRefused(Optional.empty(), "got its end at byte offset " + length, "the file is cut");
    }
    Files.write(model, Arrays.copyOf(whole, 71));
    assertRefused(
        Optional.of(RecordLayout.I64_SLOT),
        "got 35 bytes of a record at byte offset 36, expected i64_slot (36 bytes)");
  }

  @Test
  void anIdTwiceIsRefusedWithBothPlaces() throws IOException {
    Files.write(model, records(RecordLayout.U32_SLOT, 7, 0, 7, SLOT, 3, SLOT, 2, SLOT, 7, SLOT));
    assertRefused(
        Optional.empty(), "byte offset 128: got id 7 as at byte offset 32, expected each id once");
  }

  @Test
  void recordsReadByAnotherLayoutHaveNoSlots() throws IOException {
    // 9 records of 28 bytes are also 7 of 36: their slot would be two weights.
    Files.write(
        model, records(RecordLayout.I64, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8, 0, 9, 0));
    assertRefused(
        Optional.of(RecordLayout.I64_SLOT), "record at byte offset 0: got slot ", "below 2^31");
  }

  @Test
  void aFolderAndAnotherFormatTakeNoLayout() throws IOException {
    Files.createDirectory(model);
    assertRefused(Optional.of(RecordLayout.U32), "got a folder and the layout u32");
    assertThatThrownBy(
            () -> new TableImport.Source(model, TableFormat.TEXT, Optional.of(RecordLayout.I64)))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("got the layout i64 of records for the format text");
  }

  @Test
  void anIdTwiceInAFolderIsRefusedWithBothPlaces() throws IOException {
    Files.createDirectory(model);
    ByteArrayOutputStream keys = new ByteArrayOutputStream();
    for (long key : new long[] {5, 4, 5}) {
      put(keys, key, 8);
    }
    Files.write(model.resolve("key"), keys.toByteArray());
    Files.write(model.resolve("emb_vector"), new byte[3 * 20]);
    Path target = folder.resolve("refused");
    Checkpoint before = Checkpoint.open(checkpoint);
    assertThatThrownBy(() -> TableImport.write(before, SLOT, TableFormat.HUGECTR, model, target))
        .isInstanceOf(DataException.class)
        .hasMessageContaining(
            model.resolve("key") + ": byte offset 16: got id 5 as at byte offset 0, expected each");
    assertThat(target).doesNotExist();
  }
}
