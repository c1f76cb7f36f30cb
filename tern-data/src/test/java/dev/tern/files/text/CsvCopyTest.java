package dev.tern.files.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.files.Columns;
import dev.tern.files.DataSplit;
import dev.tern.files.ReadPolicy;
import dev.tern.files.RecordCopy;
import dev.tern.files.SkippedRecords;
import dev.tern.files.SparseColumn;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class CsvCopyTest {
  private static final double[] HALVES = {1, 1};
  private static final Columns NO_KEY = Columns.ofKey(Optional.empty(), Set.of());

  @TempDir Path temp;

  private Path file(String name, String text) throws IOException {
    return file(name, text.getBytes(StandardCharsets.UTF_8));
  }

  private Path file(String name, byte[] bytes) throws IOException {
    Path file = temp.resolve(name);
    Files.createDirectories(file.getParent());
    try (OutputStream plain = Files.newOutputStream(file);
        OutputStream out = name.endsWith(".gz") ? new GZIPOutputStream(plain) : plain) {
      out.write(bytes);
    }
    return file;
  }

  private static byte[] bytes(Path file) throws IOException {
    try (InputStream plain = Files.newInputStream(file);
        InputStream in = file.toString().endsWith(".gz") ? new GZIPInputStream(plain) : plain) {
      return in.readAllBytes();
    }
  }

  private static String text(Path file) throws IOException {
    return new String(bytes(file), StandardCharsets.UTF_8);
  }

  private List<Path> parts(String... names) {
    return Arrays.stream(names).map(temp::resolve).toList();
  }

  private static long[] copy(
      List<Path> files, CsvOptions options, ReadPolicy policy, List<Path> parts) {
    try (RecordCopy records = CsvReader.copy(files, options, NO_KEY, policy, parts)) {
      return DataSplit.atRandom(HALVES, 1).copy(records, done -> {});
    }
  }

  private static long[] copy(List<Path> files, List<Path> parts) {
    return copy(files, CsvOptions.csv(), ReadPolicy.STRICT, parts);
  }

  private static Columns key(SparseColumn column) {
    return Columns.ofKey(Optional.of(column), Set.of("NA"));
  }

  private String[] byKey(Path file, SparseColumn key) throws IOException {
    List<Path> parts = parts("p1.csv", "p2.csv");
    try (RecordCopy records =
        CsvReader.copy(List.of(file), CsvOptions.csv(), key(key), ReadPolicy.STRICT, parts)) {
      DataSplit.byKey(HALVES, 1, records.schema(), key.name()).copy(records, done -> {});
    }
    return new String[] {text(parts.get(0)), text(parts.get(1))};
  }

  private String[] byTime(Path file, String column) throws IOException {
    Columns key = key(SparseColumn.time(column));
    List<Path> files = List.of(file);
    List<Path> parts = parts("p1.csv", "p2.csv");
    DataSplit split;
    try (RecordCopy times =
        CsvReader.copy(files, CsvOptions.csv(), key, ReadPolicy.STRICT, List.of())) {
      split = DataSplit.byTime(HALVES, times, done -> {});
    }
    try (RecordCopy records =
        CsvReader.copy(files, CsvOptions.csv(), key, ReadPolicy.STRICT, parts)) {
      split.copy(records, done -> {});
    }
    return new String[] {text(parts.get(0)), text(parts.get(1))};
  }

  @Test
  void theBytesOfThePartsInterleaveToTheBytesOfTheInput() throws IOException {
    for (long seed = 0; seed < 150; seed++) {
      RandomCsv text = new RandomCsv(seed);
      boolean marked = text.charset.equals(StandardCharsets.UTF_16) || text.random.nextBoolean();
      List<Path> files = new ArrayList<>();
      int count = text.random.nextInt(1, 4);
      for (int f = 0; f < count; f++) {
        String name = seed + "/" + f + ".csv" + (text.random.nextBoolean() ? ".gz" : "");
        files.add(file(name, text.file(1000 * (f + 1), marked)));
      }
      List<Path> parts = parts(seed + "/p1.csv.gz", seed + "/p2.csv", seed + "/p3.csv");
      long[] rows;
      try (RecordCopy records =
          CsvReader.copy(files, text.options, NO_KEY, ReadPolicy.STRICT, parts)) {
        rows = DataSplit.atRandom(new double[] {3, 2, 1}, seed).copy(records, done -> {});
      }
      requireInterleaved(text, marked, parts, rows);
    }
  }

  private static void requireInterleaved(
      RandomCsv text, boolean marked, List<Path> parts, long[] rows) throws IOException {
    byte[][] bytes = new byte[parts.size()][];
    int[] at = new int[parts.size()];
    boolean[] open = new boolean[parts.size()];
    byte[] mark = marked ? text.mark() : new byte[0];
    for (int p = 0; p < bytes.length; p++) {
      bytes[p] = bytes(parts.get(p));
      at[p] = pass(bytes[p], pass(bytes[p], 0, mark), text.encoded(text.head));
    }
    for (String record : text.records) {
      byte[] wanted = text.encoded(record);
      int found = -1;
      for (int p = 0; p < bytes.length && found < 0; p++) {
        int from = at[p];
        if (open[p]) {
          from +=
              startsWith(bytes[p], from, text.encoded("\r\n"))
                  ? text.encoded("\r\n").length
                  : text.encoded("\n").length;
        }
        if (startsWith(bytes[p], from, wanted)) {
          found = p;
          at[p] = from + wanted.length;
          open[p] = !record.endsWith("\n");
        }
      }
      assertThat(found).as(record + " " + text.options).isNotNegative();
      rows[found]--;
    }
    for (int p = 0; p < bytes.length; p++) {
      assertThat(at[p]).isEqualTo(bytes[p].length);
      assertThat(rows[p]).isZero();
    }
  }

  private static int pass(byte[] bytes, int at, byte[] wanted) {
    assertThat(startsWith(bytes, at, wanted)).isTrue();
    return at + wanted.length;
  }

  private static boolean startsWith(byte[] bytes, int at, byte[] wanted) {
    return at + wanted.length <= bytes.length
        && Arrays.equals(bytes, at, at + wanted.length, wanted, 0, wanted.length);
  }

  @Test
  void recordsLongerThanTheBufferAreCopiedWhole() throws IOException {
    StringBuilder text = new StringBuilder("y,a\n");
    for (int i = 0; i < 40; i++) {
      text.append(i).append(",\"").append("long\n".repeat(20_000 + i)).append("\"\n");
    }
    List<Path> parts = parts("p1.csv");
    try (RecordCopy records =
        CsvReader.copy(
            List.of(file("a.csv", text.toString())),
            CsvOptions.csv(),
            NO_KEY,
            ReadPolicy.STRICT,
            parts)) {
      DataSplit.atRandom(new double[] {1}, 1).copy(records, done -> {});
    }
    assertThat(text(parts.getFirst())).isEqualTo(text.toString());
  }

  @Test
  void sameNumbersGoToTheSamePartsAsConvertedRows() throws IOException {
    StringBuilder text = new StringBuilder("y,user\n");
    for (int i = 0; i < 200; i++) {
      text.append(i % 2).append(",u").append(i % 17).append('\n');
    }
    Path file = file("a.csv", text.toString());
    copy(List.of(file), parts("p1.csv", "p2.csv"));
    List<String> lines = text.toString().lines().toList();
    List<String> first = new ArrayList<>(List.of(lines.getFirst()));
    for (int i = 0; i < 200; i++) {
      if (new SplittableRandom(1 + i * 0x9E3779B97F4A7C15L).nextDouble() < 0.5) {
        first.add(lines.get(i + 1));
      }
    }
    assertThat(text(temp.resolve("p1.csv")).lines().toList()).isEqualTo(first);
  }

  @Test
  void anyColumnMayBeTheKeyAndOtherFieldsMayHoldAnything() throws IOException {
    StringBuilder text = new StringBuilder("rating,who,n\n");
    for (int i = 0; i < 100; i++) {
      text.append("no number,\"u\"\"").append(i % 9).append("\",").append(i % 7).append('\n');
    }
    Path file = file("a.csv", text.toString());
    String[] byText = byKey(file, SparseColumn.text("who"));
    for (int user = 0; user < 9; user++) {
      String name = "u\"\"" + user;
      assertThat(byText[0].contains(name)).isNotEqualTo(byText[1].contains(name));
    }
    byKey(file, SparseColumn.id("n"));
    assertThatThrownBy(() -> byKey(file, SparseColumn.text("whom")))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("got no column whom");
  }

  @Test
  void fieldsThatMeanNoValueAreTheKeyOfAnEmptyField() throws IOException {
    Columns who =
        Columns.ofKey(Optional.of(SparseColumn.text("who")), Set.of("NA", "?", "-", "null"));
    Path file = file("a.csv", "who,n\nNA,1\n?,2\n,3\n\"\",4\n-,5\nnull,6\nuser,7\n");
    List<Path> parts = parts("p1.csv", "p2.csv");
    for (long seed = 0; seed < 20; seed++) {
      try (RecordCopy records =
          CsvReader.copy(List.of(file), CsvOptions.csv(), who, ReadPolicy.STRICT, parts)) {
        long[] counts =
            DataSplit.byKey(HALVES, seed, records.schema(), "who").copy(records, done -> {});
        assertThat(counts).containsAnyOf(6, 7);
      }
    }
  }

  @Test
  void aFileThatIsCutWithinItsLastLineEndGetsTheRestOfIt() throws IOException {
    List<Path> files =
        List.of(file("a.csv", "y,a\r\n1,2\r\n2,3\r"), file("b.csv", "y,a\r\n3,4\r\n"));
    Path part = parts("p1.csv").getFirst();
    try (RecordCopy records =
        CsvReader.copy(files, CsvOptions.csv(), NO_KEY, ReadPolicy.STRICT, List.of(part))) {
      DataSplit.atRandom(new double[] {1}, 1).copy(records, done -> {});
    }
    assertThat(text(part)).isEqualTo("y,a\r\n1,2\r\n2,3\r\n3,4\r\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"\\", "\\\\", "\\\\\\", "\\\r", "\"q\"", "\\\n", "\\\r\n", "\\\\\n"})
  void aBackslashThatEndsAFileEscapesNoLineEndOfItsPart(String end) throws IOException {
    CsvOptions options = CsvOptions.csv().withEscapes(CsvOptions.Escapes.ANYWHERE);
    List<Path> files =
        List.of(file("a.csv", "y,a\n1,2\n2," + end), file("b.csv", "y,a\n3,4\n4," + end));
    List<Path> part = parts("p1.csv");
    try (RecordCopy records = CsvReader.copy(files, options, NO_KEY, ReadPolicy.STRICT, part)) {
      DataSplit.atRandom(new double[] {1}, 1).copy(records, done -> {});
    }
    Columns columns =
        new Columns(List.of("y"), Set.of("1"), List.of(), List.of(SparseColumn.text("a")));
    assertThat(ids(CsvReader.open(part, options, columns)))
        .isEqualTo(ids(CsvReader.open(files, options, columns)))
        .hasSize(4);
  }

  private static List<Long> ids(DataReader reader) {
    List<Long> ids = new ArrayList<>();
    try (reader) {
      for (Optional<Batch> next = reader.next(); next.isPresent(); next = reader.next()) {
        try (Batch batch = next.get()) {
          for (int row = 0; row < batch.size(); row++) {
            ids.add(batch.ids(0)[row]);
          }
        }
      }
    }
    return ids;
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 3000, 400_000})
  void bytesThatAreNoCharacterAreToldWithTheirPlace(int lines) throws IOException {
    Charset western = Charset.forName("windows-1252");
    byte[] bytes = ("y,\u00e9\n" + "1,2\n".repeat(lines) + "1,?\n1,3\n").getBytes(western);
    int at = 6 + 4 * lines;
    bytes[at] = (byte) 0x81;
    CsvOptions options = CsvOptions.csv().withText(TextOptions.DEFAULT.withEncoding(western));
    Path file = file("a.csv", bytes);
    assertThatThrownBy(() -> copy(List.of(file), options, ReadPolicy.STRICT, parts("1", "2")))
        .isInstanceOf(DataException.class)
        .hasMessageStartingWith(
            "%s: line %s, byte %s in UTF-8: got bytes that are no character of windows-1252"
                .formatted(file, lines + 2, at + 1));
  }

  @Test
  void rowsWithoutTheKeyAreAnErrorThatNamesTheLine() throws IOException {
    rowsWithoutTheKeyAreAnError(file("a.csv", "y,n\n1,2\n1,\n"));
    rowsWithoutTheKeyAreAnError(file("b.csv", "y,n\n1,2\n1,NA\n"));
  }

  private void rowsWithoutTheKeyAreAnError(Path file) {
    assertThatThrownBy(() -> byKey(file, SparseColumn.id("n")))
        .hasMessage(
            file
                + ": line 3, byte 8: got 0 values of column n, by which rows are split, expected"
                + " one; fill the column or leave such rows out");
    assertThatThrownBy(() -> byTime(file, "n"))
        .hasMessageStartingWith(file + ": line 3, byte 8: got 0 values of column n,");
    assertThat(temp.resolve("p1.csv")).doesNotExist();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "2026-01-31T08:30:00Z 2026-01-31T08:30:00.001Z",
        "9007199254740993 9007199254740994",
        "-1.5 -1.25",
        "20260130 2026-01-31T00:00:00"
      })
  void earlierRecordsGoToTheFirstPart(String times) throws IOException {
    String early = times.split(" ")[0];
    String late = times.split(" ")[1];
    Path file = file("a.csv", "t,x\n%s,1\n%s,2\n%s,3\n%s,4\n".formatted(late, early, late, early));
    boolean mixed = early.length() == 8;
    if (mixed) {
      assertThatThrownBy(() -> byTime(file, "t")).hasMessageContaining("line 3, byte 26, column t");
      return;
    }
    String[] parts = byTime(file, "t");
    assertThat(parts[0]).isEqualTo("t,x\n%s,2\n%s,4\n".formatted(early, early));
    assertThat(parts[1]).isEqualTo("t,x\n%s,1\n%s,3\n".formatted(late, late));
  }

  @Test
  void badRecordsAreLeftOutOfAllPartsAndCounted() throws IOException {
    Path file = file("a.csv", "y,a\n1,ok\n1,2,3\n\n1,x\"y\n1,fine\n");
    List<Path> parts = parts("p1.csv", "p2.csv");
    assertThatThrownBy(() -> copy(List.of(file), parts))
        .hasMessageContaining("line 3, byte 9: got 3 fields, expected 2");
    assertThat(parts).noneMatch(Files::exists);
    SkippedRecords skipped = new SkippedRecords(3);
    long[] rows =
        copy(List.of(file), CsvOptions.csv(), ReadPolicy.STRICT.withFaults(skipped), parts);
    assertThat(rows[0] + rows[1]).isEqualTo(2);
    assertThat(skipped.count()).isEqualTo(3);
    assertThat(text(parts.get(0)) + text(parts.get(1))).contains("1,ok\n", "1,fine\n");
  }

  @Test
  void marksBeforeTheFirstLineStayAndOneBeforeALaterRowIsAnError() throws IOException {
    CsvOptions listed = CsvOptions.csv().withHeader(List.of("y", "a"));
    List<Path> part = parts("p1.csv", "p2.csv");
    copy(List.of(file("a.csv", "\ufeff\ufeff1,2\n")), listed, ReadPolicy.STRICT, part);
    assertThat(List.of(text(part.get(0)), text(part.get(1))))
        .containsExactlyInAnyOrder("\ufeff\ufeff1,2\n", "\ufeff\ufeff");
    Path joined = file("b.csv", "1,2\n\ufeff3,4\n");
    assertThatThrownBy(() -> copy(List.of(joined), listed, ReadPolicy.STRICT, part))
        .hasMessageContaining(
            "line 2, byte 7: got \\ufeff, a byte order mark between joined files");
  }

  @Test
  void aPartNamedForGzipInCapitalsIsCompressed() throws IOException {
    Path part = temp.resolve("P.CSV.GZ");
    try (RecordCopy records =
        CsvReader.copy(
            List.of(file("a.csv", "y,a\n1,2\n")),
            CsvOptions.csv(),
            NO_KEY,
            ReadPolicy.STRICT,
            List.of(part))) {
      DataSplit.atRandom(new double[] {1}, 1).copy(records, done -> {});
    }
    try (InputStream in = new GZIPInputStream(Files.newInputStream(part))) {
      assertThat(in.readAllBytes()).asString(StandardCharsets.UTF_8).isEqualTo("y,a\n1,2\n");
    }
  }

  @Test
  void damagedTextLosesNoMoreThanReadingItLoses() throws IOException {
    SplittableRandom random = new SplittableRandom(4);
    String sound = "y,a,b\n" + "1,\"two\",x\n2,,\"q\"\"q\"\n3,\"a\nb\",z\r\n".repeat(20);
    Columns none = new Columns(List.of(), Set.of(), List.of(), List.of());
    int refused = 0;
    for (int i = 0; i < 500; i++) {
      byte[] bytes = sound.getBytes(StandardCharsets.UTF_8);
      for (int k = random.nextInt(4); k >= 0; k--) {
        bytes[random.nextInt(bytes.length)] = (byte) "\",\n\r#x\0\u001a".charAt(random.nextInt(8));
      }
      List<Path> files = List.of(file("a.csv", bytes));
      SkippedRecords copying = new SkippedRecords(1000);
      SkippedRecords reading = new SkippedRecords(1000);
      long copied = 0;
      long rows = 0;
      try {
        copied = copied(files, ReadPolicy.STRICT.withFaults(copying));
        rows = rows(files, none, ReadPolicy.STRICT.withFaults(reading));
      } catch (DataException e) {
        assertThat(e.getMessage()).contains("a.csv");
        refused++;
      }
      assertThat(copied).isEqualTo(rows);
      assertThat(copying.count()).isEqualTo(reading.count());
    }
    assertThat(refused).isLessThan(100);
  }

  private static long copied(List<Path> files, ReadPolicy policy) {
    try (RecordCopy records = CsvReader.copy(files, CsvOptions.csv(), NO_KEY, policy, List.of())) {
      Batch keys = new Batch(records.schema(), 1);
      long copied = 0;
      while (records.next(keys)) {
        keys.clear();
        copied++;
      }
      return copied;
    }
  }

  private static long rows(List<Path> files, Columns columns, ReadPolicy policy) {
    try (DataReader reader =
        CsvReader.open(files, CsvOptions.csv(), columns, policy.withoutLabels())) {
      long rows = 0;
      for (Optional<Batch> next = reader.next(); next.isPresent(); next = reader.next()) {
        rows += next.get().size();
        next.get().close();
      }
      return rows;
    }
  }

  @Test
  void aDamagedFileLeavesNoPart() throws IOException {
    byte[] text = "y,a\n1,2\n".repeat(5000).getBytes(StandardCharsets.UTF_8);
    Path file = file("a.csv.gz", text);
    byte[] packed = Files.readAllBytes(file);
    Files.write(file, Arrays.copyOf(packed, packed.length - 9));
    List<Path> parts = parts("new/p1.csv", "new/p2.csv");
    ReadPolicy skipping = ReadPolicy.STRICT.withFaults(new SkippedRecords(100));
    for (ReadPolicy policy : List.of(ReadPolicy.STRICT, skipping)) {
      assertThatThrownBy(() -> copy(List.of(file), CsvOptions.csv(), policy, parts))
          .hasMessageContaining("gzip member 1");
    }
    try (Stream<Path> files = Files.list(temp)) {
      assertThat(files).containsExactly(file);
    }
  }

  @Test
  void aLaterFileMustNameTheSameColumns() throws IOException {
    Path one = file("1.csv", "y,a\n1,2\n");
    Path two = file("2.csv", "a,y\n1,2\n");
    Path quoted = file("3.csv", "\"y\",a\n3,4\n");
    List<Path> parts = parts("p1.csv", "p2.csv");
    assertThatThrownBy(() -> copy(List.of(one, two), parts))
        .hasMessageStartingWith(two + ": got the columns [a, y], expected [y, a] as in " + one);
    assertThat(parts).noneMatch(Files::exists);
    long[] rows = copy(List.of(one, quoted), parts);
    assertThat(rows[0] + rows[1]).isEqualTo(2);
  }

  @Test
  void commentsBetweenRecordsAreLeftOutAndCounted() throws IOException {
    TextOptions lines = TextOptions.DEFAULT.withComment("#").withSkippedLines(1);
    Path file = file("a.csv", "first\n# about\ny,a\n# \"one\n1,2\n# two\n# three\n3,4\n# end");
    List<Path> parts = parts("p1.csv", "p2.csv");
    try (RecordCopy records =
        CsvReader.copy(
            List.of(file), CsvOptions.csv().withText(lines), NO_KEY, ReadPolicy.STRICT, parts)) {
      DataSplit.atRandom(HALVES, 2).copy(records, done -> {});
      assertThat(records.notes()).containsExactly("left out 4 lines of comments between records");
    }
    for (Path part : parts) {
      assertThat(text(part)).startsWith("first\n# about\ny,a\n").doesNotContain("one", "three");
    }
  }

  @Test
  void aColumnInTheNameOfAFolderIsNotLost() throws IOException {
    Path file = file("day=3/city=a%3Ab/1.csv", "y,city\n1,2\n");
    Path outside = temp.resolve("p.csv");
    assertThatThrownBy(() -> copy(List.of(file), List.of(outside)))
        .hasMessageStartingWith(
            file + ": got the column day in the name of a folder alone, which rows in " + outside);
    Path inside = temp.resolve("parts/day=3/p1.csv");
    Path other = temp.resolve("day=3/city=a%3Ab/p2.csv");
    copy(List.of(file), List.of(inside, other));
    assertThat(inside).exists();
    assertThatThrownBy(() -> copy(List.of(file), List.of(inside, temp.resolve("day=4/p.csv"))))
        .hasMessageContaining("got the column day in the name of a folder alone");
  }

  @Test
  void aFileThatChangesMeanwhileIsAnError() throws IOException {
    Path file = file("a.csv", "y,a\n1,2\n");
    try (RecordCopy records =
        CsvReader.copy(
            List.of(file), CsvOptions.csv(), NO_KEY, ReadPolicy.STRICT, parts("p1.csv"))) {
      Files.writeString(file, "y,a\n1,2\n3,4\n");
      Batch keys = new Batch(records.schema(), 1);
      assertThatThrownBy(() -> records.next(keys)).hasMessageContaining("the file changed");
    }
  }

  @Test
  void aRecordThatIsNotCopiedIsNoCompleteCopy() throws IOException {
    Path file = file("a.csv", "y,a\n1,2\n");
    try (RecordCopy records =
        CsvReader.copy(
            List.of(file), CsvOptions.csv(), NO_KEY, ReadPolicy.STRICT, parts("p1.csv"))) {
      assertThat(records.next(new Batch(records.schema(), 1))).isTrue();
      assertThatThrownBy(records::finish).isInstanceOf(IllegalStateException.class);
    }
    assertThat(temp.resolve("p1.csv")).doesNotExist();
  }
}
