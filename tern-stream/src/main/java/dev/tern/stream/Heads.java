package dev.tern.stream;

import dev.tern.base.DataException;
import dev.tern.base.Shown;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;

/**
 * The headers of a record: texts in ASCII, which any tool shows. Docs: {@code docs/updates.md}.
 * Whatever is missing, twice there, of another form or contradicts the rest is refused.
 */
final class Heads {
  /** The form of the records; a follower refuses all others. */
  static final String FORMAT = "1";

  /** The most records of a checkpoint. */
  static final int MOST_CHUNKS = 10_000_000;

  private static final String PREFIX = "tern-";
  private static final Pattern RUN = Pattern.compile("[A-Za-z0-9._-]{1,64}");
  private static final Pattern HASH = Pattern.compile("[0-9a-f]{64}");
  private static final Pattern CRC = Pattern.compile("[0-9a-f]{8}");
  private static final Pattern NUMBER = Pattern.compile("0|[1-9][0-9]{0,17}");
  private static final int MOST_TEXT = 128;

  private Heads() {}

  /** Whether a run may be called so. */
  static boolean isRun(String text) {
    return RUN.matcher(text).matches() && !text.matches("\\.\\.?");
  }

  /** The headers of a record whose offset is not known yet. */
  static List<Header> write(Chunk chunk) {
    Announcement of = chunk.of();
    List<Header> all = new ArrayList<>();
    add(all, "format", FORMAT);
    add(all, "run", of.run());
    add(all, "number", of.number());
    add(all, "kind", of.kind().name().toLowerCase(java.util.Locale.ROOT));
    add(all, "step", of.step());
    add(all, "hash", of.hash());
    of.after().ifPresent(hash -> add(all, "after", hash));
    of.takesOver().ifPresent(run -> add(all, "takes-over", run));
    add(all, "bytes", of.content().bytes());
    add(all, "chunks", of.content().chunks());
    add(all, "chunk", chunk.index());
    add(all, "crc32c", crc(chunk.content()));
    if (chunk.index() > 0) {
      add(all, "start", chunk.start());
    }
    if (chunk.full() >= 0) {
      add(all, "full", chunk.full());
    }
    chunk.sha256().ifPresent(sum -> add(all, "sha256", sum));
    return all;
  }

  private static void add(List<Header> all, String name, Object value) {
    byte[] text = value.toString().getBytes(StandardCharsets.US_ASCII);
    all.add(new RecordHeader(PREFIX + name, text));
  }

  static String crc(ByteBuffer content) {
    CRC32C sum = new CRC32C();
    sum.update(content.duplicate());
    return "%08x".formatted(sum.getValue());
  }

  /**
   * Reads a record.
   *
   * @throws DataException if it is damaged, or none of Tern's; the message names no offset
   */
  static Chunk read(long offset, Iterable<Header> headers, byte[] value) {
    Fields fields = new Fields(texts(headers));
    String format = fields.text("format", RUN);
    if (!format.equals(FORMAT)) {
      throw new DataException(
          "got the format %s, expected %s; use the version of Tern that published it"
              .formatted(Shown.quoted(format), FORMAT));
    }
    Announcement.Kind kind = fields.kind();
    Optional<String> after = fields.optional("after", HASH);
    if (after.isPresent() == kind.isFull()) {
      throw new DataException("got tern-after with a full checkpoint, or none with changes");
    }
    var content =
        new Announcement.Content(
            fields.number("bytes", Long.MAX_VALUE), (int) fields.number("chunks", MOST_CHUNKS));
    Announcement of =
        new Announcement(
            fields.text("run", RUN),
            fields.number("number", Long.MAX_VALUE),
            kind,
            fields.number("step", Long.MAX_VALUE),
            fields.text("hash", HASH),
            after,
            content,
            fields.optional("takes-over", RUN));
    int index = (int) fields.number("chunk", content.chunks() - 1L);
    long start = index == 0 ? offset : fields.number("start", offset - index);
    Chunk chunk =
        new Chunk(
            offset,
            of,
            index,
            start,
            fields.has("full") ? fields.number("full", start - 1) : Chunk.NOWHERE,
            fields.optional("sha256", HASH),
            ByteBuffer.wrap(value));
    requireWhole(chunk, fields.text("crc32c", CRC));
    return chunk;
  }

  private static void requireWhole(Chunk chunk, String crc) {
    if (chunk.isLast() != chunk.sha256().isPresent()) {
      throw new DataException("got tern-sha256 elsewhere than in the last record");
    }
    if (chunk.of().content().bytes() < chunk.content().remaining()) {
      throw new DataException(
          "got a record of %d bytes, expected at most the %d of the checkpoint"
              .formatted(chunk.content().remaining(), chunk.of().content().bytes()));
    }
    String sum = crc(chunk.content());
    if (!sum.equals(crc)) {
      throw new DataException("got CRC-32C %s, expected %s".formatted(sum, crc));
    }
  }

  private static Map<String, String> texts(Iterable<Header> headers) {
    Map<String, String> texts = new HashMap<>();
    for (Header header : headers) {
      byte[] value = header.value();
      if (!header.key().startsWith(PREFIX) || value == null) {
        continue; // Tools on the way may add their own.
      }
      String text = new String(value, StandardCharsets.ISO_8859_1);
      if (text.length() > MOST_TEXT || texts.put(header.key(), text) != null) {
        throw new DataException(
            "got %s twice or longer than %d bytes"
                .formatted(Shown.excerpt(header.key()), MOST_TEXT));
      }
    }
    return texts;
  }

  private record Fields(Map<String, String> texts) {
    boolean has(String name) {
      return texts.containsKey(PREFIX + name);
    }

    String text(String name, Pattern form) {
      String text = texts.get(PREFIX + name);
      if (text == null) {
        throw new DataException("got no header " + PREFIX + name + ", expected one");
      }
      if (!form.matcher(text).matches()) {
        throw new DataException(
            "got %s%s %s, expected the form %s"
                .formatted(PREFIX, name, Shown.quoted(text), form.pattern()));
      }
      return text;
    }

    Optional<String> optional(String name, Pattern form) {
      return has(name) ? Optional.of(text(name, form)) : Optional.empty();
    }

    /** A whole number from 0 to {@code most}. */
    long number(String name, long most) {
      long number = Long.parseLong(text(name, NUMBER));
      if (number > most) {
        throw new DataException(
            "got %s%s %d, expected at most %d".formatted(PREFIX, name, number, most));
      }
      return number;
    }

    Announcement.Kind kind() {
      String text = text("kind", RUN);
      for (Announcement.Kind each : Announcement.Kind.values()) {
        if (text.equals(each.name().toLowerCase(java.util.Locale.ROOT))) {
          return each;
        }
      }
      throw new DataException(
          "got tern-kind %s, expected full, delta or folder".formatted(Shown.quoted(text)));
    }
  }
}
