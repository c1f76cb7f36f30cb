package dev.tern.bench;

import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.files.Columns;
import dev.tern.files.DataWriter;
import dev.tern.files.KeyType;
import dev.tern.files.ReadPolicy;
import dev.tern.files.parquet.ParquetLayout;
import dev.tern.files.parquet.ParquetOptions;
import dev.tern.files.parquet.ParquetReader;
import dev.tern.files.parquet.ParquetWriter;
import dev.tern.files.records.NormCheck;
import dev.tern.files.records.NormOptions;
import dev.tern.files.records.NormReader;
import dev.tern.files.records.NormWriter;
import dev.tern.files.records.RawOptions;
import dev.tern.files.records.RawReader;
import dev.tern.files.records.RawWriter;
import dev.tern.files.text.CsvOptions;
import dev.tern.files.text.CsvReader;
import dev.tern.files.text.CsvWriter;
import dev.tern.files.text.LibsvmOptions;
import dev.tern.files.text.LibsvmReader;
import dev.tern.files.text.LibsvmWriter;
import java.nio.file.Path;
import java.util.List;

/** The formats that Tern reads, each with how it is written and read by default. */
enum DataFormat {
  /** HugeCTR Raw: float labels and dense numbers, keys of 4 bytes. */
  RAW("raw"),
  /** HugeCTR Norm without checksums, keys of 4 bytes. */
  NORM_NONE("norm none"),
  /** HugeCTR Norm with checksums, keys of 4 bytes. */
  NORM_SUM("norm sum"),
  /** Dictionaries and Snappy. */
  PARQUET("parquet"),
  /** Commas, names in the first line. */
  CSV("csv"),
  /** A field for each column. */
  LIBFFM("libffm");

  private final String title;

  DataFormat(String title) {
    this.title = title;
  }

  String title() {
    return title;
  }

  /** Where the file of this format lies in {@code folder}. */
  Path file(Path folder) {
    return folder.resolve(title.replace(' ', '-') + "." + (this == PARQUET ? "parquet" : "data"));
  }

  DataWriter writer(Path file, Schema schema) {
    return switch (this) {
      case RAW -> RawWriter.create(file, RawOptions.floats(schema));
      case NORM_NONE -> NormWriter.create(file, schema, NormCheck.NONE, KeyType.U32);
      case NORM_SUM -> NormWriter.create(file, schema, NormCheck.SUM, KeyType.U32);
      case PARQUET -> ParquetWriter.create(file, schema, ParquetLayout.DEFAULT);
      case CSV -> CsvWriter.create(file, schema, CsvOptions.csv());
      case LIBFFM -> LibsvmWriter.create(file, schema, LibsvmOptions.libffm().withNamesOf(schema));
    };
  }

  DataReader reader(Path file, Schema schema, ReadPolicy policy) {
    List<Path> files = List.of(file);
    return switch (this) {
      case RAW -> RawReader.open(files, RawOptions.floats(schema), policy);
      case NORM_NONE, NORM_SUM ->
          NormReader.open(
              files, NormOptions.DETECT.withKeys(KeyType.U32).withSchema(schema), policy);
      case PARQUET -> ParquetReader.open(files, ParquetOptions.DEFAULT, Columns.of(schema), policy);
      case CSV -> CsvReader.open(files, CsvOptions.csv(), Columns.of(schema), policy);
      case LIBFFM ->
          LibsvmReader.open(
              files, LibsvmOptions.libffm().withNamesOf(schema), Columns.of(schema), policy);
    };
  }
}
