package dev.tern.cli.files;

import dev.tern.base.DataException;
import dev.tern.cli.config.ConfigException;
import dev.tern.cli.config.DataConfig;
import dev.tern.cli.notes.Progress;
import dev.tern.cli.run.Format;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.IntStream;

/**
 * Looks at labels before a run. Rows that all have one label teach nothing and have no AUC. The
 * most common cause is a text of {@code data.label.positive} that no row has.
 */
public record LabelCheck(DataConfig config, DataSource source, boolean ownLoss) {
  /**
   * The labels of rows, read until both kinds came of each.
   *
   * @param config says which labels are 0 or 1
   * @param names of the labels
   * @param rows rows read
   * @param labelled of these, rows that have the label, for each label
   * @param positives of these, rows labelled 1
   */
  private record Seen(
      DataConfig config, List<String> names, long rows, long[] labelled, long[] positives) {
    static Seen of(DataConfig config, DataReader reader) {
      List<String> names = reader.schema().labels();
      long rows = 0;
      long[] labelled = new long[names.size()];
      long[] positives = new long[names.size()];
      Optional<Batch> next = reader.next();
      while (next.isPresent()) {
        try (Batch batch = next.get()) {
          for (int i = 0; i < batch.size() * names.size(); i++) {
            labelled[i % names.size()] += Float.isNaN(batch.labels()[i]) ? 0 : 1;
            positives[i % names.size()] += batch.labels()[i] > 0 ? 1 : 0;
          }
          rows += batch.size();
        }
        boolean more = new Seen(config, names, rows, labelled, positives).oneSided().isPresent();
        next = more ? reader.next() : Optional.empty();
      }
      return new Seen(config, names, rows, labelled, positives);
    }

    /** The number of the first label of 0 and 1 that is the same in all rows. */
    OptionalInt oneSided() {
      return IntStream.range(0, rows == 0 ? 0 : positives.length)
          .filter(k -> config.isWhole(names.get(k)) || labelled[k] == 0)
          .filter(k -> positives[k] == 0 || positives[k] == labelled[k])
          .findFirst();
    }

    /** The name of the first label that no row has. */
    Optional<String> absent() {
      return IntStream.range(0, rows == 0 ? 0 : labelled.length)
          .filter(k -> labelled[k] == 0)
          .mapToObj(names::get)
          .findFirst();
    }

    /** How many rows have the label {@code k}, in words. */
    String counted(int k, String rows) {
      return Format.whole(labelled[k])
          + " "
          + rows
          + (labelled[k] < this.rows ? " that have it" : "");
    }

    /** The label's name where there are several, with a blank before it. */
    String name(int label) {
      return names.size() == 1 ? "" : " " + names.get(label);
    }
  }

  /**
   * Refuses no training rows, those that lack a label, and those that are all positive or all
   * negative by {@code data.label.positive}; warns where they are so by themselves.
   */
  public void training(Progress progress) {
    try (DataReader reader = source.train()) {
      if (config.labels().size() == 1) {
        requireOne(reader.schema().labels());
      }
      Seen seen = Seen.of(config, reader);
      OptionalInt label = seen.oneSided();
      if (seen.rows == 0) {
        throw new DataException(
            "train: got no rows in a pass over the training data, expected some; check the files");
      }
      if (seen.absent().isPresent()) {
        throw new ConfigException(
            "data.labels.missing: got no row with the label %s among %s training rows, expected some; check what stands for a missing label, or leave the label out"
                .formatted(seen.absent().get(), Format.whole(seen.rows)));
      }
      if (ownLoss && label.isPresent() && seen.positives[label.getAsInt()] > 0) {
        return; // Pairs that belong together are learned beside others, not beside rows labelled 0.
      }
      if (label.isPresent() && !config.positive().isEmpty()) {
        throw new ConfigException(
            "data.label.positive: got %s, which is the label%s of %s %s training rows%s, expected texts that some rows have and others have not; change it or %s"
                .formatted(
                    config.positive(),
                    seen.name(label.getAsInt()),
                    seen.positives[label.getAsInt()] == 0 ? "none of the" : "all",
                    Format.whole(seen.rows),
                    source
                        .firstLabel(seen.names.get(label.getAsInt()))
                        .map(text -> " (the first has " + text + ")")
                        .orElse(""),
                    key(config)));
      }
      if (label.isPresent()) {
        progress.note(
            "warning: all %s have the label%s %d, so there is nothing to tell apart; check %s and the files"
                .formatted(
                    seen.counted(label.getAsInt(), "training rows"),
                    seen.name(label.getAsInt()),
                    seen.positives[label.getAsInt()] == 0 ? 0 : 1,
                    key(config)));
      }
    }
  }

  /** The key that names labels. */
  private static String key(DataConfig config) {
    return config.labels().size() == 1 ? "data.label.column" : "data.labels";
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
   * @param decisive the label whose AUC may end the run: it is refused where it is the same in all
   */
  public void evaluation(Progress progress, OptionalInt decisive) {
    Optional<DataReader> eval = source.eval();
    try {
      Optional<Seen> seen = eval.map(rows -> Seen.of(config, rows));
      if (seen.isPresent() && seen.get().rows == 0) {
        throw source.withoutEvaluation();
      }
      Optional<String> fault = seen.flatMap(this::oneSided);
      boolean decides = seen.isPresent() && seen.get().oneSided().equals(decisive);
      if (fault.isPresent() && decides) {
        throw new ConfigException("train.early_stop: " + fault.get());
      }
      fault.ifPresent(text -> progress.note("warning: " + text));
    } finally {
      eval.ifPresent(DataReader::close);
    }
  }

  /** What is wrong with evaluation rows of which a label is the same in all. */
  private Optional<String> oneSided(Seen seen) {
    OptionalInt label = seen.oneSided();
    if (label.isEmpty()) {
      return Optional.empty();
    }
    int k = label.getAsInt();
    if (seen.labelled[k] == 0) {
      return Optional.of(
          "no row of %s has the label %s, so it has no figures%s; check what data.labels.missing says"
              .formatted(
                  config.evalFiles().isEmpty()
                      ? "the evaluation"
                      : FileNames.of(config.evalFiles()),
                  seen.names.get(k),
                  k == 0 ? " and no checkpoint is the best" : ""));
    }
    return Optional.of(
        "all %s of %s have the label%s %d, so no AUC can be computed%s; %s"
            .formatted(
                seen.counted(k, "rows"),
                config.evalFiles().isEmpty() ? "the evaluation" : FileNames.of(config.evalFiles()),
                seen.name(k),
                seen.positives[k] == 0 ? 0 : 1,
                k == 0 ? " and no checkpoint is the best" : "",
                advice(config)));
  }

  /** What to check where all labels are equal. */
  public static String advice(DataConfig config) {
    String key = key(config);
    return config.positive().isEmpty()
        ? "check " + key + " and the files"
        : "check data.label.positive " + config.positive() + " and the files";
  }
}
