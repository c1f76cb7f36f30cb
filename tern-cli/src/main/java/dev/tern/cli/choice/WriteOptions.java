package dev.tern.cli.choice;

import dev.tern.base.DataException;
import dev.tern.cli.config.ConfigException;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.files.DataWriter;
import dev.tern.files.KeyType;
import dev.tern.files.parquet.ParquetLayout;
import dev.tern.files.parquet.ParquetWriter;
import dev.tern.files.records.NormCheck;
import dev.tern.files.records.NormWriter;
import dev.tern.files.records.RawOptions;
import dev.tern.files.records.RawWriter;
import dev.tern.files.text.CsvOptions;
import dev.tern.files.text.CsvWriter;
import dev.tern.files.text.LibsvmOptions;
import dev.tern.files.text.LibsvmWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import picocli.CommandLine.Option;

/** Command-line arguments for the format of written files. */
public final class WriteOptions {
  private static final List<String> FORMATS =
      List.of("csv", "libsvm", "libffm", "norm", "raw", "parquet");

  @Option(
      names = "--keys",
      paramLabel = "TYPE",
      description = "Type of ids in Norm, Raw and Parquet: u32, i32 (not Norm) or i64 (default).")
  private Optional<String> keys = Optional.empty();

  @Option(
      names = "--check",
      paramLabel = "CHECK",
      description = "Checksums in Norm: none or sum (default).")
  private Optional<String> check = Optional.empty();

  @Option(
      names = "--hugectr",
      description =
          "Parquet as HugeCTR reads it: no nulls, _metadata.json and _file_list.txt beside it.")
  private boolean hugeCtr;

  @Option(names = "--overwrite", description = "Replace files that are there already.")
  private boolean overwrite;

  /** Opens a writer; {@code file} appears once the writer is finished. */
  public DataWriter create(Path file, String format, Schema schema) {
    check(file, format);
    requireWritable(file, format, schema);
    return switch (format) {
      case "csv" ->
          CsvWriter.create(
              file, schema, DataOptions.isTabbed(file) ? CsvOptions.tsv() : CsvOptions.csv());
      case "libsvm" -> libsvm(file, schema, LibsvmOptions.libsvm());
      case "libffm" -> libsvm(file, schema, LibsvmOptions.libffm());
      case "norm" -> NormWriter.create(file, schema, normCheck(), normKeys());
      case "raw" -> RawWriter.create(file, RawOptions.floats(oneHot(schema)).withKeys(keyType()));
      case "parquet" -> ParquetWriter.create(file, schema, layout());
      default -> throw new AssertionError(format);
    };
  }

  private static void requireWritable(Path file, String format, Schema schema) {
    for (Slot slot : schema.slots()) {
      if (slot.weighted() && !List.of("libsvm", "libffm").contains(format)) {
        throw new ConfigException(
            "%s: got values of ids as weights (data.id_values) for %s, expected libsvm or libffm, which hold them; write one of these, or give data.id_values: ignore"
                .formatted(file, format));
      }
    }
  }

  private static DataWriter libsvm(Path file, Schema schema, LibsvmOptions options) {
    try {
      return LibsvmWriter.create(file, schema, options.withNamesOf(schema));
    } catch (IllegalArgumentException e) {
      throw new ConfigException(file + ": " + e.getMessage(), e);
    }
  }

  /** Refuses bad options, and a {@code file} that exists and may not be replaced. */
  public void check(Path file, String format) {
    keyType();
    normCheck();
    if (!FORMATS.contains(format)) {
      throw new ConfigException(
          "%s: got the format %s, expected csv, libsvm, libffm, norm, raw or parquet; give one of them"
              .formatted(file, format));
    }
    requireNew(file, overwrite);
    boolean text = List.of("csv", "libsvm", "libffm").contains(format);
    String name = String.valueOf(file.getFileName()).toLowerCase(Locale.ROOT);
    if (name.endsWith(".gz") && !text) {
      throw new ConfigException(
          file
              + ": got the name of a gzip file, expected one without .gz, as of the formats only"
              + " text is compressed; give another --out");
    }
  }

  /** Refuses a {@code file} that exists and may not be replaced. */
  public static void requireNew(Path file, boolean overwrite) {
    if (Files.exists(file, LinkOption.NOFOLLOW_LINKS) && !overwrite) {
      throw new ConfigException(
          file
              + ": got a file that is there already, expected a new one; give --overwrite to"
              + " replace it, or another --out");
    }
  }

  /** Refuses a {@code file} that is one of {@code inputs} or inside one, under any name. */
  public static void requireNoInput(Path file, List<Path> inputs) {
    try {
      for (Path input : Files.exists(file) ? inputs : List.<Path>of()) {
        if (file.toRealPath().startsWith(input.toRealPath()) || Files.isSameFile(file, input)) {
          throw new ConfigException(
              file
                  + ": got a file to write that is an input, expected another; give another --out");
        }
      }
    } catch (IOException e) {
      throw new ConfigException(
          file
              + ": got an error looking at it ("
              + DataException.reason(e)
              + "), expected a file to write; give another --out",
          e);
    }
  }

  /** Whether what files of {@code format} are like was asked for. */
  public boolean asksFor(String format) {
    return switch (format) {
      case "norm" -> keys.isPresent() || check.isPresent();
      case "raw" -> keys.isPresent();
      case "parquet" -> keys.isPresent() || hugeCtr;
      default -> false;
    };
  }

  /** Type of the ids. */
  public KeyType keyType() {
    return constant(KeyType.class, "--keys", keys.orElse("i64"));
  }

  /** Whether Parquet is written as HugeCTR reads it. */
  public boolean isHugeCtr() {
    return hugeCtr;
  }

  private KeyType normKeys() {
    if (keyType() == KeyType.I32) {
      throw new ConfigException(
          "--keys: got i32 for Norm, expected u32 or i64; give one of them, or write Raw");
    }
    return keyType();
  }

  private NormCheck normCheck() {
    return constant(NormCheck.class, "--check", check.orElse("sum"));
  }

  private ParquetLayout layout() {
    ParquetLayout layout = ParquetLayout.DEFAULT.withKeys(keyType());
    return hugeCtr ? layout.asHugeCtr() : layout;
  }

  private static <E extends Enum<E>> E constant(Class<E> type, String option, String text) {
    List<String> names =
        List.of(type.getEnumConstants()).stream()
            .map(constant -> constant.name().toLowerCase(Locale.ROOT))
            .toList();
    int index = names.indexOf(text);
    if (index < 0) {
      throw new ConfigException(
          option
              + ": got "
              + text
              + ", expected one of "
              + String.join(", ", names)
              + "; give one of them");
    }
    return type.getEnumConstants()[index];
  }

  /** Raw files hold a fixed number of ids in each row: slots without a fixed number get one. */
  private static Schema oneHot(Schema schema) {
    List<Slot> slots =
        schema.slots().stream()
            .map(slot -> slot.hotness() == 0 ? slot.withHotness(1) : slot)
            .toList();
    return new Schema(schema.labels(), schema.dense(), slots);
  }
}
