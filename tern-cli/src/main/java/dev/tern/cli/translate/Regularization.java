package dev.tern.cli.translate;

import java.util.List;
import java.util.Map;

/**
 * The L2 of dense weights and that of embeddings, which other tools give apart: {@code train.l2}
 * holds for both, and {@code model.tables.l2} for the tables it names.
 *
 * @param dense share of dense weights in their gradient
 * @param rows share of embeddings in theirs
 * @param allRows whether all rows of tables have it in each step, not only those of the batch
 */
record Regularization(double dense, double rows, boolean allRows) {
  /** Sets the keys; whether embeddings have theirs, which takes columns with names. */
  boolean write(RunYaml run) {
    List<String> tables = run.tables();
    boolean isApart = rows != dense;
    if (dense > 0) {
      run.set("train.l2", dense);
    }
    if (isApart) {
      Map<String, String> own = Map.of("l2", RunYaml.number(rows));
      tables.forEach(table -> run.column("model.tables", table, own));
    }
    boolean done = !isApart || !tables.isEmpty();
    if (allRows && rows > 0 && done) {
      run.set("train.rows.l2_all", "true");
    }
    return done;
  }
}
