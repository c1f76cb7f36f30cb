package dev.tern.checkpoint;

import dev.tern.base.DataException;
import dev.tern.base.Shown;
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
import java.util.regex.Pattern;

/**
 * The description of a checkpoint in its own folder. {@code manifest.json} holds the version of the
 * format, the facts of the run, and the {@link FileDigest} of each other file (in format 1 its
 * SHA-256).
 *
 * @param json content of {@code manifest.json}
 * @param hash its SHA-256, which {@code manifest.sha256} holds
 */
record Manifest(Path folder, Json.Obj json, String hash) {
  static final String NAME = "manifest.json";
  static final String HASH = "manifest.sha256";
  private static final String DAMAGED = "the checkpoint was changed or damaged, use another one";

  /** The version that Tern writes. */
  private static final long FORMAT = 2;

  /** The version that lists the SHA-256 of files. */
  private static final long FIRST_FORMAT = 1;

  /** Names of files: such a path leads to no place outside the folder. */
  private static final Pattern FILE =
      Pattern.compile("[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}(/[A-Za-z0-9_-][A-Za-z0-9._-]{0,99})?");

  /** Fields that describe this checkpoint, not the run. */
  private static final List<String> OWN = List.of("format", "previous", "shards", "files");

  /**
   * The checkpoint that a delta follows.
   *
   * @param name name of its folder, which lies beside this one
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

  /** Reads the manifest of a folder and checks every file that it names. */
  static Manifest read(Path folder) {
    Path file = folder.resolve(NAME);
    Json.Obj json = parse(file);
    if (!(json.fields().get("format") instanceof Json.Int(long format))
        || format < FIRST_FORMAT
        || format > FORMAT) {
      throw new DataException(
          "%s: got checkpoint format %s, expected %d or %d; use the version of Tern that wrote it"
              .formatted(file, json.fields().get("format"), FIRST_FORMAT, FORMAT));
    }
    String hash = text(folder.resolve(HASH)).strip();
    requireSame(file, "SHA-256", sha256(file), hash);
    Manifest manifest = new Manifest(folder, json, hash);
    manifest.requireFields();
    Json.Obj files = json.object("files");
    for (String name : files.fields().keySet()) {
      Path each = folder.resolve(name);
      requireFile(each);
      String what = format == FIRST_FORMAT ? "SHA-256" : "digest";
      requireSame(each, what, digest(each, format), files.text(name));
    }
    return manifest;
  }

  /** Checks the fields that every checkpoint needs. */
  private void requireFields() {
    try {
      previous();
      shards();
      RunFacts.state(json);
      Json.Obj files = json.object("files");
      for (String name : files.fields().keySet()) {
        requireName(name);
        files.text(name);
      }
    } catch (DataException | NumberFormatException e) {
      throw new DataException(file(NAME) + ": " + e.getMessage() + "; " + DAMAGED, e);
    }
  }

  /** Checks the name of a file before it becomes a path: whoever wrote it may be hostile. */
  private static void requireName(String name) {
    if (!FILE.matcher(name).matches()) {
      throw new DataException(
          "\"files\": got the name %s, expected the name of a file in the folder, such as tables/0.safetensors"
              .formatted(Shown.quoted(name)));
    }
  }

  /** The digest of each file {@code names} in {@code folder}, in order. */
  static Map<String, String> digests(Path folder, List<String> names) {
    Map<String, String> digests = new LinkedHashMap<>();
    names.forEach(name -> digests.put(name, digest(folder.resolve(name), FORMAT)));
    return digests;
  }

  /**
   * Writes the manifest of a folder whose other files are complete.
   *
   * @param digests digest of each file by its name
   * @param facts as {@link RunFacts#of}
   * @param previous the checkpoint that a delta follows
   * @param shards files of each table
   */
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
    facts.fields().forEach(json::put);
    previous.ifPresent(before ->
        json.put(
            "previous", Json.object().put("folder", before.name()).put("sha256", before.hash())));
    if (shards > 1) {
      json.put("shards", shards);
    }
    json.put("files", files);
    Files.writeString(folder.resolve(NAME), json.toString());
    Files.writeString(folder.resolve(HASH), sha256(folder.resolve(NAME)));
  }

  /** Throws if the folder holds another checkpoint by now, or none. */
  void requireUnchanged() {
    Path file = folder.resolve(HASH);
    if (!Files.exists(file) || !text(file).strip().equals(hash)) {
      throw new DataException(
          folder
              + ": got another checkpoint, or none, in the place of the one that was being read;"
              + " open it again");
    }
  }

  /** The checkpoint that this delta follows; empty for a full checkpoint. */
  Optional<Previous> previous() {
    if (!json.has("previous")) {
      return Optional.empty();
    }
    Json.Obj before = json.object("previous");
    return Optional.of(new Previous(before.text("folder"), before.text("sha256")));
  }

  /** Files of each table. */
  int shards() {
    long shards = json.has("shards") ? json.integer("shards") : 1;
    if (shards < 1 || shards > TableShard.MOST || Long.bitCount(shards) != 1) {
      throw new DataException(
          "\"shards\": got " + shards + ", expected a power of two of at most " + TableShard.MOST);
    }
    return (int) shards;
  }

  /** The fields about the run, without those about this checkpoint. */
  Json.Obj facts() {
    Json.Obj facts = Json.object();
    json.fields().forEach(facts::put);
    facts.fields().keySet().removeAll(OWN);
    return facts;
  }

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
          "%s: got an error reading it (%s), expected a file of a checkpoint; %s"
              .formatted(file, DataException.reason(e), DAMAGED),
          e);
    }
  }

  private static void requireFile(Path file) {
    if (!Files.isRegularFile(file)) { // A pipe or a device could be read without end.
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

  static String sha256(Path file) {
    return digest(file, FIRST_FORMAT);
  }

  /** What a manifest of a format lists for a file. */
  private static String digest(Path file, long format) {
    try {
      return format == FIRST_FORMAT ? FileDigest.sha256(file) : FileDigest.of(file);
    } catch (IOException e) {
      throw new UncheckedIOException(
          file + ": cannot be read: " + DataException.reason(e) + "; " + DAMAGED, e);
    }
  }
}
