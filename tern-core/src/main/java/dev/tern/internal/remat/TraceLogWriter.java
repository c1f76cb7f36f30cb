package dev.tern.internal.remat;

import dev.tern.internal.json.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Writes a step as the log that {@code tern replay} reads, not compressed. Value {@code i} is named
 * {@code t<i>}.
 *
 * <p>The format has no word for an op that cannot run again: it is written as a call without
 * results, for its time, and its results as constants, which stay to the end. Nor has it one for
 * ops that cannot run again from some point on; a replay may run them again.
 */
public final class TraceLogWriter {
  private final Writer out;
  private final List<String> ops;

  /** By value the names that it is referred to by. */
  private final Map<Integer, Deque<String>> names = new HashMap<>();

  private int values;
  private int copies;
  private int runs;

  private TraceLogWriter(Writer out, List<String> ops) {
    this.out = out;
    this.ops = ops;
  }

  /**
   * Writes a step; a file that is there is replaced once all is written.
   *
   * @throws UncheckedIOException when it cannot be written
   */
  public static void write(Trace step, Path file) {
    Path target = file.toAbsolutePath();
    Path part = target.resolveSibling(target.getFileName() + ".part");
    try {
      try (Writer out = Files.newBufferedWriter(part)) {
        new TraceLogWriter(out, step.names()).write(step);
      }
      Files.move(part, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      remove(part);
      throw new UncheckedIOException("record: got an error writing " + file, e);
    }
  }

  private static void remove(Path part) {
    try {
      Files.deleteIfExists(part);
    } catch (IOException _) {
      // The error that led here is the one to report.
    }
  }

  private void write(Trace step) throws IOException {
    line(instruction("ANNOTATE").put("ANNOTATION", "START"));
    for (Trace.Event event : step.events()) {
      switch (event) {
        case Trace.Run run -> run(run);
        case Trace.Retain(int value) -> {
          String name = "t" + value + "_" + ++copies;
          line(instruction("COPY").put("DST", name).put("SRC", name(value)));
          namesOf(value).push(name);
        }
        case Trace.Release(int value) -> release(value);
        case Trace.Free(int value) -> release(value);
        case Trace.Pin _, Trace.Expire _ -> {}
      }
    }
  }

  private void run(Trace.Run run) throws IOException {
    String name = runs < ops.size() ? ops.get(runs) : "op" + runs;
    runs++;
    if (!run.isRepeatable() && run.reads().length == 0 && run.cost() == 0) {
      constants(run);
      return;
    }
    List<Json> args = new ArrayList<>();
    for (int value : run.reads()) {
      args.add(new Json.Str(name(value)));
    }
    List<Json> results = new ArrayList<>();
    for (int i = 0; i < run.bytes().length && run.isRepeatable(); i++) {
      results.add(new Json.Str("t" + (values + i)));
    }
    line(
        instruction("CALL")
            .put("NAME", name)
            .put("ARGS", new Json.Arr(args))
            .put("RESULT", new Json.Arr(results))
            .put("TIME", Long.toString(Math.round(run.cost()))));
    if (!run.isRepeatable()) {
      constants(run);
      return;
    }
    for (int i = 0; i < run.bytes().length; i++) {
      String made = define();
      line(memory(made, run.bytes()[i]));
      line(
          instruction("ALIAS")
              .put("NAME", made)
              .put("ALIAS", Integer.toString(indexOf(run.viewOf()[i], run.reads()))));
    }
  }

  private void constants(Trace.Run run) throws IOException {
    for (long bytes : run.bytes()) {
      String made = define();
      line(instruction("CONSTANT").put("NAME", made));
      line(memory(made, bytes));
    }
  }

  private static int indexOf(int value, int[] reads) {
    for (int i = 0; i < reads.length; i++) {
      if (reads[i] == value) {
        return i;
      }
    }
    return -1;
  }

  private String define() {
    String name = "t" + values;
    namesOf(values++).push(name);
    return name;
  }

  private Deque<String> namesOf(int value) {
    return names.computeIfAbsent(value, v -> new ArrayDeque<>());
  }

  /** The name that a value was given first, by which the log knows it also once it is released. */
  private static String name(int value) {
    return "t" + value;
  }

  private void release(int value) throws IOException {
    line(instruction("RELEASE").put("NAME", namesOf(value).pop()));
  }

  private static Json.Obj instruction(String kind) {
    return Json.object().put("INSTRUCTION", kind);
  }

  private static Json.Obj memory(String name, long bytes) {
    return instruction("MEMORY").put("NAME", name).put("MEMORY", Long.toString(bytes));
  }

  private void line(Json.Obj object) throws IOException {
    out.write(object.toString());
    out.write('\n');
  }
}
