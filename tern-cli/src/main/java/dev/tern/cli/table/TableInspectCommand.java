package dev.tern.cli.table;

import dev.tern.base.Shown;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.checkpoint.tools.TableSummary;
import dev.tern.cli.choice.JsonChoice;
import dev.tern.cli.run.Format;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tern table inspect}: statistics of tables. */
@Command(
    name = "inspect",
    description =
        "Prints rows, their bytes in files, norms, how often rows were seen (where that is kept),"
            + " and the ids with the largest norms and frequencies.",
    mixinStandardHelpOptions = true)
final class TableInspectCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private TableChoice choice = new TableChoice();

  @Option(
      names = "--top",
      paramLabel = "N",
      defaultValue = "5",
      description = "Ids to list (default ${DEFAULT-VALUE}).")
  private int top;

  @Mixin private JsonChoice json = new JsonChoice();

  @Override
  public Integer call() {
    Checkpoint checkpoint = choice.open();
    PrintWriter out = spec.commandLine().getOut();
    if (!json.isGiven()) {
      out.printf(
          "%s: step %s, %d parts%n",
          Format.path(checkpoint.folder()),
          Format.whole(checkpoint.step()),
          checkpoint.parts().size());
    }
    for (int slot : choice.slots(checkpoint)) {
      TableSummary summary = TableSummary.of(checkpoint, slot, Math.max(0, top));
      if (json.isGiven()) {
        out.println(summary.toJson());
      } else {
        print(out, summary);
      }
    }
    out.flush();
    return 0;
  }

  private static void print(PrintWriter out, TableSummary table) {
    out.printf(
        "%n%s: %s rows of %d weights in %s, %s a row in files%n",
        Shown.excerpt(table.name()),
        Format.whole(table.rows()),
        table.layout().width(),
        table.layout().storage(),
        Format.bytes(table.layout().fileBytesPerRow()));
    if (table.layout().buckets() > 0) {
      out.printf("  %s buckets for ids without a row%n", Format.whole(table.layout().buckets()));
    }
    if (table.rows() > 0) {
      TableSummary.Norms norms = table.norms();
      out.printf(
          "  norms %s to %s, mean %s%n",
          Format.fixed(norms.least(), 4),
          Format.fixed(norms.largest(), 4),
          Format.fixed(norms.mean(), 4));
    }
    for (TableSummary.Bin bin : table.frequencies()) {
      out.printf(
          "  seen %s to %s times  %s rows%n",
          Format.whole(bin.from()), Format.whole(bin.to()), Format.whole(bin.rows()));
    }
    list(out, "largest norms", table.topByNorm(), 4);
    list(out, "seen most often", table.topByFrequency(), 0);
  }

  private static void list(
      PrintWriter out, String title, List<TableSummary.Top> tops, int decimals) {
    if (!tops.isEmpty()) {
      out.println("  " + title);
      tops.forEach(
          top -> out.printf("    %d  %s%n", top.id(), Format.fixed(top.value(), decimals)));
    }
  }
}
