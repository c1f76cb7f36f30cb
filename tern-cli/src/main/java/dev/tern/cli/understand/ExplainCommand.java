package dev.tern.cli.understand;

import dev.tern.base.DataException;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.cli.choice.CheckpointChoice;
import dev.tern.cli.choice.JsonChoice;
import dev.tern.cli.choice.ReadingChoice;
import dev.tern.cli.choice.TablesChoice;
import dev.tern.cli.config.ConfigException;
import dev.tern.cli.run.Format;
import dev.tern.cli.run.Watch;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.readers.ColumnPick;
import dev.tern.data.readers.Readers;
import dev.tern.predict.ColumnShares;
import dev.tern.predict.Predictor;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tern explain}: what each column adds to the logits of rows. */
@Command(
    name = "explain",
    description =
        "Prints what each column adds to the score of a row: its logit less the one that it has"
            + " with the column missing.",
    mixinStandardHelpOptions = true)
public final class ExplainCommand implements Callable<Integer> {
  /** Rows that are explained at a time. */
  private static final int CHUNK = 512;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private CheckpointChoice checkpoint = new CheckpointChoice();

  @Mixin private ReadingChoice reading = new ReadingChoice();

  @Mixin private TablesChoice tables = new TablesChoice();

  private final ModelFiles files;

  @Parameters(
      index = "1..*",
      arity = "1..*",
      paramLabel = "DATA",
      description = "Files of the format that the run was trained on; no label is needed.")
  private List<Path> data = List.of();

  @Option(
      names = "--row",
      paramLabel = "ROWS",
      defaultValue = "1-5",
      description = "Rows to explain, by number, as in 1,5-7 (default ${DEFAULT-VALUE}).")
  private String rows = "1-5";

  @Option(
      names = "--top",
      paramLabel = "K",
      defaultValue = "10",
      description =
          "Columns of each row, those with the largest shares; 0 for all (default"
              + " ${DEFAULT-VALUE}).")
  private int top = 10;

  @Mixin private JsonChoice json = new JsonChoice();

  /** Reads rows by {@code files}. */
  public ExplainCommand(ModelFiles files) {
    this.files = files;
  }

  @Override
  public Integer call() {
    if (top < 0) {
      throw new ConfigException("--top: got " + top + ", expected 0 or more; 0 is for all columns");
    }
    BitSet wanted = RowNumbers.of(rows);
    List<String> overrides = reading.overrides(false);
    Checkpoint opened = checkpoint.open();
    TextDictionary texts = new TextDictionary();
    try (Watch watch = files.watch(spec.commandLine().getErr());
        Predictor predictor = Predictor.open(opened, tables.options())) {
      ModelFiles.Of model = new ModelFiles.Of(opened, checkpoint.path(), overrides, predictor);
      try (DataReader reader =
          Readers.take(files.unlabelled(model, data, texts), wanted.length())) {
        explain(reader, predictor, new ShownValues(predictor.encoder(), texts), wanted);
      }
    }
    return 0;
  }

  /** Explains the rows that are wanted, some hundred at a time. */
  private void explain(DataReader reader, Predictor predictor, ShownValues values, BitSet wanted) {
    ColumnPick pick = ColumnPick.of(reader.schema(), predictor.schema());
    Optional<Batch> kept = Optional.empty();
    int seen = 0;
    int first = wanted.nextSetBit(0); // The first row that is not explained yet.
    for (Optional<Batch> next = reader.next(); next.isPresent(); next = reader.next()) {
      try (Batch batch = next.get()) {
        Batch own = pick.of(batch);
        Batch to = kept.orElseGet(() -> new Batch(own.schema(), CHUNK));
        kept = Optional.of(to);
        for (int row = 0; row < own.size(); row++) {
          if (wanted.get(seen + row)) {
            to.appendRow(own, row);
          }
          if (to.size() == CHUNK) {
            first = print(to, predictor, values, wanted, first);
          }
        }
        seen += own.size();
      }
    }
    if (kept.isPresent() && kept.get().size() > 0) {
      print(kept.get(), predictor, values, wanted, first);
    }
    if (seen < wanted.length()) {
      throw new DataException(
          "%s: got %s rows, expected row %s, which --row names; give another"
              .formatted(files.name(data), Format.whole(seen), Format.whole(wanted.length())));
    }
  }

  /** Prints the shares of rows and forgets these; the number of the next wanted row. */
  private int print(
      Batch batch, Predictor predictor, ShownValues values, BitSet wanted, int first) {
    int tasks = predictor.tasks().size();
    ColumnShares shares = ColumnShares.of(batch, predictor.encoder(), tasks, predictor::logits);
    float[] scores = predictor.score(batch);
    PrintWriter out = spec.commandLine().getOut();
    int number = first;
    for (int row = 0; row < batch.size(); row++) {
      ExplainedRow explained =
          new ExplainedRow(shares, row, predictor.tasks(), scores, batch, values);
      if (json.isGiven()) {
        out.println(explained.json(number + 1, top));
      } else {
        explained.print(number + 1, top, out);
      }
      number = wanted.nextSetBit(number + 1);
    }
    out.flush();
    batch.clear();
    return number;
  }
}
