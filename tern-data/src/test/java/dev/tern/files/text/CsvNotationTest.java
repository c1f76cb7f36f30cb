package dev.tern.files.text;

import static dev.tern.files.Rows.row;
import static dev.tern.files.text.CsvOptions.Escapes.ANYWHERE;
import static dev.tern.files.text.CsvOptions.Escapes.QUOTED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.tern.base.DataException;
import dev.tern.data.DataReader;
import dev.tern.data.encode.TextHash;
import dev.tern.files.Columns;
import dev.tern.files.FileColumn;
import dev.tern.files.Rows;
import dev.tern.files.SparseColumn;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.Charset;
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
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Other ways to write CSV down: delimiters, escapes, comments, encodings, missing values. */
final class CsvNotationTest {
  private static final Columns COLUMNS =
      new Columns(
          List.of("y"),
          Set.of(),
          List.of("x"),
          List.of(SparseColumn.text("c"), SparseColumn.id("i")));
  private static final CsvOptions CSV = CsvOptions.csv();
  private static final String ROW = "1,2,a,3\n";

  @TempDir Path folder;

  private Path file(byte[] bytes) {
    try {
      return Files.write(folder.resolve("in.csv"), bytes);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private List<Rows.Row> read(byte[] bytes, CsvOptions options, Columns columns) {
    try (DataReader reader = CsvReader.open(List.of(file(bytes)), options, columns)) {
      return Rows.read(reader);
    }
  }

  private List<Rows.Row> read(String text, CsvOptions options) {
    return read(text.getBytes(StandardCharsets.UTF_8), options, COLUMNS);
  }

  private void assertFault(String text, CsvOptions options, Columns columns, String... parts) {
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> read(text.getBytes(StandardCharsets.UTF_8), options, columns))
        .satisfies(e -> assertThat(e.getMessage()).contains("in.csv").contains(parts));
  }

  private static Rows.Row expected(float label, float dense, String text, long id) {
    return row(label, List.of(dense), List.of(List.of(TextHash.of(text)), List.of(id)));
  }

  private static CsvOptions lines(TextOptions text) {
    return CSV.withText(text);
  }

  @ParameterizedTest
  @ValueSource(strings = {"||", "::", "\u0001", " ", "~|~", "\t|\t", "\u00fe", "#@#"})
  void fieldsAreCutAtAnyDelimiter(String delimiter) {
    String text = "y,x,c,i\n1,2,a|b:c,3\r\n0,,\"q,\"\"\n\",5".replace(",", delimiter);
    assertThat(read(text, CSV.withDelimiter(delimiter)))
        .containsExactly(
            expected(1, 2, "a|b:c", 3), expected(0, Float.NaN, "q" + delimiter + "\"\n", 5));
  }

  @Test
  void whatANumberHoldsIsNoDelimiter() {
    for (String text : List.of("", "a", "||1", "-", "\n", "\"", ".", "|".repeat(17))) {
      assertThatIllegalArgumentException().isThrownBy(() -> CSV.withDelimiter(text));
    }
    assertThatIllegalArgumentException()
        .isThrownBy(() -> CSV.withDelimiter("\\").withEscapes(ANYWHERE));
  }

  @Test
  void aBackslashEscapesWhatWouldEndAField() {
    assertThat(
            read(
                "y,x,c,i\n1,2,a\\,b,3\n0,4,\"a\\\"b\",5\n1,6,a\\\nb,7\n1,6,a\\\r\nb\\\\,7\n",
                CSV.withEscapes(ANYWHERE)))
        .containsExactly(
            expected(1, 2, "a,b", 3),
            expected(0, 4, "a\"b", 5),
            expected(1, 6, "a\nb", 7),
            expected(1, 6, "a\r\nb\\", 7));
  }

  @Test
  void aBackslashBeforeAnyOtherCharacterIsItself() {
    assertThat(read("y,x,c,i\n1,2,\\N\\t,3\n1,2,\"\\N\"\"\",3\n", CSV.withEscapes(ANYWHERE)))
        .containsExactly(expected(1, 2, "\\N\\t", 3), expected(1, 2, "\\N\"", 3));
    assertThat(read("y,x,i,c\n1,2,3,b\\", CSV.withEscapes(ANYWHERE)))
        .containsExactly(expected(1, 2, "b\\", 3));
  }

  /** Texts and what Spark's writer makes of them, each with the rest of its line. */
  @ParameterizedTest
  @CsvSource(
      delimiter = ' ',
      quoteCharacter = '\'',
      value = {
        "end\\ end\\",
        "\\\\ \\\\",
        "\\N \\N",
        "a\\nb a\\nb",
        "e,nd\\ \"e,nd\\\\\"",
        "\\,x \"\\\\,x\"",
        "a\"b \"a\\\"b\"",
        "a\\\"b \"a\\\\\\\"b\"",
        "\\\\\" \"\\\\\\\\\\\"\"",
        "'x\\\ny' '\"x\\\\\ny\"'",
        "a\\,b \"a\\,b\"",
        "'a\\\nb' '\"a\\\nb\"'"
      })
  void aBackslashThatEscapesInQuotesAloneIsReadAsSparkWritesIt(String text, String written) {
    CsvOptions options = CSV.withEscapes(QUOTED);
    assertThat(read("y,x,c,i\n1,2," + written + ",3\n0,2,,4\n", options))
        .containsExactly(expected(1, 2, text, 3), expected(0, 2, "", 4));
    assertThat(read("y,x,i,c\n1,2,3," + written, options)).containsExactly(expected(1, 2, text, 3));
  }

  @Test
  void aBackslashIsACharacterWhereNothingEscapes() {
    assertThat(read("y,x,c,i\n1,2,a\\,3\n", CSV)).containsExactly(expected(1, 2, "a\\", 3));
  }

  @Test
  void namesOfColumnsAreUnescapedToo() {
    file("y,\"a\\\"b\",c\\,d\n".getBytes(StandardCharsets.UTF_8));
    assertThat(CsvReader.columns(folder.resolve("in.csv"), CSV.withEscapes(ANYWHERE)))
        .extracting(FileColumn::name)
        .containsExactly("y", "a\"b", "c,d");
  }

  @Test
  void linesAtTheBeginningAreSkippedWhateverTheyHold() {
    CsvOptions two = lines(TextOptions.DEFAULT.withSkippedLines(2));
    assertThat(read("\uFEFFsep=;\n\"open\ny,x,c,i\n" + ROW, two))
        .containsExactly(expected(1, 2, "a", 3));
    assertThat(read("|1x3\n\n" + ROW, two.withHeader(List.of("y", "x", "c", "i"))))
        .containsExactly(expected(1, 2, "a", 3));
    assertFault("a\nb\ny,x,c,i\n1,z,a,3\n", two, COLUMNS, "line 4", "byte 14");
    assertFault("a\n", two, COLUMNS, "got 1 lines", "2 of data.skip_lines");
    assertFault("", two, COLUMNS, "got 0 lines", "2 of data.skip_lines");
    assertFault("a\nb", two, COLUMNS, "no lines");
  }

  @Test
  void linesThatAreSkippedMayBeLongerThanTheBuffer() {
    CsvOptions one = lines(TextOptions.DEFAULT.withSkippedLines(1));
    assertThat(read("x".repeat(600_000) + "\ny,x,c,i\n" + ROW, one))
        .containsExactly(expected(1, 2, "a", 3));
  }

  @Test
  void commentsAreNoRecordsWhereverTheyStand() {
    CsvOptions comments = lines(TextOptions.DEFAULT.withComment("#"));
    String text = "# it\"s\n#\ny,x,c,i\n#,\"\n" + ROW + "# between\n0,4,#b,5\n\n#end\n#";
    List<Rows.Row> rows = List.of(expected(1, 2, "a", 3), expected(0, 4, "#b", 5));
    assertThat(read(text, comments)).isEqualTo(rows);
    try (DataReader reader =
        CsvReader.open(List.of(file(text.getBytes(StandardCharsets.UTF_8))), comments, COLUMNS)) {
      assertThat(reader.skip(1)).isEqualTo(1);
      assertThat(Rows.read(reader)).isEqualTo(rows.subList(1, 2));
    }
    assertFault("#\n#\ny,x,c,i\n#\n1,z,a,3\n", comments, COLUMNS, "line 5", "byte 16");
    assertFault("y,x,c,i\n" + ROW + "\n#\n" + ROW, comments, COLUMNS, "line 3", "empty line");
    assertThat(read("//a\ny,x,c,i\n" + ROW, lines(TextOptions.DEFAULT.withComment("//"))))
        .containsExactly(expected(1, 2, "a", 3));
  }

  @Test
  void aCommentMayBeLongerThanTheBuffer() {
    String text = "y,x,c,i\n#" + "x".repeat(600_000) + "\n" + ROW + "#" + "y".repeat(600_000);
    assertThat(read(text, lines(TextOptions.DEFAULT.withComment("#"))))
        .containsExactly(expected(1, 2, "a", 3));
  }

  @ParameterizedTest
  @ValueSource(strings = {"ISO-8859-1", "windows-1252", "UTF-16", "UTF-16LE", "UTF-16BE"})
  void textOfAnEncodingIsTheTextInUtf8(String name) throws IOException {
    Charset charset = Charset.forName(name);
    CsvOptions options = lines(TextOptions.DEFAULT.withEncoding(charset).withSkippedLines(1));
    byte[] bytes = "vorweg\ny,x,c,i\n1,2,caf\u00e9,3\n".getBytes(charset);
    List<Rows.Row> rows = List.of(expected(1, 2, "caf\u00e9", 3));
    assertThat(read(bytes, options, COLUMNS)).isEqualTo(rows);
    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(packed)) {
      gzip.write(bytes);
    }
    assertThat(read(packed.toByteArray(), options, COLUMNS)).isEqualTo(rows);
  }

  @Test
  void utf16WithoutAMarkTellsItsOrderByItsFirstCharacter() {
    CsvOptions options = lines(TextOptions.DEFAULT.withEncoding(StandardCharsets.UTF_16));
    for (Charset order : List.of(StandardCharsets.UTF_16LE, StandardCharsets.UTF_16BE)) {
      for (String mark : List.of("", "\uFEFF")) {
        assertThat(read((mark + "y,x,c,i\n" + ROW).getBytes(order), options, COLUMNS))
            .containsExactly(expected(1, 2, "a", 3));
      }
    }
  }

  @Test
  void bytesThatAreNoCharacterOfTheEncodingAreAFault() {
    CsvOptions options = lines(TextOptions.DEFAULT.withEncoding(Charset.forName("windows-1252")));
    byte[] bytes = "y,x,c,i\n1,2,?,3\n".getBytes(StandardCharsets.UTF_8);
    bytes[12] = (byte) 0x81;
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> read(bytes, options, COLUMNS))
        .withMessageContaining("in.csv")
        .withMessageContaining("windows-1252")
        .withMessageContaining("data.encoding");
    CsvOptions utf16 = lines(TextOptions.DEFAULT.withEncoding(StandardCharsets.UTF_16LE));
    byte[] odd = "y,x,c,i\n1".getBytes(StandardCharsets.UTF_16LE);
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> read(java.util.Arrays.copyOf(odd, odd.length - 1), utf16, COLUMNS))
        .withMessageContaining("UTF-16LE");
  }

  @Test
  void everyLengthOfRecodedTextReadsThrough() {
    CsvOptions options = lines(TextOptions.DEFAULT.withEncoding(StandardCharsets.UTF_16));
    for (int length : new int[] {8_180, 8_191, 8_192, 8_193, 24_575, 24_576, 262_143, 262_144}) {
      String word = "\ud83d\ude00\u00e9x".repeat(length / 4) + "z".repeat(length % 4);
      String text = "y,x,c,i\n1,2," + word + ",3\n";
      assertThat(read(text.getBytes(StandardCharsets.UTF_16), options, COLUMNS))
          .containsExactly(expected(1, 2, word, 3));
    }
  }

  @Test
  void markersOfMissingValuesAreEmptyFields() {
    Columns columns =
        new Columns(
                List.of("y"),
                Set.of(),
                List.of("x"),
                List.of(
                    SparseColumn.text("c"),
                    SparseColumn.id("i"),
                    new SparseColumn("l", true, "|"),
                    new SparseColumn("n", false, "|")))
            .withMissing(Set.of("NA", "\\N", "?"));
    String marked = "y,x,c,i,l,n\n1,NA,\"NA\",?,NA|a|?,\\N\n0,?,\\N,\\N,NA,1|?\n0, ? ,na, ?,a,2\n";
    String plain = "y,x,c,i,l,n\n1,,,,a,\n0,,,,,1\n0,,na,,a,2\n";
    for (CsvOptions options : List.of(CSV, CSV.withEscapes(ANYWHERE))) {
      assertThat(read(marked.getBytes(StandardCharsets.UTF_8), options, columns))
          .isEqualTo(read(plain.getBytes(StandardCharsets.UTF_8), CSV, columns));
    }
    assertFault("y,x,c,i,l,n\nNA,1,a,1,a,1\n", CSV, columns, "label is missing", "\"NA\"");
    Columns positive =
        new Columns(List.of("y"), Set.of("yes"), List.of("x"), List.of(), Set.of("?"));
    assertFault("y,x\n?,1\n", CSV, positive, "label is missing");
  }

  /** Random fields, written by the rules, in lines across every end of the buffer. */
  @ParameterizedTest
  @ValueSource(strings = {",", "||", "\u0001", "::", " "})
  void whatIsWrittenByTheRulesIsRead(String delimiter) {
    SplittableRandom random = new SplittableRandom(delimiter.hashCode());
    Columns columns =
        new Columns(
            List.of(),
            Set.of(),
            List.of(),
            List.of(SparseColumn.text("a"), SparseColumn.text("b")));
    CsvOptions options =
        new CsvOptions(
            delimiter,
            List.of("a", "b"),
            false,
            true,
            ANYWHERE,
            TextOptions.DEFAULT.withComment("#!").withSkippedLines(3));
    StringBuilder text = new StringBuilder("\"\n#\n,,,\n");
    List<Rows.Row> expected = new ArrayList<>();
    while (text.length() < 3 << 18) {
      if (random.nextInt(50) == 0) {
        text.append("#!\"").append("c".repeat(random.nextInt(40))).append('\n');
      }
      String first = field(random);
      String second = field(random);
      text.append(escaped(first, delimiter, random)).append(delimiter);
      text.append(escaped(second, delimiter, random)).append(random.nextBoolean() ? "\r\n" : "\n");
      expected.add(
          new Rows.Row(
              List.of(),
              List.of(),
              List.of(List.of(TextHash.of(first)), List.of(TextHash.of(second)))));
    }
    assertThat(read(text.toString().getBytes(StandardCharsets.UTF_8), options, columns))
        .isEqualTo(expected);
  }

  private static String field(SplittableRandom random) {
    StringBuilder text = new StringBuilder();
    for (int length = random.nextInt(random.nextInt(1, 30)); length > 0; length--) {
      text.append("ab|:\\\", \n\u0001#!".charAt(random.nextInt(12)));
    }
    return text.toString();
  }

  /** {@code field} in quotes, or with backslashes. */
  private static String escaped(String field, String delimiter, SplittableRandom random) {
    String slashes = field.replace("\\", "\\\\").replace("\"", "\\\"");
    boolean bare = field.matches("(?s)[^#].*[^|:]|[ab]");
    return random.nextBoolean() || !bare
        ? '"'
            + (random.nextBoolean() ? slashes : field.replace("\\", "\\\\").replace("\"", "\"\""))
            + '"'
        : slashes.replace("\n", "\\\n").replace(delimiter, "\\" + delimiter);
  }

  @Test
  void anyByteAnywhereGivesRowsOrAFault() {
    byte[] good =
        "x\n#c\ny||x||c||i\n1||2||a\\||b||3\n0||4||\"\\\"b\"||\\N\n"
            .getBytes(StandardCharsets.UTF_8);
    for (CsvOptions.Escapes escapes : CsvOptions.Escapes.values()) {
      anyByteAnywhereGivesRowsOrAFault(
          good,
          CSV.withDelimiter("||")
              .withEscapes(escapes)
              .withText(new TextOptions(1, "#", StandardCharsets.ISO_8859_1)));
    }
  }

  private void anyByteAnywhereGivesRowsOrAFault(byte[] good, CsvOptions options) {
    for (int at = 0; at < good.length; at++) {
      for (int value : new int[] {0, '"', '|', '\n', '\r', ' ', 'x', 0x80, 0xFF, '\\', '#'}) {
        byte[] bytes = good.clone();
        bytes[at] = (byte) value;
        readsOrFaults(bytes, options);
      }
      readsOrFaults(java.util.Arrays.copyOf(good, at), options);
    }
  }

  private void readsOrFaults(byte[] bytes, CsvOptions options) {
    try {
      assertThat(read(bytes, options, COLUMNS.withMissing(Set.of("\\N"))).size()).isLessThan(5);
    } catch (DataException e) {
      assertThat(e.getMessage()).contains("in.csv");
    }
  }
}
