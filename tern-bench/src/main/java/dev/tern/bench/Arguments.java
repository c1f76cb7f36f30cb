package dev.tern.bench;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Options of a suite: {@code --name value}, or {@code --json} alone. */
public final class Arguments {
  private final Map<String, String> values = new LinkedHashMap<>();

  private Arguments() {}

  /** Checks {@code args} against the options a suite knows and their defaults. */
  public static Arguments parse(String suite, List<String> args, Map<String, String> defaults) {
    Arguments parsed = new Arguments();
    parsed.values.putAll(defaults);
    for (int i = 0; i < args.size(); i++) {
      String name = args.get(i);
      if (name.equals("--json")) {
        parsed.values.put(name, "true");
        continue;
      }
      if (!defaults.containsKey(name) || i + 1 == args.size()) {
        throw new IllegalArgumentException(
            "bench "
                + suite
                + ": got "
                + name
                + ", expected --json or one of "
                + defaults.keySet()
                + " with a value");
      }
      parsed.values.put(name, args.get(++i));
    }
    return parsed;
  }

  public boolean json() {
    return values.containsKey("--json");
  }

  public String text(String name) {
    return values.getOrDefault(name, "");
  }

  public int integer(String name) {
    try {
      return Integer.parseInt(text(name));
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          name + ": got " + text(name) + ", expected a whole number", e);
    }
  }

  public int positive(String name) {
    int value = integer(name);
    if (value < 1) {
      throw new IllegalArgumentException(name + ": got " + value + ", expected at least 1");
    }
    return value;
  }

  /** One of some words. */
  public String choice(String name, String... words) {
    if (!List.of(words).contains(text(name))) {
      throw new IllegalArgumentException(
          name + ": got " + text(name) + ", expected one of " + List.of(words));
    }
    return text(name);
  }

  /** A list of whole numbers of 1 or more. */
  public List<Integer> positives(String name) {
    List<Integer> numbers = new ArrayList<>();
    for (String item : list(name)) {
      if (!item.matches("0*[1-9][0-9]{0,8}")) {
        throw new IllegalArgumentException(
            name + ": got " + item + ", expected whole numbers from 1 to 999999999");
      }
      numbers.add(Integer.parseInt(item));
    }
    return numbers;
  }

  public List<String> list(String name) {
    List<String> items = new ArrayList<>();
    for (String item : text(name).split(",", -1)) {
      if (!item.isBlank()) {
        items.add(item.strip());
      }
    }
    return items;
  }
}
