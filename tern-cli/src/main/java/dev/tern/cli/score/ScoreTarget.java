package dev.tern.cli.score;

import dev.tern.base.DataException;
import dev.tern.cli.choice.DataOptions;
import dev.tern.cli.choice.WriteOptions;
import dev.tern.cli.config.ConfigException;
import dev.tern.files.text.ScoreWriter;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/**
 * Where predictions go.
 *
 * @param file a file, or {@code -} for the standard output
 */
record ScoreTarget(Path file) {
  private static final List<String> STANDARD = List.of("-", "/dev/stdout", "/dev/fd/1");

  /** Whether the predictions go to the standard output, which then has nothing else. */
  boolean isStandard() {
    return STANDARD.contains(file.toString());
  }

  /** Refuses a name that says no text, and a file that may not be written. */
  void check(boolean overwrite) {
    String name = String.valueOf(file.getFileName()).toLowerCase(Locale.ROOT);
    if (isStandard()) {
      return;
    }
    if (!name.matches(".+\\.(csv|tsv|txt)(\\.gz)?")) {
      throw new ConfigException(
          file
              + ": got a name that does not end like the name of a text file, expected .csv, .tsv"
              + " or .txt, or these with .gz, or - for the standard output; give another --out");
    }
    WriteOptions.requireNew(file, overwrite);
  }

  /** Refuses a file that is one of {@code inputs}. */
  void requireNoInput(List<Path> inputs) {
    if (!isStandard()) {
      WriteOptions.requireNoInput(file, inputs);
    }
  }

  /** Begins to write: the kept {@code columns} stand before {@code scores}. */
  ScoreWriter open(List<String> columns, List<String> scores) {
    return isStandard()
        ? ScoreWriter.to(new FileOutputStream(FileDescriptor.out), ',', columns, scores)
        : ScoreWriter.create(file, DataOptions.isTabbed(file) ? '\t' : ',', columns, scores);
  }

  /** Whether {@code fault} says that nobody reads the standard output any more. */
  boolean isClosedBy(DataException fault) {
    return isStandard()
        && fault.getCause() instanceof IOException cause
        && String.valueOf(cause.getMessage()).contains("Broken pipe");
  }
}
