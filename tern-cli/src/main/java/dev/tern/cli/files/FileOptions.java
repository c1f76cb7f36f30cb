package dev.tern.cli.files;

import dev.tern.cli.config.DataConfig;
import dev.tern.files.parquet.ParquetOptions;
import dev.tern.files.text.CsvOptions;
import dev.tern.files.text.LibsvmOptions;

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

  public static ParquetOptions parquet(DataConfig config) {
    return ParquetOptions.DEFAULT.withLargestPage(config.parquet().largestPage());
  }
}
