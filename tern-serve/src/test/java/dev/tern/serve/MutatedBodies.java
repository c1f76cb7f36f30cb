package dev.tern.serve;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.Random;

/** Bodies of requests that were damaged at random; the same for equal seeds. */
final class MutatedBodies {
  private static final byte[][] PIECES =
      pieces(
          "{",
          "}",
          "[",
          "]",
          ",",
          ":",
          "\"",
          "\\",
          "null",
          "true",
          "-",
          "1e400",
          "1e39",
          "0.1",
          "NaN",
          "-0",
          "9223372036854775808",
          "18446744073709551615",
          "1e-400",
          "\"\\ud800\"",
          "\"\\ud83d\\ude00\"",
          "[[[[",
          "{\"a\":{",
          "\"b64\"",
          "\"C1\"",
          "\"city\"",
          "\"pair\"",
          "\"seen\"",
          "\"words:weights\"",
          "\"tags:offsets\"",
          "[1,2]",
          "\"inputs\"",
          "\"context\"",
          "\"parameters\"",
          "\"top_k\"",
          "\"explain\"",
          "\"empty\"",
          "\"binary_data_size\"",
          "\"shape\"",
          "\"datatype\"",
          "\"BYTES\"",
          "\"UINT64\"",
          "\"FP16\"",
          "\"data\"",
          "2147483647",
          "10000",
          "\u00e5",
          "\u0000");

  private final List<RequestBodies.Body> whole;

  /** Damages these. */
  MutatedBodies(List<RequestBodies.Body> whole) {
    this.whole = whole;
  }

  private static byte[][] pieces(String... texts) {
    return Arrays.stream(texts)
        .map(text -> text.getBytes(StandardCharsets.UTF_8))
        .toArray(byte[][]::new);
  }

  /** A body of a seed. */
  RequestBodies.Body of(long seed) {
    Random random = new Random(seed * 0x9E3779B97F4A7C15L);
    RequestBodies.Body from = whole.get(random.nextInt(whole.size()));
    byte[] bytes = from.bytes();
    for (int i = 1 + random.nextInt(4); i > 0; i--) {
      bytes = mutated(bytes, random);
    }
    OptionalInt json = from.jsonLength();
    if (random.nextInt(20) == 0) {
      json = OptionalInt.of(random.nextInt(bytes.length + 3) - 1);
    } else if (json.isPresent()) {
      json = OptionalInt.of(Math.max(0, json.getAsInt() + bytes.length - from.bytes().length));
    }
    return new RequestBodies.Body(bytes, json);
  }

  private byte[] mutated(byte[] bytes, Random random) {
    int at = random.nextInt(bytes.length + 1);
    int end = Math.min(bytes.length, at + (random.nextBoolean() ? 1 : random.nextInt(30)));
    byte[] other = whole.get(random.nextInt(whole.size())).bytes();
    return switch (random.nextInt(7)) {
      case 0 -> changed(bytes, at, random);
      case 1 -> spliced(bytes, at, end, new byte[0]);
      case 2 -> spliced(bytes, at, at, PIECES[random.nextInt(PIECES.length)]);
      case 3 -> spliced(bytes, at, end, PIECES[random.nextInt(PIECES.length)]);
      case 4 -> Arrays.copyOf(bytes, at);
      case 5 -> spliced(bytes, at, at, Arrays.copyOfRange(bytes, at, end)); // twice
      default -> {
        int from = random.nextInt(other.length);
        int to = Math.min(other.length, from + random.nextInt(60));
        yield spliced(bytes, at, end, Arrays.copyOfRange(other, from, to));
      }
    };
  }

  private static byte[] changed(byte[] bytes, int at, Random random) {
    byte[] changed = bytes.clone();
    if (at < changed.length) {
      changed[at] = (byte) random.nextInt();
    }
    return changed;
  }

  private static byte[] spliced(byte[] bytes, int from, int to, byte[] with) {
    byte[] spliced = new byte[bytes.length - (to - from) + with.length];
    System.arraycopy(bytes, 0, spliced, 0, from);
    System.arraycopy(with, 0, spliced, from, with.length);
    System.arraycopy(bytes, to, spliced, from + with.length, bytes.length - to);
    return spliced;
  }
}
