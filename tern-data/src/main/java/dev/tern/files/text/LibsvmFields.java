package dev.tern.files.text;

import dev.tern.files.FileColumn;
import dev.tern.internal.files.LineInput;
import dev.tern.internal.files.NumberParser;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/** Looks for the fields of a file, for people to see. */
final class LibsvmFields {
  private LibsvmFields() {}

  /** The fields of the first {@code lines} lines, each with its first feature and value. */
  static List<FileColumn> of(Path file, LibsvmOptions options, int lines) {
    TreeMap<Long, String> fields = new TreeMap<>(Long::compareUnsigned);
    NumberParser numbers = new NumberParser();
    try (LineInput input = options.lines(file)) {
      for (int i = 0; i < lines && input.next(); i++) {
        byte[] bytes = input.bytes();
        int from = input.start();
        for (int p = from; p <= input.end() && bytes[from] != '#'; p++) {
          if (p == input.end() || LineInput.isSpace(bytes[p])) {
            int colon = numbers.parseWhole(bytes, from);
            if (colon > from && colon < p && bytes[colon] == ':') {
              String text = input.quoted(colon + 1, p);
              fields.putIfAbsent(numbers.integer(), text.substring(1, text.length() - 1));
            }
            from = p + 1;
          }
        }
      }
    }
    List<FileColumn> columns = new ArrayList<>();
    fields.forEach(
        (field, content) -> columns.add(new FileColumn(Long.toUnsignedString(field), content)));
    return columns;
  }
}
