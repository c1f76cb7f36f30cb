package dev.tern.files.parquet;

import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.files.DataWriter;
import dev.tern.files.KeyType;
import dev.tern.internal.files.FileList;
import dev.tern.internal.files.OutputFile;
import dev.tern.internal.files.RecordBuffer;
import dev.tern.internal.files.WriterChecks;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.parquet.format.ColumnChunk;
import org.apache.parquet.format.ColumnMetaData;
import org.apache.parquet.format.ConvertedType;
import org.apache.parquet.format.FieldRepetitionType;
import org.apache.parquet.format.FileMetaData;
import org.apache.parquet.format.IntType;
import org.apache.parquet.format.ListType;
import org.apache.parquet.format.LogicalType;
import org.apache.parquet.format.RowGroup;
import org.apache.parquet.format.SchemaElement;
import org.apache.parquet.format.Type;
import org.apache.parquet.format.Util;

/**
 * Writes one Parquet file: labels, then dense numbers, as FLOAT; then slots, one-hot ones as
 * integers, others as lists of integers. A slot of unsigned ids is one of UINT_64 where an id takes
 * 64 bits. Rows are held in memory until a row group is full.
 */
public final class ParquetWriter implements DataWriter {
  private static final String CREATED_BY = "tern version 0.1.0";
  private static final int MAX_GROUP_IDS = 1 << 24;

  private final Path file;
  private final Schema schema;
  private final ParquetLayout layout;
  private final OutputFile out;
  private final ParquetChunkWriter chunks;
  private final float[][] numbers;
  private final long[][] ids;
  private final int[][] ends;
  private final boolean[] wide;
  private final List<RowGroup> groups = new ArrayList<>();
  private int groupRows;
  private long rows;

  private ParquetWriter(Path file, Schema schema, ParquetLayout layout) {
    this.file = file;
    this.schema = schema;
    this.layout = layout;
    int first = Math.min(layout.groupRows(), 1 << 12);
    numbers = new float[schema.labelDim() + schema.denseDim()][first];
    ids = new long[schema.slotCount()][first];
    ends = new int[schema.slotCount()][first];
    wide = new boolean[schema.slotCount()];
    out = OutputFile.create(file);
    out.write(ParquetFile.MAGIC, 0, ParquetFile.MAGIC.length);
    chunks = new ParquetChunkWriter(out, layout.codec());
  }

  /**
   * Starts a file of {@code schema}.
   *
   * @throws IllegalArgumentException if two columns have one name
   */
  public static ParquetWriter create(Path file, Schema schema, ParquetLayout layout) {
    Set<String> seen = new HashSet<>();
    for (String name : names(schema)) {
      if (!seen.add(name)) {
        throw new IllegalArgumentException(
            "parquet: got the column name "
                + name
                + " twice, expected distinct names; rename the label, dense number or slot");
      }
    }
    WriterChecks.requireUnweighted(file, schema, "parquet");
    return new ParquetWriter(file, schema, layout);
  }

  private static List<String> names(Schema schema) {
    List<String> names = new ArrayList<>(schema.labels());
    names.addAll(schema.dense());
    schema.slots().forEach(slot -> names.add(slot.name()));
    return names;
  }

  @Override
  public Schema schema() {
    return schema;
  }

  @Override
  public void write(Batch batch) {
    WriterChecks.requireSameShape(schema, batch);
    for (int from = 0; from < batch.size(); ) {
      int to = fitting(batch, from);
      requireRoom(groupRows + to - from);
      int labels = schema.labelDim();
      for (int i = 0; i < numbers.length; i++) {
        boolean label = i < labels;
        put(
            label ? batch.labels() : batch.dense(),
            label ? labels : schema.denseDim(),
            label ? i : i - labels,
            from,
            to,
            numbers[i]);
      }
      for (int slot = 0; slot < ids.length; slot++) {
        putIds(batch, slot, from, to);
      }
      groupRows += to - from;
      rows += to - from;
      from = to;
      if (from < batch.size() || groupRows == layout.groupRows()) {
        writeGroup();
      }
    }
  }

  /** The end of the rows of {@code batch} from {@code from} on that fit the row group. */
  private int fitting(Batch batch, int from) {
    int to = Math.min(batch.size(), from + layout.groupRows() - groupRows);
    for (int slot = 0; slot < ids.length; slot++) {
      int[] offsets = batch.offsets(slot);
      long room = (long) MAX_GROUP_IDS - held(slot) + offsets[from];
      while (to > from && offsets[to] > room) {
        to--;
      }
    }
    // A row that fits no group is one of its own.
    return to == from && groupRows == 0 ? from + 1 : to;
  }

  private int held(int slot) {
    return groupRows == 0 ? 0 : ends[slot][groupRows - 1];
  }

  private void requireRoom(int needed) {
    if (numbers.length > 0 && needed > numbers[0].length) {
      for (int i = 0; i < numbers.length; i++) {
        numbers[i] = Arrays.copyOf(numbers[i], 2 * needed);
      }
    }
    if (ends.length > 0 && needed > ends[0].length) {
      for (int slot = 0; slot < ends.length; slot++) {
        ends[slot] = Arrays.copyOf(ends[slot], 2 * needed);
      }
    }
  }

  private void put(float[] source, int stride, int index, int from, int to, float[] target) {
    for (int row = from; row < to; row++) {
      target[groupRows + row - from] = source[row * stride + index];
    }
  }

  private void putIds(Batch batch, int slot, int from, int to) {
    Slot what = schema.slots().get(slot);
    int[] offsets = batch.offsets(slot);
    long[] source = batch.ids(slot);
    int shift = held(slot) - offsets[from];
    int[] slotEnds = ends[slot];
    for (int row = from; row < to; row++) {
      int count = offsets[row + 1] - offsets[row];
      if (what.hotness() > 0 && count != what.hotness()) {
        throw WriterChecks.badHotness(file, rows + row - from, what, count);
      }
      slotEnds[groupRows + row - from] = Math.addExact(offsets[row + 1], shift);
    }
    int count = offsets[to] - offsets[from];
    int end = held(slot) + count;
    if (end > ids[slot].length) {
      ids[slot] = Arrays.copyOf(ids[slot], Math.max(end, 2 * ids[slot].length));
    }
    System.arraycopy(source, offsets[from], ids[slot], held(slot), count);
    for (int i = offsets[from]; what.unsigned() && !wide[slot] && i < offsets[to]; i++) {
      wide[slot] = source[i] < 0;
    }
    if (layout.keys() != KeyType.I64) {
      requireHeld(batch, slot, from, to);
    }
  }

  private void requireHeld(Batch batch, int slot, int from, int to) {
    int[] offsets = batch.offsets(slot);
    for (int row = from; row < to; row++) {
      for (int i = offsets[row]; i < offsets[row + 1]; i++) {
        long id = batch.ids(slot)[i];
        if (!layout.keys().holds(id)) {
          Slot what = schema.slots().get(slot);
          throw WriterChecks.badKey(file, rows + row - from, what, id, layout.keys());
        }
      }
    }
  }

  private void writeGroup() {
    RowGroup group = new RowGroup();
    group.setNum_rows(groupRows);
    long bytes = 0;
    for (int column = 0; column < numbers.length + ids.length; column++) {
      long offset = out.position();
      ColumnMetaData meta = chunk(column);
      bytes += meta.getTotal_uncompressed_size();
      ColumnChunk chunk = new ColumnChunk(offset);
      chunk.setMeta_data(meta);
      group.addToColumns(chunk);
    }
    group.setTotal_byte_size(bytes);
    groups.add(group);
    groupRows = 0;
  }

  private ColumnMetaData chunk(int column) {
    int slot = column - numbers.length;
    if (slot < 0) {
      boolean nulls = nullable(column);
      ColumnMetaData meta = chunks.numbers(numbers[column], groupRows, nulls);
      meta.setType(Type.FLOAT);
      meta.addToPath_in_schema(names(schema).get(column));
      return meta;
    }
    Slot what = schema.slots().get(slot);
    boolean list = what.hotness() != 1;
    ColumnMetaData meta =
        list
            ? chunks.lists(ids[slot], ends[slot], groupRows, layout.keys())
            : chunks.keys(ids[slot], groupRows, layout.keys());
    meta.setType(keyType());
    meta.addToPath_in_schema(what.name());
    if (list) {
      meta.addToPath_in_schema("list");
      meta.addToPath_in_schema("element");
    }
    return meta;
  }

  private boolean nullable(int column) {
    return !layout.hugeCtr() && column >= schema.labelDim();
  }

  private Type keyType() {
    return layout.keys() == KeyType.I64 ? Type.INT64 : Type.INT32;
  }

  private List<SchemaElement> elements() {
    List<SchemaElement> elements = new ArrayList<>();
    SchemaElement root = new SchemaElement("schema");
    root.setNum_children(numbers.length + ids.length);
    elements.add(root);
    List<String> names = names(schema);
    for (int column = 0; column < numbers.length; column++) {
      SchemaElement number = new SchemaElement(names.get(column));
      number.setType(Type.FLOAT);
      number.setRepetition_type(
          nullable(column) ? FieldRepetitionType.OPTIONAL : FieldRepetitionType.REQUIRED);
      elements.add(number);
    }
    for (int s = 0; s < ids.length; s++) {
      Slot slot = schema.slots().get(s);
      if (slot.hotness() != 1) {
        SchemaElement list = group(slot.name(), FieldRepetitionType.REQUIRED);
        list.setConverted_type(ConvertedType.LIST);
        list.setLogicalType(LogicalType.LIST(new ListType()));
        elements.add(list);
        elements.add(group("list", FieldRepetitionType.REPEATED));
      }
      elements.add(key(slot.hotness() == 1 ? slot.name() : "element", wide[s]));
    }
    return elements;
  }

  private static SchemaElement group(String name, FieldRepetitionType repetition) {
    SchemaElement group = new SchemaElement(name);
    group.setNum_children(1);
    group.setRepetition_type(repetition);
    return group;
  }

  private SchemaElement key(String name, boolean wide) {
    SchemaElement key = new SchemaElement(name);
    key.setType(keyType());
    key.setRepetition_type(FieldRepetitionType.REQUIRED);
    if (layout.keys() == KeyType.U32) {
      key.setConverted_type(ConvertedType.UINT_32);
      key.setLogicalType(LogicalType.INTEGER(new IntType((byte) 32, false)));
    } else if (wide && !layout.hugeCtr()) {
      key.setConverted_type(ConvertedType.UINT_64);
      key.setLogicalType(LogicalType.INTEGER(new IntType((byte) 64, false)));
    }
    return key;
  }

  @Override
  public void finish() {
    if (groupRows > 0) {
      writeGroup();
    }
    FileMetaData footer = new FileMetaData(1, elements(), rows, groups);
    footer.setCreated_by(CREATED_BY);
    byte[] bytes = ParquetChunkWriter.bytes(stream -> Util.writeFileMetaData(footer, stream));
    RecordBuffer tail = new RecordBuffer();
    tail.putBytes(bytes);
    tail.putInt(bytes.length);
    tail.putBytes(ParquetFile.MAGIC);
    out.write(tail);
    out.finish();
    if (layout.hugeCtr()) {
      describe();
    }
  }

  /** Writes what HugeCTR wants beside the file. */
  private void describe() {
    int labels = schema.labelDim();
    String name = String.valueOf(file.getFileName());
    Path path = file.resolveSibling(ParquetMetadata.NAME);
    byte[] json =
        new ParquetMetadata(
                path,
                Map.of(name, rows),
                IntStream.range(0, labels).boxed().toList(),
                IntStream.range(labels, numbers.length).boxed().toList(),
                IntStream.range(numbers.length, numbers.length + ids.length).boxed().toList())
            .toJson(names(schema));
    try (OutputFile metadata = OutputFile.create(path)) {
      metadata.write(json, 0, json.length);
      metadata.finish();
    }
    FileList.write(file.resolveSibling("_file_list.txt"), List.of(file));
  }

  @Override
  public void close() {
    out.close();
  }
}
