package dev.tern.spark;

import dev.tern.checkpoint.Checkpoint;
import dev.tern.predict.Predictor;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FileUtil;

/** Checkpoints as files of this machine, and the predictors of this process. */
final class LocalCheckpoint {
  /** Names the content of a checkpoint: the hash of its manifest. */
  private static final String HASH = "manifest.sha256";

  private static final Pattern SCHEME = Pattern.compile("([a-zA-Z][a-zA-Z0-9+.-]+):");

  /** By the path of the checkpoint and its content; they live as long as the process. */
  private static final Map<String, Predictor> OPEN = new ConcurrentHashMap<>();

  private LocalCheckpoint() {}

  /** The predictor of a checkpoint, one for all tasks of this process. */
  static Predictor predictor(String path, Configuration hadoop) {
    return OPEN.computeIfAbsent(
        path + " " + hash(path, hadoop), _ -> Predictor.open(local(path, hadoop)));
  }

  /** The content may be another at the same path, as after a run that began anew. */
  private static String hash(String path, Configuration hadoop) {
    String whole = scheme(path).isPresent() ? path : "file:" + path;
    var file = new org.apache.hadoop.fs.Path(whole, HASH);
    try (InputStream content = file.getFileSystem(hadoop).open(file)) {
      return new String(content.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(
          "model: got no checkpoint at %s, expected one; a run removes older ones, so save models that you keep"
              .formatted(path),
          e);
    }
  }

  /** A copy of a checkpoint as one full one, in a new folder of this machine. */
  static Path whole(String path, Configuration hadoop) {
    try {
      Path copy = Files.createTempDirectory("tern-model").resolve("checkpoint");
      Checkpoint.openLatest(local(path, hadoop)).compact(copy);
      return copy;
    } catch (IOException e) {
      throw new UncheckedIOException("model: %s cannot be copied".formatted(path), e);
    }
  }

  /** The scheme of a path as Hadoop writes it, such as hdfs in {@code hdfs://cluster/run}. */
  static Optional<String> scheme(String path) {
    Matcher matcher = SCHEME.matcher(path);
    return matcher.lookingAt() ? Optional.of(matcher.group(1)) : Optional.empty();
  }

  /** The folder of a path without a scheme, or of files. */
  static Path ofFiles(String path) {
    return Path.of(path.replaceFirst("^file:(//(?=/))?", ""));
  }

  /** The folder of a path; one of another file system is copied here first. */
  private static Path local(String path, Configuration hadoop) {
    if (scheme(path).orElse("file").equals("file")) {
      return ofFiles(path);
    }
    try {
      Path copy = Files.createTempDirectory("tern-model").resolve("checkpoint");
      var source = new org.apache.hadoop.fs.Path(path);
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
