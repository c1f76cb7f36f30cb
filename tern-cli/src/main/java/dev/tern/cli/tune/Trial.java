package dev.tern.cli.tune;

import dev.tern.cli.run.Format;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * One trial of a search and what is known about it.
 *
 * @param number from 1 on
 * @param values of the keys searched, in order
 * @param rounds what it reached after each round of training, in order
 * @param failure why it did not go on; empty where it did
 */
record Trial(int number, Map<String, String> values, List<Round> rounds, Optional<String> failure) {
  Trial {
    values = new LinkedHashMap<>(values);
    rounds = List.copyOf(rounds);
  }

  /**
   * What a trial reached.
   *
   * @param epochs trained so far
   * @param value the figure of its best evaluation
   * @param step of that evaluation
   * @param seconds of training and evaluation so far
   */
  record Round(long epochs, double value, long step, double seconds) {}

  /** A trial that has not begun. */
  static Trial of(int number, Map<String, String> values) {
    return new Trial(number, values, List.of(), Optional.empty());
  }

  /** The name of its folder. */
  String folder() {
    return "trial-%03d".formatted(number);
  }

  /** Its values, each as {@code key=value}. */
  List<String> overrides() {
    return values.entrySet().stream().map(each -> each.getKey() + "=" + each.getValue()).toList();
  }

  /** The same in words. */
  String shown() {
    return overrides().stream().collect(Collectors.joining("  "));
  }

  /** The same after one more round. */
  Trial after(Round round) {
    List<Round> all = new ArrayList<>(rounds);
    all.add(round);
    return new Trial(number, values, all, failure);
  }

  /** The same, failed. */
  Trial failed(String why) {
    return new Trial(number, values, rounds, Optional.of(why));
  }

  /** The last round; empty before the first has ended. */
  Optional<Round> last() {
    return rounds.isEmpty() ? Optional.empty() : Optional.of(rounds.getLast());
  }

  /** What it reached after {@code epochs}; NaN where it has not come so far. */
  double value(long epochs) {
    return rounds.stream()
        .filter(round -> round.epochs() == epochs)
        .mapToDouble(Round::value)
        .findFirst()
        .orElse(Double.NaN);
  }

  /** What it reached in the end; NaN where that is nothing. */
  double value() {
    return last().map(Round::value).orElse(Double.NaN);
  }

  /** How it stands, in a word or two. */
  String state() {
    return failure.isPresent()
        ? "failed"
        : last().map(round -> Format.whole(round.epochs()) + " epochs").orElse("not begun");
  }
}
