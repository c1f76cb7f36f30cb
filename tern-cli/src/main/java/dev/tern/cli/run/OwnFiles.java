package dev.tern.cli.run;

import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Tells by name which files of a run's folder Tern wrote. */
record OwnFiles(Path dir) {
  static final String CONFIG = "config.yaml";
  static final String METRICS = "metrics.jsonl";
  static final String REPORT = "report.html";
  static final String SCHEDULE = "schedule.json";
  static final String CHECKPOINTS = "checkpoints";
  static final String PREDICTIONS = "predictions.csv";
  static final String LOCK = ".lock";

  private static final Pattern CHECKPOINT =
      Pattern.compile("(step-[0-9]{1,18}(\\.delta)?|best)(\\.(writing|replaced|removed))?");
  private static final Pattern IN_CHECKPOINT =
      Pattern.compile(
          "|tables|manifest\\.(json|sha256)|encoders\\.json|tables/[0-9]+(\\.[0-9]+)?\\.safetensors"
              + "|(dense|optimizer)\\.safetensors");

  /** The temporary name of a file while it is written. */
  static Path part(Path file) {
    return file.resolveSibling("." + file.getFileName() + ".part");
  }

  /**
   * A file in a folder without a run, other than the ones that a killed run leaves at its start.
   */
  Optional<Path> anything() throws IOException {
    if (!Files.isDirectory(dir)) {
      return Optional.empty();
    }
    Path begun = part(dir.resolve(CONFIG));
    try (Stream<Path> inside = Files.list(dir)) {
      return inside
          .filter(path -> !path.endsWith(LOCK) && !path.equals(begun))
          .min(Comparator.naturalOrder());
    }
  }

  /** A file among the checkpoints that Tern did not write. */
  Optional<Path> strange() throws IOException {
    for (Path checkpoint : checkpoints()) {
      try (Stream<Path> below = Files.walk(checkpoint)) {
        Optional<Path> strange = below.filter(path -> !isOf(checkpoint, path)).findFirst();
        if (strange.isPresent()) {
          return strange;
        }
      }
    }
    return Optional.empty();
  }

  private static boolean isOf(Path checkpoint, Path path) {
    String name = checkpoint.relativize(path).toString().replace('\\', '/');
    boolean folder = name.isEmpty() || name.equals("tables");
    return IN_CHECKPOINT.matcher(name).matches()
        && (folder
            ? Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)
            : Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS));
  }

  private List<Path> checkpoints() throws IOException {
    Path folder = dir.resolve(CHECKPOINTS);
    List<Path> checkpoints = new ArrayList<>();
    if (Files.isDirectory(folder)) {
      try (DirectoryStream<Path> children = Files.newDirectoryStream(folder)) {
        for (Path child : children) {
          if (CHECKPOINT.matcher(String.valueOf(child.getFileName())).matches()) {
            checkpoints.add(child);
          }
        }
      }
    }
    return checkpoints;
  }

  /**
   * Removes a run's files, its configuration last: as long as that stands the folder is known as a
   * run's.
   */
  void delete(RunFolder.Maker maker) throws IOException {
    for (Path checkpoint : checkpoints()) {
      try (Stream<Path> below = Files.walk(checkpoint)) {
        for (Path path : below.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(path);
        }
      }
    }
    try {
      Files.deleteIfExists(dir.resolve(CHECKPOINTS));
    } catch (DirectoryNotEmptyException _) {
      // A user's own files are there.
    }
    if (maker == RunFolder.Maker.QUICKSTART) {
      Files.deleteIfExists(dir.resolve(PREDICTIONS));
    }
    for (String name : List.of(METRICS, REPORT, SCHEDULE, CONFIG)) {
      Files.deleteIfExists(part(dir.resolve(name)));
      Files.deleteIfExists(dir.resolve(name));
    }
  }
}
