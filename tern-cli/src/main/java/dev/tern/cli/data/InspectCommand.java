package dev.tern.cli.data;

import dev.tern.base.Shown;
import dev.tern.cli.choice.DataOptions;
import dev.tern.cli.choice.PageChoice;
import dev.tern.cli.config.ConfigException;
import dev.tern.cli.config.DataConfig;
import dev.tern.cli.files.DataSource;
import dev.tern.cli.files.FileNames;
import dev.tern.cli.files.LongRows;
import dev.tern.cli.inspect.ColumnStatistics;
import dev.tern.cli.inspect.DataFacts;
import dev.tern.cli.inspect.RowPage;
import dev.tern.cli.notes.Progress;
import dev.tern.cli.run.Format;
import dev.tern.cli.run.PageFile;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.readers.Readers;
import dev.tern.files.FileColumn;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tern data inspect}: statistics of the columns. */
@Command(
    name = "inspect",
    description =
        "Prints the columns of files and what the first rows hold, label rates by value, and drift"
            + " between files.",
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

  @Option(
      names = "--values",
      paramLabel = "N",
      defaultValue = "0",
      description =
          "Most frequent values of each sparse column to print, with the label rate of their rows"
              + " (default ${DEFAULT-VALUE}).")
  private int values;

  @Option(
      names = "--against",
      paramLabel = "OTHER",
      description =
          "Other files of the same columns, such as those of a later day: print how far each column"
              + " differs.")
  private Optional<Path> against = Optional.empty();

  @Option(names = "--json", description = "Print what --values and --against say as JSON alone.")
  private boolean json;

  @Mixin private PageChoice html = new PageChoice();

  @Override
  public Integer call() {
    Optional<PageFile> pageFile = html.page();
    requireFacts(pageFile.isPresent());
    DataConfig config = data.resolve();
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      facts(config, out, pageFile);
      return 0;
    }
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
    if (values > 0 || against.isPresent()) {
      facts(config, out, pageFile);
    }
    return 0;
  }

  /** Refuses a page or JSON about nothing. */
  private void requireFacts(boolean isPage) {
    if (values < 0 || values > 10_000) {
      throw new ConfigException("--values: got " + values + ", expected 0 to 10000; 20 are many");
    }
    if (values == 0 && against.isEmpty() && (json || isPage)) {
      throw new ConfigException(
          (json ? "--json" : "--html")
              + ": got neither --values nor --against, expected one of them, as it shows what they"
              + " say; give --values 20");
    }
  }

  /** Prints label rates by value and how other files differ, and writes the page. */
  private void facts(DataConfig config, PrintWriter out, Optional<PageFile> page) {
    TextDictionary texts = new TextDictionary();
    DataSource first = new DataSource(config, texts);
    DataSource second = new DataSource(config, texts);
    try (Progress progress = Progress.of(spec.commandLine().getErr());
        DataReader reader = Readers.take(first.open(config.train()), rows)) {
      Optional<DataReader> others =
          against.map(path -> Readers.take(second.open(List.of(path)), rows));
      try {
        progress.begin("inspect", "rows", 0, rows * (against.isPresent() ? 2 : 1));
        DataFacts facts =
            DataFacts.of(reader, others, texts, values, done -> progress.update(done, ""));
        progress.close();
        if (json) {
          facts.printJson(out);
        } else {
          facts.print(out);
        }
        out.flush();
        if (page.isPresent()) {
          page.get().write(facts.html(name(config)));
          progress.note("page " + Format.path(page.get().file()));
        }
      } finally {
        others.ifPresent(DataReader::close);
      }
      if (json) {
        first.noteSkipped(progress);
      }
      second.noteSkipped(progress);
    }
  }

  private String name(DataConfig config) {
    String own = FileNames.of(config.train());
    return against.map(other -> own + " and " + other).orElse(own);
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
