package dev.tern.cli.table;

import dev.tern.base.Shown;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.checkpoint.tools.TableDifference;
import dev.tern.cli.choice.JsonChoice;
import dev.tern.cli.run.Format;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tern table diff}: differences of tables between two checkpoints. */
@Command(
    name = "diff",
    description = "Counts rows added, removed and changed from one checkpoint to another.",
    mixinStandardHelpOptions = true)
final class TableDiffCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private TableChoice choice = new TableChoice();

  @Parameters(
      index = "1",
      paramLabel = "OTHER",
      description = "The checkpoint to compare with, of a model with the same ids.")
  private Path other = Path.of("");

  @Mixin private JsonChoice json = new JsonChoice();

  @Override
  public Integer call() {
    Checkpoint first = choice.open();
    Checkpoint second = choice.open(other);
    PrintWriter out = spec.commandLine().getOut();
    for (int slot : choice.slots(first)) {
      TableDifference difference = TableDifference.of(first, second, slot);
      out.println(json.isGiven() ? difference.toJson() : text(difference));
    }
    out.flush();
    return 0;
  }

  private static String text(TableDifference table) {
    return "%s: %s added, %s removed, %s changed, %s the same%s"
        .formatted(
            Shown.excerpt(table.name()),
            Format.whole(table.added()),
            Format.whole(table.removed()),
            Format.whole(table.changed()),
            Format.whole(table.same()),
            table
                .largest()
                .map(top ->
                    "; id " + top.id() + " moved farthest, by " + Format.fixed(top.value(), 6))
                .orElse(""));
  }
}
