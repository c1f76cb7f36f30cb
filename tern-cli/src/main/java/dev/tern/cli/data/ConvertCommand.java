package dev.tern.cli.data;

import dev.tern.cli.choice.DataOptions;
import dev.tern.cli.choice.WriteOptions;
import dev.tern.cli.config.DataConfig;
import dev.tern.cli.files.DataSource;
import dev.tern.cli.notes.Progress;
import dev.tern.cli.run.Format;
import dev.tern.data.DataReader;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.readers.Readers;
import dev.tern.files.DataConverter;
import dev.tern.files.DataWriter;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tern data convert}: writes the same rows in another format. */
@Command(
    name = "convert",
    description = {
      "Writes the rows of files in another format.",
      "Text becomes its 64-bit hash, or with --encode what data.sparse says."
    },
    mixinStandardHelpOptions = true,
    footerHeading = "%nExamples:%n",
    footer = {
      "  tern data convert rows.norm --out rows.raw --keys u32",
      "  tern data convert rows.csv --out rows.parquet \\",
      "    --set data.dense.columns=I1..I13 --set data.sparse.columns=C1..C26 \\",
      "    --set data.sparse.encode=id",
      "  tern data convert rows.ffm --out rows.parquet --set data.sparse.columns=0..38",
      "  tern data convert adult.data --config examples/census.yaml --encode \\",
      "    --out adult.norm"
    })
final class ConvertCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private DataOptions data = new DataOptions();

  @Option(names = "--out", required = true, paramLabel = "FILE", description = "File to write.")
  private Path out = Path.of("");

  @Option(
      names = "--to",
      paramLabel = "FORMAT",
      description = "csv, libsvm, libffm, norm, raw or parquet; else by the name of --out.")
  private Optional<String> to = Optional.empty();

  @Option(
      names = "--encode",
      description = "Apply data.dense and data.sparse, fitted on these rows, before writing.")
  private boolean encode;

  @Mixin private WriteOptions write = new WriteOptions();

  @Override
  public Integer call() {
    String format = to.orElseGet(() -> DataOptions.formatOf(out, "--to"));
    DataConfig config = data.resolve();
    write.check(out, format);
    WriteOptions.requireNoInput(out, DataSource.files(config.train()));
    DataSource source = new DataSource(config, new TextDictionary());
    try (Progress progress = Progress.of(spec.commandLine().getErr());
        DataReader reader = open(source, config, progress)) {
      long start = System.nanoTime();
      progress.begin("convert", "rows", 0, reader.rowCount().orElse(0));
      long rows;
      try (DataWriter writer = write.create(out, format, reader.schema())) {
        rows = DataConverter.convert(reader, writer, done -> progress.update(done, ""));
      }
      source.noteSkipped(progress);
      progress.close();
      double rate = rows * 1e9 / Math.max(1, System.nanoTime() - start);
      spec.commandLine()
          .getOut()
          .println(
              Format.path(out)
                  + ": wrote "
                  + Format.whole(rows)
                  + " rows, "
                  + Format.rate(rate)
                  + " a second");
      spec.commandLine().getOut().flush();
    }
    return 0;
  }

  private DataReader open(DataSource source, DataConfig config, Progress progress) {
    if (!encode) {
      return source.open(config.train());
    }
    progress.begin("fit encoders", "rows", 0, 0);
    try (DataReader reader = source.open(config.train())) {
      FeatureEncoder fitted = source.fit(reader, rows -> progress.update(rows, ""));
      // Models cut sequences to the length that they read; a file keeps all of them.
      FeatureEncoder encoder = fitted.withSequences(Map.of());
      return Readers.encoded(source.open(config.train()), encoder);
    }
  }
}
