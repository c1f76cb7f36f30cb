package dev.tern.cli.translate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.cli.config.ConfigException;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class TextFormatTest {
  private static Section read(String text) {
    return TextFormat.read(text, "pipeline.config");
  }

  private static List<String> texts(Section section, String name) {
    return section.texts(name).stream().map(Setting.Text::text).toList();
  }

  @Test
  void fieldsHaveTheirValuesAndLines() {
    Section root =
        read(
            """
            # A comment: "not a string" { }
            path: "a\\tb" 'c'  # behind a value
            deep { width: 16; on: true, rate: 1e-3 }
            deep: < width: 8 >
            list: [1, 2, 3]
            list: 4
            kinds: [ { name: 'x' }, { name: 'y' } ]
            """);
    assertThat(texts(root, "path")).containsExactly("a\tbc");
    assertThat(texts(root, "list")).containsExactly("1", "2", "3", "4");
    List<Section> deep = root.sections("deep");
    assertThat(deep).hasSize(2);
    assertThat(deep.getFirst().text("width").orElseThrow().place())
        .hasToString("pipeline.config line 3");
    assertThat(deep.getFirst().text("rate").orElseThrow().real()).isEqualTo(1e-3);
    assertThat(deep.getLast().text("width").orElseThrow().whole(1, 9)).isEqualTo(8);
    assertThat(root.sections("kinds")).hasSize(2);
  }

  @Test
  void escapesStandForCharacters() {
    assertThat(texts(read("s: '\\001\\x41\\u00e9\\U0001F600\\\\\\'\\?'"), "s"))
        .containsExactly("\u0001A\u00e9\ud83d\ude00\\'?");
  }

  @Test
  void escapesOfBytesAreUtf8() {
    assertThat(texts(read("s: '\\303\\251\\xe4\\xBD\\xa0x\\1'"), "s"))
        .containsExactly("\u00e9\u4f60x\u0001");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      quoteCharacter = '`',
      textBlock =
          """
          a {                 ~ line 1: got the end of the file, expected the name of a field or }
          a }                 ~ got }, expected : or { behind a
          a: }                ~ got }, expected a value of a
          a: [1, 2            ~ got the end of the file, expected , or ] in the list a
          a: [1 2]            ~ got 2, expected , or ] in the list a
          a: "x               ~ got a string without its end, expected " in its line
          a: 'x\\q'            ~ got the escape \\q, expected one of text format
          a: '\\xg'            ~ got an escape without digits
          a: '\\377'          ~ got escapes of bytes that are no UTF-8
          a: '\\303x\\251'     ~ got escapes of bytes that are no UTF-8
          a: '\\U00110000'     ~ got the escape of no character
          a 1                 ~ got 1, expected : or { behind a
          : 1                 ~ got :, expected the name of a field
          1: 2                ~ got 1, expected the name of a field
          [a.b]: 1            ~ got [, expected the name of a field
          a: 1 } b: 2         ~ got }, expected the name of a field
          a { b: 1 >          ~ got >, expected the name of a field or }
          a: 1 / 2            ~ got the character /
          a                   ~ got the end of the file, expected : or { behind a
          """)
  void whatIsDamagedIsRefusedWithItsLine(String text, String message) {
    assertThatThrownBy(() -> read(text))
        .isInstanceOf(ConfigException.class)
        .hasMessageStartingWith("pipeline.config line 1: ")
        .hasMessageContaining(message);
  }

  @Test
  void depthAndFieldsHaveLimits() {
    assertThatThrownBy(() -> read("a {".repeat(100_000)))
        .hasMessageContaining("got messages more than 64 deep");
    String flat = "a: 1\n".repeat(TextFormat.MOST_FIELDS + 1);
    assertThatThrownBy(() -> read(flat)).hasMessageContaining("got more than 500,000 fields");
  }

  @Test
  void anyBytesAreReadOrRefused() {
    String good = "a { b: 'x\\n' c: [1, 2] } d: -1.5 # end\n";
    Random random = new Random(7);
    for (int i = 0; i < 3000; i++) {
      StringBuilder text = new StringBuilder(good.substring(0, random.nextInt(good.length() + 1)));
      for (int k = 0; k < 3 && !text.isEmpty(); k++) {
        char c = (char) random.nextInt(random.nextBoolean() ? 128 : 65_536);
        text.setCharAt(random.nextInt(text.length()), c);
      }
      try {
        read(text.toString()).reportRest(new TranslationNotes());
      } catch (ConfigException e) {
        assertThat(e).hasMessageStartingWith("pipeline.config line ");
      }
    }
  }
}
