package dev.tern.internal.replay;

import dev.tern.base.DataException;
import dev.tern.internal.files.GzipInput;
import dev.tern.internal.json.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** The lines of a log, each a JSON object; errors name the file and the line. */
final class LogLines implements AutoCloseable {
  private static final int LONGEST_LINE = 1 << 20;
  private static final long LARGEST = 1L << 43;

  private final Path file;
  private final BufferedReader reader;
  private int line;

  /** Opens a file, compressed by gzip or not. */
  LogLines(Path file) throws IOException {
    this.file = file;
    reader = new BufferedReader(new InputStreamReader(open(file), StandardCharsets.UTF_8));
  }

  private static InputStream open(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      if (in.read() == 0x1f && in.read() == 0x8b) {
        return GzipInput.open(file);
      }
    }
    return Files.newInputStream(file);
  }

  /** The object on the next line, which must be there. */
  Json.Obj next(String expected) throws IOException {
    return next().orElseThrow(() -> wrong("got the end of the file, expected " + expected));
  }

  /** The object on the next line; empty at the end. */
  Optional<Json.Obj> next() throws IOException {
    line++;
    int character = reader.read();
    if (character < 0) {
      return Optional.empty();
    }
    StringBuilder text = new StringBuilder();
    for (; character >= 0 && character != '\n'; character = reader.read()) {
      if (text.length() == LONGEST_LINE) {
        throw wrong("got a line of more than " + LONGEST_LINE + " characters, expected JSON");
      }
      text.append((char) character);
    }
    String place = file + " line " + line;
    return Optional.of(Json.parse(text.toString(), place).asObject(place));
  }

  /** A size or time: a whole number from 0 to 2^43. */
  long size(Json.Obj object, String field) {
    long number = number(object.get(field), field);
    if (number < 0 || number > LARGEST) {
      throw wrong("got %s %d, expected 0 to 2^43".formatted(field, number));
    }
    return number;
  }

  /** The number of one of {@code count} operands. */
  int index(Json value, int count, String field) {
    long index = number(value, field);
    if (index < 0 || index >= count) {
      throw wrong("got %s %d, expected the index of one of %d ARGS".formatted(field, index, count));
    }
    return (int) index;
  }

  /** A whole number; logs write them as texts, except in lists. */
  long number(Json value, String field) {
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

  /** The error that says what is wrong on the line read last. */
  DataException wrong(String what) {
    return new DataException(
        file + " line " + line + ": " + what + "; replay a whole log, as it was written");
  }

  /** The same error, with the file and line if it does not name them. */
  DataException placed(DataException e) {
    String message = String.valueOf(e.getMessage());
    return message.startsWith(file.toString()) ? e : wrong(message);
  }

  @Override
  public void close() throws IOException {
    reader.close();
  }
}
