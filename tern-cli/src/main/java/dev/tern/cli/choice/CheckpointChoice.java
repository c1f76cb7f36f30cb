package dev.tern.cli.choice;

import dev.tern.checkpoint.Checkpoint;
import java.nio.file.Path;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Command-line arguments for a checkpoint. All commands take the same one of a run's folder. */
public final class CheckpointChoice {
  @Parameters(
      index = "0",
      paramLabel = "CHECKPOINT",
      description = "A checkpoint, or a run's folder, of which the best is taken.")
  private Path checkpoint = Path.of("");

  @Option(
      names = "--latest",
      description =
          "Of a run's folder take the latest checkpoint, from which a run resumes, instead of the"
              + " best.")
  private boolean latest;

  /** What was named. */
  public Path path() {
    return checkpoint;
  }

  public Checkpoint open() {
    return open(checkpoint);
  }

  /** Opens another checkpoint or run's folder in the same way. */
  public Checkpoint open(Path other) {
    return latest ? Checkpoint.openLatest(other) : Checkpoint.open(other);
  }
}
