package dev.tern.internal.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class JsonTest {
  private static Json parse(String text) {
    return Json.parse(text, "test.json");
  }

  @Test
  void valuesOfAllKindsAreRead() {
    Json.Obj object =
        Json.parseObject(
            """
             {"t": "a\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00é", "i": -12, "r": 1.5e-3,
              "yes": true, "no": false, "none": null, "list": [1, [], {}], "o": {"k": 0}}
            """,
            "test.json");
    assertThat(object.text("t")).isEqualTo("a\"\\/\b\f\n\r\té😀é");
    assertThat(object.integer("i")).isEqualTo(-12);
    assertThat(object.number("r")).isEqualTo(0.0015);
    assertThat(object.number("i")).isEqualTo(-12.0);
    assertThat(object.flag("yes")).isTrue();
    assertThat(object.flag("no")).isFalse();
    assertThat(object.get("none")).isEqualTo(Json.Null.NULL);
    assertThat(object.array("list"))
        .containsExactly(new Json.Int(1), new Json.Arr(List.of()), Json.object());
    assertThat(object.object("o").integer("k")).isZero();
    assertThat(object.has("o")).isTrue();
    assertThat(object.has("p")).isFalse();
  }

  @Test
  void fieldsKeepTheirOrder() {
    String text = "{\"z\":1,\"a\":2,\"m\":[true,null,\"x\"]}";
    assertThat(parse(text)).hasToString(text);
  }

  @Test
  void numbersReadBackExactly() {
    long seed = 5;
    SplittableRandom random = new SplittableRandom(seed);
    List<Double> numbers = new ArrayList<>(List.of(0.0, -0.0, Double.MIN_VALUE, Double.MAX_VALUE));
    numbers.add((double) 0.1f);
    numbers.add((double) Float.MIN_VALUE);
    while (numbers.size() < 10_000) {
      double number = Double.longBitsToDouble(random.nextLong());
      if (Double.isFinite(number)) {
        numbers.add(number);
      }
    }
    for (double number : numbers) {
      Json read = parse(new Json.Real(number).toString());
      assertThat(read).as("seed %d", seed).isEqualTo(new Json.Real(number));
    }
    for (long number : new long[] {0, -1, Long.MIN_VALUE, Long.MAX_VALUE}) {
      assertThat(parse(new Json.Int(number).toString())).isEqualTo(new Json.Int(number));
    }
  }

  @Test
  void anyTextReadsBack() {
    long seed = 6;
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < 2000; i++) {
      StringBuilder text = new StringBuilder();
      for (int length = random.nextInt(20); length > 0; length--) {
        text.append(
            (char) (random.nextBoolean() ? random.nextInt(128) : random.nextInt(0xD000, 0x10000)));
      }
      Json.Str value = new Json.Str(text.toString());
      byte[] utf8 = value.toString().getBytes(StandardCharsets.UTF_8);
      assertThat(Json.parse(utf8, "bytes")).as("seed %d text %d", seed, i).isEqualTo(value);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "``|character 0, expected a value",
        "{|character 1, expected a key in quotes",
        "{\"a\"|character 4, expected ':'",
        "{\"a\":1,}|character 7, expected a key in quotes",
        "{\"a\":1 \"b\":2}|character 7, expected ','",
        "{\"a\":1,\"a\":2}|character 7, expected each key once",
        "[1,]|character 3, expected a value",
        "[1 2]|character 3, expected ','",
        "[1|character 2, expected ','",
        "01|character 1, expected the end of the text",
        "1.|character 2, expected a digit",
        ".5|character 0, expected a value",
        "+1|character 0, expected a value",
        "-|character 1, expected a digit",
        "1e|character 2, expected a digit",
        "1e999|character 0, expected a number within the range of double",
        "9223372036854775808|character 0, expected an integer of 64 bits",
        "tru|character 0, expected true",
        "nul|character 0, expected null",
        "NaN|character 0, expected a value",
        "\"abc|character 4, expected \"",
        "\"\\x\"|character 2, expected one of",
        "\"\\u12g4\"|character 5, expected four hexadecimal digits",
        "\"\\u12|character 5, expected four hexadecimal digits",
        "1 2|character 2, expected the end of the text",
        "// c|character 0, expected a value",
        "'a'|character 0, expected a value",
      })
  void brokenTextIsRefusedWhereItBreaks(String text, String message) {
    assertThatThrownBy(() -> parse(text))
        .isInstanceOf(DataException.class)
        .hasMessageStartingWith("test.json: got ")
        .hasMessageContaining(message);
  }

  @Test
  void lineOfTheErrorIsNamed() {
    assertThatThrownBy(() -> parse("{\n\"a\": 1,\n\"b\" 2}"))
        .hasMessage("test.json: got \"2}\" at line 3, character 14, expected ':'");
  }

  @Test
  void controlCharactersInTextsAreRefused() {
    assertThatThrownBy(() -> parse("\"a\nb\"")).hasMessageContaining("control characters");
    assertThatThrownBy(() -> parse("\"\\\\\u0001\"")).hasMessageContaining("control characters");
  }

  @ParameterizedTest
  @ValueSource(strings = {"[", "{\"a\":"})
  void deepNestingIsRefusedNotOverflowed(String open) {
    assertThatThrownBy(() -> parse(open.repeat(1_000_000)))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("at most 100 levels");
    assertThat(parse("[".repeat(100) + "]".repeat(100))).isInstanceOf(Json.Arr.class);
  }

  @Test
  void bytesThatAreNotUtf8AreRefused() {
    byte[] bytes = "[\"ab\"]".getBytes(StandardCharsets.UTF_8);
    bytes[3] = (byte) 0xFF;
    assertThatThrownBy(() -> Json.parse(bytes, "f.json"))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("f.json: got bytes that are not UTF-8 at byte 3");
  }

  @Test
  void valueOfAnotherKindIsRefusedWithItsKey() {
    Json.Obj object = Json.parseObject("{\"a\": \"x\", \"b\": 1.5, \"c\": null}", "f");
    assertThatThrownBy(() -> object.integer("a"))
        .hasMessage("\"a\": got the text \"x\", expected an integer");
    assertThatThrownBy(() -> object.integer("b"))
        .hasMessage("\"b\": got the number 1.5, expected an integer");
    assertThatThrownBy(() -> object.text("c")).hasMessage("\"c\": got null, expected a text");
    assertThatThrownBy(() -> object.flag("a")).hasMessageContaining("expected true or false");
    assertThatThrownBy(() -> object.number("a")).hasMessageContaining("expected a number");
    assertThatThrownBy(() -> object.object("a")).hasMessageContaining("expected an object");
    assertThatThrownBy(() -> object.array("a")).hasMessageContaining("expected an array");
    assertThatThrownBy(() -> object.text("d"))
        .isInstanceOf(DataException.class)
        .hasMessage("\"d\": got none, expected one among [a, b, c]");
    assertThatThrownBy(() -> Json.parseObject("[]", "f.json"))
        .hasMessageContaining("f.json")
        .hasMessageContaining("expected an object");
  }

  @Test
  void numbersThatJsonCannotHoldAreRefused() {
    for (double number : new double[] {Double.NaN, Double.POSITIVE_INFINITY}) {
      assertThatThrownBy(() -> new Json.Real(number))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("finite");
    }
  }
}
