package dev.tern.cli.run;

import dev.tern.base.DataException;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * The file {@code metrics.jsonl}. Each line is written at once, so that others can read it during
 * the run. A killed run leaves at most one torn line at the end; opening the file cuts it off. One
 * writer.
 */
public final class MetricsLog implements AutoCloseable {
  private final Path file;
  private final Writer out;
  private final List<MetricsLine> lines;

  private MetricsLog(Path file, Writer out, List<MetricsLine> lines) {
    this.file = file;
    this.out = out;
    this.lines = lines;
  }

  /**
   * Opens the file to append, and cuts lines of steps after {@code step}: a resumed run repeats
   * them.
   *
   * @param step steps the run has done; 0 cuts all
   */
  public static MetricsLog open(Path file, long step) {
    try {
      List<MetricsLine> kept =
          read(file).stream().filter(line -> line.step() <= step && step > 0).toList();
      StringBuilder text = new StringBuilder();
      kept.forEach(line -> text.append(line.toJson()).append('\n'));
      RunFolder.write(file, text.toString());
      Writer out = Files.newBufferedWriter(file, StandardCharsets.UTF_8, StandardOpenOption.APPEND);
      return new MetricsLog(file, out, new ArrayList<>(kept));
    } catch (IOException e) {
      throw RunFolder.unwritable(file, e);
    }
  }

  /** The lines of a file up to the first broken one; none if there is no file. */
  public static List<MetricsLine> read(Path file) {
    if (!Files.exists(file)) {
      return List.of();
    }
    List<MetricsLine> lines = new ArrayList<>();
    try {
      String text = new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
      for (String line : text.substring(0, text.lastIndexOf('\n') + 1).lines().toList()) {
        lines.add(MetricsLine.parse(line, file.toString()));
      }
    } catch (DataException _) {
      return lines; // torn by a crash
    } catch (IOException e) {
      throw new RunException(
          file
              + ": got an error reading it ("
              + DataException.reason(e)
              + "), expected metrics; check the disk",
          e);
    }
    return lines;
  }

  /** Appends a line and hands it to the system. */
  public void append(MetricsLine line) {
    try {
      out.write(line.toJson() + "\n");
      out.flush();
    } catch (IOException e) {
      throw RunFolder.unwritable(file, e);
    }
    lines.add(line);
  }

  /** All lines so far, with the ones kept from an earlier run. */
  public List<MetricsLine> lines() {
    return List.copyOf(lines);
  }

  @Override
  public void close() {
    try {
      out.close();
    } catch (IOException e) {
      throw RunFolder.unwritable(file, e);
    }
  }
}
