package dev.tern.files.records;

import static dev.tern.files.Rows.row;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.sun.management.ThreadMXBean;
import dev.tern.base.DataException;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.files.Columns;
import dev.tern.files.KeyType;
import dev.tern.files.ReadPolicy;
import dev.tern.files.Rows;
import dev.tern.files.parquet.ParquetOptions;
import dev.tern.files.parquet.ParquetReader;
import dev.tern.files.text.CsvOptions;
import dev.tern.files.text.CsvReader;
import dev.tern.internal.files.BinaryInput;
import dev.tern.internal.files.FileList;
import dev.tern.internal.files.RecordBuffer;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class NormTest extends NormFiles {
  /** The worked vector of the format: payload "abcdefg" sums to 700, so its check byte is BC. */
  @Test
  void checksumOfTheWorkedVectorIsBc() {
    Path file = file(hex("07000000 61626364656667 BC"));
    try (BinaryInput in = BinaryInput.open(file)) {
      assertThat(in.has(12)).isTrue();
      assertThat(in.peekInt(0)).isEqualTo(7);
      assertThat(in.sum(4, 7)).isEqualTo((byte) 0xBC).isEqualTo(in.peekByte(11));
    }
    RecordBuffer buffer = new RecordBuffer();
    buffer.putInt(7);
    buffer.putAscii("abcdefg");
    assertThat(buffer.sum(4)).isEqualTo((byte) 0xBC);
  }

  @Test
  void sumOfManyBytesIsTheSumOfEach() {
    byte[] bytes = new byte[10_000];
    new java.util.Random(1).nextBytes(bytes);
    Arrays.fill(bytes, 3000, 8000, (byte) 0xFF);
    try (BinaryInput in = BinaryInput.open(file(bytes))) {
      assertThat(in.has(bytes.length)).isTrue();
      for (int count : new int[] {0, 1, 7, 8, 9, 63, 1023, 1024, 1025, 5000, 9999}) {
        byte sum = 0;
        for (int i = 1; i <= count; i++) {
          sum += bytes[i];
        }
        assertThat(in.sum(1, count)).as("%d bytes", count).isEqualTo(sum);
      }
    }
  }

  private static final String PLAIN_I64 =
      """
      0000000000000000 0100000000000000 0100000000000000 0100000000000000 0200000000000000
      0000000000000000 0000000000000000 0000000000000000
      0000803F 00002040
      02000000 0700000000000000 FFFFFFFF00000000
      00000000
      """;

  /**
   * One record with label 1, number 2.5, slot 0 = {7, 4294967295} and slot 1 empty, byte by byte.
   */
  @Test
  void goldenFilesAreReadAndWrittenByteForByte() throws IOException {
    Rows rows =
        new Rows(
            new Schema(
                List.of("label0"),
                List.of("dense0"),
                List.of(Slot.ragged("slot0"), Slot.ragged("slot1"))),
            List.of(row(1, List.of(2.5f), List.of(List.of(7L, 0xFFFFFFFFL), List.of()))));
    byte[] sum = hex(SUM_U32);
    byte[] plain = hex(PLAIN_I64);
    assertThat(read(file(sum), NormOptions.DETECT)).isEqualTo(rows.list());
    assertThat(read(file(plain), NormOptions.DETECT)).isEqualTo(rows.list());
    Path out = folder.resolve("out.norm");
    rows.write(NormWriter.create(out, rows.schema(), NormCheck.SUM, KeyType.U32), 1);
    assertThat(Files.readAllBytes(out)).isEqualTo(sum);
    rows.write(NormWriter.create(out, rows.schema(), NormCheck.NONE, KeyType.I64), 1);
    assertThat(Files.readAllBytes(out)).isEqualTo(plain);
  }

  @ParameterizedTest
  @MethodSource("variants")
  void anIndependentReaderReadsWhatIsWritten(NormCheck check, KeyType keys) throws IOException {
    for (int count : new int[] {0, 1, 7, 1000}) {
      Rows rows = random(count, keys);
      Path out = folder.resolve("out.norm");
      rows.write(NormWriter.create(out, rows.schema(), check, keys), 64);
      byte[] bytes = Files.readAllBytes(out);
      assertThat(TinyNorm.read(bytes, check == NormCheck.SUM, keys == KeyType.I64))
          .isEqualTo(rows.list());
      assertThat(bytes).isEqualTo(tiny(rows, check, keys));
    }
  }

  @ParameterizedTest
  @MethodSource("variants")
  void whatAnIndependentWriterWroteIsReadWithKeysGivenOrFound(NormCheck check, KeyType keys) {
    for (int count : new int[] {0, 1, 2, 7, 9000}) {
      Rows rows = random(count, keys);
      Path file = file(tiny(rows, check, keys));
      assertThat(read(file, keys(keys))).isEqualTo(rows.list());
      assertThat(read(file, NormOptions.DETECT)).isEqualTo(rows.list());
    }
  }

  @ParameterizedTest
  @MethodSource("variants")
  void skippingEqualsReading(NormCheck check, KeyType keys) {
    Rows rows = random(6000, keys);
    Path file = file(tiny(rows, check, keys));
    for (int skip : new int[] {0, 1, 17, 4096, 5999, 6000}) {
      try (DataReader reader = NormReader.open(List.of(file), keys(keys))) {
        assertThat(reader.rowCount()).hasValue(6000);
        assertThat(reader.skip(skip)).isEqualTo(skip);
        assertThat(Rows.read(reader)).isEqualTo(rows.list().subList(skip, 6000));
        reader.start(3);
        assertThat(reader.skip(7000)).isEqualTo(6000);
      }
    }
  }

  @Test
  void aRecordLargerThanTheBufferIsRead() {
    Rows rows = Rows.random(5, 3, 1, 1, new int[] {0, 3000, 1}, -1);
    List<Rows.Row> list = new ArrayList<>(rows.list());
    for (NormCheck check : NormCheck.values()) {
      byte[] bytes = tiny(new Rows(rows.schema(), list), check, KeyType.I64);
      assertThat(read(file(bytes), NormOptions.DETECT)).isEqualTo(list);
    }
    Rows wide = Rows.random(5, 2, 1, 1, new int[] {100_000}, -1);
    for (NormCheck check : NormCheck.values()) {
      Path out = folder.resolve("wide.norm");
      wide.write(NormWriter.create(out, wide.schema(), check, KeyType.I64), 1);
      assertThat(read(out, NormOptions.DETECT.withSchema(wide.schema()))).isEqualTo(wide.list());
    }
  }

  @Test
  void fileListsMayHaveSurplusLinesAndPathsBesideThem() throws IOException {
    Rows rows = random(10, KeyType.U32);
    byte[] bytes = tiny(rows, NormCheck.SUM, KeyType.U32);
    file("a.norm", bytes);
    Path second = file("b.norm", tiny(random(7, KeyType.U32), NormCheck.NONE, KeyType.U32));
    Path list = folder.resolve("list.txt");
    Files.writeString(list, "2\na.norm\n" + second + "\n\na.norm\n");
    List<Rows.Row> both = new ArrayList<>(rows.list());
    both.addAll(random(7, KeyType.U32).list());
    assertThat(read(list, NormOptions.DETECT)).isEqualTo(both);
    FileList.write(list, List.of(second, second));
    assertThat(Files.readString(list)).isEqualTo("2\n" + second + "\n" + second + "\n");
    try (DataReader reader = NormReader.open(List.of(list), NormOptions.DETECT)) {
      assertThat(reader.rowCount()).hasValue(14);
    }
  }

  /** HugeCTR takes the lines as they are, so they must hold in any working folder. */
  @Test
  void writtenFileListsHoldAbsolutePaths() throws IOException {
    Path list = folder.resolve("list.txt");
    Path relative = Path.of("some/../where/a.norm");
    FileList.write(list, List.of(relative));
    assertThat(Files.readAllLines(list).get(1))
        .isEqualTo(Path.of("where/a.norm").toAbsolutePath() + "");
    assertThat(FileList.read(list)).containsExactly(Path.of("where/a.norm").toAbsolutePath());
  }

  /** The working folder of these tests has a pom.xml. */
  @Test
  void aRelativePathInAListIsLookedForBesideTheListFirst() throws IOException {
    Path list = Files.writeString(folder.resolve("list.txt"), "1\npom.xml\n");
    assertThat(Path.of("pom.xml")).exists();
    assertThat(FileList.read(list)).containsExactly(Path.of("pom.xml"));
    Path beside = Files.writeString(folder.resolve("pom.xml"), "");
    assertThat(FileList.read(list)).containsExactly(beside);
  }

  @Test
  void aCountOfRecordsThatTheFileHasNoRoomForTakesNoMemory() {
    ByteBuffer bytes = ByteBuffer.allocate(64 + 4 + 4 * 8192).order(ByteOrder.LITTLE_ENDIAN);
    bytes.putLong(8, 1L << 40).putLong(16, 1).putLong(32, 8192);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    try (DataReader reader = NormReader.open(List.of(file(bytes.array())), NormOptions.DETECT)) {
      assertThatExceptionOfType(DataException.class)
          .isThrownBy(reader::next)
          .withMessageContaining("in.norm");
    }
    assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(12 << 20);
  }

  @Test
  void aListNamesFilesOfItsOwnFileSystem() throws IOException {
    Path zip = folder.resolve("all.zip");
    try (FileSystem files = FileSystems.newFileSystem(zip, Map.of("create", "true"))) {
      Path list = Files.writeString(files.getPath("/list.txt"), "2\na.norm\npom.xml\n");
      Path beside = Files.writeString(files.getPath("/a.norm"), "");
      assertThat(FileList.read(list)).containsExactly(beside, files.getPath("pom.xml"));
    }
  }

  @Test
  void anUnreadableFileIsOneFault() throws IOException {
    Path absent = folder.resolve("absent");
    Path other = folder.resolve("other");
    Schema schema = Rows.random(5, 0, 1, 0, new int[] {1}, 9).schema();
    List<String> faults = new ArrayList<>();
    ReadPolicy policy = ReadPolicy.STRICT.withFaults(f -> faults.add(f.getMessage()));
    List<Function<List<Path>, DataReader>> formats =
        List.of(
            files -> NormReader.open(files, NormOptions.DETECT, policy),
            files -> RawReader.open(files, RawOptions.floats(schema).withRows(7), policy),
            files -> CsvReader.open(files, CsvOptions.csv(), Columns.of(schema), policy),
            files -> ParquetReader.open(files, ParquetOptions.DEFAULT, Columns.of(schema), policy),
            files -> ParquetReader.openHugeCtr(files, ParquetOptions.DEFAULT, policy));
    for (Function<List<Path>, DataReader> format : formats) {
      assertThatExceptionOfType(DataException.class)
          .isThrownBy(() -> format.apply(List.of(absent)))
          .withMessageContainingAll("absent: got no such file", "check the path");
      assertThat(faults).isEmpty();
      assertThatExceptionOfType(DataException.class)
          .isThrownBy(() -> format.apply(List.of(absent, other)))
          .withMessageContaining("other: got no such file");
      assertThat(faults).singleElement().asString().contains("absent: got no such file");
      faults.clear();
    }
  }

  @Test
  void aNameBehindTheFilesOfAListIsAFaultUnlessItRepeatsOne() throws IOException {
    Path list = folder.resolve("list.txt");
    Files.writeString(list, "\uFEFF1\r\na.norm\r\na.norm\r\n\r\n");
    assertThat(FileList.read(list)).hasSize(1);
    Files.writeString(list, "1\na.norm\na.norm\nother.norm\n");
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> FileList.read(list))
        .withMessageContainingAll("list.txt: line 4", "got \"other.norm\"", "1 files of line 1");
  }

  @Test
  void badFileListsNameTheLine() throws IOException {
    Path list = folder.resolve("list.txt");
    for (String text :
        List.of(
            "0\n", "+\na\n", "1x\na\n", " \na\n", "99999999999\n", "1" + " ".repeat(99) + "a\n")) {
      Files.writeString(list, text);
      assertThatExceptionOfType(DataException.class)
          .isThrownBy(() -> FileList.read(list))
          .withMessageContainingAll("list.txt", "line 1", "number of files");
    }
    for (String text : List.of("2\na\n", "2\na\n\nb\n")) {
      Files.writeString(list, text);
      assertThatExceptionOfType(DataException.class)
          .isThrownBy(() -> FileList.read(list))
          .withMessageContainingAll("list.txt", "line 3", "file 2 of 2");
    }
    Files.writeString(list, "2\na\nb\0c\n");
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> FileList.read(list))
        .withMessageContainingAll("list.txt", "line 3", "name that no file can have");
    Files.writeString(list, "1\nabsent.norm\n");
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> read(list, NormOptions.DETECT))
        .withMessageContainingAll("absent.norm", "no such file");
  }

  @Test
  void namesAndHotnessMayBeGiven() {
    Rows rows = Rows.random(5, 4, 1, 2, new int[] {1, 2}, 9);
    Path file = file(tiny(rows, NormCheck.SUM, KeyType.U32));
    try (DataReader reader =
        NormReader.open(List.of(file), NormOptions.DETECT.withSchema(rows.schema()))) {
      assertThat(reader.schema()).isEqualTo(rows.schema());
      assertThat(Rows.read(reader)).isEqualTo(rows.list());
    }
    Schema other = Rows.random(5, 0, 1, 2, new int[] {1, 1}, 9).schema();
    for (NormCheck check : NormCheck.values()) {
      assertFault(
          tiny(rows, check, KeyType.U32),
          NormOptions.DETECT.withSchema(other),
          "record 1",
          "2 keys in slot slot1",
          "expected 1");
    }
  }

  /** HugeCTR compares label_dim + dense_dim only, so 2 + 12 would pass for 1 + 13. */
  @Test
  void labelAndDenseOfTheSameSumAreNotTheSame() {
    byte[] bytes = tiny(Rows.random(5, 4, 2, 12, new int[] {1}, 9), NormCheck.NONE, KeyType.U32);
    Schema schema = Rows.random(5, 0, 1, 13, new int[] {1}, 9).schema();
    assertFault(
        bytes,
        NormOptions.DETECT.withSchema(schema),
        "got a header with label_dim 2, dense_dim 12, slot_num 1",
        "expected label_dim 1, dense_dim 13, slot_num 1");
  }

  @Test
  void filesOfDifferentShapesAreNotMixed() {
    Path first =
        file("a.norm", tiny(Rows.random(5, 4, 1, 2, new int[] {1}, 9), NormCheck.SUM, KeyType.U32));
    Path second =
        file(
            "b.norm",
            tiny(Rows.random(5, 4, 1, 2, new int[] {1, 1}, 9), NormCheck.SUM, KeyType.U32));
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> NormReader.open(List.of(first, second), NormOptions.DETECT))
        .withMessageContainingAll("b.norm", "slot_num 2", "slot_num 1");
  }

  @Test
  void emptyAndAbsentFilesAreNamed() {
    assertFault(new byte[0], NormOptions.DETECT, "0 bytes", "64");
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> read(folder.resolve("absent.norm"), NormOptions.DETECT))
        .withMessageContainingAll("absent.norm", "no such file");
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> read(folder, NormOptions.DETECT))
        .withMessageContaining(folder.toString());
  }

  @Test
  void idsThatKeysCannotHoldAreRefused() {
    Rows rows = Rows.random(5, 3, 1, 0, new int[] {1}, -1);
    Path out = folder.resolve("out.norm");
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(
            () -> rows.write(NormWriter.create(out, rows.schema(), NormCheck.SUM, KeyType.U32), 1))
        .withMessageContainingAll("out.norm", "row 1", "slot0", "U32");
    assertThat(folder).isEmptyDirectory();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> NormWriter.create(out, rows.schema(), NormCheck.SUM, KeyType.I32));
    assertThatIllegalArgumentException().isThrownBy(() -> keys(KeyType.I32));
  }
}
