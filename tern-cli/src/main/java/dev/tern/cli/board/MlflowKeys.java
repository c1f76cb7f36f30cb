package dev.tern.cli.board;

import dev.tern.internal.json.Json;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** What MLflow calls the values of a run: its keys take letters, digits and a few signs. */
final class MlflowKeys {
  /** Characters of a key, and of a parameter's value: what servers of all versions take. */
  private static final int LONGEST = 250;

  private static final Pattern FOREIGN = Pattern.compile("[^A-Za-z0-9_. -]");

  private static final Pattern NUMBERED = Pattern.compile(".*-\\d+");

  /** Characters of a task's name; room is left for the figure before it. */
  private static final int LONGEST_TASK = 200;

  private MlflowKeys() {}

  /** The parameters of a configuration, by paths as in {@code data.dense[1].columns}. */
  static List<Json> parameters(Map<String, String> values) {
    List<Json> all = new ArrayList<>();
    Set<String> known = new HashSet<>();
    values.forEach((path, value) -> {
      String key = cut(FOREIGN.matcher(path.replace("[", ".").replace("]", "")).replaceAll("_"));
      if (!value.isEmpty() && known.add(key)) {
        all.add(MlflowServer.pair(key, cut(value)));
      }
    });
    return all;
  }

  /**
   * The end of a metric's key for task {@code number}. A name that cannot stay has the number
   * behind it, and so has one that ends like that: keys of distinct tasks are distinct.
   */
  static String task(String name, int number) {
    String own = FOREIGN.matcher(name).replaceAll("_").replaceFirst("^\\.", "_");
    boolean stays = own.equals(name) && own.length() <= LONGEST_TASK && !own.isEmpty();
    return stays && !NUMBERED.matcher(own).matches()
        ? own
        : own.substring(0, Math.min(own.length(), LONGEST_TASK)) + "-" + (number + 1);
  }

  private static String cut(String text) {
    return text.length() <= LONGEST ? text : text.substring(0, LONGEST - 3) + "...";
  }
}
