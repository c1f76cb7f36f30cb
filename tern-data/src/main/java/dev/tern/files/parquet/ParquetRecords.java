package dev.tern.files.parquet;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.encode.TextDictionary;
import dev.tern.files.Columns;
import dev.tern.files.Faults;
import dev.tern.files.ReadPolicy;
import dev.tern.files.RecordCopy;
import dev.tern.internal.files.FileSequence;
import dev.tern.internal.files.HivePath;
import dev.tern.internal.files.InputFiles;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import org.apache.parquet.format.ColumnMetaData;
import org.apache.parquet.format.CompressionCodec;
import org.apache.parquet.format.RowGroup;
import org.jspecify.annotations.Nullable;

/**
 * Copies rows of Parquet files, a row group at a time: first which part each row goes to, then
 * column after column, all there are, page by page. A fault costs its row group, which then is in
 * no part.
 */
final class ParquetRecords implements RecordCopy {
  private static final int KEYS = 1024;

  private final List<Path> files;
  private final ParquetOptions options;
  private final ReadPolicy policy;

  /** How the key is read, if there is one. */
  private final Optional<ParquetPlan> plan;

  private final Schema schema;
  private final long rowCount;
  private final Map<Integer, byte[]> footer;
  private final List<ParquetPart> parts = new ArrayList<>();
  private final Set<String> codecs = new TreeSet<>();

  private int nextFile;
  private @Nullable ParquetFile file;
  private List<ParquetField> leaves = List.of();
  private @Nullable ParquetSource keySource;
  private Batch keyRows;
  private int keyRow;
  private int nextGroup;

  /** Rows of the file before the row group, and of the row group. */
  private long before;

  private int groupRows;

  /** Rows of the group so far, and the part of each. */
  private int row;

  private short[] partOf = new short[KEYS];
  private int copied;
  private long lost;

  private ParquetRecords(
      List<Path> files,
      ParquetOptions options,
      ReadPolicy policy,
      Optional<ParquetPlan> plan,
      Survey survey) {
    this.files = files;
    this.options = options;
    this.policy = policy;
    this.plan = plan;
    rowCount = survey.rows;
    footer = survey.footer;
    schema = plan.map(ParquetPlan::schema).orElse(new Schema(List.of(), List.of(), List.of()));
    keyRows = new Batch(schema, KEYS);
  }

  static RecordCopy open(
      List<Path> paths,
      ParquetOptions options,
      Columns key,
      ReadPolicy policy,
      List<Path> targets) {
    List<Path> files = InputFiles.of(FileSequence.requireFiles(paths), InputFiles.Kind.PARQUET);
    Survey survey = new Survey(key, options, targets);
    ReadPolicy unlabelled = policy.withoutLabels();
    List<Path> sound = ParquetReader.sound(files, unlabelled, survey::add);
    ParquetRecords records =
        new ParquetRecords(
            sound, options, unlabelled, survey.plan.map(ParquetPlan::settled), survey);
    records.start(targets);
    return records;
  }

  private void start(List<Path> targets) {
    if (targets.size() > Short.MAX_VALUE) {
      throw new IllegalArgumentException(
          "copy: got %s parts, expected at most %s".formatted(targets.size(), Short.MAX_VALUE));
    }
    try {
      for (Path target : targets) {
        parts.add(new ParquetPart(target));
      }
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  /** What the files tell before any row is read. */
  private static final class Survey {
    private final List<Path> targets;
    private Optional<ParquetPlan> plan;
    private @Nullable ParquetFile first;
    private Map<Integer, byte[]> footer = Map.of();
    private long rows;

    Survey(Columns key, ParquetOptions options, List<Path> targets) {
      this.targets = targets;
      plan =
          key.sparse().isEmpty()
              ? Optional.empty()
              : Optional.of(
                  ParquetPlan.byName(key, ReadPolicy.STRICT, options, TextDictionary.none()));
    }

    void add(Path path) {
      try (ParquetFile file = ParquetFile.open(path)) {
        ParquetFile.costing(file.rows(), () -> take(file));
      }
    }

    private void take(ParquetFile file) {
      List<String> names = file.schema().columns().stream().map(ParquetField::name).toList();
      HivePath.of(file.path()).requireKept(names, targets);
      if (first == null) {
        footer = file.footerFields();
        first = file;
      } else {
        first.requireSameColumns(file);
      }
      List<ParquetField> leaves = file.leaves();
      for (RowGroup group : file.rowGroups()) {
        leaves.forEach(leaf -> file.chunk(group, leaf));
        if (group.getNum_rows() > Integer.MAX_VALUE - 8) {
          throw new DataException(
              "%s: got a row group of %s rows, expected fewer than 2^31; write smaller ones"
                  .formatted(file.path(), group.getNum_rows()));
        }
      }
      Optional<ParquetPlan> told = plan.map(open -> open.settledBy(file));
      rows = FileSequence.addRows(file.path(), rows, file.rows());
      plan = told;
    }
  }

  @Override
  public Schema schema() {
    return schema;
  }

  @Override
  public OptionalLong rowCount() {
    return OptionalLong.of(rowCount);
  }

  @Override
  public boolean next(Batch keys) {
    while (row < groupRows || nextGroup()) {
      try {
        if (keySource != null) {
          takeKey(keys);
        } else {
          keys.endRow();
        }
        row++;
        return true;
      } catch (DataException e) {
        keys.abandonRow();
        loseGroup(e);
      }
    }
    return false;
  }

  private void takeKey(Batch keys) {
    if (keyRow == keyRows.size()) {
      keyRows.clear();
      keyRow = 0;
      ParquetSource source = keySource;
      if (source != null) {
        source.fill(keyRows, Math.min(KEYS, groupRows - row));
      }
    }
    if (keyRow == keyRows.size()) {
      throw new DataException(where() + ": got the end of the file; it changed, read it again");
    }
    keys.appendRow(keyRows, keyRow);
    keyRow++;
  }

  /** Copies the row group at hand and goes to the next one with rows; false at the end. */
  private boolean nextGroup() {
    copyGroup();
    before += groupRows;
    row = 0;
    copied = 0;
    groupRows = 0;
    while (groupRows == 0) {
      if (file == null || nextGroup == file.rowGroups().size()) {
        closeFile();
        if (nextFile == files.size()) {
          return false;
        }
        openFile(files.get(nextFile));
        nextFile++;
        continue;
      }
      groupRows = (int) file.rowGroups().get(nextGroup).getNum_rows();
      nextGroup++;
    }
    return true;
  }

  private void openFile(Path path) {
    ParquetFile opened = ParquetFile.open(path);
    file = opened;
    leaves = opened.leaves();
    nextGroup = 0;
    before = 0;
    keyRows.clear();
    keyRow = 0;
    openKeys(path, 0);
  }

  /** Has keys come from the row group that begins with row {@code from} on. */
  private void openKeys(Path path, long from) {
    if (keySource != null) {
      keySource.close();
      keySource = null;
    }
    if (plan.isPresent()) {
      ReadPolicy strict = policy.withFaults(Faults.STRICT).withThreads(1);
      ParquetSource opened = ParquetSource.open(path, plan.get(), strict, Faults.STRICT);
      keySource = opened;
      opened.skip(from);
    }
  }

  /** Goes on with the next row group; no row of this one goes to a part. */
  private void loseGroup(DataException fault) {
    policy.faults().report(fault.losing(groupRows));
    lost += groupRows;
    before += groupRows;
    groupRows = 0;
    row = 0;
    copied = 0;
    keyRows.clear();
    keyRow = 0;
    if (file != null) {
      openKeys(file.path(), before);
    }
  }

  private void copyGroup() {
    ParquetFile from = file;
    if (from == null || parts.isEmpty()) {
      return;
    }
    if (copied != groupRows) {
      throw new IllegalStateException(
          "copy: got %s rows read and %s copied, expected all".formatted(groupRows, copied));
    }
    if (groupRows == 0) {
      return;
    }
    RowGroup group = from.rowGroups().get(nextGroup - 1);
    int[] counts = new int[parts.size()];
    for (int i = 0; i < copied; i++) {
      counts[partOf[i]]++;
    }
    parts.forEach(ParquetPart::beginGroup);
    try {
      for (ParquetField leaf : leaves) {
        copyChunk(from, group, leaf, counts);
      }
    } catch (DataException e) {
      parts.forEach(ParquetPart::abandonGroup);
      policy.faults().report(e.losing(groupRows));
      lost += groupRows;
      return;
    }
    for (int p = 0; p < counts.length; p++) {
      if (counts[p] > 0) {
        parts.get(p).endGroup(group, counts[p]);
      }
    }
  }

  private void copyChunk(ParquetFile from, RowGroup group, ParquetField leaf, int[] counts) {
    ColumnMetaData chunk = from.chunk(group, leaf);
    CompressionCodec codec = chunk.getCodec();
    if (ParquetChunkWriter.written(codec) != codec) {
      codecs.add(codec + " is written as " + ParquetChunkWriter.written(codec));
    }
    ParquetPlainValues values = new ParquetPlainValues(leaf.type(), from.sharesOverPages());
    ParquetColumn<ParquetPlainValues> column =
        new ParquetColumn<>(from, leaf, values, options.largestPage());
    column.open(chunk);
    for (int p = 0; p < counts.length; p++) {
      if (counts[p] > 0) {
        parts.get(p).beginChunk(chunk, leaf);
      }
    }
    int next = 0;
    int count = column.next(Math.min(ParquetValues.CHUNK, groupRows));
    while (count > 0) {
      next = dealEntries(column, leaf.maxDefinition(), count, next);
      count = column.next(Math.min(ParquetValues.CHUNK, groupRows - next));
    }
    if (next < groupRows) {
      throw column.located("got fewer rows than its group" + ParquetFile.REWRITE);
    }
    if (!column.finished()) {
      throw column.located("got more rows than its group has" + ParquetFile.REWRITE);
    }
    for (int p = 0; p < counts.length; p++) {
      if (counts[p] > 0) {
        parts.get(p).endChunk(chunk, values);
      }
    }
  }

  /** Deals {@code count} entries out; row {@code next} is the first that begins in them. */
  private int dealEntries(
      ParquetColumn<ParquetPlainValues> column, int highest, int count, int next) {
    ParquetPlainValues values = column.values();
    int begun = next;
    int value = 0;
    ParquetPart part = parts.get(partOf[Math.max(0, next - 1)]);
    if (!column.starts(0)) {
      part.use(values);
    }
    for (int i = 0; i < count; i++) {
      int definition = column.definition(i);
      if (column.starts(i)) {
        part = parts.get(partOf[begun]);
        begun++;
        part.beginRow(values, definition);
      } else {
        part.addEntry(column.repetition(i), definition);
      }
      if (definition == highest) {
        part.addValue(values, value);
        value++;
      }
    }
    return begun;
  }

  @Override
  public String where() {
    return (file == null ? "the data" : file.path()) + ": row " + (before + row);
  }

  @Override
  public void copyTo(int part) {
    if (copied == partOf.length) {
      partOf = Arrays.copyOf(partOf, (int) Math.min(2L * copied, Integer.MAX_VALUE - 8));
    }
    partOf[copied] = (short) part;
    copied++;
  }

  @Override
  public List<String> notes() {
    return codecs.stream().map(codec -> codec + ", as Tern does not compress by it").toList();
  }

  @Override
  public long[] finish() {
    long[] rows = parts.stream().mapToLong(ParquetPart::rows).toArray();
    long written = Arrays.stream(rows).sum();
    if (written + lost != rowCount) {
      throw new IllegalStateException(
          "copy: got %s rows written and %s left out, expected %s in all"
              .formatted(written, lost, rowCount));
    }
    parts.forEach(part -> part.complete(footer));
    parts.forEach(ParquetPart::finish);
    return rows;
  }

  private void closeFile() {
    if (keySource != null) {
      keySource.close();
      keySource = null;
    }
    if (file != null) {
      file.close();
      file = null;
    }
  }

  @Override
  public void close() {
    closeFile();
    // The first may have made a folder for all, which goes when it is empty.
    parts.reversed().forEach(ParquetPart::close);
  }
}
