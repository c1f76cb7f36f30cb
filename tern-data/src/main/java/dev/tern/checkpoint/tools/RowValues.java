package dev.tern.checkpoint.tools;

import dev.tern.checkpoint.Checkpoint;
import dev.tern.data.Batch;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.TextHash;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * The values that rows of a table belong to, as data have them: texts, or integers in decimal. A
 * row has no value where nobody knows it: that of missing values, buckets of a hash, and texts that
 * only their hash is known of.
 */
final class RowValues {
  private final FeatureEncoder encoder;
  private final int slot;
  private final Optional<IdEncoding> encoding;
  private final Batch raw;
  private final Batch encoded;

  /** Of a table by its number. */
  RowValues(Checkpoint checkpoint, int table) {
    encoder = checkpoint.encoder();
    slot = checkpoint.slotsOf(table).getFirst();
    // Slots of numbers in buckets come behind those of the data.
    encoding =
        slot < encoder.slots().size() ? Optional.of(encoder.slots().get(slot)) : Optional.empty();
    raw = new Batch(encoder.rawSchema(), 1);
    encoded = new Batch(encoder.schema(), 1);
  }

  /** Whether a table's rows go by unsigned ids of the data. */
  static boolean unsigned(Checkpoint checkpoint, int table) {
    FeatureEncoder encoder = checkpoint.encoder();
    return checkpoint.slotsOf(table).stream()
        .filter(slot -> slot < encoder.slots().size())
        .anyMatch(slot ->
            encoder.rawSchema().slots().get(slot).unsigned()
                && encoder.slots().get(slot) instanceof IdEncoding.Verbatim);
  }

  /** The value of {@code id}, or "" where it has none. */
  String of(long id) {
    return encoder.value(slot, id).orElse("");
  }

  /**
   * The id of a value that a file names.
   *
   * @throws IllegalArgumentException that says why it has none
   */
  long id(String value) {
    if (encoding.isEmpty()) {
      throw new IllegalArgumentException("a value of a column of numbers in buckets");
    }
    raw.clear();
    raw.addId(slot, encoding.get().text() ? hash(value) : integer(value));
    raw.endRow();
    encoder.apply(raw, encoded);
    long id = encoded.ids(slot)[0];
    if (encoding.get() instanceof IdEncoding.Vocabulary && encoder.value(slot, id).isEmpty()) {
      throw new IllegalArgumentException(
          "the value "
              + value
              + ", which is not in the vocabulary, as where it is rarer than min_count");
    }
    return id;
  }

  private static long hash(String value) {
    byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
    return TextHash.of(bytes, 0, bytes.length);
  }

  private static long integer(String value) {
    try {
      return value.startsWith("-") ? Long.parseLong(value) : Long.parseUnsignedLong(value);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("the value " + value + ", which is no integer", e);
    }
  }

  /** {@code text} with backslashes before what would end a field or line. */
  static String escaped(String text) {
    return text.replace("\\", "\\\\")
        .replace("\t", "\\t")
        .replace("\n", "\\n")
        .replace("\r", "\\r");
  }

  /**
   * What {@link #escaped} was given.
   *
   * @throws IllegalArgumentException if a backslash is before anything else
   */
  static String unescaped(String text) {
    if (text.indexOf('\\') < 0) {
      return text;
    }
    StringBuilder plain = new StringBuilder();
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c != '\\') {
        plain.append(c);
        continue;
      }
      i++;
      plain.append(
          switch (i < text.length() ? text.charAt(i) : ' ') {
            case '\\' -> '\\';
            case 't' -> '\t';
            case 'n' -> '\n';
            case 'r' -> '\r';
            default ->
                throw new IllegalArgumentException(
                    "a backslash before nothing that it can stand before");
          });
    }
    return plain.toString();
  }
}
