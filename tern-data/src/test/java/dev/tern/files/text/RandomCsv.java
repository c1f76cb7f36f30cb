package dev.tern.files.text;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Text of some notation: what files begin with, and their records, which begin with a number. */
final class RandomCsv {
  final SplittableRandom random;
  final Charset charset;
  final CsvOptions options;
  final String delimiter;
  final boolean returns;
  String head = "";
  final List<String> records = new ArrayList<>();

  RandomCsv(long seed) {
    random = new SplittableRandom(seed);
    charset =
        one(
            StandardCharsets.UTF_8,
            StandardCharsets.UTF_8,
            StandardCharsets.ISO_8859_1,
            StandardCharsets.UTF_16LE,
            StandardCharsets.UTF_16);
    delimiter = one(",", ",", "\t", "||", ";");
    returns = random.nextBoolean();
    CsvOptions.Escapes escapes =
        random.nextInt(4) == 0 ? CsvOptions.Escapes.ANYWHERE : CsvOptions.Escapes.NONE;
    int skipped = random.nextInt(3);
    String comment = one("", "#");
    boolean named = random.nextBoolean();
    options =
        new CsvOptions(
            delimiter,
            named ? List.of() : List.of("n", "a", "b"),
            random.nextBoolean(),
            true,
            escapes,
            new TextOptions(skipped, comment, charset));
    head = "what \"ever\u00e9" + end();
    head = head.repeat(skipped);
    head += named ? "n" + delimiter + "\"a\"" + delimiter + "b" + end() : "";
  }

  @SafeVarargs
  final <T> T one(T... of) {
    return of[random.nextInt(of.length)];
  }

  String end() {
    return returns ? "\r\n" : "\n";
  }

  String field() {
    String escape = options.escapes() == CsvOptions.Escapes.ANYWHERE ? "a\\\\b" : "a\\b";
    return one(
        "",
        "x",
        " spaced ",
        "\"q\"\"q\"",
        "\"two\r\nlines\"",
        "\"\n\"",
        "\u00fcml",
        "1e3",
        "\"# no comment\"",
        "100000001",
        escape,
        "\"" + delimiter + "\"",
        "-0",
        "'",
        "\u00a0");
  }

  /** The text of one more file, of which the records are noted. */
  byte[] file(int firstNumber, boolean marked) throws IOException {
    StringBuilder text = new StringBuilder(head);
    int count = random.nextInt(40);
    for (int i = 0; i < count; i++) {
      if (!options.text().comment().isEmpty() && random.nextInt(6) == 0) {
        text.append("# a \"comment").append(end());
      }
      boolean ends = i < count - 1 || random.nextBoolean();
      String record =
          (firstNumber + i) + delimiter + field() + delimiter + field() + (ends ? end() : "");
      records.add(record);
      text.append(record);
    }
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    bytes.write(marked ? mark() : new byte[0]);
    bytes.write(encoded(text.toString()));
    return bytes.toByteArray();
  }

  byte[] mark() {
    return charset.equals(StandardCharsets.ISO_8859_1) ? new byte[0] : encoded("\ufeff");
  }

  byte[] encoded(String text) {
    // Java's UTF_16 would put a mark before each text.
    return text.getBytes(
        charset.equals(StandardCharsets.UTF_16) ? StandardCharsets.UTF_16BE : charset);
  }
}
