package dev.tern.cli;

import dev.tern.cli.config.Config;
import dev.tern.cli.notes.Progress;
import dev.tern.cli.run.Format;
import dev.tern.cli.run.MemoryPage;
import dev.tern.cli.run.StepTrace;
import dev.tern.tensor.StepProfile;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tern profile}: a picture of the memory of one training step, and its trace. */
@Command(
    name = "profile",
    description = {
      "Trains a few steps and shows where a step's memory and time go.",
      "memory.html is a picture of the memory for a browser; trace.json is for ui.perfetto.dev.",
      "memory.json holds all memory at the end, block by block, and what was allocated, in the"
          + " form",
      "of PyTorch's memory snapshots. No checkpoint is written."
    },
    mixinStandardHelpOptions = true)
final class ProfileCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(paramLabel = "CONFIG", description = "The configuration of the training.")
  private Path config = Path.of("");

  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE",
      description = "Put a value over the file's, as in --set train.activation_memory=64m.")
  private List<String> overrides = List.of();

  @Option(
      names = "--steps",
      description = "Steps to train; the last one is shown (default: ${DEFAULT-VALUE}).")
  private long steps = 50;

  @Option(
      names = "--out",
      description = "Folder for the files (default: the folder that is the current one).")
  private Path out = Path.of("");

  @Override
  public Integer call() throws IOException {
    if (steps < 1) {
      throw new IllegalArgumentException(
          "--steps: got " + steps + ", expected at least 1; 50 shows compiled code");
    }
    Config resolved = Config.load(config, overrides);
    ProfileRun.Seen seen;
    try (Progress progress = Progress.of(spec.commandLine().getErr())) {
      seen = ProfileRun.run(resolved, steps, progress);
    }
    Files.createDirectories(out.toAbsolutePath());
    Path page = out.resolve("memory.html");
    Path trace = out.resolve("trace.json");
    Path memory = out.resolve("memory.json");
    StepProfile profile = seen.profile();
    Files.writeString(page, MemoryPage.html(profile, resolved.modelSummary()));
    Files.writeString(trace, StepTrace.json(profile));
    Files.writeString(memory, seen.memory());
    print(profile, page, trace);
    spec.commandLine().getOut().println("memory " + Format.path(memory));
    spec.commandLine().getOut().flush();
    return 0;
  }

  private void print(StepProfile profile, Path page, Path trace) {
    PrintWriter text = spec.commandLine().getOut();
    long again = profile.steps().stream().filter(StepProfile.Step::isAgain).count();
    text.printf(
        "memory of a step %s, without a limit %s; at most %s in use, in step %d of %d%n",
        Format.bytes(profile.bytes()),
        Format.bytes(profile.withoutBudget()),
        Format.bytes(profile.liveBytes(profile.peakStep())),
        profile.peakStep(),
        profile.steps().size());
    text.printf(
        "computed again: %d steps, %s %% of the time%n",
        again, Format.fixed(100 * profile.shareAgain(), 1));
    text.println("picture " + Format.path(page));
    text.println("trace " + Format.path(trace));
    text.flush();
  }
}
