package dev.tern.files;

import static dev.tern.files.Rows.row;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.tern.data.DataException;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

final class NormTest {
  private static final int SUM_HEADER = 69;
  private static final int PLAIN_HEADER = 64;

  @TempDir Path folder;

  static Stream<Arguments> variants() {
    return Stream.of(NormCheck.values())
        .flatMap(c -> Stream.of(Arguments.of(c, KeyType.U32), Arguments.of(c, KeyType.I64)));
  }

  private Path file(byte[] bytes) {
    return file("in.norm", bytes);
  }

  private Path file(String name, byte[] bytes) {
    try {
      return Files.write(folder.resolve(name), bytes);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static byte[] hex(String text) {
    return HexFormat.of().parseHex(text.replaceAll("\\s", ""));
  }

  private static List<Rows.Row> read(Path file, NormOptions options) {
    try (DataReader reader = NormReader.open(List.of(file), options)) {
      return Rows.read(reader);
    }
  }

  private static NormOptions keys(KeyType keys) {
    return NormOptions.DETECT.withKeys(keys);
  }

  private static Rows random(int count, KeyType keys) {
    return Rows.random(
        11, count, 1, 2, new int[] {1, 0, 2}, keys == KeyType.U32 ? 0xFFFFFFFFL : -1);
  }

  private static byte[] tiny(Rows rows, NormCheck check, KeyType keys) {
    Schema schema = rows.schema();
    return TinyNorm.write(
        rows.list(),
        schema.labelDim(),
        schema.denseDim(),
        schema.slotCount(),
        check == NormCheck.SUM,
        keys == KeyType.I64);
  }

  private void assertFault(byte[] bytes, NormOptions options, String... parts) {
    Path file = file(bytes);
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> read(file, options))
        .satisfies(e -> {
          assertThat(e.getMessage()).contains("in.norm");
          for (String part : parts) {
            assertThat(e.getMessage()).contains(part);
          }
        });
  }

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

  private static final String SUM_U32 =
      """
      40000000
      0100000000000000 0100000000000000 0100000000000000 0100000000000000 0200000000000000
      0000000000000000 0000000000000000 0000000000000000 06
      18000000
      0000803F 00002040
      02000000 07000000 FFFFFFFF
      00000000 24
      """;
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
  void smallKeysOfOneHotSlotsAreFoundToBeOfTheirWidth(NormCheck check, KeyType keys) {
    Rows rows = Rows.random(5, 50, 1, 0, new int[] {1, 1, 1, 1}, 3);
    assertThat(read(file(tiny(rows, check, keys)), NormOptions.DETECT)).isEqualTo(rows.list());
  }

  @ParameterizedTest
  @EnumSource(NormCheck.class)
  void recordsWithoutKeysNeedNoWidth(NormCheck check) {
    Rows rows = Rows.random(5, 50, 2, 3, new int[] {}, 3);
    assertThat(read(file(tiny(rows, check, KeyType.U32)), NormOptions.DETECT))
        .isEqualTo(rows.list());
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
    Files.writeString(list, "2\na.norm\n" + second + "\nabsent\na.norm\n");
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
  void badFileListsNameTheLine() throws IOException {
    Path list = folder.resolve("list.txt");
    for (String text : List.of("0\n", "+\na\n", "1x\na\n", " \na\n", "99999999999\n")) {
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
  void wrongChecksumNamesRecordAndByte() {
    byte[] bytes = hex(SUM_U32);
    bytes[bytes.length - 1]++;
    assertFault(
        bytes, keys(KeyType.U32), "record 1", "byte 69", "checksum 36 of 24 bytes", "expected 37");
    bytes = hex(SUM_U32);
    bytes[30]++;
    assertFault(bytes, NormOptions.DETECT, "byte 68", "checksum", "header");
  }

  @ParameterizedTest
  @EnumSource(NormCheck.class)
  void wrongKeyWidthIsSaid(NormCheck check) {
    for (KeyType written : new KeyType[] {KeyType.U32, KeyType.I64}) {
      KeyType told = written == KeyType.U32 ? KeyType.I64 : KeyType.U32;
      for (int[] hotness : new int[][] {{1, 1, 1, 1}, {1, 0, 2}, {3}, {0, 0}}) {
        Rows rows = Rows.random(5, 40, 1, 3, hotness, 200);
        assertFault(
            tiny(rows, check, written),
            keys(told),
            "record",
            "byte",
            check == NormCheck.SUM ? "read with " + told + " keys but fits " + written : "");
      }
    }
  }

  @ParameterizedTest
  @EnumSource(NormCheck.class)
  void countsThatCannotBeAreFaults(NormCheck check) {
    Rows rows = random(3, KeyType.I64);
    int header = check == NormCheck.SUM ? SUM_HEADER + 4 : PLAIN_HEADER;
    int slot0 = header + 12;
    for (int count : new int[] {-1, Integer.MIN_VALUE, 1 << 20, Integer.MAX_VALUE}) {
      byte[] bytes = tiny(rows, check, KeyType.I64);
      ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putInt(slot0, count);
      mendChecksum(bytes, check);
      assertFault(
          bytes,
          keys(KeyType.I64),
          "record 1",
          "byte " + slot0,
          "got " + count + " keys in a slot");
    }
  }

  /** Gives the first record of a framed file the checksum of its bytes. */
  private static void mendChecksum(byte[] bytes, NormCheck check) {
    if (check == NormCheck.SUM) {
      int length = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(SUM_HEADER);
      byte sum = 0;
      for (int i = 0; i < length; i++) {
        sum += bytes[SUM_HEADER + 4 + i];
      }
      bytes[SUM_HEADER + 4 + length] = sum;
    }
  }

  @ParameterizedTest
  @MethodSource("variants")
  void lengthsOfFramesThatCannotBeAreFaults(NormCheck check, KeyType keys) {
    if (check == NormCheck.NONE) {
      return;
    }
    for (int length : new int[] {-1, 0, 23, Integer.MIN_VALUE, Integer.MAX_VALUE, 1 << 29}) {
      byte[] bytes = tiny(random(3, keys), check, keys);
      ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putInt(SUM_HEADER, length);
      assertFault(bytes, keys(keys), "record 1", "byte");
    }
  }

  @ParameterizedTest
  @MethodSource("variants")
  void aFileCutShortAnywhereIsAFault(NormCheck check, KeyType keys) {
    byte[] bytes = tiny(random(2, keys), check, keys);
    Path whole = file("whole.norm", bytes);
    for (int length = 0; length < bytes.length; length++) {
      byte[] cut = Arrays.copyOf(bytes, length);
      assertFault(cut, keys(keys));
      if (length > 0) {
        assertFault(cut, NormOptions.DETECT);
      }
      Path file = file(cut);
      List<String> faults = new ArrayList<>();
      ReadPolicy policy = ReadPolicy.STRICT.withFaults(f -> faults.add(f.getMessage()));
      try (DataReader reader = NormReader.open(List.of(file, whole), keys(keys), policy)) {
        int rows = Rows.read(reader).size();
        assertThat(rows).isBetween(2, 3);
      }
      assertThat(faults).hasSize(1);
    }
  }

  @ParameterizedTest
  @MethodSource("variants")
  void bytesAfterTheLastRecordAreAFault(NormCheck check, KeyType keys) {
    byte[] bytes = tiny(random(6, keys), check, keys);
    byte[] longer = Arrays.copyOf(bytes, bytes.length + 3);
    assertFault(longer, keys(keys), "got 3 bytes after record 6", "byte " + bytes.length);
  }

  @ParameterizedTest
  @MethodSource("variants")
  void anyFlippedBitEndsInRowsOrAFaultThatNamesThePlace(NormCheck check, KeyType keys) {
    Rows rows = random(3, keys);
    byte[] bytes = tiny(rows, check, keys);
    for (int at = 0; at < bytes.length; at++) {
      byte[] flipped = bytes.clone();
      flipped[at] ^= (byte) (1 << 5 * at % 8);
      Path file = file(flipped);
      try {
        assertThat(read(file, at % 2 == 0 ? keys(keys) : NormOptions.DETECT)).hasSize(3);
        assertThat(check).as("byte %d passed", at).isEqualTo(NormCheck.NONE);
      } catch (DataException e) {
        assertThat(e.getMessage()).contains("in.norm");
      }
    }
  }

  @Test
  void headersThatCannotBeAreFaults() {
    byte[] good = tiny(random(2, KeyType.U32), NormCheck.NONE, KeyType.U32);
    long[] bad = {-1, Long.MIN_VALUE, Long.MAX_VALUE, 1L << 32, 1L << 21};
    String[] names = {"number_of_records", "label_dim", "dense_dim", "slot_num"};
    for (int field = 0; field < names.length; field++) {
      for (long value : bad) {
        byte[] bytes = good.clone();
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putLong(8 + 8 * field, value);
        boolean plausible = field == 0 && value > 0;
        assertFault(bytes, keys(KeyType.U32), plausible ? "record 3" : names[field]);
      }
    }
    byte[] check = good.clone();
    check[0] = 1;
    assertFault(check, NormOptions.DETECT, "error_check 1", "plain header");
    byte[] framed = hex(SUM_U32);
    framed[4] = 0;
    assertFault(framed, NormOptions.DETECT, "error_check 0", "framed header");
  }

  @Test
  void badLabelsNameRecordAndByte() {
    for (NormCheck check : NormCheck.values()) {
      Rows rows = random(5, KeyType.I64);
      List<Rows.Row> list = new ArrayList<>(rows.list());
      Rows.Row third = list.get(2);
      list.set(2, row(0.5f, third.dense(), third.ids()));
      byte[] bytes = tiny(new Rows(rows.schema(), list), check, KeyType.I64);
      assertFault(bytes, keys(KeyType.I64), "record 3", "byte", "label 0.5", "0 or 1");
      Path file = file(bytes);
      try (DataReader reader =
          NormReader.open(List.of(file), NormOptions.DETECT, ReadPolicy.STRICT.withAnyLabel())) {
        assertThat(Rows.read(reader)).isEqualTo(list);
      }
      List<String> faults = new ArrayList<>();
      ReadPolicy policy = ReadPolicy.STRICT.withFaults(f -> faults.add(f.getMessage()));
      try (DataReader reader = NormReader.open(List.of(file), keys(KeyType.I64), policy)) {
        list.remove(2);
        assertThat(Rows.read(reader)).isEqualTo(list);
        assertThat(faults).hasSize(1);
        reader.start(0);
        assertThat(reader.skip(3)).isEqualTo(3);
        assertThat(Rows.read(reader)).isEqualTo(list.subList(3, 4));
      }
    }
  }

  /** HugeCTR loses the last record of the next file after a broken one; none is lost here. */
  @Test
  void onlyTheBadRecordsOfAFramedFileAreDropped() {
    Rows rows = random(20, KeyType.U32);
    byte[] bytes = tiny(rows, NormCheck.SUM, KeyType.U32);
    ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    int at = SUM_HEADER;
    for (int record = 0; record < 20; record++) {
      if (record % 7 == 3) {
        bytes[at + 10] ^= 0x20;
      }
      at += 4 + in.getInt(at) + 1;
    }
    Path first = file("a.norm", bytes);
    Path second = file("b.norm", tiny(rows, NormCheck.SUM, KeyType.U32));
    List<Rows.Row> expected = new ArrayList<>();
    for (int record = 0; record < 20; record++) {
      if (record % 7 != 3) {
        expected.add(rows.list().get(record));
      }
    }
    expected.addAll(rows.list());
    List<String> faults = new ArrayList<>();
    ReadPolicy policy = ReadPolicy.STRICT.withFaults(f -> faults.add(f.getMessage()));
    try (DataReader reader = NormReader.open(List.of(first, second), keys(KeyType.U32), policy)) {
      assertThat(Rows.read(reader)).isEqualTo(expected);
    }
    assertThat(faults).hasSize(3).allMatch(f -> f.contains("a.norm") && f.contains("checksum"));
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

  /** Where record {@code index} begins: its length in a framed file, its labels in a plain one. */
  private static int start(Rows rows, int index, NormCheck check, KeyType keys) {
    Rows before = new Rows(rows.schema(), rows.list().subList(0, index));
    return tiny(before, check, keys).length;
  }

  /** Puts {@code value} {@code ahead} bytes into record {@code index}, and the sum that fits. */
  private static byte[] edited(
      Rows rows, int index, int ahead, int value, NormCheck check, KeyType keys) {
    byte[] bytes = tiny(rows, check, keys);
    ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    int at = start(rows, index, check, keys);
    boolean framed = check == NormCheck.SUM;
    buffer.putInt(at + (framed ? 4 : 0) + ahead, value);
    if (framed) {
      int length = buffer.getInt(at);
      byte sum = 0;
      for (int i = 0; i < length; i++) {
        sum += bytes[at + 4 + i];
      }
      bytes[at + 4 + length] = sum;
    }
    return bytes;
  }

  private void assertOneFault(byte[] bytes, int goodRows, String part) {
    assertFault(bytes, NormOptions.DETECT, part);
    List<String> faults = new ArrayList<>();
    ReadPolicy policy = ReadPolicy.STRICT.withFaults(f -> faults.add(f.getMessage()));
    try (DataReader reader = NormReader.open(List.of(file(bytes)), NormOptions.DETECT, policy)) {
      assertThat(Rows.read(reader)).as(part).hasSize(goodRows);
    }
    assertThat(faults).singleElement().asString().contains(part);
  }

  @ParameterizedTest
  @MethodSource("variants")
  void aBadRecordDoesNotHideTheWidthOfTheKeys(NormCheck check, KeyType keys) {
    boolean framed = check == NormCheck.SUM;
    int half = Float.floatToIntBits(0.5f);
    for (int[] hotness : new int[][] {{1, 1, 1}, {1, 0, 2}}) {
      Rows rows = Rows.random(9, 500, 1, 2, hotness, 0xFFFFL);
      for (int record : new int[] {0, 1, 4, 499}) {
        int at = start(rows, record, check, keys) + (framed ? 4 : 0);
        String where = "in.norm: record " + (record + 1) + ", byte ";
        assertOneFault(
            edited(rows, record, 0, half, check, keys), 499, where + at + ": got label 0.5");
        assertOneFault(
            edited(rows, record, 12, -1, check, keys),
            framed ? 499 : record,
            where + (at + 12) + ": got -1 keys in a slot");
        int second = 12 + 4 + keys.bytes();
        assertOneFault(
            edited(rows, record, second, 1 << 30, check, keys),
            framed ? 499 : record,
            where + (at + second) + ": got 1073741824 keys in a slot");
      }
    }
  }

  @ParameterizedTest
  @MethodSource("variants")
  void damagedRecordsDoNotHideTheWidthOfTheKeys(NormCheck check, KeyType keys) {
    Rows rows = Rows.random(9, 40, 1, 2, new int[] {1, 0, 2}, 0xFFFFL);
    byte[] bytes = tiny(rows, check, keys);
    if (check == NormCheck.SUM) {
      bytes[start(rows, 0, check, keys) + 18]++;
      assertOneFault(bytes, 39, "in.norm: record 1, byte 69: got checksum ");
      return;
    }
    byte[] longer = Arrays.copyOf(bytes, bytes.length + 4);
    assertOneFault(longer, 40, "byte " + bytes.length + ": got 4 bytes after record 40");
  }

  /** As HugeCTR's own generator writes them. */
  @ParameterizedTest
  @MethodSource("variants")
  void labelsThatAreAllIllegalDoNotHideTheWidthOfTheKeys(NormCheck check, KeyType keys) {
    Rows rows = Rows.random(9, 60, 1, 2, new int[] {1, 0, 2}, 0xFFFFL);
    List<Rows.Row> list =
        rows.list().stream().map(r -> new Rows.Row(List.of(0.3f), r.dense(), r.ids())).toList();
    byte[] bytes = tiny(new Rows(rows.schema(), list), check, keys);
    assertFault(bytes, NormOptions.DETECT, "in.norm: record 1, byte ", "got label 0.3");
    ReadPolicy any = ReadPolicy.STRICT.withAnyLabel();
    try (DataReader reader = NormReader.open(List.of(file(bytes)), NormOptions.DETECT, any)) {
      assertThat(Rows.read(reader)).isEqualTo(list);
    }
  }

  @Test
  void aWidthThatOneFileLeavesOpenIsToldByTheNext() {
    Rows unclear = new Rows(random(0, KeyType.U32).schema(), List.of());
    Rows none = Rows.random(9, 3, 1, 2, new int[] {0, 0, 0}, 9);
    List<Rows.Row> empty =
        none.list().stream()
            .map(r -> new Rows.Row(r.labels(), r.dense(), List.of(List.of(), List.of(), List.of())))
            .toList();
    Rows rows = random(20, KeyType.U32);
    for (NormCheck check : NormCheck.values()) {
      Path first = file("a.norm", tiny(unclear, check, KeyType.U32));
      Path second = file("b.norm", tiny(new Rows(none.schema(), empty), check, KeyType.U32));
      Path third = file("c.norm", tiny(rows, check, KeyType.U32));
      try (DataReader reader = NormReader.open(List.of(first, second, third), NormOptions.DETECT)) {
        assertThat(Rows.read(reader).subList(3, 23)).isEqualTo(rows.list());
      }
    }
  }
}
