package dev.tern.files.parquet;

import dev.tern.base.DataException;
import dev.tern.internal.files.BinaryInput;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * HugeCTR's {@code _metadata.json}: the rows of each file and which columns are labels, dense
 * numbers ("conts") and keys ("cats"). Columns count by their index alone, in ascending order
 * within each of the three whatever the order in the file; their names there are ignored.
 *
 * @param rows of each file, by base name
 */
record ParquetMetadata(
    Path path,
    Map<String, Long> rows,
    List<Integer> labels,
    List<Integer> conts,
    List<Integer> cats) {
  static final String NAME = "_metadata.json";
  private static final long MAX_BYTES = 64 << 20;
  private static final int MAX_INDEX = 1 << 24;

  /** Reads the metadata in {@code folder}. */
  static ParquetMetadata read(Path folder) {
    Path path = folder.resolve(NAME);
    if (!Files.isRegularFile(path)) {
      throw new DataException(
          path + ": got no such file, expected HugeCTR's description of the data set beside it");
    }
    try {
      if (Files.size(path) > MAX_BYTES) {
        throw bad(path, Files.size(path) + " bytes", "at most " + MAX_BYTES);
      }
      return parse(path, JsonMapper.shared().readTree(Files.readAllBytes(path)));
    } catch (IOException e) {
      throw BinaryInput.unreadable(path, e);
    } catch (JacksonException e) {
      TokenStreamLocation at = e.getLocation(); // none where a limit of the parser is exceeded
      throw new DataException(
          "%s: %sgot what is no JSON, expected HugeCTR's description; write it again"
              .formatted(
                  path,
                  at == null
                      ? ""
                      : "line " + at.getLineNr() + ", column " + at.getColumnNr() + ": "),
          e);
    }
  }

  private static ParquetMetadata parse(Path path, JsonNode root) {
    Map<String, Long> rows = new LinkedHashMap<>();
    for (JsonNode file : array(path, root, "file_stats")) {
      JsonNode name = file.path("file_name");
      JsonNode count = file.path("num_rows");
      if (!name.isString() || !count.isIntegralNumber() || !count.canConvertToLong()) {
        throw bad(path, "file_stats " + shortened(file), "file_name and num_rows");
      }
      String base = name.stringValue();
      base = base.substring(base.lastIndexOf('/') + 1);
      if (base.isEmpty() || base.indexOf('\0') >= 0 || rows.put(base, count.longValue()) != null) {
        throw bad(path, "file_name \"" + base + '"', "names of files, each once");
      }
    }
    List<Integer> labels = indices(path, root, "labels");
    List<Integer> conts = indices(path, root, "conts");
    List<Integer> cats = indices(path, root, "cats");
    if (conts.isEmpty() && cats.isEmpty()) {
      throw new DataException(
          path
              + ": got "
              + (labels.isEmpty() ? "no labels, " : "")
              + "no conts and no cats, expected columns to learn from; write it again, or name"
              + " columns by data.label.column, data.dense.columns and data.sparse.columns");
    }
    requireApart(path, "labels", labels, "conts", conts);
    requireApart(path, "labels", labels, "cats", cats);
    requireApart(path, "conts", conts, "cats", cats);
    return new ParquetMetadata(path, rows, labels, conts, cats);
  }

  /** A label among the features would be learned by heart. */
  private static void requireApart(
      Path path, String one, List<Integer> indices, String other, List<Integer> others) {
    for (int index : indices) {
      if (others.contains(index)) {
        throw bad(path, "index " + index + " in " + one + " and " + other, "it in one of them");
      }
    }
  }

  private static List<Integer> indices(Path path, JsonNode root, String name) {
    List<Integer> indices = new ArrayList<>();
    for (JsonNode column : array(path, root, name)) {
      JsonNode index = column.path("index");
      if (!index.isIntegralNumber()
          || !index.canConvertToInt()
          || index.intValue() < 0
          || index.intValue() > MAX_INDEX
          || indices.contains(index.intValue())) {
        throw bad(path, name + " " + shortened(column), "an index from 0, each once");
      }
      indices.add(index.intValue());
    }
    indices.sort(null);
    return List.copyOf(indices);
  }

  private static JsonNode array(Path path, JsonNode root, String name) {
    JsonNode array = root.path(name);
    if (!array.isArray()) {
      throw bad(
          path, array.isMissingNode() ? "no " + name : name + " that is no array", "an array");
    }
    return array;
  }

  private static String shortened(JsonNode node) {
    String text = node.toString();
    return text.length() > 80 ? text.substring(0, 80) + "..." : text;
  }

  private static DataException bad(Path path, String got, String expected) {
    return new DataException(path + ": got " + got + ", expected " + expected + "; mend the file");
  }

  /** This description without labels. */
  ParquetMetadata withoutLabels() {
    return new ParquetMetadata(path, rows, List.of(), conts, cats);
  }

  /** Says so if {@code file} has not as many rows as stated here. */
  void requireRows(ParquetFile file) {
    String name = file.path().getFileName().toString();
    Long stated = rows.get(name);
    if (stated == null || stated != file.rows()) {
      throw new DataException(
          file.path()
              + ": got "
              + file.rows()
              + " rows, expected "
              + (stated == null ? "an entry" : stated)
              + " by file_stats of "
              + path
              + "; the file or the description is stale, write them again");
    }
  }

  /**
   * This data set as the bytes of a {@code _metadata.json}; {@code names} of all columns by index.
   */
  byte[] toJson(List<String> names) {
    List<Map<String, Object>> files = new ArrayList<>();
    rows.forEach((name, count) -> files.add(entry("file_name", name, "num_rows", count)));
    Map<String, Object> root = new LinkedHashMap<>();
    root.put("file_stats", files);
    root.put("labels", columns(labels, names));
    root.put("conts", columns(conts, names));
    root.put("cats", columns(cats, names));
    return JsonMapper.shared().writerWithDefaultPrettyPrinter().writeValueAsBytes(root);
  }

  private static List<Map<String, Object>> columns(List<Integer> indices, List<String> names) {
    return indices.stream().map(i -> entry("col_name", names.get(i), "index", i)).toList();
  }

  private static Map<String, Object> entry(String a, Object x, String b, Object y) {
    Map<String, Object> entry = new LinkedHashMap<>();
    entry.put(a, x);
    entry.put(b, y);
    return entry;
  }
}
