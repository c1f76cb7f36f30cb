package dev.tern.spark;

import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.spark.ml.linalg.SparseVector;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.jspecify.annotations.Nullable;
import scala.jdk.javaapi.CollectionConverters;

/** The rows of a frame as text, by their number: what Spark reads and what Tern reads. */
final class FrameRows {
  private FrameRows() {}

  static Map<Long, String> ofSpark(Dataset<Row> rows, Frame frame) {
    Map<Long, String> texts = new TreeMap<>();
    for (Row row : rows.collectAsList()) {
      List<Float> numbers = new ArrayList<>();
      List<List<Long>> ids = new ArrayList<>();
      for (Frame.Use use : frame.uses()) {
        Object value = value(row, use.column());
        switch (use.as()) {
          case NUMBER -> numbers.add(SparkValues.number(value));
          case VECTOR -> numbers.addAll(SparkValues.vector(value));
          case ID -> ids.add(SparkValues.id(value));
          case TEXT -> ids.add(List.of(SparkValues.text(value)));
          case IDS -> ids.add(SparkValues.ids(value));
          case TEXTS -> ids.add(SparkValues.texts(value));
        }
      }
      Object number = row.getAs("row");
      texts.put(Long.valueOf(number.toString()), numbers + " " + ids);
    }
    return texts;
  }

  static Map<Long, String> ofTern(DataReader reader, Frame frame) {
    Map<Long, String> texts = new TreeMap<>();
    read(
        reader,
        (number, text) -> {
          if (texts.put(number, text) != null) {
            throw new AssertionError(frame + ": row " + number + " came twice");
          }
        });
    return texts;
  }

  static List<String> inOrder(DataReader reader, Frame frame) {
    List<String> texts = new ArrayList<>();
    read(reader, (number, text) -> texts.add(number + " " + text));
    return texts;
  }

  private interface Sink {
    void take(long number, String text);
  }

  private static void read(DataReader reader, Sink sink) {
    for (Optional<Batch> next = reader.next(); next.isPresent(); next = reader.next()) {
      try (Batch batch = next.get()) {
        for (int b = 0; b < batch.size(); b++) {
          sink.take(batch.ids(0)[batch.offsets(0)[b]], text(batch, b));
        }
      }
    }
  }

  private static String text(Batch batch, int row) {
    int width = batch.schema().denseDim();
    List<Float> numbers = new ArrayList<>();
    for (int i = row * width; i < (row + 1) * width; i++) {
      numbers.add(batch.dense()[i]);
    }
    List<List<Long>> ids = new ArrayList<>();
    for (int s = 1; s < batch.schema().slotCount(); s++) {
      int[] offsets = batch.offsets(s);
      ids.add(Arrays.stream(batch.ids(s), offsets[row], offsets[row + 1]).boxed().toList());
    }
    return numbers + " " + ids;
  }

  private static Object ofInts(int[] values) {
    return CollectionConverters.asScala(Arrays.stream(values).boxed().toList()).toSeq();
  }

  /** The value at {@code path}: a column, a field of a struct, or keys or values of a map. */
  private static @Nullable Object value(Row row, String path) {
    int dot = path.indexOf('.');
    if (dot < 0) {
      return row.getAs(path);
    }
    Object outer = row.getAs(path.substring(0, dot));
    String inner = path.substring(dot + 1);
    return switch (outer) {
      case null -> null;
      case Row struct -> struct.getAs(inner);
      case SparseVector vector -> ofInts(vector.indices());
      case Vector _ -> null;
      case scala.collection.Map<?, ?> map when inner.equals("key") -> map.keys().toSeq();
      case scala.collection.Map<?, ?> map -> map.values().toSeq();
      default -> throw new AssertionError("no struct: " + path);
    };
  }
}
