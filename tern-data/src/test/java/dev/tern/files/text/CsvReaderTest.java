package dev.tern.files.text;

import static dev.tern.files.Rows.row;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.tern.base.DataException;
import dev.tern.data.DataReader;
import dev.tern.data.Slot;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.encode.TextHash;
import dev.tern.files.Columns;
import dev.tern.files.FileColumn;
import dev.tern.files.ReadPolicy;
import dev.tern.files.Rows;
import dev.tern.files.SparseColumn;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class CsvReaderTest {
  private static final Columns COLUMNS =
      new Columns(
          List.of("y"),
          Set.of(),
          List.of("x"),
          List.of(SparseColumn.text("c"), SparseColumn.id("i")));

  @TempDir Path folder;

  private Path file(String text) {
    return file("in.csv", text.getBytes(StandardCharsets.UTF_8));
  }

  private Path file(String name, byte[] bytes) {
    try {
      return Files.write(folder.resolve(name), bytes);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static byte[] gzip(byte[] bytes) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
      gzip.write(bytes);
    }
    return out.toByteArray();
  }

  private List<Rows.Row> read(String text) {
    return read(text, CsvOptions.csv(), COLUMNS);
  }

  private List<Rows.Row> read(String text, CsvOptions options, Columns columns) {
    try (DataReader reader = CsvReader.open(List.of(file(text)), options, columns)) {
      return Rows.read(reader);
    }
  }

  private void assertFault(String text, String... parts) {
    assertFault(text, CsvOptions.csv(), COLUMNS, parts);
  }

  private void assertFault(String text, CsvOptions options, Columns columns, String... parts) {
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> read(text, options, columns))
        .satisfies(e -> assertThat(e.getMessage()).contains("in.csv").contains(parts));
  }

  private static Rows.Row expected(float label, float dense, String text, long id) {
    return row(label, List.of(dense), List.of(List.of(TextHash.of(text)), List.of(id)));
  }

  @Test
  void columnsOfAFileComeWithTheirFirstValues() throws IOException {
    Path file = folder.resolve("in.csv");
    Files.writeString(file, "y, a,\"c,d\"\n1,,red\n");
    assertThat(CsvReader.columns(file, CsvOptions.csv()))
        .containsExactly(
            new FileColumn("y", "1"), new FileColumn("a", ""), new FileColumn("c,d", "red"));
    for (String rest : List.of("", "1,2\n", "\"1,2,3")) {
      Files.writeString(file, "y,a,c\n" + rest);
      assertThat(CsvReader.columns(file, CsvOptions.csv()))
          .containsExactly(
              new FileColumn("y", ""), new FileColumn("a", ""), new FileColumn("c", ""));
    }
    assertThat(CsvReader.columns(file, CsvOptions.csv().withHeader(List.of("x", "y", "z"))))
        .containsExactly(
            new FileColumn("x", "y"), new FileColumn("y", "a"), new FileColumn("z", "c"));
  }

  @Test
  void columnsAreFoundByNameWhateverTheirOrder() {
    assertThat(read("c,unused,i,y,x\nred,?,7,1,0.5\nblue,,-8,0,-1e3\n"))
        .containsExactly(expected(1, 0.5f, "red", 7), expected(0, -1000f, "blue", -8));
  }

  @Test
  void schemaTellsOneHotTextFromIdColumns() {
    assertThat(COLUMNS.schema().slots()).containsExactly(Slot.oneHot("c"), Slot.ragged("i"));
  }

  @Test
  void namesMayBeGivenWhereFilesHaveNone() {
    CsvOptions options = CsvOptions.csv().withHeader(List.of("y", "x", "c", "i"));
    assertThat(read("1,2,a,3\n", options, COLUMNS)).containsExactly(expected(1, 2, "a", 3));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "y,x,c,i\n1,2,a,3\n0,4,b,5\n",
        "y,x,c,i\n1,2,a,3\n0,4,b,5",
        "y,x,c,i\r\n1,2,a,3\r\n0,4,b,5\r\n",
        "y,x,c,i\r\n1,2,a,3\r\n0,4,b,5",
        "y,x,c,i\r\n1,2,a,3\r\n0,4,b,5\r",
        "y,x,c,i\n1,2,a,3\n0,4,b,5\n\n",
        "y,x,c,i\n1,2,a,3\n0,4,b,5\r\n\r\n \n\n",
        "\uFEFFy,x,c,i\n1,2,a,3\n0,4,b,5\n",
        "y, x , c,i \n 1, 2, a, 3\n0,4\t,  b  ,5\n",
        "\"y\",\"x\",\"c\",\"i\"\n\"1\",\"2\",\"a\",\"3\"\n\"0\",\"4\",\"b\",\"5\"",
        "\"y\" , \"x\",\"c\",\"i\"\n \"1\" ,\"2\" , \"a\",\"3\"\r\n\"0\",\"4\",\"b\" ,\"5\" \r\n"
      })
  void endsOfLinesSpacesAndQuotesMakeNoDifference(String text) {
    assertThat(read(text)).containsExactly(expected(1, 2, "a", 3), expected(0, 4, "b", 5));
  }

  @Test
  void quotedFieldsHoldDelimitersQuotesAndLineEnds() {
    assertThat(read("y,x,c,i\n1,2,\"a, \"\"b\"\"\r\nc \",3\n0,4,\"\"\"\",5\n1,1,\"\",1\n"))
        .containsExactly(
            expected(1, 2, "a, \"b\"\r\nc ", 3), expected(0, 4, "\"", 5), expected(1, 1, "", 1));
  }

  @Test
  void quotesArePlainCharactersWhereTheyAreTurnedOff() {
    CsvOptions options = new CsvOptions('\t', List.of(), false, false);
    assertThat(read("y\tx\tc\ti\n1\t2\t5\" \"screen\t3\n", options, COLUMNS))
        .containsExactly(expected(1, 2, "5\" \"screen", 3));
  }

  @Test
  void spacesBelongToTheFieldWhereTheyAreNotTrimmed() {
    assertThat(read("y\tx\tc\ti\n1\t2\t a \t3\n", CsvOptions.tsv(), COLUMNS))
        .containsExactly(expected(1, 2, " a ", 3));
  }

  @Test
  void emptyFieldsAreMissing() {
    List<Rows.Row> rows = read("y,x,c,i\n1,,,\n0,nan,x, \n");
    assertThat(rows)
        .containsExactly(
            row(1, List.of(Float.NaN), List.of(List.of(TextHash.EMPTY), List.of())),
            row(0, List.of(Float.NaN), List.of(List.of(TextHash.of("x")), List.of())));
  }

  @Test
  void fieldsOfSeveralValuesAreCutAtTheSeparator() {
    Columns columns =
        new Columns(
            List.of("y"),
            Set.of(),
            List.of(),
            List.of(new SparseColumn("t", true, "||"), new SparseColumn("i", false, "|")));
    assertThat(read("y,t,i\n1,a||b|c||,1|-2|3\n0,,\n1,a,4\n", CsvOptions.csv(), columns))
        .containsExactly(
            row(
                1,
                List.of(),
                List.of(
                    List.of(TextHash.of("a"), TextHash.of("b|c"), TextHash.EMPTY),
                    List.of(1L, -2L, 3L))),
            row(0, List.of(), List.of(List.of(), List.of())),
            row(1, List.of(), List.of(List.of(TextHash.of("a")), List.of(4L))));
  }

  @Test
  void positiveTextsMeanOneAndAllOthersZero() {
    Columns columns =
        new Columns(List.of("y"), Set.of(">50K", ">50K.", "a\"b"), List.of(), List.of());
    assertThat(read("y\n >50K\n<=50K\n>50K.\n\"a\"\"b\"\n\"\"\n", CsvOptions.csv(), columns))
        .extracting(r -> r.labels().getFirst())
        .containsExactly(1f, 0f, 1f, 1f, 0f);
  }

  @Test
  void textsAreToldToTheDictionary() {
    TextDictionary dictionary = new TextDictionary();
    Path file = file("y,x,c,i\n1,2,\"re\"\"d\",3\n1,2,blue,3\n1,2,blue,3\n");
    try (DataReader reader =
        CsvReader.open(List.of(file), CsvOptions.csv(), COLUMNS, ReadPolicy.STRICT, dictionary)) {
      Rows.read(reader);
    }
    assertThat(dictionary.text(TextHash.of("re\"d"))).contains("re\"d");
    assertThat(dictionary.text(TextHash.of("blue"))).contains("blue");
  }

  @Test
  void filesFollowEachOtherEachWithItsOwnHeader() {
    Path first = file("a.csv", "y,x,c,i\n1,2,a,3\n".getBytes(StandardCharsets.UTF_8));
    Path second = file("b.csv", "i,c,x,y\n5,b,4,0".getBytes(StandardCharsets.UTF_8));
    Path third = file("c.csv", "i,c,x,y\n".getBytes(StandardCharsets.UTF_8));
    try (DataReader reader =
        CsvReader.open(List.of(first, third, second), CsvOptions.csv(), COLUMNS)) {
      List<Rows.Row> rows = Rows.read(reader);
      assertThat(rows).containsExactly(expected(1, 2, "a", 3), expected(0, 4, "b", 5));
      reader.start(1);
      assertThat(Rows.read(reader)).isEqualTo(rows);
    }
  }

  @Test
  void gzipIsKnownByItsFirstBytes() throws IOException {
    byte[] text = "y,x,c,i\n1,2,a,3\n".getBytes(StandardCharsets.UTF_8);
    Path file = file("in.txt", gzip(text));
    try (DataReader reader = CsvReader.open(List.of(file), CsvOptions.csv(), COLUMNS)) {
      assertThat(Rows.read(reader)).containsExactly(expected(1, 2, "a", 3));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "y,x,c,i\n1,2,a,3\n", "\0"})
  void aNameOfGzipOverOtherBytesIsAFault(String text) throws IOException {
    Path file = folder.resolve("in.csv.GZ");
    Files.writeString(file, text);
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> CsvReader.open(List.of(file), CsvOptions.csv(), COLUMNS))
        .withMessageContaining("in.csv.GZ: byte 0: got no gzip header");
  }

  @Test
  void aSkipThatMeetsAQuoteLeftOpenIsAFault() {
    String text = "y,x,c,i\n1,2,a,3\n0,4,\"b,5\n" + "1,2,a,3\n".repeat(20);
    for (int rows = 2; rows < 9; rows++) {
      int skipped = rows;
      try (DataReader reader = CsvReader.open(List.of(file(text)), CsvOptions.csv(), COLUMNS)) {
        assertThatExceptionOfType(DataException.class)
            .isThrownBy(() -> reader.skip(skipped))
            .withMessageContaining("line 3")
            .satisfies(e -> assertThat(e.rows()).isEqualTo(21));
      }
    }
  }

  @Test
  void gzipCutShortAnywhereIsAFault() throws IOException {
    StringBuilder text = new StringBuilder("y,x,c,i\n");
    for (int i = 0; i < 200; i++) {
      text.append("1,").append(i).append(",a").append(i * 7).append(",3\n");
    }
    byte[] bytes = gzip(text.toString().getBytes(StandardCharsets.UTF_8));
    for (int length = 3; length < bytes.length; length++) {
      Path file = file("in.csv", java.util.Arrays.copyOf(bytes, length));
      assertThatExceptionOfType(DataException.class)
          .as("%d bytes", length)
          .isThrownBy(() -> {
            try (DataReader reader = CsvReader.open(List.of(file), CsvOptions.csv(), COLUMNS)) {
              Rows.read(reader);
            }
          })
          .withMessageContaining("in.csv");
    }
  }

  /** Far more bytes than the reader buffers, fields of all lengths across every buffer's end. */
  @Test
  void recordsAcrossTheEndsOfBuffersAreWhole() {
    StringBuilder text = new StringBuilder("y,x,c,i\n");
    List<Rows.Row> expected = new ArrayList<>();
    for (int i = 0; i < 60_000; i++) {
      String word = "w\"" + "x".repeat(i % 37) + (i % 5 == 0 ? "\n" : ",") + i;
      text.append(i % 2).append(',').append(i).append(",\"").append(word.replace("\"", "\"\""));
      text.append("\",").append(i * 1_000_003L).append(i % 3 == 0 ? "\r\n" : "\n");
      expected.add(expected(i % 2, i, word, i * 1_000_003L));
    }
    assertThat(read(text.toString())).isEqualTo(expected);
    Path file = file(text.toString());
    for (int skip : new int[] {0, 1, 4095, 4096, 4097, 59_999, 60_000}) {
      try (DataReader reader = CsvReader.open(List.of(file), CsvOptions.csv(), COLUMNS)) {
        assertThat(reader.skip(skip)).isEqualTo(skip);
        assertThat(Rows.read(reader)).isEqualTo(expected.subList(skip, expected.size()));
        assertThat(reader.skip(1)).isZero();
        reader.start(0);
        assertThat(reader.skip(100_000)).isEqualTo(60_000);
      }
    }
  }

  /** A line alone is scanned byte by byte, for the file ends in it; among others by words. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aLineReadsAloneAsAmongOthers(boolean trim) {
    SplittableRandom random = new SplittableRandom(trim ? 1 : 2);
    CsvOptions options = new CsvOptions(',', List.of(), trim, true);
    String names = "y,d,id,text\n";
    Columns columns =
        new Columns(
            List.of("y"),
            Set.of("1"),
            List.of(),
            List.of(SparseColumn.text("d"), SparseColumn.text("id"), SparseColumn.text("text")));
    List<String> alone = new ArrayList<>();
    StringBuilder together = new StringBuilder();
    for (int i = 0; i < 2000; i++) {
      StringBuilder line = new StringBuilder("0");
      for (int field = 0; field < 3; field++) {
        line.append(',');
        for (int length = random.nextInt(random.nextInt(1, 20)); length > 0; length--) {
          line.append("ab0189é \t\r.-++!".charAt(random.nextInt(15)));
        }
      }
      line.append(random.nextInt(4) == 0 ? "\r" : "");
      alone.add(read(names + line, options, columns).toString());
      together.append(line).append('\n');
    }
    List<String> rows =
        read(names + together, options, columns).stream()
            .map(row -> List.of(row).toString())
            .toList();
    assertThat(rows).isEqualTo(alone);
  }

  @Test
  void badNumberNamesLineColumnAndByte() {
    String good = "1,2,a,3\n".repeat(15);
    assertFault("y,x,c,i\n" + good + "1,zwei,a,3\n", "line 17", "byte 130", "column x", "\"zwei\"");
  }

  @Test
  void lineNumbersCountLinesInsideQuotes() {
    assertFault("y,x,c,i\n1,2,\"a\n\nb\",3\n1,?,a,3\n", "line 5", "column x");
  }

  @Test
  void badIdNamesLineColumnAndByte() {
    assertFault("y,x,c,i\n1,2,a,3.5\n", "line 2", "byte 14", "column i", "\"3.5\"");
  }

  @ParameterizedTest
  @ValueSource(strings = {"2", "-1", "0.5", "nan", "\"\"", "yes"})
  void labelOtherThanZeroOrOneIsAFault(String label) {
    assertFault(
        "y,x,c,i\n" + label + ",2,a,3\n",
        "line 2",
        "column y",
        "\"" + label.replace("\"", "") + "\"",
        "0 or 1");
  }

  @Test
  void anyFiniteLabelIsReadWhereAllowed() {
    Path file = file("y,x,c,i\n0.25,2,a,3\n");
    ReadPolicy policy = ReadPolicy.STRICT.withAnyLabel();
    try (DataReader reader = CsvReader.open(List.of(file), CsvOptions.csv(), COLUMNS, policy)) {
      assertThat(Rows.read(reader)).containsExactly(expected(0.25f, 2, "a", 3));
    }
  }

  @Test
  void faultsOfNotationNameTheirPlace() {
    assertFault("y,x,c,i\n1,2,a\n", "line 2", "byte 8", "3 fields", "expected 4");
    assertFault("y,x,c,i\n1,2,a,3,\n", "line 2", "5 fields", "expected 4");
    assertFault("y,x,c,i\n1,2,a\"b,3\n", "line 2", "byte 13", "quote inside an unquoted field");
    assertFault("y,x,c,i\n1,2,\"a\"b,3\n", "line 2", "byte 15", "text after a closing quote");
    assertFault("y,x,c,i\n1,2,\"a,3\n4,5\n", "line 2", "byte 12", "quote left open");
    assertFault("y,x,c,i\n\n1,2,a,3\n", "line 2", "empty line");
    assertFault("y,x,c,i\n1,2,a,3\n\n\n1,2,a,3\n", "line 4", "empty line");
  }

  @Test
  void faultsOfTheHeaderNameTheColumn() {
    assertFault("", "no lines");
    assertFault("y,x,c\n", "no column i", "[y, x, c]");
    assertFault("y,x,c,i,x\n", "two columns named x");
    assertFault("y,x,\"c,i\n", "line 1", "quote left open");
  }

  @Test
  void whatCannotBeReadTwiceIsRefused() {
    Path device = Path.of("/dev/null");
    assumeThat(Files.exists(device)).isTrue();
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> CsvReader.open(List.of(device), CsvOptions.csv(), COLUMNS))
        .withMessageContaining("/dev/null: got a pipe or device");
  }

  @Test
  void absentFileIsNamed() {
    Path absent = folder.resolve("absent.csv");
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> CsvReader.open(List.of(absent), CsvOptions.csv(), COLUMNS))
        .withMessageContaining("absent.csv")
        .withMessageContaining("no such file");
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> CsvReader.open(List.of(folder), CsvOptions.csv(), COLUMNS))
        .withMessageContaining(folder.toString());
    assertThatIllegalArgumentException()
        .isThrownBy(() -> CsvReader.open(List.of(), CsvOptions.csv(), COLUMNS));
  }

  @Test
  void badRowsAreDroppedAloneWhereFaultsAreCollected() throws IOException {
    Path first =
        file(
            "a.csv",
            ("y,x,c,i\n1,1,a,1\n1,?,a,3\n1,2\n\n1,2,b,2\n3,3,c,3\n1,2,\"q\"q,3\n0,3,c,3\n1,2,\"x")
                .getBytes(StandardCharsets.UTF_8));
    Path second = file("b.csv", "y,x,c\n1,1,a\n".getBytes(StandardCharsets.UTF_8));
    Path third = file("c.csv", gzip("y,x,c,i\n1,4,d,4\n".getBytes(StandardCharsets.UTF_8)));
    List<String> faults = new ArrayList<>();
    ReadPolicy policy = ReadPolicy.STRICT.withFaults(fault -> faults.add(fault.getMessage()));
    List<Path> files = List.of(first, second, folder.resolve("absent"), third);
    List<Rows.Row> rows;
    try (DataReader reader = CsvReader.open(files, CsvOptions.csv(), COLUMNS, policy)) {
      rows = Rows.read(reader);
    }
    assertThat(rows)
        .containsExactly(
            expected(1, 1, "a", 1),
            expected(1, 2, "b", 2),
            expected(0, 3, "c", 3),
            expected(1, 4, "d", 4));
    assertThat(faults).hasSize(8);
    assertThat(faults.subList(2, 8))
        .satisfiesExactly(
            f -> assertThat(f).contains("line 3", "column x"),
            f -> assertThat(f).contains("line 4", "2 fields"),
            f -> assertThat(f).contains("line 5", "empty line"),
            f -> assertThat(f).contains("line 7", "label"),
            f -> assertThat(f).contains("line 8", "closing quote"),
            f -> assertThat(f).contains("line 10", "left open"));
    try (DataReader reader = CsvReader.open(files, CsvOptions.csv(), COLUMNS, policy)) {
      assertThat(reader.skip(2)).isEqualTo(2);
      assertThat(Rows.read(reader)).isEqualTo(rows.subList(2, 4));
    }
  }

  @Test
  void aHandlerThatThrowsStopsTheReaderAndHearsEachFaultOnce() {
    Path file = file("y,x,c,i\n1,?,a,1\n1,?,a,3\n1,?,a,3\n");
    List<String> faults = new ArrayList<>();
    ReadPolicy policy =
        ReadPolicy.STRICT.withFaults(fault -> {
          faults.add(fault.getMessage());
          if (faults.size() == 2) {
            throw new DataException("two are enough");
          }
        });
    try (DataReader reader = CsvReader.open(List.of(file), CsvOptions.csv(), COLUMNS, policy)) {
      assertThatExceptionOfType(DataException.class)
          .isThrownBy(() -> Rows.read(reader))
          .withMessage("two are enough");
    }
    assertThat(faults).hasSize(2);
  }

  @Test
  void aFileCutShortAnywhereGivesRowsOrAFault() {
    String text = "y,x,c,i\n1,2,\"a\"\"\n,b\",3\r\n0,4,\"b\",5\n1, 6 ,c,7\n";
    for (int length = 0; length < text.length(); length++) {
      String cut = text.substring(0, length);
      try {
        assertThat(read(cut).size()).isLessThanOrEqualTo(3);
      } catch (DataException e) {
        assertThat(e.getMessage()).contains("in.csv");
      }
    }
  }

  @Test
  void anyByteAnywhereGivesRowsOrAFault() {
    byte[] good =
        "y,x,c,i\n1,2,\"a\"\"\n,b\",3\r\n0,4,\"b\",5\n1, 6 ,c,7\n".getBytes(StandardCharsets.UTF_8);
    for (int at = 0; at < good.length; at++) {
      for (int value : new int[] {0, '"', ',', '\n', '\r', ' ', 'x', 0x80, 0xFF, '-'}) {
        byte[] bytes = good.clone();
        bytes[at] = (byte) value;
        Path file = file("in.csv", bytes);
        try (DataReader reader = CsvReader.open(List.of(file), CsvOptions.csv(), COLUMNS)) {
          assertThat(Rows.read(reader).size()).isLessThanOrEqualTo(4);
        } catch (DataException e) {
          assertThat(e.getMessage()).contains("in.csv");
        }
      }
    }
  }

  @Test
  void delimitersThatNumbersHoldAreRefused() {
    for (char delimiter : new char[] {'"', '\n', '\r', '\0', '1', 'e', '-', '.'}) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> new CsvOptions(delimiter, List.of(), true, true));
    }
  }

  private void put(String name, String text) throws IOException {
    Path file = folder.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }

  @Test
  void columnsInTheNamesOfFoldersAreReadForAllRows() throws IOException {
    put("rows/y=1/c=re%2Fd/i=7/a.csv", "x\n2\n3\n");
    put("rows/y=0/c=__HIVE_DEFAULT_PARTITION__/i=/a.csv", "x\n4\n");
    List<Path> rows = List.of(folder.resolve("rows"));
    try (DataReader reader = CsvReader.open(rows, CsvOptions.csv(), COLUMNS)) {
      List<Rows.Row> read = Rows.read(reader);
      assertThat(read)
          .containsExactly(
              row(0, List.of(4f), List.of(List.of(TextHash.EMPTY), List.of())),
              expected(1, 2, "re/d", 7),
              expected(1, 3, "re/d", 7));
      reader.start(0);
      assertThat(reader.skip(2)).isEqualTo(2);
      assertThat(Rows.read(reader)).isEqualTo(read.subList(2, 3));
    }
    Columns plain = new Columns(List.of(), Set.of(), List.of("x", "i"), List.of());
    CsvOptions names = CsvOptions.csv().withHeader(List.of("x"));
    put("bare/i=5/a.csv", "2\n");
    try (DataReader reader = CsvReader.open(List.of(folder.resolve("bare")), names, plain)) {
      assertThat(Rows.read(reader).getFirst().dense()).containsExactly(2f, 5f);
    }
    assertThat(CsvReader.columns(folder.resolve("bare/i=5/a.csv"), names))
        .containsExactly(new FileColumn("x", "2"), new FileColumn("i", "5"));
  }

  @Test
  void theFilesOwnColumnWinsOverThatOfItsFolders() throws IOException {
    put("rows/i=7/a.csv", "y,x,c,i\n1,2,a,3\n");
    try (DataReader reader =
        CsvReader.open(List.of(folder.resolve("rows")), CsvOptions.csv(), COLUMNS)) {
      assertThat(Rows.read(reader)).containsExactly(expected(1, 2, "a", 3));
    }
  }

  @Test
  void aFolderWhoseValueDoesNotFitIsAFaultOfItsFile() throws IOException {
    put("rows/i=seven/a.csv", "y,x,c\n1,2,a\n");
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(
            () -> CsvReader.open(List.of(folder.resolve("rows")), CsvOptions.csv(), COLUMNS))
        .withMessageContaining("a.csv: folder of column i: got \"seven\"");
    put("other/j=7/a.csv", "y,x,c\n1,2,a\n");
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(
            () -> CsvReader.open(List.of(folder.resolve("other")), CsvOptions.csv(), COLUMNS))
        .withMessageContaining("got no column i");
  }

  @Test
  void aClosedReaderIsRefused() {
    DataReader reader = CsvReader.open(List.of(file("y,x,c,i\n")), CsvOptions.csv(), COLUMNS);
    reader.close();
    reader.close();
    assertThatIllegalStateException().isThrownBy(reader::next);
  }
}
