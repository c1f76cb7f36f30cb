import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;

/**
 * Writes a container image, without Docker and without a base image: folders become layers, and the
 * result is one tar that is an OCI image layout and an archive for {@code docker load} at once. The
 * same files give the same bytes: entries are sorted, have one time, one owner and one of two
 * modes. Run as a source file by {@code tools/image}.
 *
 * <pre>java tools/Image.java write FILE TIME NAME VERSION LAYER_FOLDER...</pre>
 *
 * <p>The file {@code config.json} beside the first layer's folder is the part of the image's
 * configuration that says how to run it.
 *
 * <pre>java tools/Image.java unpack FILE FOLDER</pre>
 *
 * <p>holds each part against its digest and puts the layers' compressed tars into FOLDER as {@code
 * 1.tar.gz} and so on, and the configuration as {@code config.json}.
 */
final class Image {
  private static final int BLOCK = 512;
  private static final String LAYER = "application/vnd.oci.image.layer.v1.tar+gzip";

  public static void main(String[] args) throws IOException {
    if (args[0].equals("write")) {
      write(Path.of(args[1]), Instant.parse(args[2]), args[3] + ":" + args[4], folders(args));
    } else {
      Unpacked.unpack(Path.of(args[1]), Path.of(args[2]));
    }
  }

  private static List<Path> folders(String[] args) {
    return Stream.of(args).skip(5).map(Path::of).toList();
  }

  /** Bytes with their digest; {@code diff} is that of a layer's tar before compression. */
  private record Blob(byte[] bytes, String digest, String diff) {
    static Blob of(byte[] bytes) {
      return new Blob(bytes, sha256(bytes), "");
    }

    String path() {
      return "blobs/sha256/" + digest;
    }

    String descriptor(String type) {
      return "{\"mediaType\":\"%s\",\"digest\":\"sha256:%s\",\"size\":%d"
          .formatted(type, digest, bytes.length);
    }
  }

  private static void write(Path file, Instant time, String name, List<Path> folders)
      throws IOException {
    List<Blob> layers = new ArrayList<>();
    for (Path folder : folders) {
      layers.add(layer(folder, time));
    }
    Path settings = folders.getFirst().resolveSibling("config.json");
    Blob config = Blob.of(utf8(config(Files.readString(settings).strip(), time, folders, layers)));
    String parts =
        String.join(",", layers.stream().map(layer -> layer.descriptor(LAYER) + "}").toList());
    String manifestType = "application/vnd.oci.image.manifest.v1+json";
    Blob manifest =
        Blob.of(
            utf8(
                "{\"schemaVersion\":2,\"mediaType\":\"%s\",\"config\":%s},\"layers\":[%s]}"
                    .formatted(
                        manifestType,
                        config.descriptor("application/vnd.oci.image.config.v1+json"),
                        parts)));
    String index =
        "{\"schemaVersion\":2,\"manifests\":[%s,\"annotations\":{\"io.containerd.image.name\":\"%s\",\"org.opencontainers.image.ref.name\":\"%s\"}}]}"
            .formatted(
                manifest.descriptor(manifestType), name, name.substring(name.indexOf(':') + 1));
    String paths =
        String.join(",", layers.stream().map(layer -> "\"" + layer.path() + "\"").toList());
    String docker =
        "[{\"Config\":\"%s\",\"RepoTags\":[\"%s\"],\"Layers\":[%s]}]"
            .formatted(config.path(), name, paths);
    Map<String, byte[]> entries = new TreeMap<>();
    entries.put("oci-layout", utf8("{\"imageLayoutVersion\":\"1.0.0\"}"));
    entries.put("index.json", utf8(index));
    entries.put("manifest.json", utf8(docker));
    layers.forEach(layer -> entries.put(layer.path(), layer.bytes()));
    entries.put(config.path(), config.bytes());
    entries.put(manifest.path(), manifest.bytes());
    try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(file))) {
      Tar tar = new Tar(out, time);
      tar.folder("blobs/", 0755);
      tar.folder("blobs/sha256/", 0755);
      for (Map.Entry<String, byte[]> entry : entries.entrySet()) {
        tar.file(entry.getKey(), 0644, entry.getValue());
      }
      tar.end();
    }
    System.out.println("sha256:" + manifest.digest());
  }

  private static String config(String run, Instant time, List<Path> folders, List<Blob> layers) {
    String machine = System.getProperty("os.arch").equals("aarch64") ? "arm64" : "amd64";
    List<String> diffs = layers.stream().map(layer -> "\"sha256:" + layer.diff() + "\"").toList();
    List<String> history =
        folders.stream()
            .map(folder ->
                "{\"created\":\"%s\",\"created_by\":\"tools/image: %s\"}"
                    .formatted(time, folder.getFileName()))
            .toList();
    return "{\"created\":\"%s\",\"architecture\":\"%s\",\"os\":\"linux\",\"config\":%s,\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[%s]},\"history\":[%s]}"
        .formatted(time, machine, run, String.join(",", diffs), String.join(",", history));
  }

  /** A folder as a compressed tar. */
  private static Blob layer(Path folder, Instant time) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    MessageDigest plain = digest();
    try (OutputStream out = new DigestOutputStream(new Gzip(bytes), plain)) {
      Tar tar = new Tar(out, time);
      for (String name : names(folder)) {
        Path file = folder.resolve(name);
        if (Files.isDirectory(file)) {
          // World-writable with the sticky bit, as everywhere.
          tar.folder(name + "/", name.equals("tmp") ? 01777 : 0755);
        } else {
          tar.file(name, Files.isExecutable(file) ? 0755 : 0644, Files.readAllBytes(file));
        }
      }
      tar.end();
    }
    byte[] all = bytes.toByteArray();
    return new Blob(all, sha256(all), HexFormat.of().formatHex(plain.digest()));
  }

  /** All below a folder, a folder before what it holds. Links are followed. */
  private static TreeSet<String> names(Path folder) throws IOException {
    TreeSet<String> names = new TreeSet<>();
    try (Stream<Path> all = Files.walk(folder, java.nio.file.FileVisitOption.FOLLOW_LINKS)) {
      all.filter(each -> !each.equals(folder))
          .forEach(each -> names.add(folder.relativize(each).toString()));
    }
    return names;
  }

  /** As small as it gets. */
  private static final class Gzip extends GZIPOutputStream {
    Gzip(OutputStream out) throws IOException {
      super(out);
      def.setLevel(9);
    }
  }

  /** Writes entries in the format POSIX.1-1988 (ustar). */
  private static final class Tar {
    private final OutputStream out;
    private final Instant time;

    Tar(OutputStream out, Instant time) {
      this.out = out;
      this.time = time;
    }

    void folder(String name, int mode) throws IOException {
      header(name, mode, 0, '5');
    }

    void file(String name, int mode, byte[] bytes) throws IOException {
      header(name, mode, bytes.length, '0');
      out.write(bytes);
      out.write(new byte[(BLOCK - bytes.length % BLOCK) % BLOCK]);
    }

    void end() throws IOException {
      out.write(new byte[2 * BLOCK]);
    }

    private void header(String name, int mode, long size, char type) throws IOException {
      byte[] block = new byte[BLOCK];
      int cut = utf8(name).length <= 100 ? 0 : name.indexOf('/', utf8(name).length - 101) + 1;
      if (utf8(name.substring(cut)).length > 100 || cut > 156 || cut == 0 && name.length() > 100) {
        throw new IOException(name + ": got a path that is too long for a tar");
      }
      put(block, 0, name.substring(cut));
      octal(block, 100, 8, mode);
      octal(block, 108, 8, 0);
      octal(block, 116, 8, 0);
      octal(block, 124, 12, size);
      octal(block, 136, 12, time.getEpochSecond());
      put(block, 148, "        ");
      block[156] = (byte) type;
      put(block, 257, "ustar");
      put(block, 263, "00");
      put(block, 345, cut == 0 ? "" : name.substring(0, cut - 1));
      int sum = 0;
      for (byte each : block) {
        sum += each & 0xff;
      }
      put(block, 148, "%06o\0 ".formatted(sum));
      out.write(block);
    }

    private static void octal(byte[] block, int at, int width, long value) {
      put(block, at, ("%0" + (width - 1) + "o").formatted(value));
    }

    private static void put(byte[] block, int at, String text) {
      byte[] bytes = utf8(text);
      System.arraycopy(bytes, 0, block, at, bytes.length);
    }
  }

  /** Reads what {@link #write} wrote, and nothing else. */
  private static final class Unpacked {
    private Unpacked() {}

    static void unpack(Path file, Path folder) throws IOException {
      Map<String, byte[]> entries = entries(file);
      Files.createDirectories(folder);
      String index = new String(entries.get("index.json"), StandardCharsets.UTF_8);
      String manifest = new String(blob(entries, after(index, "\"manifests\":[")));
      Files.write(folder.resolve("config.json"), blob(entries, after(manifest, "\"config\":")));
      String rest = after(manifest, "\"layers\":[");
      for (int number = 1; rest.contains("\"digest\":"); number++) {
        Files.write(folder.resolve(number + ".tar.gz"), blob(entries, rest));
        rest = after(rest, "\"digest\":");
      }
    }

    private static String after(String text, String mark) {
      int at = text.indexOf(mark);
      if (at < 0) {
        throw new IllegalStateException("got no " + mark + " in " + text);
      }
      return text.substring(at + mark.length());
    }

    /** The part that the first digest in {@code json} names, which it must have. */
    private static byte[] blob(Map<String, byte[]> entries, String json) {
      String digest = after(json, "\"digest\":\"sha256:").substring(0, 64);
      byte[] bytes = entries.get("blobs/sha256/" + digest);
      if (bytes == null || !sha256(bytes).equals(digest)) {
        throw new IllegalStateException(
            "sha256:" + digest + ": got no such part, or a damaged one");
      }
      return bytes;
    }

    private static Map<String, byte[]> entries(Path file) throws IOException {
      Map<String, byte[]> entries = new LinkedHashMap<>();
      try (InputStream in = Files.newInputStream(file)) {
        for (byte[] head = in.readNBytes(BLOCK); head[0] != 0; head = in.readNBytes(BLOCK)) {
          String name = text(head, 0, 100);
          int size = Integer.parseInt(text(head, 124, 12), 8);
          entries.put(name, in.readNBytes(size));
          in.skipNBytes((BLOCK - size % BLOCK) % BLOCK);
        }
      }
      return entries;
    }

    private static String text(byte[] block, int from, int most) {
      int length = 0;
      while (length < most && block[from + length] != 0) {
        length++;
      }
      return new String(block, from, length, StandardCharsets.UTF_8);
    }
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String sha256(byte[] bytes) {
    return HexFormat.of().formatHex(digest().digest(bytes));
  }

  private static MessageDigest digest() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
