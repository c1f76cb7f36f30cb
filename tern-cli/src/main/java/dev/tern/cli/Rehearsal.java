package dev.tern.cli;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;

/**
 * Runs the usual commands on a few rows. The script {@code tern} runs it once after a build and has
 * the JVM keep the classes of it ({@code -XX:AOTCacheOutput}) for later commands.
 */
final class Rehearsal {
  private Rehearsal() {}

  /** Runs the commands; writes into a folder, the only argument. */
  public static void main(String[] args) {
    StandardError.take();
    Path folder = Path.of(args[0]);
    String rows = folder.resolve("rows").toString();
    String run = folder.resolve("run").toString();
    String held = folder.resolve("rows/eval.csv").toString();
    List<List<String>> commands =
        List.of(
            List.of(
                "data",
                "generate",
                "--rows=20000",
                "--eval-rows=2000",
                "--scale=0.002",
                "--out=" + rows),
            List.of("train", rows + "/train.yaml", "--set=run.dir=" + run),
            List.of("evaluate", run, held),
            List.of("predict", run, held, "--out=" + folder.resolve("scores.csv")),
            List.of(
                "quickstart",
                "--set=data.rows=40000",
                "--set=data.eval_rows=4000",
                "--set=train.epochs=1",
                "--set=run.dir=" + folder.resolve("quickstart")));
    PrintWriter out = new PrintWriter(System.out, true, System.out.charset());
    for (List<String> command : commands) {
      int code = Main.run(out, out, command.toArray(String[]::new));
      if (code != 0) {
        throw new IllegalStateException(
            "rehearsal: got code %d of %s, expected 0".formatted(code, command));
      }
    }
  }
}
