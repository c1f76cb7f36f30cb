package dev.tern.convert;

import dev.tern.internal.checkpoint.AtomicFolder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** The folder of a run that begins with an imported model. */
public final class ImportedRun {
  private ImportedRun() {}

  /**
   * Writes a run: a checkpoint and texts beside it, all or nothing.
   *
   * @param run a new folder
   * @param checkpoint writes a checkpoint into the folder that it is given, and reports
   * @param files from the report to texts by the names of their files
   * @return the report
   * @throws dev.tern.base.DataException if something is at {@code run}
   */
  public static <T> T write(
      Path run, Function<Path, T> checkpoint, Function<T, Map<String, String>> files) {
    List<T> reports = new ArrayList<>();
    AtomicFolder.writeNew(
        run,
        folder -> {
          T report = checkpoint.apply(folder.resolve("checkpoints").resolve("step-0"));
          files.apply(report).forEach((name, text) -> write(folder.resolve(name), text));
          reports.add(report);
        });
    return reports.getFirst();
  }

  private static void write(Path file, String text) {
    try {
      Files.writeString(file, text, StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw AtomicFolder.unwritten(file, e);
    }
  }
}
