package dev.tern.cli.score;

import dev.tern.base.DataException;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.cli.choice.CheckpointChoice;
import dev.tern.cli.choice.ReadingChoice;
import dev.tern.cli.choice.TablesChoice;
import dev.tern.cli.config.ConfigException;
import dev.tern.cli.config.DataConfig;
import dev.tern.cli.files.DataSource;
import dev.tern.cli.notes.Progress;
import dev.tern.cli.run.Format;
import dev.tern.files.KeptTexts;
import dev.tern.files.text.ScoreWriter;
import dev.tern.predict.Retriever;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tern retrieve}: the best items for users, by a model of two towers. */
@Command(
    name = "retrieve",
    description =
        "Finds the best items for each row's user, with a model of two towers: all items are"
            + " compared.",
    mixinStandardHelpOptions = true)
public final class RetrieveCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private CheckpointChoice checkpoint = new CheckpointChoice();

  @Mixin private ReadingChoice reading = new ReadingChoice();

  @Mixin private TablesChoice tables = new TablesChoice();

  @Parameters(
      index = "1..*",
      arity = "1..*",
      paramLabel = "USERS",
      description =
          "Files with the columns of users, of the format that the run was trained on, or - for the"
              + " standard input.")
  private List<Path> users = List.of();

  @Option(
      names = "--items",
      required = true,
      split = ",",
      paramLabel = "FILE",
      description =
          "Files with the columns of items, model.item_columns; of rows with one item the first"
              + " counts, so rows of clicks do, too.")
  private List<Path> items = List.of();

  @Option(
      names = "--top",
      paramLabel = "K",
      description = "Items for each row (default ${DEFAULT-VALUE}).",
      defaultValue = "10")
  private int top = 10;

  @Option(
      names = "--out",
      paramLabel = "FILE",
      description =
          "The CSV to write, a line for each row and item: .csv, .tsv or .txt, with .gz behind it"
              + " compressed; - for the standard output.")
  private Optional<Path> target = Optional.empty();

  @Option(names = "--overwrite", description = "Replace a file that is there already.")
  private boolean overwrite;

  @Option(
      names = "--recall",
      description =
          "Also reads the label and the item of each row, and prints how many rows labelled 1 have"
              + " their own item among those found.")
  private boolean recall;

  @Option(
      names = "--keep",
      split = ",",
      paramLabel = "COLUMN",
      description =
          "Columns of CSV or Parquet files of users that stand before the items, instead of the"
              + " number of the row.")
  private List<String> keep = List.of();

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "Threads that compute (default: one a core).")
  private int threads;

  @Override
  public Integer call() {
    requireOptions();
    List<String> overrides = reading.overrides(recall);
    Optional<ScoreTarget> out = target.map(ScoreTarget::new);
    out.ifPresent(file -> file.check(overwrite));
    List<Path> ofItems = DataSource.inputs(items);
    List<Path> ofUsers = DataSource.inputs(users);
    out.ifPresent(file -> file.requireNoInput(DataSource.files(ofItems)));
    out.ifPresent(file -> file.requireNoInput(DataSource.files(ofUsers)));
    Optional<KeptTexts> kept =
        keep.isEmpty() ? Optional.empty() : Optional.of(Retrieval.texts(keep));
    Checkpoint opened = checkpoint.open();
    DataConfig config = SavedRun.config(opened, checkpoint.path(), overrides);
    int count = threads == 0 ? Runtime.getRuntime().availableProcessors() : threads;
    try (Progress progress = Progress.of(spec.commandLine().getErr());
        Retriever retriever = Retriever.open(opened, tables.options().withThreads(count))) {
      Retrieval retrieval = new Retrieval(retriever, config, progress, top);
      retrieval.addItems(ofItems);
      Retrieval.Found found =
          out.isPresent()
              ? write(retrieval, ofUsers, kept, out.get())
              : retrieval.search(ofUsers, recall, kept, Optional.empty());
      progress.close();
      print(retriever.size(), found, out.isPresent() && out.get().isStandard());
    } catch (DataException e) {
      if (out.isPresent() && out.get().isClosedBy(e)) {
        return 1; // Its reader has had enough, as head has.
      }
      throw e;
    }
    return 0;
  }

  private Retrieval.Found write(
      Retrieval retrieval, List<Path> ofUsers, Optional<KeptTexts> kept, ScoreTarget out) {
    try (ScoreWriter writer = out.open(retrieval.columns(keep), List.of("score"))) {
      Retrieval.Found found = retrieval.search(ofUsers, recall, kept, Optional.of(writer));
      writer.finish();
      return found;
    }
  }

  private void requireOptions() {
    if (top < 1) {
      throw new ConfigException("--top: got " + top + ", expected 1 or more; 10 is usual");
    }
    if (target.isEmpty() && !recall) {
      throw new ConfigException(
          "retrieve: got neither --out nor --recall, expected one of them; give --out FILE for the"
              + " items of each row");
    }
    if (target.isEmpty() && !keep.isEmpty()) {
      throw new ConfigException("--keep: got it without --out, expected both; give --out FILE");
    }
    if (items.contains(Path.of("-")) && users.contains(Path.of("-"))) {
      throw new ConfigException(
          "--items: got the standard input for items and for users, expected one of the two; write"
              + " one of them to a file");
    }
    if (threads < 0 || threads > 1024) {
      throw new ConfigException("--threads: got " + threads + ", expected 1 to 1024");
    }
  }

  /** Prints what was found, beside the items if these have the standard output for themselves. */
  private void print(int candidates, Retrieval.Found found, boolean aside) {
    PrintWriter to = aside ? spec.commandLine().getErr() : spec.commandLine().getOut();
    to.println(
        Format.whole(found.rows())
            + " rows, compared with "
            + Format.whole(candidates)
            + " items"
            + target.filter(_ -> !aside).map(file -> ", in " + file).orElse(""));
    if (recall) {
      to.println("rows labelled 1 " + Format.whole(found.positives()));
      double share = found.hits() / (double) found.positives();
      to.println("recall@" + top + " " + Format.fixed(share, 6));
      if (found.strangers() > 0) {
        to.println(
            "their items that --items lacks, which count as not found: "
                + Format.whole(found.strangers()));
      }
    }
    to.flush();
  }
}
