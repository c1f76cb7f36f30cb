package dev.tern.serve;

import dev.tern.data.Batch;
import dev.tern.data.encode.ColumnCounts;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.model.Task;
import dev.tern.predict.ItemFinder;
import dev.tern.predict.ModelVersion;
import dev.tern.predict.Predictor;
import java.util.List;
import java.util.Optional;

/**
 * A model at one step: what one request is answered with, from its first row to its last.
 *
 * @param model the name it is served by
 * @param step the step of training that it was saved at
 * @param scorer scores rows
 * @param items finds items for users, where the model is served with candidates
 * @param brief whether it answers only what takes little time
 */
public record ServedVersion(
    String model, long step, Scorer scorer, Optional<Items> items, boolean brief) {
  /** Rows of a request that takes little time. */
  private static final int BRIEF_ROWS = 64;

  /** A model that finds no items. */
  public ServedVersion(String model, long step, Scorer scorer) {
    this(model, step, scorer, Optional.empty(), false);
  }

  /** What finds the best of all candidates. Thread-safe. */
  public interface Items {
    /** Candidates. */
    int size();

    /** The text of a candidate by its number. */
    String name(int item);

    /** The number of the candidate with a raw id; -1 where there is none. */
    int find(long id);

    /** The slot of raw rows whose ids name items. */
    int slot();

    /** As {@link ItemFinder#top}. */
    ItemFinder.Found top(Batch users, int most, int[][] excluded);
  }

  /** The candidates of a version. */
  record OfFinder(ItemFinder finder) implements Items {
    @Override
    public int size() {
      return finder.size();
    }

    @Override
    public String name(int item) {
      return finder.candidates().name(item);
    }

    @Override
    public int find(long id) {
      return finder.find(id);
    }

    @Override
    public int slot() {
      return finder.slot();
    }

    @Override
    public ItemFinder.Found top(Batch users, int most, int[][] excluded) {
      return finder.top(users, most, excluded);
    }
  }

  /** What scores rows. Thread-safe. */
  public interface Scorer {
    FeatureEncoder encoder();

    List<Task> tasks();

    void score(Batch rows, float[] target);

    void logits(Batch rows, float[] target);

    /** As {@link #score(Batch, float[])}; adds rows to counts that were made for the encoder. */
    void score(Batch rows, float[] target, ColumnCounts counts);
  }

  /** A predictor, which nothing replaces. */
  record OfPredictor(Predictor predictor) implements Scorer {
    @Override
    public FeatureEncoder encoder() {
      return predictor.encoder();
    }

    @Override
    public List<Task> tasks() {
      return predictor.tasks();
    }

    @Override
    public void score(Batch rows, float[] target) {
      predictor.score(rows, target);
    }

    @Override
    public void logits(Batch rows, float[] target) {
      predictor.logits(rows, target);
    }

    @Override
    public void score(Batch rows, float[] target, ColumnCounts counts) {
      predictor.score(rows, target, counts);
    }
  }

  /** A model that nothing replaces. */
  public ServedVersion(String model, long step, Predictor predictor) {
    this(model, step, new OfPredictor(predictor));
  }

  /** A pinned version. */
  public static ServedVersion of(String model, ModelVersion version) {
    return new ServedVersion(
        model,
        version.step(),
        new Scorer() {
          @Override
          public FeatureEncoder encoder() {
            return version.encoder();
          }

          @Override
          public List<Task> tasks() {
            return version.tasks();
          }

          @Override
          public void score(Batch rows, float[] target) {
            version.score(rows, target);
          }

          @Override
          public void logits(Batch rows, float[] target) {
            version.logits(rows, target);
          }

          @Override
          public void score(Batch rows, float[] target, ColumnCounts counts) {
            version.score(rows, target, counts);
          }
        },
        version.items().map(OfFinder::new),
        false);
  }

  /** The same with another scorer, such as one that counts. */
  public ServedVersion with(Scorer other) {
    return new ServedVersion(model, step, other, items, brief);
  }

  /** The same with other items, such as some that are counted. */
  public ServedVersion with(Items other) {
    return new ServedVersion(model, step, scorer, Optional.of(other), brief);
  }

  /**
   * The same for a thread that must not be held.
   *
   * @param only whether it answers only what takes little time
   */
  public ServedVersion brief(boolean only) {
    return only == brief ? this : new ServedVersion(model, step, scorer, items, only);
  }

  /**
   * Looks at a request that was read, before it is computed.
   *
   * @throws LongRequestException where it takes longer than the thread at hand has time for
   */
  void requireBrief(RequestContext context) {
    if (brief && (context.options.explain || context.rows.size() > BRIEF_ROWS)) {
      throw new LongRequestException();
    }
  }

  /** What turns rows into features. */
  public FeatureEncoder encoder() {
    return scorer.encoder();
  }

  /** What each score of a row predicts. */
  List<Task> tasks() {
    return scorer.tasks();
  }

  /** Writes what the tasks predict, row by row, as {@code tern predict} has it. */
  void score(Batch rows, float[] target) {
    scorer.score(rows, target);
  }

  /** Writes the logits, row by row. */
  void logits(Batch rows, float[] target) {
    scorer.logits(rows, target);
  }
}
