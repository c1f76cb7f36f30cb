package dev.tern.spark;

import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.model.Loss;
import dev.tern.model.Task;
import dev.tern.predict.Predictor;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Objects;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.SerializableConfiguration;
import org.jspecify.annotations.Nullable;
import scala.collection.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** Adds the scores of a model to rows, some at a time. */
final class ScoreRows implements MapPartitionsFunction<Row, Row> {
  private static final long serialVersionUID = 1L;
  private static final int ROWS = 1024;

  private final String checkpoint;
  private final StructType scored;
  private final SerializableConfiguration hadoop;

  /**
   * For rows of some columns.
   *
   * @param scored the columns with those of scores behind them
   */
  ScoreRows(String checkpoint, StructType scored, SerializableConfiguration hadoop) {
    this.checkpoint = checkpoint;
    this.scored = scored;
    this.hadoop = hadoop;
  }

  @Override
  public Iterator<Row> call(Iterator<Row> rows) {
    return new Scored(rows, LocalCheckpoint.predictor(checkpoint, hadoop.value()));
  }

  private final class Scored implements Iterator<Row> {
    private final Iterator<Row> rows;
    private final Predictor predictor;
    private final Loss loss;
    private final List<String> names = new ArrayList<>();
    private final int[] places;
    private final Batch batch;
    private final Map<String, Object> values = new HashMap<>();
    private final List<Row> read = new ArrayList<>();
    private final float[] logits = new float[ROWS];
    private int next;

    Scored(Iterator<Row> rows, Predictor predictor) {
      this.rows = rows;
      this.predictor = predictor;
      List<Task> tasks = predictor.tasks();
      if (tasks.size() != 1 || !tasks.getFirst().loss().equals(Loss.BINARY_CROSS_ENTROPY)) {
        throw new IllegalArgumentException(
            "model: got the tasks %s, expected one with probabilities of clicks; use Predictor for others"
                .formatted(tasks));
      }
      loss = tasks.getFirst().loss();
      Schema schema = predictor.schema();
      names.addAll(schema.dense());
      names.addAll(schema.slotNames());
      List<String> given = List.of(scored.fieldNames());
      places = names.stream().mapToInt(given::indexOf).toArray();
      for (int i = 0; i < places.length; i++) {
        if (places[i] < 0) {
          throw new IllegalArgumentException(
              "column %s: got rows with the columns %s, expected it among them, as the model was trained with it"
                  .formatted(names.get(i), given));
        }
      }
      batch = new Batch(schema, ROWS);
    }

    @Override
    public boolean hasNext() {
      return next < read.size() || rows.hasNext();
    }

    @Override
    public Row next() {
      if (next == read.size()) {
        score();
      }
      Row row = read.get(next);
      double logit = logits[next++];
      double probability = loss.predicted((float) logit);
      Object[] all = new Object[scored.size()];
      for (int i = 0; i < row.size(); i++) {
        all[i] = row.get(i);
      }
      all[row.size()] = Vectors.dense(-logit, logit);
      all[row.size() + 1] = Vectors.dense(1 - probability, probability);
      all[row.size() + 2] = probability >= 0.5 ? 1.0 : 0.0;
      return RowFactory.create(all);
    }

    /** Reads some rows and scores them. */
    private void score() {
      read.clear();
      batch.clear();
      next = 0;
      while (read.size() < ROWS && rows.hasNext()) {
        Row row = rows.next();
        read.add(row);
        values.clear();
        for (int i = 0; i < places.length; i++) {
          @Nullable Object value = value(row.get(places[i]));
          if (value != null) {
            values.put(names.get(i), value);
          }
        }
        predictor.encoder().addRow(Collections.unmodifiableMap(values), batch);
      }
      if (read.isEmpty()) {
        throw new NoSuchElementException("rows: got a call behind the last row");
      }
      predictor.logits(batch, logits);
    }

    private static @Nullable Object value(@Nullable Object value) {
      return switch (value) {
        case Boolean is -> is ? 1 : 0;
        case Seq<?> many ->
            CollectionConverters.asJava(many).stream().filter(Objects::nonNull).toList();
        case null, default -> value;
      };
    }
  }
}
