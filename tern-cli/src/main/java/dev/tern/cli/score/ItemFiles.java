package dev.tern.cli.score;

import dev.tern.cli.config.DataConfig;
import dev.tern.cli.files.DataSource;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.files.KeptTexts;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.IntFunction;

/**
 * Reads the columns of items from files, with the text that each item is called by: as it stands in
 * the files where these are of texts, else its id.
 *
 * @param itemColumns the first one's ids name the item
 */
record ItemFiles(FeatureEncoder encoder, List<String> itemColumns, DataConfig config) {
  /** Takes rows of items. */
  interface Taker {
    /** Reading begins, of so many rows where that is known. */
    default void begin(OptionalLong rows) {}

    /**
     * Takes rows.
     *
     * @param batch raw rows
     * @param names the text of each row's item, good until the next call
     * @param before rows that came before these
     */
    void take(Batch batch, IntFunction<String> names, long before);
  }

  /** Reads all rows; returns how many they are. */
  long read(List<Path> files, Taker taker) {
    KeptTexts texts = new KeptTexts(List.of(itemColumns.getFirst()));
    DataSource source =
        DataSource.strict(config).forModel(encoder, Set.copyOf(itemColumns)).once().withoutLabels();
    boolean texted = source.takesMore(files);
    long rows = 0;
    try (DataReader items = texted ? source.open(files, texts) : source.open(files)) {
      taker.begin(items.rowCount());
      for (Optional<Batch> next = items.next(); next.isPresent(); next = items.next()) {
        try (Batch batch = next.get()) {
          taker.take(batch, row -> texted ? texts.text(row, 0) : id(batch, row), rows);
          texts.clear();
          rows += batch.size();
        }
      }
    }
    return rows;
  }

  private String id(Batch rows, int row) {
    int slot = encoder.rawSchema().slotNames().indexOf(itemColumns.getFirst());
    return String.valueOf(rows.ids(slot)[rows.offsets(slot)[row]]);
  }
}
