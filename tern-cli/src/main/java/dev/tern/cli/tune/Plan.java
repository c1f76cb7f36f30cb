package dev.tern.cli.tune;

import dev.tern.cli.config.Config;
import dev.tern.cli.config.ConfigException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * What is searched.
 *
 * @param config the configuration of all trials
 * @param overrides {@code key=value} each, put over it
 * @param searches keys whose values differ between trials
 * @param trials how many
 * @param seed which values they have
 * @param halving whether most trials end after few epochs
 */
record Plan(
    Path config,
    List<String> overrides,
    List<Search> searches,
    int trials,
    long seed,
    boolean halving) {
  /** Draws of values that are there already before there are taken to be no more. */
  private static final int MOST_DRAWS = 1000;

  /** Of so many trials one goes on, for so many times the epochs (Jamieson and Talwalkar, 2016). */
  static final int FACTOR = 3;

  /** The folder for the best trial's run, and the name of its configuration. */
  static final String BEST = "best";

  private static final String EPOCHS = "train.epochs";

  Plan {
    overrides = List.copyOf(overrides);
    searches = List.copyOf(searches);
    Set<String> keys = new HashSet<>();
    for (Search search : searches) {
      if (!keys.add(search.key())) {
        throw new ConfigException(
            "--search: got "
                + search.key()
                + " twice, expected each key once; join the values of both");
      }
    }
    if (halving && keys.contains(EPOCHS)) {
      throw new ConfigException(
          "--search: got train.epochs with --halving, which decides how many a trial has, expected"
              + " one of them; give the most by --set train.epochs=N");
    }
  }

  /** The trials: each has other values, which depend on the seed and its number. */
  List<Trial> draw() {
    List<Trial> drawn = new ArrayList<>();
    Set<Map<String, String>> seen = new HashSet<>();
    long first = new SplittableRandom(seed).nextLong();
    for (int number = 1; number <= trials; number++) {
      SplittableRandom random = new SplittableRandom(first + number);
      boolean isNew = false;
      for (int draw = 0; draw < MOST_DRAWS && !isNew; draw++) {
        Map<String, String> values = new LinkedHashMap<>();
        searches.forEach(search -> values.put(search.key(), search.draw(random)));
        isNew = seen.add(values);
        if (isNew) {
          drawn.add(Trial.of(number, values));
        }
      }
      if (!isNew) {
        return drawn;
      }
    }
    return drawn;
  }

  /** The configuration of a trial, in the folder of the whole search. */
  Config of(Trial trial) {
    List<String> all = new ArrayList<>(overrides);
    all.addAll(trial.overrides());
    return Config.load(config, all);
  }

  /**
   * The same in a folder of its own.
   *
   * @param epochs how many it has; empty for those of its configuration
   */
  Config of(Trial trial, Path folder, Optional<Long> epochs) {
    List<String> all = new ArrayList<>(overrides);
    all.addAll(trial.overrides());
    all.add("run.dir=" + folder);
    epochs.ifPresent(count -> all.add(EPOCHS + "=" + count));
    return Config.load(config, all);
  }

  /**
   * How many epochs trials have trained after each round, of which the last is {@code most}.
   *
   * <p>For example, 1, 4 and 12 of 12 epochs.
   */
  static List<Long> rounds(long most) {
    if (most < FACTOR) {
      throw new ConfigException(
          "--halving: got train.epochs: %d, expected %d or more, as most trials end after a share of them; give more, or leave --halving out"
              .formatted(most, FACTOR));
    }
    List<Long> rounds = new ArrayList<>();
    for (long divisor = 1; most / divisor >= 1; divisor *= FACTOR) {
      rounds.addFirst(Math.round((double) most / divisor));
    }
    return rounds;
  }

  /** How many trials of {@code count} there are in round {@code round}, from 0 on. */
  static int inRound(int count, int round) {
    int left = count;
    for (int i = 0; i < round; i++) {
      left = (left + FACTOR - 1) / FACTOR;
    }
    return left;
  }

  /** The command that trains as a trial did, in a folder of its own beside the trials. */
  String command(Trial trial, Path folder) {
    StringBuilder command = new StringBuilder("tern train ").append(shell(config.toString()));
    List<String> all = new ArrayList<>(overrides);
    all.removeIf(each -> each.strip().startsWith("run.dir"));
    all.addAll(trial.overrides());
    all.add("run.dir=" + folder.resolve(BEST));
    all.forEach(each -> command.append(" --set ").append(shell(each)));
    return command.toString();
  }

  private static String shell(String word) {
    return word.matches("[A-Za-z0-9_./=,:+@%-]+") ? word : "'" + word.replace("'", "'\\''") + "'";
  }
}
