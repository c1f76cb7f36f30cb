package dev.tern.internal.onnx;

import dev.tern.base.DataException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads tensors of a model file (TensorProto of onnx.proto). Their elements stay where they are,
 * but for a few integers that are listed one by one.
 */
record TensorReader(Path path, WireReader in) {
  private static final int MOST_RANK = 8;

  /** More integers than are listed one by one; larger tensors have raw data. */
  private static final int MOST_LISTED = 1 << 16;

  /** More than what is said of external data. */
  private static final int MOST_ENTRIES = 16;

  /** Larger than any number of an element type. */
  private static final int LARGE = 1 << 16;

  /** The tensor whose message ends at the byte {@code end}. */
  SavedTensor read(long end) throws IOException {
    long at = in.position();
    List<Long> dims = new ArrayList<>();
    List<Long> listed = new ArrayList<>();
    Map<String, String> external = new LinkedHashMap<>();
    String name = "";
    long type = 0;
    long from = 0;
    long to = 0;
    while (in.hasField(end)) {
      switch (in.field()) {
        case 1 -> numbers(dims, MOST_RANK, "sizes", end);
        case 2 -> type = in.number("an element type");
        case 4, 9 -> { // Floats one by one are the same bytes.
          to = in.end("data", end);
          from = in.position();
          in.goTo(to);
        }
        case 7 -> numbers(listed, MOST_LISTED, "integers", end);
        case 8 -> name = in.name("a name", end);
        case 13 -> entry(external, in.end("external data", end));
        default -> in.skip(end);
      }
    }
    if (dims.stream().anyMatch(dim -> dim < 0)) {
      throw in.fault(at, "the sizes " + dims, "sizes of 0 or more");
    }
    int known = type < 0 || type > LARGE ? LARGE : (int) type;
    SavedTensor tensor = new SavedTensor(name, dims, known, at, path, from, to - from, listed);
    return external.isEmpty() ? tensor : external(tensor, external);
  }

  /**
   * One integer, or several packed; what is more than {@code most} is refused before it is kept.
   */
  private void numbers(List<Long> into, int most, String what, long end) throws IOException {
    long at = in.position();
    boolean packed = in.hasLength();
    long to = packed ? in.end(what, end) : end;
    boolean more = true;
    while (packed ? in.hasField(to) : more) {
      if (into.size() == most) {
        throw in.fault(at, "more than " + most + " " + what, "so many at most");
      }
      into.add(packed ? in.varint() : in.number(what));
      more = false;
    }
  }

  private void entry(Map<String, String> external, long end) throws IOException {
    long at = in.position();
    String key = "";
    String value = "";
    while (in.hasField(end)) {
      switch (in.field()) {
        case 1 -> key = in.name("external data", end);
        case 2 -> value = in.name("external data", end);
        default -> in.skip(end);
      }
    }
    external.put(key, value);
    if (external.size() > MOST_ENTRIES) {
      throw in.fault(at, "more than " + MOST_ENTRIES + " entries of external data", "fewer");
    }
  }

  private SavedTensor external(SavedTensor tensor, Map<String, String> of) {
    String location = of.getOrDefault("location", "");
    boolean isBeside =
        !location.isEmpty()
            && !location.contains("/")
            && !location.contains("\\")
            && location.chars().allMatch(c -> c >= ' ')
            && !location.equals("..")
            && !location.equals(".");
    if (!isBeside || !Files.isRegularFile(path.resolveSibling(location))) {
      throw in.fault(
          tensor.at(), "external data in \"" + location + "\"", "the name of a file beside it");
    }
    Path beside = path.resolveSibling(location);
    long size = sizeOf(beside);
    long offset = number(tensor, of.getOrDefault("offset", "0"));
    long length = number(tensor, of.getOrDefault("length", Long.toString(size - offset)));
    if (offset > size || length > size - offset) {
      throw in.fault(
          tensor.at(),
          "external data of %d bytes from byte %d of %s".formatted(length, offset, location),
          "a part of its " + size + " bytes");
    }
    return tensor.within(beside, offset, length);
  }

  private static long sizeOf(Path file) {
    try {
      return Files.size(file);
    } catch (IOException e) {
      throw new UncheckedIOException(
          "%s: got an error reading it (%s), expected the data of a model; check the path"
              .formatted(file, DataException.reason(e)),
          e);
    }
  }

  private long number(SavedTensor tensor, String text) {
    if (!text.matches("[0-9]{1,18}")) {
      throw in.fault(tensor.at(), "external data at \"" + text + "\"", "decimal numbers");
    }
    return Long.parseLong(text);
  }
}
