package dev.tern.internal.checkpoint;

import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

import dev.tern.base.DType;
import dev.tern.base.DataException;
import dev.tern.internal.json.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A file of named arrays in the safetensors format: an unsigned 64-bit header length, a JSON header
 * with each array's type, shape and byte range, then the bytes, little-endian and without gaps
 * (huggingface.co/docs/safetensors). Written and read in pieces at any position.
 */
public final class SafeTensors implements AutoCloseable {
  private static final long MAX_HEADER = 100_000_000;
  private static final String METADATA = "__metadata__";

  /** Types that both the format and Tern have. */
  private static final List<DType> TYPES =
      List.of(DType.F32, DType.F16, DType.BF16, DType.I32, DType.I64);

  /** An array in the file; {@code offset} counts bytes from the end of the header. */
  public record Entry(String name, DType type, List<Long> shape, long offset) {
    public long elements() {
      return shape.stream().reduce(1L, Math::multiplyExact);
    }

    public long bytes() {
      return Math.multiplyExact(elements(), type.bytes());
    }
  }

  private final Path path;
  private final FileChannel channel;
  private final Map<String, Entry> entries;
  private final Map<String, String> metadata;
  private final long start;
  private final FileDigest digest;
  private final Map<String, FileDigest.Stream> streams = new HashMap<>();

  private SafeTensors(
      Path path,
      FileChannel channel,
      Map<String, Entry> entries,
      Map<String, String> metadata,
      long start) {
    this.path = path;
    this.metadata = metadata;
    this.channel = channel;
    this.entries = entries;
    this.start = start;
    long bytes = entries.values().stream().mapToLong(Entry::bytes).sum();
    digest = new FileDigest(channel, start + bytes);
  }

  /** The arrays of a file to be created, in order. */
  public static final class Layout {
    private final Map<String, Entry> entries = new LinkedHashMap<>();
    private long end;

    public Layout add(String name, DType type, long... shape) {
      List<Long> sizes = Arrays.stream(shape).boxed().toList();
      Entry entry = new Entry(name, type, sizes, end);
      if (entries.put(name, entry) != null) {
        throw new IllegalArgumentException("safetensors: got the name " + name + " twice");
      }
      end += entry.bytes();
      return this;
    }
  }

  /** Creates a file with the header of {@code layout}; {@link #write} writes its arrays. */
  public static SafeTensors create(Path path, Layout layout, Map<String, String> metadata) {
    byte[] text = header(layout, metadata).toString().getBytes(StandardCharsets.UTF_8);
    byte[] json = Arrays.copyOf(text, (text.length + 7) / 8 * 8);
    Arrays.fill(json, text.length, json.length, (byte) ' ');
    ByteBuffer head = ByteBuffer.allocate(8 + json.length).order(ByteOrder.LITTLE_ENDIAN);
    head.putLong(json.length).put(json).flip();
    try {
      FileChannel channel = FileChannel.open(path, CREATE_NEW, WRITE, READ);
      try {
        long start = head.remaining();
        writeFully(channel, head, 0);
        return new SafeTensors(path, channel, layout.entries, metadata, start);
      } catch (RuntimeException | Error | IOException e) {
        channel.close();
        throw e;
      }
    } catch (IOException e) {
      throw failure(path, "writing", e);
    }
  }

  private static Json.Obj header(Layout layout, Map<String, String> metadata) {
    Json.Obj header = Json.object();
    if (!metadata.isEmpty()) {
      Json.Obj texts = Json.object();
      metadata.forEach(texts::put);
      header.put(METADATA, texts);
    }
    for (Entry entry : layout.entries.values()) {
      header.put(
          entry.name(),
          Json.object()
              .put("dtype", entry.type().name())
              .put("shape", integers(entry.shape()))
              .put(
                  "data_offsets",
                  integers(List.of(entry.offset(), entry.offset() + entry.bytes()))));
    }
    return header;
  }

  private static Json integers(List<Long> values) {
    return new Json.Arr(values.stream().<Json>map(Json.Int::new).toList());
  }

  /** Opens a file and checks its header: ranges must tile the file exactly. */
  public static SafeTensors open(Path path) {
    try {
      FileChannel channel = FileChannel.open(path, READ);
      try {
        return read(path, channel);
      } catch (RuntimeException | IOException e) {
        channel.close();
        throw e;
      }
    } catch (IOException e) {
      throw failure(path, "reading", e);
    }
  }

  private static SafeTensors read(Path path, FileChannel channel) throws IOException {
    long size = channel.size();
    ByteBuffer head = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN);
    readFully(path, channel, head, 0);
    long length = head.flip().getLong();
    if (length < 2 || length > Math.min(MAX_HEADER, size - 8)) {
      throw bad(path, 0, "a header of " + length + " bytes", "2 to " + (size - 8));
    }
    ByteBuffer json = ByteBuffer.allocate((int) length);
    readFully(path, channel, json, 8);
    Json.Obj header = Json.parse(json.array(), path + ": header").asObject(path + ": header");
    Map<String, Entry> entries = new LinkedHashMap<>();
    Map<String, String> metadata = new LinkedHashMap<>();
    for (Map.Entry<String, Json> field : header.fields().entrySet()) {
      String name = field.getKey();
      Json.Obj value = field.getValue().asObject(path + ": " + name);
      if (name.equals(METADATA)) {
        value.fields().keySet().forEach(key -> metadata.put(key, value.text(key)));
      } else {
        entries.put(name, entry(path, name, value));
      }
    }
    checkTiling(path, entries, size - 8 - length);
    return new SafeTensors(path, channel, entries, metadata, 8 + length);
  }

  private static Entry entry(Path path, String name, Json.Obj json) {
    String typeName;
    List<Long> shape;
    List<Long> range;
    try {
      typeName = json.text("dtype");
      shape = longs(json, "shape");
      range = longs(json, "data_offsets");
    } catch (DataException e) {
      throw new DataException(path + ": array " + name + ": " + e.getMessage(), e);
    }
    DType type =
        TYPES.stream()
            .filter(known -> known.name().equals(typeName))
            .findFirst()
            .orElseThrow(() -> bad(path, 8, "the type " + typeName + " of " + name, "" + TYPES));
    Entry entry = new Entry(name, type, shape, range.isEmpty() ? 0 : range.get(0));
    try {
      if (range.size() != 2 || range.get(1) - range.get(0) != entry.bytes()) {
        throw bad(path, 8, "the range " + range + " of " + name, entry.bytes() + " bytes");
      }
    } catch (ArithmeticException e) {
      throw bad(path, 8, "the shape " + shape + " of " + name, "a size that fits 64 bits");
    }
    return entry;
  }

  private static List<Long> longs(Json.Obj json, String key) {
    List<Long> values = new ArrayList<>();
    for (Json item : json.array(key)) {
      long value = item.asInteger(key);
      if (value < 0) {
        throw new DataException("\"" + key + "\": got " + value + ", expected 0 or more");
      }
      values.add(value);
    }
    return values;
  }

  private static void checkTiling(Path path, Map<String, Entry> entries, long bytes) {
    List<Entry> sorted = new ArrayList<>(entries.values());
    // Empty arrays may stand anywhere between others.
    sorted.sort(Comparator.comparingLong(Entry::offset).thenComparingLong(Entry::bytes));
    long end = 0;
    for (Entry entry : sorted) {
      if (entry.offset() != end) {
        throw bad(path, 8, entry.name() + " at byte " + entry.offset(), "it at byte " + end);
      }
      end += entry.bytes();
    }
    if (end != bytes) {
      throw bad(path, 8, bytes + " bytes after the header", end + " as the header says");
    }
  }

  /** The array {@code name}, which must be there. */
  public Entry entry(String name) {
    Entry entry = entries.get(name);
    if (entry == null) {
      throw bad(path, 8, "no array " + name, "one of " + entries.keySet());
    }
    return entry;
  }

  /** The text {@code name} in the metadata of the header. */
  Optional<String> metadata(String name) {
    return Optional.ofNullable(metadata.get(name));
  }

  /** The names of all arrays, in order. */
  public List<String> names() {
    return List.copyOf(entries.keySet());
  }

  /** Writes the rest of {@code bytes} at byte {@code at} of array {@code name}. */
  void write(String name, long at, ByteBuffer bytes) {
    long position = position(name, at, bytes.remaining());
    streams.computeIfAbsent(name, _ -> digest.new Stream()).update(bytes, position);
    try {
      writeFully(channel, bytes, position);
    } catch (IOException e) {
      throw failure(path, "writing", e);
    }
  }

  /** Fills the rest of {@code bytes} from byte {@code at} of array {@code name}. */
  public void read(String name, long at, ByteBuffer bytes) {
    try {
      readFully(path, channel, bytes, position(name, at, bytes.remaining()));
    } catch (IOException e) {
      throw failure(path, "reading", e);
    }
  }

  private long position(String name, long at, int count) {
    Entry entry = entry(name);
    if (at < 0 || at + count > entry.bytes()) {
      throw new IndexOutOfBoundsException(
          name + ": got bytes " + at + " to " + (at + count) + ", expected 0 to " + entry.bytes());
    }
    return start + entry.offset() + at;
  }

  private static void writeFully(FileChannel channel, ByteBuffer bytes, long position)
      throws IOException {
    long at = position;
    while (bytes.hasRemaining()) {
      at += channel.write(bytes, at);
    }
  }

  private static void readFully(Path path, FileChannel channel, ByteBuffer bytes, long position)
      throws IOException {
    long at = position;
    while (bytes.hasRemaining()) {
      int count = channel.read(bytes, at);
      if (count < 0) {
        throw bad(path, at, "the end of the file", bytes.remaining() + " bytes more");
      }
      at += count;
    }
  }

  private static DataException bad(Path path, long offset, String got, String expected) {
    return new DataException(
        "%s: byte %d: got %s, expected %s; the file is damaged or no safetensors file"
            .formatted(path, offset, got, expected));
  }

  private static UncheckedIOException failure(Path path, String doing, IOException e) {
    String expected =
        doing.equals("reading")
            ? "a file of a checkpoint; check the path and the disk"
            : "room on the disk; free some or choose another folder";
    return new UncheckedIOException(
        "%s: got an error %s it (%s), expected %s"
            .formatted(path, doing, DataException.reason(e), expected),
        e);
  }

  /** The {@link FileDigest} of the file, once all of it is written. */
  String digest() {
    try {
      return digest.finish();
    } catch (IOException e) {
      throw failure(path, "writing", e);
    }
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException e) {
      throw failure(path, "closing", e);
    }
  }
}
