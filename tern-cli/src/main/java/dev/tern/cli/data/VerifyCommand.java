package dev.tern.cli.data;

import dev.tern.base.DataException;
import dev.tern.cli.choice.DataOptions;
import dev.tern.cli.config.DataConfig;
import dev.tern.cli.files.DataSource;
import dev.tern.cli.files.LongRows;
import dev.tern.cli.notes.Progress;
import dev.tern.cli.run.Format;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.encode.TextDictionary;
import dev.tern.files.ReadPolicy;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tern data verify}: reads all rows and lists the faults. */
@Command(
    name = "verify",
    description = "Reads all rows and prints every fault; exits with 1 if there is one.",
    mixinStandardHelpOptions = true)
final class VerifyCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private DataOptions data = new DataOptions();

  @Option(
      names = "--max-faults",
      paramLabel = "N",
      defaultValue = "20",
      description = "Faults to print; all are counted (default ${DEFAULT-VALUE}).")
  private long maxFaults;

  private final LongRows longRows = new LongRows();
  private long faults;
  private long lost;
  private boolean unknown;

  @Override
  public Integer call() {
    DataConfig config = data.resolve();
    long rows = 0;
    try (Progress progress = Progress.of(spec.commandLine().getErr())) {
      ReadPolicy policy =
          ReadPolicy.STRICT.withFaults(longRows.over(fault -> print(fault, progress)));
      DataSource source = new DataSource(config, policy, TextDictionary.none());
      try (DataReader reader = source.open(config.train())) {
        progress.begin("verify", "rows", 0, reader.rowCount().orElse(0));
        for (Optional<Batch> next = reader.next(); next.isPresent(); next = reader.next()) {
          try (Batch batch = next.get()) {
            rows += batch.size();
          }
          progress.update(rows, faults == 0 ? "" : faults + " faults");
        }
      } catch (DataException e) {
        print(e.losing(DataException.UNKNOWN_ROWS), progress);
      }
    }
    String good = Format.whole(rows) + " good rows, ";
    spec.commandLine().getOut().println(good + Format.whole(faults) + " faults" + lost());
    longRows.note().ifPresent(spec.commandLine().getOut()::println);
    spec.commandLine().getOut().flush();
    return faults == 0 ? 0 : 1;
  }

  /** The rows that the faults cost, where these are not as many. */
  private String lost() {
    if (unknown) {
      return " (rows left out: unknown)";
    }
    return lost == faults ? "" : " (rows left out: " + Format.whole(lost) + ")";
  }

  private void print(DataException fault, Progress progress) {
    faults++;
    unknown |= fault.rows() == DataException.UNKNOWN_ROWS;
    lost += Math.max(0, fault.rows());
    if (faults <= maxFaults) {
      progress.note(String.valueOf(fault.getMessage()));
    }
  }
}
