package dev.tern.cli;

import dev.tern.cli.config.ConfigException;
import dev.tern.cli.config.DataConfig;
import dev.tern.cli.run.Format;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.FeatureEncoder;
import dev.tern.data.Readers;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.files.CsvOptions;
import dev.tern.files.CsvWriter;
import dev.tern.files.DataWriter;
import dev.tern.files.KeyType;
import dev.tern.files.NormCheck;
import dev.tern.files.NormWriter;
import dev.tern.files.RawOptions;
import dev.tern.files.RawWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tern data convert}: the same rows in another format. */
@Command(
    name = "convert",
    description = {
      "Writes the rows of files in another format.",
      "Text becomes its 64-bit hash, or with --encode its number in a vocabulary."
    },
    mixinStandardHelpOptions = true)
final class ConvertCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private DataOptions data = new DataOptions();

  @Option(names = "--out", required = true, paramLabel = "FILE", description = "File to write.")
  private Path out = Path.of("");

  @Option(
      names = "--to",
      paramLabel = "FORMAT",
      description = "csv, norm, raw or parquet; else by the file's name.")
  private Optional<String> to = Optional.empty();

  @Option(
      names = "--encode",
      description = "Apply data.dense and data.sparse, fitted on these rows, before writing.")
  private boolean encode;

  @Option(
      names = "--keys",
      paramLabel = "TYPE",
      description = "Type of ids in Norm and Raw: u32, i32 (Raw) or i64 (default).")
  private String keys = "i64";

  @Option(
      names = "--check",
      paramLabel = "CHECK",
      description = "Checksums in Norm: none or sum (default).")
  private String check = "sum";

  @Override
  public Integer call() {
    DataConfig config = data.resolve();
    try (Progress progress = Progress.of(spec.commandLine().getErr());
        DataReader reader = open(config, progress)) {
      long rows = 0;
      progress.begin("convert", "rows", 0, reader.rowCount().orElse(0));
      try (DataWriter writer = writer(reader.schema())) {
        for (Optional<Batch> next = reader.next(); next.isPresent(); next = reader.next()) {
          try (Batch batch = next.get()) {
            writer.write(batch);
            rows += batch.size();
          }
          progress.update(rows, "");
        }
        writer.finish();
      }
      progress.note(out + ": wrote " + Format.whole(rows) + " rows");
    }
    return 0;
  }

  private DataReader open(DataConfig config, Progress progress) {
    DataSource source = DataSource.strict(config);
    if (!encode) {
      return source.open(config.train());
    }
    progress.begin("fit", "rows", 0, 0);
    try (DataReader reader = source.open(config.train())) {
      FeatureEncoder encoder = source.fit(reader, rows -> progress.update(rows, ""));
      return Readers.encoded(source.open(config.train()), encoder);
    }
  }

  private DataWriter writer(Schema schema) {
    return switch (to.orElseGet(() -> DataOptions.formatOf(out))) {
      case "csv" ->
          CsvWriter.create(
              out, schema, DataOptions.isTabbed(out) ? CsvOptions.tsv() : CsvOptions.csv());
      case "norm" -> NormWriter.create(out, schema, normCheck(), keyType());
      case "raw" -> RawWriter.create(out, RawOptions.floats(oneHot(schema)).withKeys(keyType()));
      case String other ->
          throw new ConfigException(
              "--to: got " + other + ", expected csv, norm, raw or parquet; give one of them");
    };
  }

  private NormCheck normCheck() {
    return constant(NormCheck.class, "--check", check);
  }

  private KeyType keyType() {
    return constant(KeyType.class, "--keys", keys);
  }

  private static <E extends Enum<E>> E constant(Class<E> type, String option, String text) {
    try {
      return Enum.valueOf(type, text.toUpperCase(Locale.ROOT));
    } catch (IllegalArgumentException e) {
      List<String> names =
          List.of(type.getEnumConstants()).stream()
              .map(constant -> constant.name().toLowerCase(Locale.ROOT))
              .toList();
      throw new ConfigException(
          option + ": got " + text + ", expected one of " + String.join(", ", names), e);
    }
  }

  /** Raw files hold as many ids in each row; slots that leave it open are taken for one-hot. */
  private static Schema oneHot(Schema schema) {
    List<Slot> slots =
        schema.slots().stream()
            .map(slot -> slot.hotness() == 0 ? Slot.oneHot(slot.name()) : slot)
            .toList();
    return new Schema(schema.labels(), schema.dense(), slots);
  }
}
