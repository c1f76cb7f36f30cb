package dev.tern.train;

import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.data.encode.ColumnCounts;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.readers.ColumnPick;
import dev.tern.data.readers.Readers;
import dev.tern.internal.memory.OutOfBudgetException;
import dev.tern.metrics.GroupMetrics;
import dev.tern.metrics.GroupedRows;
import dev.tern.metrics.Reliability;
import dev.tern.metrics.TaskMetrics;
import dev.tern.model.Network;
import dev.tern.model.Scorer;
import java.util.List;
import java.util.Optional;

/** Scores rows with a network that is being trained, and compares the scores with their labels. */
final class Evaluation implements AutoCloseable {
  private final Network network;
  private final FeatureEncoder encoder;
  private final TrainOptions options;
  private final TrainSteps steps;
  private final boolean isAlone;
  private Optional<Scorer> scorer = Optional.empty();
  private Optional<ItemRecall> recall = Optional.empty();

  /**
   * Evaluations of a run.
   *
   * @param steps its steps, which give memory where there is too little for both
   * @param isAlone false where other ranks wait for what this one exchanges, once
   */
  Evaluation(
      Network network,
      FeatureEncoder encoder,
      TrainOptions options,
      TrainSteps steps,
      boolean isAlone) {
    this.network = network;
    this.encoder = encoder;
    this.options = options;
    this.steps = steps;
    this.isAlone = isAlone;
  }

  /** Takes the memory that an evaluation needs, and checks that rows have the column of groups. */
  void prepare(Schema rows) {
    groups(rows);
    scorer();
    recall();
  }

  /** The figures of each task over the raw rows of {@code eval}, from its start. */
  List<TaskMetrics.Result> of(DataReader eval, ColumnCounts counts) {
    eval.start(0);
    Scorer scoring = scorer();
    Optional<ItemRecall> items = recall();
    items.ifPresent(ItemRecall::begin);
    DataReader batches = Readers.batched(eval, scoring.capacity(), false);
    TaskMetrics metrics = new TaskMetrics(network.tasks());
    Optional<GroupedRows> groups = groups(eval.schema());
    ColumnPick pick = pick(eval.schema());
    float[] logits = new float[scoring.capacity() * network.tasks().count()];
    Batch encoded = new Batch(encoder.schema(), scoring.capacity());
    for (Optional<Batch> next = batches.next(); next.isPresent(); next = batches.next()) {
      try (Batch read = next.get()) {
        Batch raw = pick.of(read);
        encoder.apply(raw, encoded);
        score(scoring, encoded, logits);
        metrics.addLogits(logits, encoded);
        groups.ifPresent(rows -> rows.add(logits, read));
        items.ifPresent(own -> makingRoom(() -> own.add(raw)));
        counts.add(raw);
        scoring.forEachUnknown(counts::addUnknown);
      }
    }
    List<TaskMetrics.Result> results =
        TaskMetrics.withGroups(metrics.results(Reliability.BINS), groups);
    return items.isEmpty()
        ? results
        : TaskMetrics.withRetrieval(results, items.get().search(eval, pick));
  }

  /** The groups of rows to evaluate on, where the options name a column. */
  private Optional<GroupedRows> groups(Schema rows) {
    return options
        .group()
        .map(column -> new GroupedRows(rows, network.tasks(), column, GroupMetrics.USUAL));
  }

  /** Takes the model's columns out of rows that have the column of groups beside them. */
  private ColumnPick pick(Schema rows) {
    boolean isBeside =
        options
            .group()
            .filter(column -> !encoder.rawSchema().slotNames().contains(column))
            .isPresent();
    return ColumnPick.of(rows, isBeside ? encoder.rawSchema() : rows);
  }

  /** A model of sequences is planned for their lengths, where the step may hold all memory. */
  private void score(Scorer scoring, Batch rows, float[] logits) {
    if (network.sequences().isEmpty()) {
      scoring.logits(rows, logits, 0);
    } else {
      makingRoom(() -> scoring.logits(rows, logits, 0));
    }
  }

  /** Does what takes memory, which the step gives up if it has to: it is planned anew. */
  private void makingRoom(Runnable work) {
    try {
      work.run();
    } catch (OutOfBudgetException e) {
      if (steps.current().isEmpty() || !isAlone) {
        throw e;
      }
      steps.close();
      work.run();
    }
  }

  private Optional<ItemRecall> recall() {
    if (options.recallAt() > 0 && recall.isEmpty()) {
      recall = Optional.of(new ItemRecall(network, encoder, options.recallAt()));
    }
    return recall;
  }

  private Scorer scorer() {
    Scorer scoring = scorer.orElseGet(() -> new Scorer(network, options.batch()));
    scorer = Optional.of(scoring);
    return scoring;
  }

  /** Frees the memory; the next evaluation takes it again. */
  @Override
  public void close() {
    scorer.ifPresent(Scorer::close);
    scorer = Optional.empty();
    recall.ifPresent(ItemRecall::close);
    recall = Optional.empty();
  }
}
