package dev.tern.files;

import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import java.util.Optional;
import java.util.function.LongConsumer;

/** Writes the rows of any reader to any writer, a batch at a time. */
public final class DataConverter {
  private DataConverter() {}

  /**
   * Writes what is left of the reader's pass and finishes the writer; closes neither. On any
   * failure the writer stays unfinished, so that closing it leaves no file.
   *
   * @param progress told the rows written so far after each batch
   * @return rows written
   */
  public static long convert(DataReader reader, DataWriter writer, LongConsumer progress) {
    long rows = 0;
    for (Optional<Batch> next = reader.next(); next.isPresent(); next = reader.next()) {
      try (Batch batch = next.get()) {
        writer.write(batch);
        rows += batch.size();
      }
      progress.accept(rows);
    }
    writer.finish();
    return rows;
  }
}
