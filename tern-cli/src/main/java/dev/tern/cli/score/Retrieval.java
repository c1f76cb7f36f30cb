package dev.tern.cli.score;

import dev.tern.base.DataException;
import dev.tern.cli.config.ConfigException;
import dev.tern.cli.config.DataConfig;
import dev.tern.cli.files.DataSource;
import dev.tern.cli.files.FileNames;
import dev.tern.cli.notes.Progress;
import dev.tern.cli.run.Format;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.files.KeptTexts;
import dev.tern.files.text.ScoreWriter;
import dev.tern.predict.Retriever;
import dev.tern.predict.TopItems;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.IntFunction;

/** Finds the best items of files for the users of files. */
final class Retrieval {
  /** Rows that are compared at once, so that their results take little memory. */
  private static final int PIECE = 256;

  private final Retriever retriever;
  private final DataConfig config;
  private final Progress progress;
  private final int top;

  /** How each item is written. */
  private final List<String> names = new ArrayList<>();

  /** Rows {@code [from, end)} of a batch. */
  private record Piece(Batch batch, int from, int end) {
    /** They alone. */
    Batch rows() {
      Batch rows = new Batch(batch.schema(), end - from);
      rows.appendRows(batch, from, end);
      return rows;
    }
  }

  /**
   * What a search has found.
   *
   * @param positives rows labelled 1, where labels were read
   * @param hits of these rows, those with their own item among the best
   * @param strangers of these rows, those whose item is none that it was compared with
   */
  record Found(long rows, long positives, long hits, long strangers) {}

  /**
   * No items yet.
   *
   * @param top items for each row
   */
  Retrieval(Retriever retriever, DataConfig config, Progress progress, int top) {
    this.retriever = retriever;
    this.config = config;
    this.progress = progress;
    this.top = top;
  }

  /** The texts of columns to keep; each is named once. */
  static KeptTexts texts(List<String> columns) {
    try {
      return new KeptTexts(columns);
    } catch (IllegalArgumentException e) {
      throw new ConfigException("--keep: " + e.getMessage() + "; name each column once", e);
    }
  }

  /** The columns before the score, where {@code kept} are of the row. */
  List<String> columns(List<String> kept) {
    List<String> columns = new ArrayList<>(kept.isEmpty() ? List.of("row") : kept);
    columns.add("rank");
    columns.add("found_" + retriever.itemColumns().getFirst());
    return columns;
  }

  /** Adds the items of files. */
  void addItems(List<Path> files) {
    long[] without = {0};
    ItemFiles.Taker taker =
        new ItemFiles.Taker() {
          @Override
          public void begin(OptionalLong rows) {
            progress.begin("read items", "rows", 0, rows.orElse(0));
          }

          @Override
          public void take(Batch batch, IntFunction<String> texts, long before) {
            int[] numbers = added(batch, files, before);
            for (int row = 0; row < numbers.length; row++) {
              without[0] += numbers[row] < 0 ? 1 : 0;
              if (numbers[row] == names.size()) {
                names.add(texts.apply(row));
              }
            }
            progress.update(before + batch.size(), "");
          }
        };
    long rows =
        new ItemFiles(retriever.encoder(), retriever.itemColumns(), config).read(files, taker);
    if (without[0] > 0) {
      progress.note(
          "rows of --items without a value of %s, which are no items: %s of %s"
              .formatted(
                  retriever.itemColumns().getFirst(),
                  Format.whole(without[0]),
                  Format.whole(rows)));
    }
    if (retriever.size() == 0) {
      throw new DataException(
          FileNames.of(files) + ": got no items, expected some to choose from; check --items");
    }
  }

  private int[] added(Batch batch, List<Path> files, long before) {
    try {
      return retriever.add(batch);
    } catch (DataException e) {
      throw new DataException(
          "%s: after row %d: %s".formatted(FileNames.of(files), before, e.getMessage()), e);
    }
  }

  /** Rows with labels may have bad records left out, as the configuration says. */
  private DataSource source(Set<String> columns, boolean labelled) {
    DataSource all = labelled ? DataSource.of(config) : DataSource.strict(config);
    return all.forModel(retriever.encoder(), columns).once();
  }

  /**
   * Finds the best items for each row.
   *
   * @param labelled whether rows have labels and items of their own, which are looked for
   */
  Found search(
      List<Path> files, boolean labelled, Optional<KeptTexts> kept, Optional<ScoreWriter> writer) {
    DataSource all = source(columnsOfUsers(labelled), labelled);
    DataSource source = labelled ? all : all.withoutLabels();
    Found found = new Found(0, 0, 0, 0);
    try (DataReader rows = kept.isPresent() ? source.open(files, kept.get()) : source.open(files)) {
      progress.begin("retrieve", "rows", 0, rows.rowCount().orElse(0));
      for (Optional<Batch> next = rows.next(); next.isPresent(); next = rows.next()) {
        try (Batch batch = next.get()) {
          for (int from = 0; from < batch.size(); from += PIECE) {
            Piece piece = new Piece(batch, from, Math.min(batch.size(), from + PIECE));
            TopItems best = best(piece, files, found.rows());
            if (writer.isPresent()) {
              write(writer.get(), best, piece, kept, found.rows());
            }
            found = counted(found, piece, best, labelled);
          }
          kept.ifPresent(KeptTexts::clear);
          progress.update(found.rows(), "");
        }
      }
    }
    source.noteSkipped(progress);
    if (found.rows() == 0) {
      progress.note("warning: " + FileNames.of(files) + ": got no rows, so nothing was found");
    }
    return found;
  }

  private Set<String> columnsOfUsers(boolean labelled) {
    Schema schema = retriever.schema();
    Set<String> columns = new HashSet<>(schema.dense());
    columns.addAll(schema.slotNames());
    retriever.itemColumns().forEach(columns::remove);
    if (labelled) {
      columns.add(retriever.itemColumns().getFirst());
    }
    return columns;
  }

  private TopItems best(Piece piece, List<Path> files, long before) {
    try {
      return retriever.top(piece.rows(), top);
    } catch (DataException e) {
      throw new DataException(
          "%s: after row %d: %s".formatted(FileNames.of(files), before, e.getMessage()), e);
    }
  }

  private void write(
      ScoreWriter writer, TopItems best, Piece piece, Optional<KeptTexts> kept, long before) {
    for (int row = 0; row < piece.end() - piece.from(); row++) {
      for (int rank = 0; rank < best.most(); rank++) {
        int at = row * best.most() + rank;
        String place = String.valueOf(rank + 1);
        String item = names.get(best.items()[at]);
        float score = best.scores()[at];
        if (kept.isPresent()) {
          writer.write(kept.get(), piece.from() + row, List.of(place, item), score);
        } else {
          writer.write(List.of(String.valueOf(before + row + 1), place, item), score);
        }
      }
    }
  }

  private Found counted(Found before, Piece piece, TopItems best, boolean labelled) {
    long positives = before.positives();
    long hits = before.hits();
    long strangers = before.strangers();
    int rows = piece.end() - piece.from();
    int labels = piece.batch().schema().labelDim();
    for (int row = 0; labelled && row < rows; row++) {
      if (piece.batch().labels()[(piece.from() + row) * labels] == 1) {
        int own = retriever.number(piece.batch(), piece.from() + row);
        positives++;
        strangers += own < 0 ? 1 : 0;
        hits += own >= 0 && contains(best, row, own) ? 1 : 0;
      }
    }
    return new Found(before.rows() + rows, positives, hits, strangers);
  }

  private static boolean contains(TopItems best, int row, int item) {
    for (int i = row * best.most(); i < (row + 1) * best.most(); i++) {
      if (best.items()[i] == item) {
        return true;
      }
    }
    return false;
  }
}
