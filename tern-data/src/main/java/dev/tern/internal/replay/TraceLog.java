package dev.tern.internal.replay;

import dev.tern.base.DataException;
import dev.tern.internal.json.Json;
import dev.tern.internal.remat.Trace;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Reads the logs of the simulator of "Dynamic Tensor Rematerialization" (Kirisame et al. 2021): one
 * JSON object a line, compressed by gzip or not. An op that changes an operand in place is read as
 * one that makes a new value. Values that are referred to at the end are needed at the end.
 */
public final class TraceLog {
  private final LogLines lines;
  private final List<Trace.Event> events = new ArrayList<>();
  private final List<String> ops = new ArrayList<>();
  private final Map<String, Integer> names = new LinkedHashMap<>();
  private final List<Value> values = new ArrayList<>();

  /** What is known of a value: bytes of its storage, how many names refer to it. */
  private static final class Value {
    final long storageBytes;
    int references = 1;

    Value(long storageBytes) {
      this.storageBytes = storageBytes;
    }
  }

  private TraceLog(LogLines lines) {
    this.lines = lines;
  }

  /**
   * The step in a log.
   *
   * @throws DataException when the log is not one, is cut short or cannot be read
   */
  public static Trace read(Path file) {
    try (LogLines lines = new LogLines(file)) {
      return new TraceLog(lines).read();
    } catch (IOException e) {
      throw new DataException(
          file + ": got " + DataException.reason(e) + ", expected a readable log; check the file",
          e);
    }
  }

  private Trace read() throws IOException {
    try {
      readLines();
    } catch (DataException e) {
      throw lines.placed(e);
    }
    for (int value : names.values()) {
      if (values.get(value).references > 0) {
        events.add(new Trace.Pin(value));
      }
    }
    return new Trace(events, ops);
  }

  private void readLines() throws IOException {
    boolean started = false;
    while (!started) {
      started = isStart(lines.next("an ANNOTATE line with START"));
    }
    Optional<Json.Obj> object = lines.next();
    while (object.isPresent()) {
      instruction(object.get());
      object = lines.next();
    }
  }

  private static boolean isStart(Json.Obj object) {
    return object.text("INSTRUCTION").equals("ANNOTATE")
        && object.text("ANNOTATION").equals("START");
  }

  private void instruction(Json.Obj object) throws IOException {
    String kind = object.text("INSTRUCTION");
    switch (kind) {
      case "ANNOTATE" -> {}
      case "CONSTANT" -> constant(object.text("NAME"));
      case "CALL" -> call(object);
      case "MUTATE" -> mutate(object);
      case "COPY" -> copy(object.text("DST"), value(object.text("SRC")));
      case "COPY_FROM" -> {
        release(value(object.text("DST")));
        names.remove(object.text("DST"));
        copy(object.text("DST"), value(object.text("SRC")));
      }
      case "RELEASE" -> {
        if (names.containsKey(object.text("NAME"))) {
          release(value(object.text("NAME")));
        }
      }
      default ->
          throw lines.wrong(
              "got instruction "
                  + kind
                  + ", expected ANNOTATE, CONSTANT, CALL, MUTATE, COPY, COPY_FROM or RELEASE");
    }
  }

  private void constant(String name) throws IOException {
    long bytes = memory(name);
    ops.add("constant " + name);
    events.add(new Trace.Run(0, false, new int[0], new long[] {bytes}, new int[] {-1}));
    events.add(new Trace.Pin(define(name, bytes)));
  }

  private void call(Json.Obj object) throws IOException {
    int[] reads = valuesOf(object.array("ARGS"));
    List<Json> results = object.array("RESULT");
    long[] bytes = new long[results.size()];
    int[] viewOf = new int[results.size()];
    List<String> made = new ArrayList<>();
    for (int i = 0; i < bytes.length; i++) {
      String name = results.get(i).asText("RESULT");
      made.add(name);
      bytes[i] = memory(name);
      viewOf[i] = alias(name, reads);
      bytes[i] = viewOf[i] < 0 ? bytes[i] : 0;
    }
    ops.add(object.text("NAME"));
    events.add(new Trace.Run(lines.size(object, "TIME"), true, reads, bytes, viewOf));
    for (int i = 0; i < bytes.length; i++) {
      define(made.get(i), viewOf[i] < 0 ? bytes[i] : values.get(viewOf[i]).storageBytes);
    }
  }

  private void mutate(Json.Obj object) {
    int[] reads = valuesOf(object.array("ARGS"));
    List<Json> changed = object.array("MUTATE");
    long[] bytes = new long[changed.size()];
    int[] viewOf = new int[bytes.length];
    String[] changedNames = new String[bytes.length];
    for (int i = 0; i < bytes.length; i++) {
      int index = lines.index(changed.get(i), reads.length, "MUTATE");
      changedNames[i] = object.array("ARGS").get(index).asText("ARGS");
      bytes[i] = values.get(reads[index]).storageBytes;
      viewOf[i] = -1;
    }
    ops.add(object.text("NAME"));
    events.add(new Trace.Run(lines.size(object, "TIME"), true, reads, bytes, viewOf));
    for (int i = 0; i < bytes.length; i++) {
      int old = value(changedNames[i]);
      values.add(new Value(bytes[i]));
      names.put(changedNames[i], values.size() - 1);
      release(old);
    }
  }

  private void copy(String name, int of) {
    if (names.put(name, of) != null) {
      throw lines.wrong("got the name " + name + " twice, expected a new one");
    }
    values.get(of).references++;
    events.add(new Trace.Retain(of));
  }

  private void release(int value) {
    if (values.get(value).references-- <= 0) {
      throw lines.wrong("got a release too many, expected one for each reference");
    }
    events.add(new Trace.Release(value));
  }

  private int define(String name, long bytes) {
    values.add(new Value(bytes));
    if (names.put(name, values.size() - 1) != null) {
      throw lines.wrong("got the name " + name + " twice, expected a new one");
    }
    return values.size() - 1;
  }

  private int value(String name) {
    Integer value = names.get(name);
    if (value == null) {
      throw lines.wrong("got the name " + name + ", expected one that was defined before");
    }
    return value;
  }

  private int[] valuesOf(List<Json> list) {
    return list.stream().mapToInt(item -> value(item.asText("ARGS"))).toArray();
  }

  private long memory(String name) throws IOException {
    return lines.size(followUp("MEMORY", name), "MEMORY");
  }

  /** The value that a result is a view of, or -1. */
  private int alias(String name, int[] reads) throws IOException {
    Json index = followUp("ALIAS", name).get("ALIAS");
    return lines.number(index, "ALIAS") == -1
        ? -1
        : reads[lines.index(index, reads.length, "ALIAS")];
  }

  /** The next line, which must say more of a value. */
  private Json.Obj followUp(String kind, String name) throws IOException {
    Json.Obj object = lines.next("the " + kind + " line of " + name);
    if (!object.text("INSTRUCTION").equals(kind) || !object.text("NAME").equals(name)) {
      throw lines.wrong(
          "got " + object.text("INSTRUCTION") + ", expected the " + kind + " line of " + name);
    }
    return object;
  }
}
