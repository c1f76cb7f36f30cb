package dev.tern.cli.files;

import dev.tern.cli.config.ConfigException;
import dev.tern.cli.config.DataConfig;
import dev.tern.data.Schema;
import dev.tern.files.KeyType;
import dev.tern.files.SparseColumn;
import dev.tern.files.parquet.ParquetOptions;
import dev.tern.files.records.NormOptions;
import dev.tern.files.records.RawOptions;
import dev.tern.files.text.CsvOptions;
import dev.tern.files.text.LibsvmOptions;
import java.util.List;
import java.util.OptionalLong;

/** How the files that a configuration describes are written down, as readers are told. */
public final class FileOptions {
  private FileOptions() {}

  public static CsvOptions csv(DataConfig config) {
    DataConfig.Csv csv = config.csv();
    return new CsvOptions(
        csv.delimiter(), csv.columns(), csv.trim(), csv.quotes(), csv.escapes(), config.text());
  }

  public static LibsvmOptions libsvm(DataConfig config) {
    DataConfig.Libsvm libsvm = config.libsvm();
    return new LibsvmOptions(
        config.format().equals("libffm"),
        libsvm.names(),
        libsvm.skipUnnamed(),
        switch (libsvm.values()) {
          case "ignore" -> LibsvmOptions.Values.IGNORED;
          case "weight" -> LibsvmOptions.Values.WEIGHTS;
          default -> LibsvmOptions.Values.ONE;
        },
        config.text());
  }

  public static NormOptions norm(DataConfig config) {
    return switch (config.binary().keyType()) {
      case "u32" -> NormOptions.DETECT.withKeys(KeyType.U32);
      case "i64" -> NormOptions.DETECT.withKeys(KeyType.I64);
      case "i32" ->
          throw new ConfigException(
              "data.key_type: got i32 for Norm files, expected detect, u32 or i64; i32 is for"
                  + " Raw files");
      default -> NormOptions.DETECT;
    };
  }

  /** Raw files of {@code schema}, with labels. */
  public static RawOptions raw(DataConfig config, Schema schema) {
    RawOptions.Dense dense =
        switch (config.binary().denseType()) {
          case "int" -> RawOptions.Dense.INT;
          case "int-log" -> RawOptions.Dense.INT_LOG;
          default -> RawOptions.Dense.FLOAT;
        };
    KeyType keys =
        switch (config.binary().keyType()) {
          case "i32" -> KeyType.I32;
          case "i64" -> KeyType.I64;
          default -> KeyType.U32;
        };
    return new RawOptions(schema, config.binary().intLabels(), dense, keys, OptionalLong.empty());
  }

  public static ParquetOptions parquet(DataConfig config) {
    return ParquetOptions.DEFAULT.withLargestPage(config.parquet().largestPage());
  }

  /**
   * What a column is as a key: the ids that are configured, else its texts.
   *
   * @throws ConfigException where no row has such a column
   */
  public static SparseColumn key(DataConfig config, String column) {
    for (DataConfig.Sparse group : config.sparse()) {
      if (group.columns().contains(column)) {
        return new SparseColumn(column, group.values(), group.separator());
      }
    }
    return SparseColumn.text(place(config, column));
  }

  /** A column by whose times or numbers rows are split. */
  public static SparseColumn time(DataConfig config, String column) {
    return SparseColumn.time(place(config, column));
  }

  /** The name of {@code column} for readers of its format. */
  private static String place(DataConfig config, String column) {
    List<String> names = config.libsvm().names();
    boolean dense = config.dense().stream().anyMatch(group -> group.columns().contains(column));
    boolean slot = config.sparse().stream().anyMatch(group -> group.columns().contains(column));
    return switch (config.format()) {
      case "libffm" -> {
        requireField(names, column);
        int number = names.indexOf(column);
        String field = number < 0 ? column : Integer.toString(number);
        // A field that is a number is the feature of its own number.
        yield dense && column.indexOf(':') < 0 ? field + ":" + field : column;
      }
      case "libsvm" -> {
        if (!slot && !column.matches("qid|features|[0-9]+") && !names.contains(column)) {
          throw new ConfigException(
              "--column: got %s, expected qid, features or a feature's number or name (data.columns); give one"
                  .formatted(column));
        }
        yield column;
      }
      default -> column;
    };
  }

  /** Refuses what is neither a field nor a feature of one, {@code 3:17}. */
  private static void requireField(List<String> names, String column) {
    String field = column.replaceFirst(":[0-9]+$", "");
    if (!field.matches("[0-9]+") && !names.contains(field) && !names.contains(column)) {
      throw new ConfigException(
          "--column: got %s, expected a field's number or name (data.columns), or a feature such as 3:17; give one"
              .formatted(column));
    }
  }
}
