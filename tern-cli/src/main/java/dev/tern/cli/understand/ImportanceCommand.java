package dev.tern.cli.understand;

import dev.tern.base.DataException;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.cli.choice.CheckpointChoice;
import dev.tern.cli.choice.JsonChoice;
import dev.tern.cli.choice.PageChoice;
import dev.tern.cli.choice.ReadingChoice;
import dev.tern.cli.choice.SeedChoice;
import dev.tern.cli.choice.TablesChoice;
import dev.tern.cli.config.ConfigException;
import dev.tern.cli.run.Format;
import dev.tern.cli.run.PageFile;
import dev.tern.cli.run.Watch;
import dev.tern.data.ColumnPart;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.metrics.TaskMetrics;
import dev.tern.model.TaskLabels;
import dev.tern.predict.Predictor;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tern importance}: what a model loses once a column is shuffled. */
@Command(
    name = "importance",
    description =
        "Prints what a model loses in AUC and log loss once the values of a column are shuffled"
            + " among labelled rows.",
    mixinStandardHelpOptions = true)
public final class ImportanceCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private CheckpointChoice checkpoint = new CheckpointChoice();

  @Mixin private ReadingChoice reading = new ReadingChoice();

  @Mixin private TablesChoice tables = new TablesChoice();

  @Mixin private PageChoice html = new PageChoice();

  private final ModelFiles files;

  @Parameters(
      index = "1..*",
      arity = "1..*",
      paramLabel = "DATA",
      description = "Labelled files of the format that the run was trained on.")
  private List<Path> data = List.of();

  @Option(
      names = "--rows",
      paramLabel = "N",
      defaultValue = "100000",
      description =
          "Rows to take at most, a sample of all, which stay in memory (default"
              + " ${DEFAULT-VALUE}).")
  private int rows = 100_000;

  @Option(
      names = "--repeats",
      paramLabel = "N",
      defaultValue = "5",
      description = "Shuffles of each column (default ${DEFAULT-VALUE}).")
  private int repeats = 5;

  @Mixin private SeedChoice seed = new SeedChoice();

  @Option(
      names = "--together",
      paramLabel = "COLUMNS",
      description =
          "Columns that are shuffled as one, as in --together city,country; may be repeated. The"
              + " columns of a sequence always are.")
  private List<String> together = List.of();

  @Mixin private JsonChoice json = new JsonChoice();

  /** Reads rows by {@code files}. */
  public ImportanceCommand(ModelFiles files) {
    this.files = files;
  }

  @Override
  public Integer call() {
    require("--rows", rows, 2 * Importance.LEAST_OF_A_LABEL, 100_000_000);
    require("--repeats", repeats, 2, 1000);
    Optional<PageFile> page = html.page();
    List<String> overrides = reading.overrides(true);
    Checkpoint opened = checkpoint.open();
    try (Watch watch = files.watch(spec.commandLine().getErr());
        Predictor predictor = Predictor.open(opened, tables.options())) {
      List<ColumnPart> parts = new Together(together).parts(predictor.schema());
      ModelFiles.Of model = new ModelFiles.Of(opened, checkpoint.path(), overrides, predictor);
      Measured measured = measure(model, parts, watch);
      watch.close();
      if (json.isGiven()) {
        measured.printJson(spec.commandLine().getOut());
      } else {
        measured.print(spec.commandLine().getOut());
      }
      page.ifPresent(file -> {
        String name = checkpoint.path() + " on " + files.name(data);
        file.write(new ImportancePage(measured, name).html());
        watch.note("page " + Format.path(file.file()));
      });
    }
    return 0;
  }

  private static void require(String option, int value, int least, int most) {
    if (value < least || value > most) {
      throw new ConfigException(
          "%s: got %,d, expected %,d to %,d; give another".formatted(option, value, least, most));
    }
  }

  private Measured measure(ModelFiles.Of model, List<ColumnPart> parts, Watch watch) {
    Predictor predictor = model.predictor();
    RowSample.Rows sample;
    TaskLabels labels;
    ModelFiles.Labelled labelled = files.labelled(model, data);
    try (DataReader reader = labelled.reader()) {
      labels = files.labels(predictor, reader.schema());
      sample = read(reader, predictor.schema(), watch);
      labelled.noteSkipped().accept(watch);
    }
    int count = sample.batch().size();
    if (count == 0) {
      throw new DataException(
          files.name(data) + ": got no rows, expected some to evaluate on; check the file");
    }
    if (count < sample.seen()) {
      watch.note(
          "takes a sample of %s of %s rows; --rows takes more"
              .formatted(Format.whole(count), Format.whole(sample.seen())));
    }
    watch.begin("score", "rows", 0, count);
    Importance importance =
        new Importance(predictor, sample.batch(), labels, done -> watch.update(done, ""));
    List<TaskMetrics.Result> results = importance.base();
    long all = (long) count * (1 + parts.size() * repeats);
    watch.begin("shuffle", "rows", count, all); // Code is compiled by now, so the rest is even.
    Importance.requireBothLabels(results, files.name(data));
    List<Importance.Figures> base = Importance.figures(results, predictor.hasOwnLoss());
    List<Importance.Column> columns = new ArrayList<>();
    for (ColumnPart part : parts) {
      columns.add(importance.of(part, base, repeats, seed.seed()));
    }
    return new Measured(base, columns, count, sample.seen(), repeats);
  }

  private RowSample.Rows read(DataReader reader, Schema wanted, Watch watch) {
    watch.begin("read", "rows", 0, reader.rowCount().orElse(0));
    return RowSample.of(reader, wanted, rows, seed.seed(), done -> watch.update(done, ""));
  }
}
