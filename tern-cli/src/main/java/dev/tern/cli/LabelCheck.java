package dev.tern.cli;

import dev.tern.base.DataException;
import dev.tern.cli.config.ConfigException;
import dev.tern.cli.config.DataConfig;
import dev.tern.cli.run.Format;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import java.util.List;
import java.util.Optional;

/**
 * Looks at labels before a run. Rows that all have one label teach nothing and have no AUC. The
 * most common cause is a text of {@code data.label.positive} that no row has.
 */
record LabelCheck(DataConfig config, DataSource source) {
  /**
   * The labels of rows, read until both kinds came.
   *
   * @param rows rows read
   * @param positives of these, rows labelled 1
   */
  private record Seen(long rows, long positives) {
    static Seen of(DataReader reader) {
      long rows = 0;
      long positives = 0;
      int labelDim = reader.schema().labelDim();
      Optional<Batch> next = reader.next();
      while (next.isPresent()) {
        try (Batch batch = next.get()) {
          for (int i = 0; i < batch.size() && labelDim > 0; i++) {
            positives += batch.labels()[i * labelDim] > 0 ? 1 : 0;
          }
          rows += batch.size();
        }
        next = labelDim > 0 && isOneSided(rows, positives) ? reader.next() : Optional.empty();
      }
      return new Seen(rows, positives);
    }

    private static boolean isOneSided(long rows, long positives) {
      return positives == 0 || positives == rows;
    }

    boolean isOneSided() {
      return rows > 0 && isOneSided(rows, positives);
    }
  }

  /**
   * Refuses no training rows, and those that are all positive or all negative by {@code
   * data.label.positive}; warns where they are so by themselves.
   */
  void training(Progress progress) {
    try (DataReader reader = source.train()) {
      requireOne(reader.schema().labels());
      Seen seen = Seen.of(reader);
      if (seen.rows == 0) {
        throw new DataException(
            "train: got no rows in a pass over the training data, expected some; check the files");
      }
      if (seen.isOneSided() && !config.positive().isEmpty()) {
        throw new ConfigException(
            "data.label.positive: got %s, which is the label of %s %s training rows%s, expected texts that some rows have and others have not; change it or data.label.column"
                .formatted(
                    config.positive(),
                    seen.positives == 0 ? "none of the" : "all",
                    Format.whole(seen.rows),
                    source.firstLabel().map(text -> " (the first has " + text + ")").orElse("")));
      }
      if (seen.isOneSided()) {
        progress.note(
            "warning: all %s training rows have the label %d, so there is nothing to tell apart; check data.label.column and the files"
                .formatted(Format.whole(seen.rows), seen.positives == 0 ? 0 : 1));
      }
    }
  }

  private static void requireOne(List<String> labels) {
    if (labels.size() > 1) {
      throw new ConfigException(
          "data.label.column: got rows with the labels %s, expected the name of one of them; set data.label.column=%s or another"
              .formatted(labels, labels.getFirst()));
    }
  }

  /**
   * Refuses no evaluation rows, and warns where all have one label.
   *
   * @param stopsEarly whether the run ends by what these rows say: then one label is refused
   */
  void evaluation(Progress progress, boolean stopsEarly) {
    Optional<DataReader> eval = source.eval();
    try {
      Optional<Seen> seen = eval.map(Seen::of);
      if (seen.isPresent() && seen.get().rows == 0) {
        throw DataSource.withoutRows(config.eval());
      }
      Optional<String> fault = seen.filter(Seen::isOneSided).map(this::oneSided);
      if (fault.isPresent() && stopsEarly) {
        throw new ConfigException("train.early_stop: " + fault.get());
      }
      fault.ifPresent(text -> progress.note("warning: " + text));
    } finally {
      eval.ifPresent(DataReader::close);
    }
  }

  private String oneSided(Seen seen) {
    return "all %s rows of %s have the label %d, so no AUC can be computed and no checkpoint is the best; %s"
        .formatted(
            Format.whole(seen.rows),
            config.eval().isEmpty() ? "the evaluation" : Scoring.name(config.eval()),
            seen.positives == 0 ? 0 : 1,
            advice(config.positive()));
  }

  /** What to check where all labels are equal. */
  static String advice(List<String> positive) {
    return positive.isEmpty()
        ? "check data.label.column and the files"
        : "check data.label.positive " + positive + " and the files";
  }
}
