package dev.tern.checkpoint;

import dev.tern.base.DataException;
import dev.tern.embedding.TableShard;
import dev.tern.internal.checkpoint.AtomicFolder;
import dev.tern.internal.checkpoint.FileDigest;
import dev.tern.internal.json.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a checkpoint's folder says about itself: {@code manifest.json}, with the format's version
 * and the {@link FileDigest} of all other files (in format 1 their SHA-256), and {@code
 * manifest.sha256} with the SHA-256 of the manifest.
 *
 * @param folder where it lies
 * @param json all of it
 * @param hash SHA-256 of {@code manifest.json}
 */
record Manifest(Path folder, Json.Obj json, String hash) {
  static final String NAME = "manifest.json";
  private static final String HASH = "manifest.sha256";
  private static final String DAMAGED = "the checkpoint was changed or damaged, use another one";

  /** The version that is written. */
  private static final long FORMAT = 2;

  /** The version whose files have their SHA-256. */
  private static final long FIRST_FORMAT = 1;

  /** Fields that are not about the run. */
  private static final List<String> OWN = List.of("format", "previous", "shards", "files");

  /**
   * The checkpoint that one of changes follows.
   *
   * @param name of its folder, beside this one
   * @param hash SHA-256 of its manifest
   */
  record Previous(String name, String hash) {
    static Previous of(Path folder) {
      return new Previous(AtomicFolder.nameOf(folder), sha256(folder.resolve(NAME)));
    }
  }

  /** Whether a checkpoint lies in {@code folder}. */
  static boolean isIn(Path folder) {
    return Files.exists(folder.resolve(NAME));
  }

  /** Reads the manifest of a folder and checks all that it names. */
  static Manifest read(Path folder) {
    Path file = folder.resolve(NAME);
    Json.Obj json = parse(file);
    if (!(json.fields().get("format") instanceof Json.Int(long format))
        || format < FIRST_FORMAT
        || format > FORMAT) {
      throw new DataException(
          file
              + ": got checkpoint format "
              + json.fields().get("format")
              + ", expected "
              + FIRST_FORMAT
              + " or "
              + FORMAT
              + "; use the version of Tern that wrote it");
    }
    String hash = text(folder.resolve(HASH)).strip();
    requireFile(file);
    requireSame(file, "SHA-256", sha256(file), hash);
    Manifest manifest = new Manifest(folder, json, hash);
    manifest.requireFields();
    Json.Obj files = json.object("files");
    for (String name : files.fields().keySet()) {
      Path each = folder.resolve(name);
      requireFile(each);
      if (format == FIRST_FORMAT) {
        requireSame(each, "SHA-256", sha256(each), files.text(name));
      } else {
        requireSame(each, "digest", digest(each), files.text(name));
      }
    }
    return manifest;
  }

  /**
   * What is read of any checkpoint must be there; what depends on its kind names the file later.
   */
  private void requireFields() {
    try {
      previous();
      shards();
      RunFacts.state(json);
      Json.Obj files = json.object("files");
      files.fields().keySet().forEach(files::text);
    } catch (DataException | NumberFormatException e) {
      throw new DataException(file(NAME) + ": " + e.getMessage() + "; " + DAMAGED, e);
    }
  }

  /** The digests of {@code names}, files in {@code folder}, in order. */
  static Map<String, String> digests(Path folder, List<String> names) {
    Map<String, String> digests = new LinkedHashMap<>();
    names.forEach(name -> digests.put(name, digest(folder.resolve(name))));
    return digests;
  }

  /** Writes the manifest of files in {@code folder} with these digests, last of all. */
  static void write(
      Path folder, Map<String, String> digests, Json.Obj facts, Optional<Previous> previous)
      throws IOException {
    write(folder, digests, facts, previous, 1);
  }

  /** Likewise, where each table lies in {@code shards} files. */
  static void write(
      Path folder,
      Map<String, String> digests,
      Json.Obj facts,
      Optional<Previous> previous,
      int shards)
      throws IOException {
    Json.Obj files = Json.object();
    digests.forEach(files::put);
    Json.Obj json = Json.object().put("format", FORMAT);
    for (Map.Entry<String, Json> fact : facts.fields().entrySet()) {
      json.put(fact.getKey(), fact.getValue());
    }
    previous.ifPresent(before ->
        json.put(
            "previous", Json.object().put("folder", before.name()).put("sha256", before.hash())));
    if (shards > 1) {
      json.put("shards", (long) shards);
    }
    json.put("files", files);
    Files.writeString(folder.resolve(NAME), json.toString());
    Files.writeString(folder.resolve(HASH), sha256(folder.resolve(NAME)));
  }

  /** Throws where another checkpoint, or none, lies in its place now. */
  void requireUnchanged() {
    Path file = folder.resolve(HASH);
    if (!Files.exists(file) || !text(file).strip().equals(hash)) {
      throw new DataException(
          folder
              + ": got another checkpoint, or none, in the place of the one that was being read;"
              + " open it again");
    }
  }

  /** The checkpoint that this one says the changes to; of a full one none. */
  Optional<Previous> previous() {
    if (!json.has("previous")) {
      return Optional.empty();
    }
    Json.Obj before = json.object("previous");
    return Optional.of(new Previous(before.text("folder"), before.text("sha256")));
  }

  /** In how many files each table lies. */
  int shards() {
    long shards = json.has("shards") ? json.integer("shards") : 1;
    if (shards < 1 || shards > TableShard.MOST || Long.bitCount(shards) != 1) {
      throw new DataException(
          "\"shards\": got " + shards + ", expected a power of two of at most " + TableShard.MOST);
    }
    return (int) shards;
  }

  /** What it says of the run, apart from the files of this checkpoint. */
  Json.Obj facts() {
    Json.Obj facts = Json.object();
    json.fields()
        .forEach((name, value) -> {
          if (!OWN.contains(name)) {
            facts.put(name, value);
          }
        });
    return facts;
  }

  /** The file {@code name} of this checkpoint. */
  Path file(String name) {
    return folder.resolve(name);
  }

  private static Json.Obj parse(Path file) {
    try {
      return Json.parseObject(text(file), file.toString());
    } catch (DataException e) {
      throw new DataException(e.getMessage() + "; " + DAMAGED, e);
    }
  }

  /** The content of a file of a checkpoint. */
  static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new DataException(
          file
              + ": got an error reading it ("
              + DataException.reason(e)
              + "), expected a file of a checkpoint; "
              + DAMAGED,
          e);
    }
  }

  private static void requireFile(Path file) {
    if (!Files.exists(file)) {
      throw new DataException(
          file + ": got no such file, expected one as " + NAME + " says; " + DAMAGED);
    }
  }

  private static void requireSame(Path file, String what, String got, String expected) {
    if (!got.equals(expected)) {
      throw new DataException(
          file + ": got " + what + " " + got + ", expected " + expected + "; " + DAMAGED);
    }
  }

  private static String digest(Path file) {
    try {
      return FileDigest.of(file);
    } catch (IOException e) {
      throw unreadable(file, e);
    }
  }

  static String sha256(Path file) {
    try {
      return FileDigest.sha256(file);
    } catch (IOException e) {
      throw unreadable(file, e);
    }
  }

  private static UncheckedIOException unreadable(Path file, IOException e) {
    return new UncheckedIOException(
        file + ": cannot be read: " + DataException.reason(e) + "; " + DAMAGED, e);
  }
}
