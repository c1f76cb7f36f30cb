package dev.tern.cli.choice;

import dev.tern.cli.config.ConfigException;
import dev.tern.internal.files.FileKind;
import dev.tern.internal.files.InputFiles;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;

/**
 * The format of files to read. The ending of a name tells it, in a folder the ending of the first
 * file that has one; else the first bytes do.
 *
 * @param format a choice of {@code data.format}
 * @param tabs whether TABs separate fields of CSV
 */
record FormatGuess(String format, boolean tabs) {
  private static final int HEAD = 1 << 13;
  private static final Pattern LIBFFM =
      Pattern.compile("[^\\s:,]+(\\s+\\d+:\\d+:[^\\s:,]+)+\\s*(#.*)?");
  private static final Pattern LIBSVM =
      Pattern.compile("[^\\s:,]+(\\s+(qid|\\d+):[^\\s:,]+)+\\s*(#.*)?");

  static FormatGuess of(Path path) {
    if (DataOptions.tellsFormat(path)) {
      return named(path);
    }
    if (!Files.exists(path)
        && InputFiles.of(List.of(path), InputFiles.Kind.RECORDS).contains(path)) {
      throw unknown(path);
    }
    List<Path> files = InputFiles.of(List.of(path), InputFiles.Kind.TEXT);
    Optional<Path> told = files.stream().filter(DataOptions::tellsFormat).findFirst();
    return told.map(FormatGuess::named).orElseGet(() -> byBytes(files.getFirst()));
  }

  private static FormatGuess named(Path file) {
    return new FormatGuess(DataOptions.formatOf(file, "--format"), DataOptions.isTabbed(file));
  }

  private static FormatGuess byBytes(Path file) {
    if (!Files.isRegularFile(file)) {
      throw unknown(file); // what is read of a pipe is gone
    }
    FileKind kind = FileKind.of(file);
    return switch (kind) {
      case PARQUET -> new FormatGuess("parquet", false);
      case NORM -> new FormatGuess("norm", false);
      case GZIP, OTHER -> byFirstLine(file, firstLine(file, kind == FileKind.GZIP));
      default -> throw kind.refused(file, "CSV, LIBSVM, LIBFFM, Norm, Raw or Parquet");
    };
  }

  private static FormatGuess byFirstLine(Path file, String line) {
    if (LIBFFM.matcher(line).matches()) {
      return new FormatGuess("libffm", false);
    }
    if (LIBSVM.matcher(line).matches()) {
      return new FormatGuess("libsvm", false);
    }
    if (line.indexOf('\t') >= 0 || line.indexOf(',') >= 0) {
      return new FormatGuess("csv", line.indexOf('\t') >= 0);
    }
    throw unknown(file);
  }

  /** The first line that is neither blank nor a comment; empty where the file has none. */
  private static String firstLine(Path file, boolean gzip) {
    try (InputStream raw = Files.newInputStream(file);
        InputStream in = gzip ? new GZIPInputStream(raw) : raw) {
      String text = new String(in.readNBytes(HEAD), StandardCharsets.UTF_8);
      return text.lines()
          .filter(line -> !line.isBlank() && !line.startsWith("#"))
          .findFirst()
          .orElse("");
    } catch (IOException e) {
      return ""; // reading it says what is wrong
    }
  }

  private static ConfigException unknown(Path file) {
    return new ConfigException(
        file
            + ": got a name that tells no format, expected .csv, .tsv, .libsvm, .libffm, .norm,"
            + " .raw or .parquet, or a file whose first bytes tell it; give --format, and"
            + " data.delimiter for CSV without commas");
  }
}
