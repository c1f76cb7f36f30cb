package dev.tern.cli.notes;

import dev.tern.cli.run.Format;
import dev.tern.data.encode.ColumnCounts;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.NumberEncoding;
import dev.tern.data.encode.TrainingFacts;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;

/** What a run and its scores say about columns. */
public record ColumnNotes(FeatureEncoder encoder) {
  private static final int MOST_NAMES = 10;
  private static final int MOST_WARNINGS = 10;

  /** Columns of which {@code data.dense.transform: auto} took the logarithm. */
  public List<String> log1p() {
    return scaled(scaled -> scaled.standardize() && scaled.log1p());
  }

  private List<String> scaled(Predicate<NumberEncoding.Scaled> wanted) {
    return IntStream.range(0, encoder.dense().size())
        .filter(f -> encoder.dense().get(f).scaled().filter(wanted).isPresent())
        .mapToObj(encoder.rawSchema().dense()::get)
        .toList();
  }

  /**
   * Prints what became of numbers.
   *
   * @param chosen columns whose transform the run chose
   */
  public void numbers(Predicate<String> chosen, Progress progress) {
    List<String> plain =
        scaled(scaled -> scaled.standardize() && !scaled.log1p()).stream().filter(chosen).toList();
    List<String> logarithms = log1p().stream().filter(chosen).toList();
    if (!plain.isEmpty()) {
      progress.note("numbers standardized (data.dense.transform: auto): " + names(plain));
    }
    if (!logarithms.isEmpty()) {
      progress.note(
          "numbers standardized after log(1 + x), as they are skewed (data.dense.log1p): "
              + names(logarithms));
    }
  }

  private static String names(List<String> names) {
    String more = names.size() > MOST_NAMES ? " and " + (names.size() - MOST_NAMES) + " more" : "";
    return String.join(", ", names.subList(0, Math.min(MOST_NAMES, names.size()))) + more;
  }

  /** Warns of training columns that teach nothing. */
  public void training(Progress progress) {
    List<String> warnings = new ArrayList<>();
    encoder
        .training()
        .ifPresent(facts ->
            facts
                .columns()
                .forEach(column -> {
                  String warning = warning(column, facts.rows());
                  if (!warning.isEmpty()) {
                    warnings.add(warning);
                  }
                }));
    warn(warnings, progress);
  }

  private String warning(TrainingFacts.Column column, long rows) {
    if (column.missing() == rows) {
      return column.name() + " has no value in any of the " + Format.whole(rows) + " training rows";
    }
    boolean number = encoder.rawSchema().dense().contains(column.name());
    // That a category is missing tells rows apart: it has a row of its own.
    boolean constant = column.only().isPresent() && (number || column.missing() == 0);
    return constant
        ? "%s is %s in all %s training rows%s, so it teaches nothing"
            .formatted(
                column.name(),
                column.only().get(),
                Format.whole(rows - column.missing()),
                column.missing() == 0 ? "" : " that have it")
        : column.unknown() == 1
            ? column.name() + " has no value that occurs data.sparse.min_count times in training"
            : "";
  }

  /** Prints how many values of scored rows are missing or unknown, then what is unlike training. */
  public static void scored(ColumnCounts counts, Progress progress) {
    note("missing", counts, ColumnCounts.Column::missing, ColumnCounts.Column::rows, progress);
    note("unknown", counts, ColumnCounts.Column::unknown, ColumnCounts.Column::values, progress);
    warn(counts.warnings(), progress);
  }

  private static void note(
      String what,
      ColumnCounts counts,
      ToLongFunction<ColumnCounts.Column> some,
      ToLongFunction<ColumnCounts.Column> all,
      Progress progress) {
    List<String> shares =
        counts.columns().stream()
            .filter(column -> some.applyAsLong(column) > 0)
            .map(column ->
                column.name()
                    + " "
                    + Format.whole(some.applyAsLong(column))
                    + " of "
                    + Format.whole(all.applyAsLong(column)))
            .toList();
    if (!shares.isEmpty()) {
      progress.note(what + " values: " + names(shares));
    }
  }

  private static void warn(List<String> warnings, Progress progress) {
    warnings.stream().limit(MOST_WARNINGS).forEach(text -> progress.note("warning: " + text));
    if (warnings.size() > MOST_WARNINGS) {
      progress.note(
          "warning: " + (warnings.size() - MOST_WARNINGS) + " more columns are like that");
    }
  }
}
