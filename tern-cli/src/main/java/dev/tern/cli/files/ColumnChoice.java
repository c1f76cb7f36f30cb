package dev.tern.cli.files;

import dev.tern.cli.config.DataConfig;
import dev.tern.data.DataReader;
import dev.tern.data.Reading;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.readers.Readers;
import dev.tern.files.Columns;
import dev.tern.files.SparseColumn;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Which columns of files are read.
 *
 * @param config names them, or leaves them to the files
 * @param model whose columns are the default
 * @param only the columns that are read, by name; all where it is empty
 * @param more columns of CSV and Parquet files that are read behind these
 */
public record ColumnChoice(
    DataConfig config, Optional<FeatureEncoder> model, Set<String> only, Columns more) {
  /** The columns of a configuration. */
  public static ColumnChoice of(DataConfig config) {
    return new ColumnChoice(config, Optional.empty(), Set.of(), Columns.NONE);
  }

  /** The columns of a trained model, of which only {@code names} are read; all without names. */
  public ColumnChoice forModel(FeatureEncoder encoder, Set<String> names) {
    return new ColumnChoice(config, Optional.of(encoder), names, more);
  }

  /** These columns, and the numbers and ids of {@code others} behind them. */
  public ColumnChoice with(Columns others) {
    return new ColumnChoice(config, model, only, others);
  }

  /** These columns, and {@code column} as texts, unless ids of it are among them. */
  public ColumnChoice withText(String column) {
    if (columns().sparse().stream().anyMatch(own -> own.name().equals(column))) {
      return this;
    }
    List<SparseColumn> sparse = new ArrayList<>(more.sparse());
    sparse.add(SparseColumn.text(column));
    return with(new Columns(List.of(), Set.of(), more.dense(), sparse));
  }

  /** Whether the configuration names columns. */
  public boolean areNamed() {
    return !denseNames().isEmpty()
        || config.sparse().stream().anyMatch(group -> !group.columns().isEmpty());
  }

  private List<String> denseNames() {
    return config.dense().stream().flatMap(group -> group.columns().stream()).toList();
  }

  private boolean isRead(String column) {
    return only.isEmpty() || only.contains(column);
  }

  /** The columns of files that have names for them. */
  public Columns columns() {
    Columns all = all();
    List<String> dense = new ArrayList<>(all.dense().stream().filter(this::isRead).toList());
    List<SparseColumn> sparse =
        new ArrayList<>(all.sparse().stream().filter(column -> isRead(column.name())).toList());
    dense.addAll(more.dense());
    sparse.addAll(more.sparse());
    return new Columns(all.labels(), all.positive(), dense, sparse, all.missing());
  }

  private Columns all() {
    if (!areNamed() && model.isPresent()) {
      return columns(model.get());
    }
    List<SparseColumn> sparse = new ArrayList<>();
    for (DataConfig.Sparse group : config.sparse()) {
      for (String name : group.columns()) {
        sparse.add(new SparseColumn(name, group.values(), group.separator()));
      }
    }
    return new Columns(
        config.columnsOfLabels(),
        Set.copyOf(config.positive()),
        denseNames(),
        sparse,
        Set.copyOf(config.missing()));
  }

  private Columns columns(FeatureEncoder encoder) {
    List<SparseColumn> sparse = new ArrayList<>();
    List<Slot> slots = encoder.rawSchema().slots();
    String other = config.sparse().isEmpty() ? "" : config.sparse().getFirst().separator();
    Map<String, String> separators = encoder.reading().map(Reading::separators).orElse(Map.of());
    for (int s = 0; s < slots.size(); s++) {
      boolean text = encoder.slots().get(s).text();
      boolean unsigned = slots.get(s).unsigned();
      String name = slots.get(s).name();
      String separator = other.isEmpty() ? separators.getOrDefault(name, "") : other;
      SparseColumn column = new SparseColumn(name, text, separator);
      sparse.add(
          unsigned && !text
              ? new SparseColumn(name, SparseColumn.Values.UNSIGNED, separator)
              : column);
    }
    return new Columns(
        config.columnsOfLabels(),
        Set.copyOf(config.positive()),
        encoder.rawSchema().dense(),
        sparse,
        Set.copyOf(config.missing()));
  }

  /** The columns as named; features that are no numbers are ids, whatever their column's name. */
  public Columns libsvm() {
    Columns named = new ColumnChoice(config, model, Set.of(), more).columns();
    boolean ids = named.dense().isEmpty() || !config.sparse().isEmpty();
    boolean fields = config.format().equals("libffm");
    return fields || !named.sparse().isEmpty() || !ids
        ? named
        : new Columns(
            named.labels(),
            named.positive(),
            named.dense(),
            List.of(SparseColumn.unsigned("features")),
            named.missing());
  }

  /** The columns of files that have places for them; {@code hotness} is for slots without one. */
  public Schema schema(int hotness) {
    if (!areNamed() && model.isPresent()) {
      return ofFiles(model.get().rawSchema());
    }
    List<Slot> slots = new ArrayList<>();
    for (DataConfig.Sparse group : config.sparse()) {
      for (String name : group.columns()) {
        slots.add(new Slot(name, group.hotness() == 0 ? hotness : group.hotness()));
      }
    }
    return new Schema(config.columnsOfLabels(), denseNames(), slots);
  }

  /** The columns of files from which rows of {@code schema} come: weights are among the labels. */
  private Schema ofFiles(Schema schema) {
    return config.weight().isPresent()
        ? schema.withWeight(Optional.empty()).withLabels(config.columnsOfLabels())
        : schema.withWeight(Optional.empty());
  }

  /** The columns of each sequence: of the model, or else as configured. */
  public List<List<String>> ofSequences() {
    if (model.isEmpty()) {
      return config.columnsOfSequences();
    }
    Schema schema = model.get().rawSchema();
    List<String> names = schema.slotNames();
    return schema.sequences().values().stream()
        .map(slots -> slots.stream().map(names::get).filter(this::isRead).toList())
        .filter(columns -> !columns.isEmpty())
        .toList();
  }

  /** {@code rows} with all columns of the model, where some were not read. */
  public DataReader whole(DataReader rows) {
    return only.isEmpty() ? rows : Readers.withColumns(rows, model.orElseThrow().rawSchema());
  }
}
