package dev.tern.cli.serve;

import dev.tern.predict.Candidates;
import java.nio.file.Path;
import java.util.List;

/** Makes what reads the items that a served model finds. */
@FunctionalInterface
public interface CandidateReading {
  /**
   * Reads the items of files.
   *
   * @param model the run's folder or checkpoint that was named
   * @param files with the columns of items
   */
  Candidates.Source of(Path model, List<Path> files);
}
