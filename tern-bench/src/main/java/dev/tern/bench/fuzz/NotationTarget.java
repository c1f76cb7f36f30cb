package dev.tern.bench.fuzz;

import com.google.common.jimfs.Configuration;
import com.google.common.jimfs.Jimfs;
import dev.tern.base.DataException;
import dev.tern.base.Shown;
import dev.tern.internal.files.FileKind;
import dev.tern.internal.files.FileList;
import dev.tern.internal.files.GzipInput;
import dev.tern.internal.files.InputFiles;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.zip.GZIPOutputStream;

/**
 * What Jazzer calls with each input of small notations: a byte that says which, then the text or
 * file. Each is held against a plain reading of the same bytes; whatever comes out of it is a
 * finding.
 */
public final class NotationTarget {
  private static final List<String> TREE =
      List.of(
          "a.csv", "b[1].csv", "day=1/a.csv", "day=1/_SUCCESS", "day=2/h=7/b.csv", "_tmp/c.csv");

  private static final FileSystem MEMORY = Jimfs.newFileSystem(Configuration.unix());
  private static final Path ROOT = MEMORY.getPath("/data");
  private static final Path FILE = MEMORY.getPath("/file.gz");

  /** What the bytes behind the first are. */
  private enum Notation {
    TIME,
    MESSAGE,
    KIND,
    GZIP,
    LIST,
    PATTERN
  }

  static {
    try {
      for (String name : TREE) {
        Files.createDirectories(ROOT.resolve(name).getParent());
        Files.writeString(ROOT.resolve(name), "x");
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private NotationTarget() {}

  /** Reads one notation. */
  public static void fuzzerTestOneInput(byte[] input) {
    if (input.length == 0) {
      return;
    }
    byte[] rest = Arrays.copyOfRange(input, 1, input.length);
    Notation[] all = Notation.values();
    try {
      switch (all[Byte.toUnsignedInt(input[0]) % all.length]) {
        case TIME -> PlainTime.check(rest);
        case MESSAGE -> checkMessage(new String(rest, StandardCharsets.UTF_8), rest);
        case KIND -> checkKind(rest);
        case GZIP -> checkGzip(rest);
        case LIST -> checkList(rest);
        case PATTERN -> checkPattern(new String(rest, StandardCharsets.UTF_8));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void checkMessage(String text, byte[] bytes) {
    for (String raw : List.of(text, new String(bytes, StandardCharsets.UTF_16LE), text.repeat(9))) {
      String message = Shown.message(raw);
      require(message.equals(Shown.message(message)), "a message that changes when shown again");
      require(
          message.getBytes(StandardCharsets.UTF_8).length <= Shown.MOST_BYTES, "a long message");
      require(message.codePoints().noneMatch(NotationTarget::isOdd), "an odd character");
    }
  }

  private static boolean isOdd(int character) {
    return Character.isISOControl(character)
        || !Character.isDefined(character)
        || Character.getType(character) == Character.FORMAT
        || Character.getType(character) == Character.SURROGATE
        || Character.isSpaceChar(character) && character != ' ';
  }

  /** Bytes behind the length must not matter. */
  private static void checkKind(byte[] bytes) {
    FileKind kind = FileKind.of(bytes, bytes.length);
    byte[] longer = Arrays.copyOf(bytes, bytes.length + 600);
    Arrays.fill(longer, bytes.length, longer.length, (byte) '\n');
    require(FileKind.of(longer, bytes.length) == kind, "a kind by bytes behind the end");
  }

  private static void checkGzip(byte[] bytes) throws IOException {
    Optional<byte[]> expected = RowCount.gunzip(bytes);
    Files.write(FILE, bytes);
    Optional<byte[]> got;
    try (InputStream in = GzipInput.open(FILE)) {
      got = Optional.of(in.readAllBytes());
    } catch (DataException e) {
      got = Optional.empty();
    }
    require(
        got.isPresent() == expected.isPresent(),
        (got.isPresent() ? "data" : "a fault") + " of gzip, unlike Inflater");
    require(got.isEmpty() || Arrays.equals(got.get(), expected.get()), "other data of gzip");
  }

  private static void checkList(byte[] bytes) throws IOException {
    Files.write(FILE, bytes);
    try {
      List<Path> files = FileList.read(FILE);
      String text = new String(bytes, StandardCharsets.UTF_8);
      require(text.lines().count() > files.size(), "more files than lines");
    } catch (DataException e) {
      requireClean(e);
    }
  }

  private static void checkPattern(String text) {
    Path pattern;
    try {
      pattern = ROOT.resolve(text);
    } catch (InvalidPathException e) {
      return;
    }
    for (InputFiles.Kind kind : InputFiles.Kind.values()) {
      try {
        List<Path> files = InputFiles.of(List.of(pattern), kind);
        require(!files.isEmpty(), "no files without a fault");
        require(
            files.size() == 1 || files.equals(files.stream().sorted().distinct().toList()),
            "files out of order or twice");
      } catch (DataException e) {
        requireClean(e);
      }
    }
  }

  private static void requireClean(DataException fault) {
    String message = String.valueOf(fault.getMessage());
    require(message.equals(Shown.message(message)), "a fault with an odd character");
  }

  private static void require(boolean holds, String what) {
    if (!holds) {
      throw new IllegalStateException("got " + what);
    }
  }

  /** Inputs to start from, by name. */
  static Map<String, byte[]> seeds() {
    Map<String, byte[]> seeds = new TreeMap<>();
    for (String time :
        List.of(
            "2026-01-31",
            "20260131T083000Z",
            "2026-01-31 08:30:00.123456789+01:00",
            "2026-01-31t08,GMT",
            "1769848200",
            "-1.5e9",
            "20260131083000",
            "1769848200123456789")) {
      put(seeds, Notation.TIME, time.getBytes(StandardCharsets.UTF_8));
    }
    for (String text :
        List.of("a.csv: line 3\u001b[1m", "\u202e\u00e9\ud83d\ude00\ufeff", "\t\r\n")) {
      put(seeds, Notation.MESSAGE, text.getBytes(StandardCharsets.UTF_8));
    }
    for (String head :
        List.of("PK\3\4", "{\"a\": 1,\n", "<!doctype html", "a,b\r1,2\r", "PAR1\0")) {
      put(seeds, Notation.KIND, head.getBytes(StandardCharsets.ISO_8859_1));
    }
    put(seeds, Notation.GZIP, zipped("y\n1\n", "0\n"));
    put(seeds, Notation.GZIP, Arrays.copyOf(zipped("", "a"), 100));
    for (String list : List.of("2\na.csv\nb.csv\n", "\ufeff 1\r\na\na\n", "+1\nx\n\n")) {
      put(seeds, Notation.LIST, list.getBytes(StandardCharsets.UTF_8));
    }
    for (String pattern :
        List.of("day=*/*.csv", "**/a.csv", "{a,b}*", "b[1].csv", "_*/?.csv", "")) {
      put(seeds, Notation.PATTERN, pattern.getBytes(StandardCharsets.UTF_8));
    }
    return seeds;
  }

  private static void put(Map<String, byte[]> seeds, Notation notation, byte[] bytes) {
    byte[] input = new byte[bytes.length + 1];
    input[0] = (byte) notation.ordinal();
    System.arraycopy(bytes, 0, input, 1, bytes.length);
    seeds.put("seed-" + seeds.size(), input);
  }

  private static byte[] zipped(String... members) {
    ByteArrayOutputStream zipped = new ByteArrayOutputStream();
    for (String member : members) {
      try (GZIPOutputStream out = new GZIPOutputStream(zipped)) {
        out.write(member.getBytes(StandardCharsets.UTF_8));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return zipped.toByteArray();
  }
}
