package dev.tern.cli.run;

import dev.tern.cli.config.YamlText;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The first lines of a run's {@code config.yaml}, as YAML comments: they say that Tern wrote it,
 * and on which files. A hash of all lines below the first shows that nobody changed it since.
 *
 * @param maker the command that began the run
 * @param files the training files, a line of text each
 * @param evaluation the evaluation files, a line of text each; none in marks of earlier builds
 */
record Mark(RunFolder.Maker maker, List<String> files, List<String> evaluation) {
  private static final Pattern FIRST =
      Pattern.compile(
          "# Written by tern (train|quickstart); its mark \\(SHA-256 of the rest\\):"
              + " ([0-9a-f]{64})");
  private static final String FILE = "# data.train: ";
  private static final String EVALUATION = "# data.eval: ";

  /** A run that {@code maker} begins on these files. */
  static Mark of(RunFolder.Maker maker, RunFolder.Inputs inputs) {
    return new Mark(
        maker,
        inputs.training().stream().map(Mark::file).toList(),
        inputs.evaluation().stream().map(Mark::file).toList());
  }

  /** The mark of {@code config}; empty where it is missing, or is not as Tern wrote it. */
  static Optional<Mark> read(Path config) {
    String text;
    try {
      text = Files.isRegularFile(config) ? Files.readString(config) : "";
    } catch (IOException _) {
      return Optional.empty();
    }
    int end = text.indexOf('\n');
    Matcher first = FIRST.matcher(end < 0 ? text : text.substring(0, end));
    if (!first.matches() || !hash(text.substring(end + 1)).equals(first.group(2))) {
      return Optional.empty();
    }
    return Optional.of(
        new Mark(
            RunFolder.Maker.valueOf(first.group(1).toUpperCase(Locale.ROOT)),
            lines(text, FILE),
            lines(text, EVALUATION)));
  }

  private static List<String> lines(String text, String start) {
    return text.lines()
        .skip(1)
        .takeWhile(line -> line.startsWith(FILE) || line.startsWith(EVALUATION))
        .filter(line -> line.startsWith(start))
        .map(line -> line.substring(start.length()))
        .toList();
  }

  /** {@code yaml} under this mark. */
  String over(String yaml) {
    StringBuilder rest = new StringBuilder();
    files.forEach(file -> rest.append(FILE).append(file).append('\n'));
    evaluation.forEach(file -> rest.append(EVALUATION).append(file).append('\n'));
    rest.append(yaml);
    return "# Written by tern "
        + maker.name().toLowerCase(Locale.ROOT)
        + "; its mark (SHA-256 of the rest): "
        + hash(rest.toString())
        + "\n"
        + rest;
  }

  /** As {@link #file} for a file that may be gone since. */
  static String earlierFile(Path path) {
    return Files.exists(path) ? file(path) : "no bytes, " + YamlText.quote(path.toString());
  }

  /** A file in a mark; a folder has the bytes of all files in it, however deep. */
  static String file(Path path) {
    return line(path, Integer.MAX_VALUE);
  }

  private static String line(Path path, int depth) {
    try {
      return bytes(path, depth) + " bytes, " + YamlText.quote(path.toString());
    } catch (IOException e) {
      throw RunFolder.unreadable(path, e);
    }
  }

  /**
   * Whether {@code paths} are the files, by the bytes of what lies in a folder however deep, or of
   * what lies right in it, as marks had them at first.
   */
  boolean isOf(List<Path> paths) {
    return paths.stream().map(Mark::file).toList().equals(files)
        || paths.stream().map(path -> line(path, 1)).toList().equals(files);
  }

  private static long bytes(Path path, int depth) throws IOException {
    if (!Files.isDirectory(path)) {
      return Files.size(path);
    }
    long sum = 0;
    try (Stream<Path> inside = Files.walk(path, depth, FileVisitOption.FOLLOW_LINKS)) {
      for (Path file : inside.filter(Files::isRegularFile).toList()) {
        sum += Files.size(file);
      }
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
    return sum;
  }

  private static String hash(String text) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      return HexFormat.of().formatHex(digest.digest(text.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("SHA-256: got a JDK without it, expected any JDK", e);
    }
  }
}
