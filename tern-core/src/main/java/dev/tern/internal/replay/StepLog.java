package dev.tern.internal.replay;

import dev.tern.data.DataException;
import dev.tern.internal.json.Json;
import dev.tern.internal.runtime.Step;
import java.io.BufferedInputStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;

/**
 * Reads the logs of the simulator of "Dynamic Tensor Rematerialization" (Kirisame et al. 2021): one
 * JSON object a line, compressed by gzip or not. An op that changes an operand in place is read as
 * one that makes a new value. Values that are referred to at the end are needed at the end.
 */
public final class StepLog {
  private static final int GZIP_MAGIC = 0x1f8b;
  private static final int LONGEST_LINE = 1 << 20;

  private final Path file;
  private final BufferedReader lines;
  private int line;
  private final List<Step.Event> events = new ArrayList<>();
  private final Map<String, Integer> names = new LinkedHashMap<>();
  private final List<Value> values = new ArrayList<>();

  /** What is known of a value: bytes of its storage, the value it is a view of, references. */
  private static final class Value {
    final long storageBytes;
    int references = 1;

    Value(long storageBytes) {
      this.storageBytes = storageBytes;
    }
  }

  private StepLog(Path file, BufferedReader lines) {
    this.file = file;
    this.lines = lines;
  }

  /**
   * The step in a log.
   *
   * @throws DataException when the log is not one, is cut short or cannot be read
   */
  public static Step read(Path file) {
    try (InputStream in = open(file);
        BufferedReader lines =
            new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
      return new StepLog(file, lines).read();
    } catch (IOException e) {
      throw new DataException(
          file + ": got " + DataException.reason(e) + ", expected a readable log; check the file",
          e);
    }
  }

  private static InputStream open(Path file) throws IOException {
    BufferedInputStream in = new BufferedInputStream(Files.newInputStream(file));
    try {
      in.mark(2);
      int magic = in.read() << 8 | in.read();
      in.reset();
      return magic == GZIP_MAGIC ? new GZIPInputStream(in) : in;
    } catch (IOException e) {
      in.close();
      throw e;
    }
  }

  private Step read() throws IOException {
    boolean started = false;
    while (!started) {
      Json.Obj object = next("an ANNOTATE line with START");
      started =
          object.text("INSTRUCTION").equals("ANNOTATE")
              && object.text("ANNOTATION").equals("START");
    }
    for (String text = line(); text != null; text = line()) {
      Json.Obj object = parse(text);
      try {
        instruction(object);
      } catch (DataException e) {
        String message = String.valueOf(e.getMessage());
        throw message.startsWith(file.toString()) ? e : wrong(message);
      }
    }
    for (int value : names.values()) {
      if (values.get(value).references > 0) {
        events.add(new Step.Pin(value));
      }
    }
    return new Step(events);
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
          throw wrong(
              "got instruction "
                  + kind
                  + ", expected ANNOTATE, CONSTANT, CALL, MUTATE, COPY, COPY_FROM or RELEASE");
    }
  }

  private void constant(String name) throws IOException {
    long bytes = memory(name);
    events.add(new Step.Run(0, false, new int[0], new long[] {bytes}, new int[] {-1}));
    events.add(new Step.Pin(define(name, bytes)));
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
    events.add(new Step.Run(time(object), true, reads, bytes, viewOf));
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
      int index = index(number(changed.get(i), "MUTATE"), reads.length, "MUTATE");
      changedNames[i] = object.array("ARGS").get(index).asText("ARGS");
      bytes[i] = values.get(reads[index]).storageBytes;
      viewOf[i] = -1;
    }
    events.add(new Step.Run(time(object), true, reads, bytes, viewOf));
    for (int i = 0; i < bytes.length; i++) {
      int old = value(changedNames[i]);
      values.add(new Value(bytes[i]));
      names.put(changedNames[i], values.size() - 1);
      release(old);
    }
  }

  private void copy(String name, int of) {
    if (names.put(name, of) != null) {
      throw wrong("got the name " + name + " twice, expected a new one");
    }
    values.get(of).references++;
    events.add(new Step.Retain(of));
  }

  private void release(int value) {
    if (values.get(value).references-- <= 0) {
      throw wrong("got a release too many, expected one for each reference");
    }
    events.add(new Step.Release(value));
  }

  private int define(String name, long bytes) {
    values.add(new Value(bytes));
    if (names.put(name, values.size() - 1) != null) {
      throw wrong("got the name " + name + " twice, expected a new one");
    }
    return values.size() - 1;
  }

  private int value(String name) {
    Integer value = names.get(name);
    if (value == null) {
      throw wrong("got the name " + name + ", expected one that was defined before");
    }
    return value;
  }

  private int[] valuesOf(List<Json> list) {
    return list.stream().mapToInt(item -> value(item.asText("ARGS"))).toArray();
  }

  private long memory(String name) throws IOException {
    Json.Obj object = next("the MEMORY line of " + name);
    if (!object.text("INSTRUCTION").equals("MEMORY") || !object.text("NAME").equals(name)) {
      throw wrong("got " + object.text("INSTRUCTION") + ", expected the MEMORY line of " + name);
    }
    return size(object, "MEMORY");
  }

  private int alias(String name, int[] reads) throws IOException {
    Json.Obj object = next("the ALIAS line of " + name);
    if (!object.text("INSTRUCTION").equals("ALIAS") || !object.text("NAME").equals(name)) {
      throw wrong("got " + object.text("INSTRUCTION") + ", expected the ALIAS line of " + name);
    }
    long index = number(object.get("ALIAS"), "ALIAS");
    return index == -1 ? -1 : reads[index(index, reads.length, "ALIAS")];
  }

  private int index(long index, int count, String field) {
    if (index < 0 || index >= count) {
      throw wrong("got %s %d, expected the index of one of %d ARGS".formatted(field, index, count));
    }
    return (int) index;
  }

  private double time(Json.Obj object) {
    return size(object, "TIME");
  }

  private long size(Json.Obj object, String field) {
    long number = number(object.get(field), field);
    if (number < 0 || number > Long.MAX_VALUE >> 20) {
      throw wrong("got %s %d, expected 0 to 2^43".formatted(field, number));
    }
    return number;
  }

  /** Numbers are written as texts, except in lists. */
  private long number(Json value, String field) {
    if (value instanceof Json.Int(long number)) {
      return number;
    }
    String text = value.asText(field);
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException e) {
      throw wrong("got %s \"%s\", expected a whole number".formatted(field, text));
    }
  }

  private Json.Obj next(String expected) throws IOException {
    String text = line();
    if (text == null) {
      throw wrong("got the end of the file, expected " + expected);
    }
    return parse(text);
  }

  private @Nullable String line() throws IOException {
    line++;
    String text = lines.readLine();
    if (text != null && text.length() > LONGEST_LINE) {
      throw wrong("got a line of " + text.length() + " characters, expected a JSON object");
    }
    return text;
  }

  private Json.Obj parse(String text) {
    return Json.parse(text, file + " line " + line).asObject(file + " line " + line);
  }

  private DataException wrong(String what) {
    return new DataException(
        file + " line " + line + ": " + what + "; replay a whole log, as it was written");
  }
}
