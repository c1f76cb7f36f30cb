package dev.tern.cli.files;

import dev.tern.cli.config.ConfigException;
import dev.tern.cli.config.DataConfig;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.files.ReadPolicy;
import dev.tern.files.records.NormOptions;
import dev.tern.files.records.NormReader;
import dev.tern.files.records.RawOptions;
import dev.tern.files.records.RawReader;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Files of binary records: HugeCTR's Norm and Raw.
 *
 * @param choice the columns that are read
 * @param policy what becomes of labels and of bad records
 */
public record RecordFiles(DataConfig config, ColumnChoice choice, ReadPolicy policy) {
  /** The rows of Norm files. */
  public DataReader norm(List<Path> files) {
    return NormReader.open(files, normOptions(), policy);
  }

  /** How Norm files are read. */
  NormOptions normOptions() {
    boolean named =
        choice.areNamed() || choice.model().isPresent() && !hasNormNames(choice.schema(0));
    NormOptions options = FileOptions.norm(config);
    return named ? options.withSchema(choice.schema(0)) : options;
  }

  /** Whether columns have the names that Norm files give them, which then may have more labels. */
  private static boolean hasNormNames(Schema schema) {
    return schema.dense().equals(numbered("dense", schema.denseDim()))
        && schema.slotNames().equals(numbered("slot", schema.slotCount()));
  }

  private static List<String> numbered(String name, int count) {
    return IntStream.range(0, count).mapToObj(i -> name + i).toList();
  }

  /** The rows of Raw files. */
  public DataReader raw(List<Path> files) {
    RawOptions options = rawOptions();
    Optional<Boolean> labelled = config.binary().labelled();
    if (!policy.labels().equals(ReadPolicy.Labels.NONE) || labelled.isEmpty()) {
      return RawReader.open(files, options, policy);
    }
    return RawReader.openAs(files, labelled.get() ? options : options.withoutLabels(), policy);
  }

  /** How Raw files are read. */
  RawOptions rawOptions() {
    if (!choice.areNamed() && choice.model().isEmpty()) {
      throw new ConfigException(
          "data.sparse.columns: got no names for Raw files, which do not say what they hold,"
              + " expected data.dense.columns and data.sparse.columns; add them, as in C1..C26");
    }
    return FileOptions.raw(config, choice.schema(1));
  }
}
