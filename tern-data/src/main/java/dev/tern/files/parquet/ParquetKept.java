package dev.tern.files.parquet;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.ReaderState;
import dev.tern.data.Schema;
import dev.tern.data.encode.TextDictionary;
import dev.tern.files.KeptTexts;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Rows of Parquet files with the texts of other columns of the same rows, which a second reader of
 * the same files has. Its dictionary keeps each distinct text.
 */
final class ParquetKept implements DataReader {
  private final DataReader rows;
  private final DataReader others;
  private final TextDictionary dictionary;
  private final KeptTexts kept;
  private Optional<Batch> current = Optional.empty();
  private int at;

  /**
   * Takes both readers over.
   *
   * @param others the kept columns as slots of one text each, told to {@code dictionary}
   */
  ParquetKept(DataReader rows, DataReader others, TextDictionary dictionary, KeptTexts kept) {
    this.rows = rows;
    this.others = others;
    this.dictionary = dictionary;
    this.kept = kept;
  }

  @Override
  public Schema schema() {
    return rows.schema();
  }

  @Override
  public Optional<Batch> next() {
    Optional<Batch> next = rows.next();
    if (next.isPresent()) {
      try {
        keep(next.get().size());
      } catch (RuntimeException | Error e) {
        next.get().close();
        throw e;
      }
    }
    return next;
  }

  private void keep(int count) {
    for (int row = 0; row < count; row++) {
      Batch batch = current();
      for (int c = 0; c < kept.columns().size(); c++) {
        String text = dictionary.text(batch.ids(c)[at]).orElse("");
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        kept.add(bytes, 0, bytes.length, false);
      }
      at++;
    }
  }

  /** The batch that holds the next row of the kept columns, at {@link #at}. */
  private Batch current() {
    if (current.isEmpty() || at == current.get().size()) {
      leave();
      current = others.next();
    }
    return current.orElseThrow(() ->
        new DataException(
            "kept columns: got fewer rows of %s than of others, expected as many; let nobody change the files"
                .formatted(kept.columns())));
  }

  private void leave() {
    current.ifPresent(Batch::close);
    current = Optional.empty();
    at = 0;
  }

  @Override
  public long skip(long count) {
    long skipped = rows.skip(count);
    long state = rows.state().rows();
    int epoch = rows.state().epoch();
    leave();
    others.start(epoch);
    others.skip(state);
    return skipped;
  }

  @Override
  public ReaderState state() {
    return rows.state();
  }

  @Override
  public void restore(ReaderState state) {
    rows.restore(state);
    leave();
    others.restore(state);
  }

  @Override
  public OptionalLong rowCount() {
    return rows.rowCount();
  }

  @Override
  public void close() {
    leave();
    rows.close();
    others.close();
  }
}
