package dev.tern.cli.convert;

import dev.tern.cli.config.ConfigException;
import dev.tern.cli.config.DataConfig;
import dev.tern.cli.files.ColumnChoice;
import dev.tern.cli.files.FileOptions;
import dev.tern.cli.files.RecordFiles;
import dev.tern.data.DataReader;
import dev.tern.data.Reading;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.TextDictionary;
import dev.tern.files.ReadPolicy;
import dev.tern.files.parquet.ParquetReader;
import dev.tern.files.text.CsvReader;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/** Rows of files for a model that is being imported. */
final class ReferenceRows {
  private ReferenceRows() {}

  /** Opens files, read as the encoder says. */
  static DataReader open(FeatureEncoder encoder, List<Path> files) {
    String reading = encoder.reading().orElse(Reading.PLAIN).settings();
    DataConfig config = DataConfig.saved(reading, "--reference", List.of());
    ColumnChoice choice = ColumnChoice.of(config).forModel(encoder, Set.of());
    ReadPolicy policy = ReadPolicy.STRICT.withoutLabels();
    TextDictionary none = TextDictionary.none();
    return switch (config.format()) {
      case "norm" -> new RecordFiles(config, choice, policy).norm(files);
      case "raw" -> new RecordFiles(config, choice, policy).raw(files);
      case "csv" -> CsvReader.open(files, FileOptions.csv(config), choice.columns(), policy, none);
      case "parquet" ->
          ParquetReader.open(files, FileOptions.parquet(config), choice.columns(), policy, none);
      default ->
          throw new ConfigException(
              "--reference: got files of the format %s, expected norm, raw, csv or parquet"
                  .formatted(config.format()));
    };
  }
}
