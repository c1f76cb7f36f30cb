package dev.tern.files.text;

import static dev.tern.files.Rows.row;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.tern.base.DataException;
import dev.tern.data.DataReader;
import dev.tern.data.encode.TextHash;
import dev.tern.files.Columns;
import dev.tern.files.ReadPolicy;
import dev.tern.files.Rows;
import dev.tern.files.SparseColumn;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Bytes at the ends of text that are no part of it: marks of byte order, the end mark of DOS. */
final class TextMarksTest {
  private static final Columns COLUMNS =
      new Columns(List.of("y"), Set.of(), List.of("x"), List.of(SparseColumn.text("c")));
  private static final CsvOptions CSV = CsvOptions.csv();
  private static final CsvOptions LISTED = CSV.withHeader(List.of("c", "x", "y"));

  @TempDir Path folder;

  private List<Rows.Row> csv(byte[] bytes, CsvOptions options) {
    try (DataReader reader =
        CsvReader.open(List.of(file("in.csv", bytes)), options, COLUMNS, ReadPolicy.STRICT)) {
      return Rows.read(reader);
    }
  }

  private List<Rows.Row> csv(String text, CsvOptions options) {
    return csv(text.getBytes(StandardCharsets.UTF_8), options);
  }

  private List<Rows.Row> libsvm(String text) {
    Columns columns =
        new Columns(List.of("y"), Set.of(), List.of(), List.of(SparseColumn.id("ids")));
    Path file = file("in.svm", text.getBytes(StandardCharsets.UTF_8));
    try (DataReader reader =
        LibsvmReader.open(List.of(file), LibsvmOptions.libsvm(), columns, ReadPolicy.STRICT)) {
      return Rows.read(reader);
    }
  }

  private Path file(String name, byte[] bytes) {
    try {
      return Files.write(folder.resolve(name), bytes);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static Rows.Row expected(float label, float dense, String text) {
    return row(label, List.of(dense), List.of(List.of(TextHash.of(text))));
  }

  @Test
  void byteOrderMarksAtTheBeginningAreNoPartOfAField() {
    assertThat(csv("\ufeff\ufeff\"a\",1,0\nb,2,1\n\ufeff", LISTED))
        .containsExactly(expected(0, 1, "a"), expected(1, 2, "b"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"a,1,0\n\ufeffb,2,1\n", "a,1,0\n\ufeff\ufeff\"b\",2,1"})
  void aMarkBetweenFilesThatWereJoinedIsAFaultThatSaysSo(String text) {
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> csv(text, LISTED))
        .withMessageContaining("line 2")
        .withMessageContaining("got \\ufeff, a byte order mark between joined files");
  }

  @Test
  void aMarkWithinALineIsACharacter() {
    assertThat(csv("a\ufeff,1,0\nb,2,1\n", LISTED).getFirst()).isEqualTo(expected(0, 1, "a\ufeff"));
  }

  @Test
  void marksInLinesOfLibsvmArePassedOver() {
    assertThat(libsvm("\ufeff1 3:1\n\ufeff0 5:1\n\ufeff#c\n"))
        .isEqualTo(libsvm("1 3:1\n0 5:1\n"))
        .hasSize(2);
  }

  @ParameterizedTest
  @ValueSource(strings = {"\u001a", "\u001a\n", "\u001a\r\n"})
  void theEndMarkOfDosIsNoRow(String mark) {
    List<Rows.Row> rows = List.of(expected(1, 2, "a"), expected(0, 3, "b"));
    assertThat(csv("y,x,c\n1,2,a\n0,3,b\n" + mark, CSV)).isEqualTo(rows);
    assertThat(csv("y,x,c\r\n1,2,a\r\n0,3,b\r\n" + mark, CSV)).isEqualTo(rows);
    assertThat(libsvm("1 3:1\n0 5:1\n" + mark)).hasSize(2);
  }

  @Test
  void anEndMarkThatIsNotAloneOrNotTheLastIsText() {
    assertThat(csv("\u001a,1,0\n\u001a,2,1\n", LISTED))
        .containsExactly(expected(0, 1, "\u001a"), expected(1, 2, "\u001a"));
    assertThat(csv("y,x,c\n1,2,a\u001a", CSV)).containsExactly(expected(1, 2, "a\u001a"));
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> csv("y,x,c\n1,2,a\n\u001a\n0,3,b\n", CSV))
        .withMessageContaining("line 3");
  }

  /** The marks stand at each place of the buffer, whose size is a power of two. */
  @Test
  void marksAreFoundAcrossTheEndsOfBuffers() {
    for (int extra = -5; extra <= 5; extra++) {
      String first = "a".repeat((1 << 18) - 5 + extra) + ",1,0\n";
      List<Rows.Row> rows = List.of(expected(0, 1, "a".repeat(first.length() - 5)));
      assertThat(csv(first + "\u001a", LISTED)).isEqualTo(rows);
      String joined = first + "\ufeffb,2,1\n\ufeff";
      assertThatExceptionOfType(DataException.class)
          .isThrownBy(() -> csv(joined, LISTED))
          .withMessageContaining("byte order mark between joined files");
      assertThat(libsvm("1 3:1 #" + first + "\ufeff0 5:1\n\u001a")).hasSize(2);
    }
  }

  @Test
  void aCharacterThatTheEndOfTheFileCutsShortIsAFault() {
    byte[] whole = "y,x,c\n1,2,a\n0,3,\ud834\udd1e".getBytes(StandardCharsets.UTF_8);
    assertThat(csv(whole, CSV)).hasSize(2);
    for (int cut = 1; cut <= 3; cut++) {
      byte[] bytes = Arrays.copyOf(whole, whole.length - cut);
      assertThatExceptionOfType(DataException.class)
          .isThrownBy(() -> csv(bytes, CSV))
          .withMessageContaining("line 3, byte " + (bytes.length - 1))
          .withMessageContaining("cuts short")
          .withMessageContaining("data.encoding");
    }
    Charset latin = StandardCharsets.ISO_8859_1;
    byte[] bytes = "y,x,c\n1,2,caf\u00e9".getBytes(latin);
    assertThat(csv(bytes, CSV.withText(TextOptions.DEFAULT.withEncoding(latin))))
        .containsExactly(expected(1, 2, "caf\u00e9"));
    assertThat(csv("y,x,c\n1,2,caf\u00e9", CSV)).containsExactly(expected(1, 2, "caf\u00e9"));
  }
}
