package dev.tern.bench.rows;

import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.encode.FeatureEncoder;
import java.util.List;

/** Rows that {@code peers/train.py} draws too. */
public interface TrainData {
  /** Ids of each table, in the order of the schema's tables. */
  long[] sizes();

  /** The columns of raw rows. */
  Schema schema();

  /** Takes the rows as they are. */
  FeatureEncoder encoder();

  /** {@code count} batches of {@code batch} rows. */
  List<Batch> batches(int count, int batch);
}
