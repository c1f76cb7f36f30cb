package dev.tern.cli.choice;

import dev.tern.base.DataException;
import dev.tern.cli.config.ConfigException;
import dev.tern.cli.config.DataConfig;
import dev.tern.cli.config.YamlText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Command-line arguments for the files to read and their format. */
public final class DataOptions {
  /** File formats, each with the name endings that belong to it. */
  private static final Map<String, List<String>> FORMATS =
      Map.of(
          "csv", List.of("csv", "tsv"),
          "libsvm", List.of("libsvm", "svm", "svmlight"),
          "libffm", List.of("libffm", "ffm"),
          "norm", List.of("norm"),
          "raw", List.of("raw"),
          "parquet", List.of("parquet"));

  @Parameters(arity = "1..*", paramLabel = "DATA", description = "Files; * and ? match names.")
  private List<Path> files = List.of();

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description = "Configuration whose section data describes the files.")
  private Optional<Path> config = Optional.empty();

  @Option(
      names = "--format",
      paramLabel = "FORMAT",
      description =
          "csv, libsvm, libffm, norm, raw or parquet; else by the first file's name or bytes.")
  private Optional<String> format = Optional.empty();

  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE",
      description = "A key of the section data, as in --set data.label.column=click.")
  private List<String> overrides = List.of();

  /** The files and how to read them: {@code config.train()} are the files. */
  public DataConfig resolve() {
    List<String> all = new ArrayList<>();
    if (format.isPresent()) {
      all.add("data.format=" + format.get());
    }
    if (config.isEmpty()) {
      Optional<FormatGuess> guess =
          format.isPresent() ? Optional.empty() : Optional.of(FormatGuess.of(files.getFirst()));
      guess.ifPresent(found -> all.add("data.format=" + found.format()));
      if (guess.map(FormatGuess::tabs).orElseGet(() -> isTabbed(files.getFirst()))) {
        all.add("data.delimiter=tab");
      }
    }
    all.addAll(overrides);
    all.add("data.train=" + list(files));
    try {
      String yaml = config.isPresent() ? Files.readString(config.get()) : "";
      return DataConfig.parse(yaml, config.map(Path::toString).orElse("data"), all);
    } catch (IOException e) {
      throw new ConfigException(
          config.get()
              + ": got an error reading it ("
              + DataException.reason(e)
              + "), expected a configuration; check the path",
          e);
    }
  }

  /** Whether a configuration describes the files. */
  public boolean isConfigured() {
    return config.isPresent();
  }

  /** {@code files} as the value of a key. */
  public static String list(List<Path> files) {
    return files.stream()
        .map(file -> YamlText.quote(file.toString()))
        .collect(Collectors.joining(", ", "[", "]"));
  }

  /** The format that a file's name ends with. */
  public static String formatOf(Path file, String option) {
    return FORMATS.entrySet().stream()
        .filter(format -> format.getValue().contains(ending(file)))
        .map(Map.Entry::getKey)
        .findFirst()
        .orElseThrow(() ->
            new ConfigException(
                file
                    + ": got a name that tells no format, expected .csv, .tsv, .libsvm, .libffm,"
                    + " .norm, .raw or .parquet; give the format by "
                    + option));
  }

  /** Whether a file's name ends with a known format. */
  public static boolean tellsFormat(Path file) {
    return FORMATS.values().stream().anyMatch(endings -> endings.contains(ending(file)));
  }

  /** Whether a file's name says that TABs separate its fields. */
  public static boolean isTabbed(Path file) {
    return ending(file).equals("tsv");
  }

  private static String ending(Path file) {
    String name = String.valueOf(file.getFileName()).toLowerCase(Locale.ROOT);
    String plain = name.endsWith(".gz") ? name.substring(0, name.length() - 3) : name;
    return plain.substring(plain.lastIndexOf('.') + 1);
  }
}
