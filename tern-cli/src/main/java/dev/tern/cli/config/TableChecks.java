package dev.tern.cli.config;

import dev.tern.embedding.config.Eviction;
import dev.tern.embedding.config.OwnOptions;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.model.ModelPart;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/** Checks of what several keys say about embedding tables. */
final class TableChecks {
  private TableChecks() {}

  static void run(Settings settings) {
    tables(settings);
    widths(settings);
    rules(settings);
    unknown(settings);
    linearOptimizer(settings);
    tableMemory(settings);
  }

  /** Each group of table rules names columns that have a table, each once. */
  private static void tables(Settings s) {
    Map<String, String> tables = new LinkedHashMap<>();
    List<Settings.Group> sparse = s.all("data.sparse");
    for (Settings.Group group : sparse) {
      String table = group.get(DataKeys.TABLE);
      group
          .get(DataKeys.SPARSE_COLUMNS)
          .forEach(column -> tables.put(column, table.isEmpty() ? column : table));
    }
    boolean open =
        sparse.isEmpty() || sparse.stream().anyMatch(g -> g.get(DataKeys.SPARSE_COLUMNS).isEmpty());
    for (Settings.Group group : s.all("data.dense")) {
      if (!group.get(DataKeys.VECTOR).equals("none")) {
        group.get(DataKeys.DENSE_COLUMNS).forEach(column -> tables.put(column, column));
        open |= group.get(DataKeys.DENSE_COLUMNS).isEmpty();
      }
    }
    Set<String> seen = new HashSet<>();
    for (Settings.Group group : s.all("model.tables")) {
      List<Path> vectors = group.get(TableKeys.INIT);
      boolean empty = vectors.isEmpty() && s.get(TrainKeys.FROM).isEmpty();
      if (!group.get(TableKeys.TRAINABLE) && empty) {
        throw new ConfigException(
            group.where(TableKeys.TRAINABLE)
                + ": model.tables.trainable: got false in a run that begins with empty tables,"
                + " expected an earlier run or a file that has their rows; name it in train.from,"
                + " as in --from runs/day1, or in model.tables.init");
      }
      if (vectors.size() > 1) {
        throw new ConfigException(
            group.where(TableKeys.INIT)
                + ": model.tables.init: got "
                + vectors.size()
                + " files, expected one; join them");
      }
      for (String column : group.get(TableKeys.COLUMNS)) {
        String wrong = "";
        if (!seen.add(column)) {
          wrong = " a second time, expected each column once; remove it from one group";
        } else if (!open && !tables.containsKey(column)) {
          wrong = ", expected one of data.sparse.columns; list it there, or remove it here";
        } else if (!tables.getOrDefault(column, column).equals(column)) {
          wrong = ", which uses the table of " + tables.get(column) + "; name that one";
        }
        if (!wrong.isEmpty()) {
          throw new ConfigException(
              group.where(TableKeys.COLUMNS)
                  + ": model.tables.columns: got the column "
                  + column
                  + wrong);
        }
      }
    }
  }

  /** Whoever gives tables other options says whether they keep the rules of all tables. */
  private static void rules(Settings s) {
    RowPolicy all = ModelKeys.ROW_RULES.read(s.top());
    for (Settings.Group group : s.all("model.tables")) {
      RowPolicy own = TableKeys.RULES.read(group);
      boolean same = group.get(TableKeys.OF_RULES).equals(InitialKeys.SAME);
      String where = group.where(TableKeys.OF_RULES) + ": model.tables.rules: got ";
      String columns = String.join(", ", group.get(TableKeys.COLUMNS));
      if (same && !own.isAll()) {
        throw new ConfigException(
            where
                + "same beside rules for "
                + columns
                + ", expected one of these; remove the rules, or set rules: own");
      }
      boolean lost = !same && own.isAll() && !all.isAll();
      boolean other = !TableKeys.own(group).equals(OwnOptions.NONE);
      if (lost && other && !group.states(TableKeys.OF_RULES)) {
        throw new ConfigException(
            group.where(TableKeys.COLUMNS)
                + ": model.tables.rules: got other options for "
                + columns
                + " without rules for ids, beside such in model, expected either; set rules: same"
                + " to keep those of model, or rules: own for a row for each id");
      }
    }
  }

  /** The rules of all tables. */
  private static List<RowPolicy> rowRules(Settings s) {
    return Stream.concat(
            Stream.of(ModelKeys.ROW_RULES.read(s.top())),
            s.all("model.tables").stream().map(group -> TableKeys.rules(s, group)))
        .toList();
  }

  /** Buckets are for ids that training leaves without a row. */
  private static void unknown(Settings s) {
    boolean some =
        rowRules(s).stream().anyMatch(RowPolicy::leavesIdsWithout)
            || s.all("data.sparse").stream().anyMatch(TableChecks::leavesRare);
    if (s.get(ModelKeys.UNKNOWN).equals("hash") && !some) {
      throw new ConfigException(
          s.where("model.unknown")
              + ": model.unknown: got hash where training gives each id a row, expected ids without"
              + " one, or their buckets would learn nothing; set data.sparse.min_count above 1, or"
              + " add model.admission, or model.max_rows with model.when_full: unknown");
    }
  }

  private static boolean leavesRare(Settings.Group group) {
    return group.get(DataKeys.ENCODE).equals("vocabulary") && group.get(DataKeys.MIN_COUNT) > 1;
  }

  /** The section of the optimizer of embeddings. */
  private static OptimizerKeys tableOptimizer(Settings s) {
    return TrainKeys.TABLE_OPTIMIZER.is(s.top(), "same")
        ? TrainKeys.OPTIMIZER
        : TrainKeys.TABLE_OPTIMIZER;
  }

  private static void linearOptimizer(Settings s) {
    if (TrainKeys.LINEAR_OPTIMIZER.is(s.top(), "same")) {
      return;
    }
    String where = s.where("train.linear_optimizer.type") + ": train.linear_optimizer.type: got ";
    if (!ModelKeys.type(s).has(ModelPart.LINEAR)) {
      throw new ConfigException(
          where
              + "one with model "
              + s.get(ModelKeys.MODEL)
              + ", expected none, as it has no linear weights beside embeddings; use"
              + " train.table_optimizer");
    }
    for (OptimizerKeys keys : List.of(tableOptimizer(s), TrainKeys.LINEAR_OPTIMIZER)) {
      requireLazy(keys, s.top(), where);
    }
    s.all("model.tables").forEach(group -> requireLazy(TableKeys.OPTIMIZER, group, where));
  }

  private static void requireLazy(OptimizerKeys keys, Settings.Group group, String where) {
    if (keys.walksTables(group)) {
      throw new ConfigException(
          where
              + "one beside adam that walks whole tables, expected adam that leaves rows alone;"
              + " set "
              + keys.section()
              + ".lazy: true");
    }
  }

  /** L2 of all rows needs some. */
  private static void l2OfAllRows(Settings s) {
    boolean some =
        s.get(TrainKeys.WEIGHT_L2) > 0
            || s.all("model.tables").stream()
                .anyMatch(group -> group.get(TableKeys.L2).map(share -> share > 0).orElse(false));
    if (s.get(TrainKeys.L2_ALL) && !some) {
      throw new ConfigException(
          s.where(TrainKeys.L2_ALL.path())
              + ": train.rows.l2_all: got true without l2, expected a share above 0; give train.l2,"
              + " or l2 in model.tables");
    }
  }

  /** Refuses options that tables with rows in files do not support. */
  private static void tableMemory(Settings s) {
    l2OfAllRows(s);
    if (s.get(TrainKeys.TABLE_MEMORY) == 0) {
      return;
    }
    if (s.get(TrainKeys.L2_ALL)) {
      refuseTableMemory(s, "l2 of all rows", "train.rows.l2_all: false");
    }
    OptimizerKeys tables = tableOptimizer(s);
    if (tables.walksTables(s.top())) {
      refuseTableMemory(s, "adam that walks whole tables", tables.section() + ".lazy: true");
    }
    if (!(ModelKeys.ROW_RULES.read(s.top()).eviction() instanceof Eviction.Never)) {
      refuseTableMemory(s, "rows that go", "model.eviction.type: never");
    }
    for (Settings.Group group : s.all("model.tables")) {
      if (TableKeys.OPTIMIZER.walksTables(group)) {
        refuseTableMemory(s, "adam that walks whole tables", "model.tables.optimizer.lazy: true");
      }
      if (!(TableKeys.rules(s, group).eviction() instanceof Eviction.Never)) {
        String columns = String.join(", ", group.get(TableKeys.COLUMNS));
        refuseTableMemory(
            s,
            "rows that go in the table of " + columns,
            "model.tables.eviction.type: never there");
      }
    }
    if (s.get(ModelKeys.UNKNOWN).equals("mean")) {
      refuseTableMemory(s, "the mean of whole tables for unknown ids", "model.unknown: zeros");
    }
    if (s.get(ModelKeys.UNKNOWN).equals("hash")) {
      refuseTableMemory(s, "buckets for unknown ids", "model.unknown: zeros");
    }
  }

  private static void refuseTableMemory(Settings s, String got, String cure) {
    throw new ConfigException(
        s.where("train.table_memory")
            + ": train.table_memory: got a limit with "
            + got
            + ", expected 0 there; set "
            + cure);
  }

  /** Columns have a width of their own in models that read embeddings side by side. */
  private static void widths(Settings s) {
    String model = s.get(ModelKeys.MODEL);
    Map<String, TableKeys.Width> named = new LinkedHashMap<>(); // By table.
    for (TableKeys.Width each : TableKeys.widths(s)) {
      long width = each.width();
      String where = each.group().where(each.key()) + ": " + each.key().path() + ": got ";
      if (width != s.get(ModelKeys.EMBEDDING) && !ModelKeys.takesWidths(model)) {
        throw new ConfigException(
            where
                + width
                + " for "
                + String.join(", ", each.tables().keySet())
                + " beside model.embedding "
                + s.get(ModelKeys.EMBEDDING)
                + " with the model "
                + model
                + (model.equals("lr")
                    ? ", which has no embeddings; remove it"
                    : ", which multiplies embeddings with each other, expected one width; remove"
                        + " it, or take a model that reads them side by side, such as wdl or"
                        + " dcnv2"));
      }
      each.tables()
          .forEach((column, table) -> {
            TableKeys.Width other = named.putIfAbsent(table, each);
            if (other != null && other.width() != width) {
              throw new ConfigException(
                  where
                      + width
                      + " for "
                      + column
                      + ", expected "
                      + other.width()
                      + " as the other columns of the table "
                      + table
                      + " have; give it where one of them is");
            }
          });
    }
  }
}
