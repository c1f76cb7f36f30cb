package dev.tern.cli.config;

import dev.tern.base.DType;
import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.OwnOptions;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.TableOptions;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The keys of the section {@code model.tables}, and how the section {@code model} becomes the
 * engine's options of tables.
 */
final class TableKeys {
  private static final Key.Section KEYS = new Key.Section();
  static final Key<List<String>> COLUMNS =
      KEYS.required(
          "model.tables.columns",
          new Kind.Columns(),
          "Columns whose tables have options of their own, those beside this key. Of"
              + " admission, eviction, max_rows and when_full those beside it hold, in the place of"
              + " the model's, unless model.tables.rules is same.");
  static final Key<Boolean> TRAINABLE =
      KEYS.key(
          "model.tables.trainable",
          new Kind.Flag(),
          true,
          "Whether training changes these tables. Those of false have their rows from train.from or"
              + " init: none is added or updated, and other ids read as model.unknown says.");
  static final Key<List<Path>> INIT =
      KEYS.key(
          "model.tables.init",
          new Kind.Files("a file of vectors", true),
          List.<Path>of(),
          "A file of vectors that these tables begin with: lines of a value and as many numbers as"
              + " the embedding is wide, or with the header of word2vec; or Parquet with a column"
              + " of values and a list or columns of numbers. Ids without one begin as usual.");
  static final OptimizerKeys OPTIMIZER =
      OptimizerKeys.orSame(
          KEYS,
          "model.tables.optimizer",
          "The optimizer of these tables, but for linear weights that train.linear_optimizer"
              + " updates; its learning rate follows the schedule in proportion. \"same\" takes the"
              + " optimizer of all tables.");
  static final Key<String> STORAGE =
      KEYS.key(
          "model.tables.storage",
          Kind.Choice.of(InitialKeys.SAME, "f32", "f16", "bf16"),
          InitialKeys.SAME,
          "How their embeddings lie in memory and in checkpoints; \"same\" for what"
              + " model.table_storage says.");
  static final Key<Optional<Double>> L2 =
      KEYS.key(
          "model.tables.l2",
          new Kind.OrSame(Kind.FACTOR),
          Optional.<Double>empty(),
          "Share of each weight that is added to its gradient, of the rows of a batch; \"same\" for"
              + " what train.l2 says.");
  static final InitialKeys INITIAL =
      InitialKeys.of(
          KEYS,
          "model.tables",
          InitialKeys.SAME,
          "How the weights of their new rows are drawn; \"same\" for what model.initializer says.");
  static final Key<String> OF_RULES =
      KEYS.key(
          "model.tables.rules",
          Kind.Choice.of("own", InitialKeys.SAME),
          "own",
          "Whether the rules of these tables are those beside this key, \"same\" for those that"
              + " model.admission, eviction, max_rows and when_full say.");
  static final RowKeys RULES = RowKeys.of(KEYS, "model.tables");

  private TableKeys() {}

  /** In the order they are read and written. */
  static List<Key<?>> all() {
    return List.copyOf(KEYS.keys());
  }

  /** {@code options} with what the section says of tables. */
  static TableOptions options(Settings s, TableOptions options) {
    TableOptions told =
        options
            .combiner(Combiner.valueOf(ModelKeys.constant(s.get(ModelKeys.COMBINER))))
            .unknown(ModelKeys.unknown(s))
            .storage(DType.valueOf(ModelKeys.constant(s.get(ModelKeys.TABLE_STORAGE))))
            .initial(ModelKeys.INITIAL.read(s.top()).orElseThrow())
            .rows(ModelKeys.ROW_RULES.read(s.top()));
    for (Settings.Group group : s.all("data.sparse")) {
      String combiner = group.get(DataKeys.SPARSE_COMBINER);
      for (String column :
          combiner.equals("model") ? List.<String>of() : columns(group, DataKeys.SPARSE_COMBINER)) {
        told = told.combiner(column, Combiner.valueOf(ModelKeys.constant(combiner)));
      }
    }
    for (Settings.Group group : s.all("model.tables")) {
      RowPolicy rule = rules(s, group);
      OwnOptions own = own(group);
      for (String column : group.get(COLUMNS)) {
        told = told.rows(column, rule);
        told = own.equals(OwnOptions.NONE) ? told : told.own(column, own);
      }
    }
    Set<String> frozen = new TreeSet<>();
    for (Settings.Group group : s.all("model.tables")) {
      frozen.addAll(group.get(TRAINABLE) ? List.of() : group.get(COLUMNS));
    }
    return told.frozen(frozen);
  }

  /** Which ids have rows in the tables of a group. */
  static RowPolicy rules(Settings s, Settings.Group group) {
    return group.get(OF_RULES).equals(InitialKeys.SAME)
        ? ModelKeys.ROW_RULES.read(s.top())
        : RULES.read(group);
  }

  /** What the tables of a group have otherwise than others. */
  static OwnOptions own(Settings.Group group) {
    String storage = group.get(STORAGE);
    return new OwnOptions(
        TrainKeys.checked(group, OPTIMIZER.type(), OPTIMIZER::read),
        storage.equals(InitialKeys.SAME)
            ? Optional.empty()
            : Optional.of(DType.valueOf(ModelKeys.constant(storage))),
        group.get(L2).map(Double::floatValue),
        INITIAL.read(group));
  }

  /** The columns that a group names, which has {@code key} for them. */
  static List<String> columns(Settings.Group group, Key<?> key) {
    boolean numbers = key.section().equals("data.dense");
    Key<List<String>> names = numbers ? DataKeys.DENSE_COLUMNS : DataKeys.SPARSE_COLUMNS;
    List<String> columns = group.get(names);
    if (columns.isEmpty()) {
      throw new ConfigException(
          group.where(key)
              + ": "
              + key.path()
              + ": got one for columns without names, expected names beside it; add "
              + names.path()
              + ", or give model."
              + key.name()
              + " for all columns");
    }
    return columns;
  }

  /**
   * Columns with embeddings of a width of their own.
   *
   * @param key says the width
   * @param tables for each column the column that owns its table
   */
  record Width(Settings.Group group, Key<Long> key, Map<String, String> tables) {
    long width() {
      return group.get(key);
    }
  }

  /** The columns, group by group, that have a width of their own. */
  static List<Width> widths(Settings s) {
    List<Width> widths = new ArrayList<>();
    for (Key<Long> key : List.of(DataKeys.DENSE_EMBEDDING, DataKeys.SPARSE_EMBEDDING)) {
      for (Settings.Group group : s.all(key.section())) {
        if (group.get(key) > 0) {
          String table = key == DataKeys.SPARSE_EMBEDDING ? group.get(DataKeys.TABLE) : "";
          Map<String, String> tables = new LinkedHashMap<>();
          columns(group, key).forEach(name -> tables.put(name, table.isEmpty() ? name : table));
          widths.add(new Width(group, key, tables));
        }
      }
    }
    return widths;
  }

  /** For each table by name the file of vectors that it begins with. */
  static Map<String, Path> vectors(Settings s) {
    Map<String, Path> files = new TreeMap<>();
    for (Settings.Group group : s.all("model.tables")) {
      for (Path file : group.get(INIT)) {
        group.get(COLUMNS).forEach(column -> files.put(column, file));
      }
    }
    return files;
  }
}
