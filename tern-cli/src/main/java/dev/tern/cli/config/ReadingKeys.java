package dev.tern.cli.config;

import dev.tern.base.DataException;
import dev.tern.internal.json.Json;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * How files are read, as a checkpoint keeps it: those keys of the section {@code data} that are
 * {@link Key#reading} and are not at their default, as JSON with the names of the keys. No path and
 * no number of threads, so that the bytes of a checkpoint depend on what is read alone.
 */
final class ReadingKeys {
  private static final String SECTION = "data";

  private ReadingKeys() {}

  /**
   * Writes what a resolved configuration says.
   *
   * @param written values by path, as {@link YamlFile#read} gives them
   */
  static String write(Map<String, Raw> written) {
    Json.Obj json = Json.object();
    written.forEach((path, raw) -> {
      Key<?> key = Keys.find(path).orElseThrow();
      if (key.equals(DataKeys.VALUES) && isId(written, path) && raw.text().equals("text")) {
        put(json, path, new Json.Str("integer")); // The key "encode" does not say how to read.
      } else if (key.forReading()
          && !key.equals(DataKeys.READ_THREADS)
          && (isColumns(key) || !isDefault(key, raw))) {
        put(json, path, value(key, raw));
      }
    });
    return json.toString();
  }

  private static boolean isId(Map<String, Raw> written, String path) {
    Raw encode = written.get(path.replaceAll("[^.]+$", "") + DataKeys.ENCODE.name());
    return encode != null && encode.text().equals("id");
  }

  /** Names of a group's columns are always written, so that groups keep their numbers. */
  private static boolean isColumns(Key<?> key) {
    return key.equals(DataKeys.LABELS)
        || key.equals(DataKeys.DENSE_COLUMNS)
        || key.equals(DataKeys.SPARSE_COLUMNS);
  }

  private static <T> boolean isDefault(Key<T> key, Raw raw) {
    return key.fallback().isPresent() && key.fallback().equals(key.kind().read(raw));
  }

  private static Json value(Key<?> key, Raw raw) {
    return switch (raw) {
      case Raw.Sequence(List<Raw.Scalar> items, Raw.Source _) ->
          new Json.Arr(items.stream().<Json>map(item -> new Json.Str(item.text())).toList());
      case Raw.Scalar(String text, Raw.Source _) ->
          switch (key.kind()) {
            case Kind.Flag _ -> new Json.Bool(Boolean.parseBoolean(text));
            case Kind.Whole _ -> new Json.Int(Long.parseLong(text));
            default -> new Json.Str(text);
          };
    };
  }

  /** Puts a value at its path below the section; groups are items of an array. */
  private static void put(Json.Obj root, String path, Json value) {
    String[] names = path.substring(SECTION.length() + 1).split("[.]");
    Json.Obj at = root;
    for (int i = 0; i < names.length - 1; i++) {
      at = member(at, names[i]);
    }
    at.put(names[names.length - 1], value);
  }

  private static Json.Obj member(Json.Obj parent, String name) {
    int bracket = name.indexOf('[');
    if (bracket < 0) {
      return (Json.Obj) parent.fields().computeIfAbsent(name, _ -> Json.object());
    }
    int index = Integer.parseInt(name.substring(bracket + 1, name.length() - 1));
    Json list =
        parent
            .fields()
            .computeIfAbsent(name.substring(0, bracket), _ -> new Json.Arr(new ArrayList<>()));
    List<Json> groups = ((Json.Arr) list).items();
    while (groups.size() <= index) {
      groups.add(Json.object());
    }
    return (Json.Obj) groups.get(index);
  }

  /**
   * Reads what {@link #write} wrote: values by path.
   *
   * @param name of the file, for messages
   */
  static Map<String, Raw> read(String json, String name) {
    Map<String, Raw> written = new LinkedHashMap<>();
    try {
      read(Json.parseObject(json, name), SECTION, name, written);
    } catch (DataException e) {
      throw new ConfigException(String.valueOf(e.getMessage()), e);
    }
    return written;
  }

  private static void read(Json.Obj from, String path, String name, Map<String, Raw> written) {
    Raw.Source source = new Raw.Source(name, false);
    from.fields()
        .forEach((field, value) -> {
          String child = path + "." + field;
          switch (value) {
            case Json.Obj members when Keys.isSection(child) -> read(members, child, name, written);
            case Json.Arr(List<Json> groups) when Keys.GROUPS.contains(child) -> {
              for (int i = 0; i < groups.size(); i++) {
                String group = child + "[" + i + "]";
                read(groups.get(i).asObject(name + ": " + group), group, name, written);
              }
            }
            case Json.Arr(List<Json> items) -> {
              requireKey(child, name);
              List<Raw.Scalar> texts =
                  items.stream().map(item -> new Raw.Scalar(text(item), source)).toList();
              written.put(child, new Raw.Sequence(texts, source));
            }
            default -> {
              requireKey(child, name);
              written.put(child, new Raw.Scalar(text(value), source));
            }
          }
        });
  }

  private static String text(Json value) {
    return value instanceof Json.Str(String text) ? text : value.toString();
  }

  private static void requireKey(String path, String name) {
    if (Keys.find(path).filter(Key::forReading).isEmpty()) {
      throw new ConfigException(
          "%s: got %s, which this version of Tern does not know, expected a key that says how files"
                  .formatted(name, Names.excerpt(Keys.plain(path)))
              + " are read; score with the version that trained the model, or a later one");
    }
  }
}
