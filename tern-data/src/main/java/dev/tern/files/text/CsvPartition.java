package dev.tern.files.text;

import dev.tern.data.Batch;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.encode.TimePart;
import dev.tern.files.Columns;
import dev.tern.files.ReadPolicy;
import dev.tern.files.SparseColumn;
import dev.tern.internal.files.HivePath;
import java.util.List;
import java.util.stream.IntStream;

/** The values of the columns that a file has in the names of its folders: the same in all rows. */
final class CsvPartition {
  private final HivePath path;
  private final List<String> header;

  /** The columns of labels, numbers and ids, each with its values beside it. */
  private final int[] labelColumns;

  private final int[] denseColumns;
  private final int[] slots;
  private final float[] labels;
  private final float[] dense;
  private final long[][] ids;

  CsvPartition(
      HivePath path,
      List<String> header,
      Columns columns,
      ReadPolicy policy,
      TextDictionary dictionary) {
    this.path = path;
    this.header = header;
    labelColumns = own(columns.labels());
    denseColumns = own(columns.dense());
    slots = own(columns.sparse().stream().map(SparseColumn::name).toList());
    labels = new float[labelColumns.length];
    for (int i = 0; i < labels.length; i++) {
      labels[i] = path.label(columns.labels().get(labelColumns[i]), columns, policy);
    }
    dense = new float[denseColumns.length];
    for (int i = 0; i < dense.length; i++) {
      dense[i] = path.number(columns.dense().get(denseColumns[i]), columns.missing());
    }
    ids = new long[slots.length][];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = path.ids(columns.sparse().get(slots[i]), columns.missing(), dictionary);
    }
  }

  private int[] own(List<String> names) {
    return IntStream.range(0, names.size()).filter(i -> has(names.get(i))).toArray();
  }

  /** Whether the folders hold {@code column}, and the file itself neither it nor its times. */
  boolean has(String column) {
    boolean times = TimePart.of(column).isPresent() && header.contains(TimePart.source(column));
    return path.has(column) && !times && !header.contains(column);
  }

  /** The text of {@code column}, which {@link #has} knows. */
  String text(String column) {
    return path.text(column);
  }

  /** Whether the file has all columns itself. */
  boolean isEmpty() {
    return labels.length + dense.length + ids.length == 0;
  }

  /** Adds the values to the row of {@code batch} that is being made. */
  void addTo(Batch batch) {
    for (int i = 0; i < labels.length; i++) {
      batch.setLabel(labelColumns[i], labels[i]);
    }
    for (int i = 0; i < dense.length; i++) {
      batch.setDense(denseColumns[i], dense[i]);
    }
    for (int i = 0; i < ids.length; i++) {
      for (long id : ids[i]) {
        batch.addId(slots[i], id);
      }
    }
  }
}
