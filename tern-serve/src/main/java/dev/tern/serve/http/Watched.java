package dev.tern.serve.http;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** A value read from files, and read again when they change. A bad change leaves the value. */
final class Watched<T> {
  private final List<Path> files;
  private final Supplier<T> reading;
  private final Consumer<String> notes;
  private List<String> stamps;
  private volatile T value;

  Watched(List<Path> files, Supplier<T> reading, Consumer<String> notes) {
    this.files = files;
    this.reading = reading;
    this.notes = notes;
    stamps = stamps();
    value = reading.get();
  }

  T value() {
    return value;
  }

  /** Reads the files again if they changed; true if they gave a new value. */
  boolean refresh() {
    List<String> now = stamps();
    if (now.equals(stamps)) {
      return false;
    }
    stamps = now;
    try {
      value = reading.get();
      notes.accept("read " + files + " again");
      return true;
    } catch (RuntimeException e) {
      notes.accept(e.getMessage() + "; what was read before stays in use");
      return false;
    }
  }

  private List<String> stamps() {
    List<String> stamps = new ArrayList<>();
    for (Path file : files) {
      try {
        stamps.add(Files.getLastModifiedTime(file) + " " + Files.size(file));
      } catch (IOException e) {
        stamps.add("none");
      }
    }
    return stamps;
  }
}
