package dev.tern.spark;

import dev.tern.checkpoint.Checkpoint;
import dev.tern.predict.Predictor;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FileUtil;

/** Checkpoints as files of this machine, and the predictors of this process. */
final class LocalCheckpoint {
  /** Names the content of a checkpoint: the hash of its manifest. */
  private static final String HASH = "manifest.sha256";

  /** By the path of the checkpoint and its content; they live as long as the process. */
  private static final Map<String, Predictor> OPEN = new ConcurrentHashMap<>();

  private LocalCheckpoint() {}

  /** The predictor of a checkpoint, one for all tasks of this process. */
  static Predictor predictor(String path) {
    return OPEN.computeIfAbsent(path + " " + hash(path), _ -> Predictor.open(local(path)));
  }

  /** The content may be another at the same path, as after a run that began anew. */
  private static String hash(String path) {
    var file = new org.apache.hadoop.fs.Path(path, HASH);
    try (InputStream content = file.getFileSystem(new Configuration()).open(file)) {
      return new String(content.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(
          "model: got no checkpoint at %s, expected one; a run removes older ones, so save models that you keep"
              .formatted(path),
          e);
    }
  }

  /** A copy of a checkpoint as one full one, in a new folder of this machine. */
  static Path whole(String path) {
    try {
      Path copy = Files.createTempDirectory("tern-model").resolve("checkpoint");
      Checkpoint.openLatest(local(path)).compact(copy);
      return copy;
    } catch (IOException e) {
      throw new UncheckedIOException("model: %s cannot be copied".formatted(path), e);
    }
  }

  /** The folder of a path; one of another file system is copied here first. */
  private static Path local(String path) {
    String scheme =
        path.matches("[a-zA-Z][a-zA-Z0-9+.-]+:.*") ? URI.create(path).getScheme() : "file";
    if (scheme.equals("file")) {
      return Path.of(path.replaceFirst("^file:(//)?", ""));
    }
    try {
      Path copy = Files.createTempDirectory("tern-model").resolve("checkpoint");
      var source = new org.apache.hadoop.fs.Path(path);
      Configuration hadoop = new Configuration();
      FileUtil.copy(
          source.getFileSystem(hadoop),
          source,
          FileSystem.getLocal(hadoop),
          new org.apache.hadoop.fs.Path(copy.toUri()),
          false,
          hadoop);
      return copy;
    } catch (IOException e) {
      throw new UncheckedIOException("model: %s cannot be read".formatted(path), e);
    }
  }
}
