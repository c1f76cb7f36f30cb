package dev.tern.base;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ShownTest {
  @ParameterizedTest
  @CsvSource({
    "0, \\u0000",
    "7, \\u0007",
    "9, \\t",
    "a, \\n",
    "d, \\r",
    "1b, \\u001b",
    "7f, \\u007f",
    "85, \\u0085",
    "9b, \\u009b",
    "a0, \\u00a0",
    "ad, \\u00ad",
    "34f, \\u034f",
    "61c, \\u061c",
    "1680, \\u1680",
    "200b, \\u200b",
    "200f, \\u200f",
    "2028, \\u2028",
    "2029, \\u2029",
    "202e, \\u202e",
    "2066, \\u2066",
    "2800, \\u2800",
    "3000, \\u3000",
    "3164, \\u3164",
    "d800, \\ud800",
    "dc00, \\udc00",
    "e000, \\ue000",
    "feff, \\ufeff",
    "fff9, \\ufff9",
    "ffff, \\uffff",
    "e0001, \\udb40\\udc01",
    "f0000, \\udb80\\udc00",
  })
  void charactersThatNobodySeesStandByTheirCodes(String code, String expected) {
    int character = Integer.parseInt(code, 16);
    String text = character < 0x10000 ? "" + (char) character : Character.toString(character);
    assertThat(Shown.line("a" + text + "b")).isEqualTo("a" + expected + "b");
    assertThat(new DataException("x.csv: got " + text)).hasMessage("x.csv: got " + expected);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "plain", "é", "日本語", "\ud83d\ude00", "e\u0301", "–", "a b", "\\"})
  void textThatPeopleReadStaysAsItIs(String text) {
    assertThat(Shown.line(text)).isEqualTo(text);
    assertThat(Shown.message(text)).isEqualTo(text);
    assertThat(Shown.excerpt(text)).isEqualTo(text);
  }

  @Test
  void numbersThatLookLikeOthersStandByTheirCodes() {
    assertThat(Shown.number("\u00fcber\t")).isEqualTo("\u00fcber\\t");
    assertThat(Shown.number("\u22125 \uff11\t\ud83d\ude00"))
        .isEqualTo("\\u22125 \\uff11\\t\\ud83d\\ude00");
  }

  @Test
  void longMessagesKeepTheirBeginningAndTheirEnd() {
    String message = "x.csv: line 2: got " + "x".repeat(200_000) + ", expected a number; mend it";
    assertThat(Shown.message(message))
        .startsWith("x.csv: line 2: got xxx")
        .endsWith("xxx, expected a number; mend it")
        .contains(" ... (198,247 characters left out) ... ");
    assertThat(new DataException(message).getMessage().length()).isLessThanOrEqualTo(1900);
  }

  @Test
  void anyMessageIsShortCleanWholeAndStays() {
    SplittableRandom random = new SplittableRandom(5);
    for (int i = 0; i < 3_000; i++) {
      StringBuilder text = new StringBuilder();
      int alphabet = new int[] {0x80, 0x800, 0x10000, 0x110000}[random.nextInt(4)];
      for (int length = random.nextInt(2_500); length > 0; length--) {
        int character = random.nextInt(alphabet);
        text.append(random.nextBoolean() ? (char) character : "\ud83d\ude00");
      }
      String shown = Shown.message(text.toString());
      byte[] bytes = shown.getBytes(StandardCharsets.UTF_8);
      assertThat(bytes).hasSizeLessThanOrEqualTo(Shown.MOST_BYTES);
      assertThat(new String(bytes, StandardCharsets.UTF_8)).isEqualTo(shown);
      assertThat(Shown.message(shown)).isEqualTo(shown);
      assertThat(shown)
          .doesNotContainPattern("[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Co}\\p{Cn}\\p{Zl}\\p{Zp}]");
    }
  }

  @Test
  void listsNameTheFirstAndCountTheOthers() {
    assertThat(Shown.list(List.of())).isEqualTo("[]");
    assertThat(Shown.list(List.of("a", "b\u00a0"))).isEqualTo("[a, b\\u00a0]");
    List<String> many = IntStream.range(0, 50_000).mapToObj(i -> "c" + i).toList();
    assertThat(Shown.list(many)).startsWith("[c0, c1, ").endsWith("c19, and 49,980 more]");
    assertThat(Shown.list(List.of("x".repeat(1_000)))).isEqualTo("[" + "x".repeat(40) + "...]");
  }

  @Test
  void excerptsEndBetweenCharacters() {
    String faces = "\ud83d\ude00".repeat(41);
    assertThat(Shown.quoted(faces)).isEqualTo('"' + "\ud83d\ude00".repeat(40) + "...\"");
    assertThat(Shown.quoted("a")).isEqualTo("\"a\"");
  }
}
