package dev.tern.cli.translate;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The sequences that a model of FuxiCTR reads, as in {@code din_sequence_field}. A tuple of columns
 * is one sequence.
 *
 * @param targets for columns of sequences the columns that they are compared with
 * @param names of the sequences, by column
 * @param drawn columns of elements that were drawn beside those of a sequence
 */
record FuxiSequences(
    Map<String, Setting.Text> targets, Map<String, String> names, Set<String> drawn) {
  static FuxiSequences of(Section settings) {
    FuxiSequences all =
        new FuxiSequences(new LinkedHashMap<>(), new LinkedHashMap<>(), new LinkedHashSet<>());
    for (String model : List.of("din", "dien", "bst")) {
      List<List<Setting.Text>> targets = settings.groups(model + "_target_field");
      List<List<Setting.Text>> sequences = settings.groups(model + "_sequence_field");
      for (int i = 0; i < Math.min(targets.size(), sequences.size()); i++) {
        all.add(sequences.get(i), targets.get(i));
      }
    }
    settings.groups("dien_neg_seq_field").stream()
        .flatMap(List::stream)
        .forEach(column -> all.drawn.add(column.text()));
    return all;
  }

  private void add(List<Setting.Text> sequence, List<Setting.Text> of) {
    for (int i = 0; i < sequence.size(); i++) {
      String column = sequence.get(i).text();
      names.putIfAbsent(column, sequence.getFirst().text());
      if (i < of.size()) {
        targets.putIfAbsent(column, of.get(i));
      }
    }
  }

  /** The column that one of a sequence is compared with. */
  Optional<Setting.Text> target(String column) {
    return Optional.ofNullable(targets.get(column));
  }

  /** The name of a column's sequence: its own, unless it is one of several. */
  String name(String column) {
    return names.getOrDefault(column, column);
  }
}
