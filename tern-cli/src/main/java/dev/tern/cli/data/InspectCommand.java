package dev.tern.cli.data;

import dev.tern.base.Shown;
import dev.tern.cli.choice.DataOptions;
import dev.tern.cli.config.DataConfig;
import dev.tern.cli.files.DataSource;
import dev.tern.cli.files.LongRows;
import dev.tern.cli.inspect.ColumnStatistics;
import dev.tern.cli.inspect.RowPage;
import dev.tern.cli.notes.Progress;
import dev.tern.cli.run.Format;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.data.readers.Readers;
import dev.tern.files.FileColumn;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tern data inspect}: statistics of the columns. */
@Command(
    name = "inspect",
    description = "Prints the columns of files and what the first rows hold.",
    mixinStandardHelpOptions = true)
final class InspectCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private DataOptions data = new DataOptions();

  @Option(
      names = "--rows",
      paramLabel = "N",
      defaultValue = "100000",
      description = "Rows to look at (default ${DEFAULT-VALUE}).")
  private long rows;

  @Option(
      names = "--page",
      paramLabel = "N",
      defaultValue = "0",
      description = "Rows to print as they are, from the first on (default ${DEFAULT-VALUE}).")
  private int page;

  @Override
  public Integer call() {
    DataConfig config = data.resolve();
    PrintWriter out = spec.commandLine().getOut();
    LongRows longRows = new LongRows();
    DataSource source = DataSource.of(config).watched(longRows);
    List<FileColumn> unnamed = source.unnamed(config.train());
    if (!unnamed.isEmpty()) {
      list(out, config.format(), unnamed);
      return 0;
    }
    try (Progress progress = Progress.of(spec.commandLine().getErr());
        DataReader all = source.open(config.train())) {
      String count =
          all.rowCount().isPresent() ? Format.whole(all.rowCount().getAsLong()) : "unknown";
      Schema schema = all.schema();
      out.printf(
          "%s, %s rows: %d labels, %d dense, %d sparse columns%n",
          config.format(), count, schema.labelDim(), schema.denseDim(), schema.slotCount());
      ColumnStatistics statistics = ColumnStatistics.of(Readers.take(all, rows));
      out.printf("of the first %s rows:%n%n", Format.whole(statistics.rows()));
      statistics.print(out);
      longRows.note().ifPresent(note -> out.println(note));
      if (page > 0) {
        all.start(0);
        out.println();
        RowPage.print(Readers.take(all, page), out);
      }
      out.flush();
      source.noteSkipped(progress);
    }
    return 0;
  }

  private static void list(PrintWriter out, String format, List<FileColumn> columns) {
    String content = format.equals("parquet") ? "type" : "first row";
    out.printf("%s, %d columns:%n%n%-24s %s%n", format, columns.size(), "column", content);
    for (FileColumn column : columns) {
      String name = column.name().isEmpty() ? "\"\"" : Shown.excerpt(column.name());
      out.printf("%-24s %s%n", name, Shown.line(column.content()));
    }
    if (columns.size() == 1 && format.equals("csv")) {
      out.printf(
          "%none column: data.delimiter says what separates more, data.skip_lines leaves out lines"
              + " before their names%n");
    }
    out.printf("%nto see what they hold, name them, as in%n  %s%n", DataSource.NAMING);
    out.flush();
  }
}
