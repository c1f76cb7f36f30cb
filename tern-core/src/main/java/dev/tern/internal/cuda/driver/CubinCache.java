package dev.tern.internal.cuda.driver;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A compiler that keeps what it made on disk. A file is named by the SHA-256 of the text, the
 * architecture and the compiler's identity, and holds 8 bytes of a mark, 8 of the code's length,
 * the SHA-256 of the code, and the code. A damaged file is made anew. Several processes may share
 * the folder: a file appears whole, by a rename. The files used longest ago go when the folder has
 * more than 1 GiB.
 *
 * <p>Where the folder cannot be written, texts are compiled each time.
 */
final class CubinCache implements CudaCompiler {
  /** The system property that names the folder of all caches; {@code ~/.cache/tern} without it. */
  static final String FOLDER_PROPERTY = "tern.cache";

  private static final long MARK = 0x5445524e43423031L;
  private static final int DIGEST_BYTES = 32;
  private static final int HEAD_BYTES = 16 + DIGEST_BYTES;
  private static final long MOST_BYTES = 1L << 30;
  private static final String SUFFIX = ".cubin";

  private final CudaCompiler compiler;
  private final Path folder;
  private final long mostBytes;

  CubinCache(CudaCompiler compiler, Path folder, long mostBytes) {
    this.compiler = compiler;
    this.folder = folder;
    this.mostBytes = mostBytes;
  }

  /** A compiler with the cache of this user. */
  static CubinCache of(CudaCompiler compiler) {
    String named = System.getProperty(FOLDER_PROPERTY, "");
    Path root =
        named.isEmpty()
            ? Path.of(System.getProperty("user.home", "."), ".cache", "tern")
            : Path.of(named);
    return new CubinCache(compiler, root.resolve("cubin"), MOST_BYTES);
  }

  @Override
  public byte[] compile(String text, int architecture) {
    Path file = folder.resolve(name(text, architecture) + SUFFIX);
    Optional<byte[]> known = read(file);
    if (known.isPresent()) {
      noteUse(file);
      return known.get();
    }
    byte[] code = compiler.compile(text, architecture);
    try {
      write(file, code);
      prune();
    } catch (IOException e) {
      // The code itself is whole. Only the time of the next compilation is lost.
      return code;
    }
    return code;
  }

  @Override
  public String name() {
    return compiler.name();
  }

  @Override
  public String identity() {
    return compiler.identity();
  }

  @Override
  public String place() {
    return compiler.place();
  }

  private String name(String text, int architecture) {
    MessageDigest digest = sha256();
    for (String part : List.of(text, Integer.toString(architecture), compiler.identity())) {
      byte[] bytes = part.getBytes(UTF_8);
      digest.update(ByteBuffer.allocate(Long.BYTES).putLong(0, bytes.length));
      digest.update(bytes);
    }
    return HexFormat.of().formatHex(digest.digest());
  }

  /** The code of a file; empty where there is none, or where it is not as it was written. */
  private static Optional<byte[]> read(Path file) {
    byte[] bytes;
    try {
      bytes = Files.readAllBytes(file);
    } catch (IOException e) {
      return Optional.empty();
    }
    if (bytes.length < HEAD_BYTES) {
      return Optional.empty();
    }
    ByteBuffer head = ByteBuffer.wrap(bytes);
    if (head.getLong() != MARK || head.getLong() != bytes.length - HEAD_BYTES) {
      return Optional.empty();
    }
    byte[] code = Arrays.copyOfRange(bytes, HEAD_BYTES, bytes.length);
    byte[] kept = Arrays.copyOfRange(bytes, 16, HEAD_BYTES);
    return Arrays.equals(sha256().digest(code), kept) ? Optional.of(code) : Optional.empty();
  }

  private static void noteUse(Path file) {
    try {
      Files.setLastModifiedTime(file, FileTime.from(Instant.now()));
    } catch (IOException e) {
      // A folder of another user: its owner's uses count alone.
      return;
    }
  }

  private void write(Path file, byte[] code) throws IOException {
    Files.createDirectories(folder);
    Path beside = Files.createTempFile(folder, "writing", ".tmp");
    try {
      ByteBuffer all = ByteBuffer.allocate(HEAD_BYTES + code.length);
      all.putLong(MARK).putLong(code.length).put(sha256().digest(code)).put(code);
      Files.write(beside, all.array());
      Files.move(beside, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } finally {
      Files.deleteIfExists(beside);
    }
  }

  /** One file of the folder. */
  private record Entry(Path file, long bytes, FileTime used) {}

  /** Removes what is too much, and what processes left in the making a day ago. */
  private void prune() throws IOException {
    List<Entry> entries = new ArrayList<>();
    FileTime yesterday = FileTime.from(Instant.now().minus(Duration.ofDays(1)));
    for (Entry entry : entries()) {
      if (entry.file().toString().endsWith(SUFFIX)) {
        entries.add(entry);
      } else if (entry.used().compareTo(yesterday) < 0) {
        Files.deleteIfExists(entry.file());
      }
    }
    long bytes = entries.stream().mapToLong(Entry::bytes).sum();
    entries.sort(Comparator.comparing(Entry::used));
    for (Entry entry : entries) {
      if (bytes <= mostBytes) {
        return;
      }
      Files.deleteIfExists(entry.file());
      bytes -= entry.bytes();
    }
  }

  private List<Entry> entries() throws IOException {
    List<Entry> entries = new ArrayList<>();
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.toList()) {
        try {
          entries.add(new Entry(file, Files.size(file), Files.getLastModifiedTime(file)));
        } catch (NoSuchFileException e) {
          // Another process removed it meanwhile.
          continue;
        }
      }
    }
    return entries;
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("SHA-256", e);
    }
  }
}
