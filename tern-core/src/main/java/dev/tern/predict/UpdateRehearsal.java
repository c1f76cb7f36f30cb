package dev.tern.predict;

import dev.tern.checkpoint.Checkpoint;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.embedding.EmbeddingTable;
import dev.tern.embedding.TableChanges;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Goes the way of an update with rows and weights that a model has already, again and again. The
 * JIT then compiles that way before the first update comes, at which requests would compete with it
 * for processors; and it sees lookups that find their ids, in layers and in tables, which requests
 * of a warm-up may not. Tables take in the bits that they have, so nothing changes.
 */
final class UpdateRehearsal {
  /** Of all tables. */
  private static final long MOST_ROWS = 100_000;

  /** Calls with a single row beside one with many. */
  private static final int SINGLE_ROWS = 256;

  private final List<EmbeddingTable> tables;
  private final Checkpoint checkpoint;
  private final ModelState beside;
  private final Seat seat;

  /**
   * @param checkpoint what the tables were read from
   * @param beside a state that no version has
   * @param seat one that no version has
   */
  UpdateRehearsal(
      List<EmbeddingTable> tables, Checkpoint checkpoint, ModelState beside, Seat seat) {
    this.tables = tables;
    this.checkpoint = checkpoint;
    this.beside = beside;
    this.seat = seat;
  }

  /** Goes it once, and again until that time is over. */
  void run(Duration time) {
    long end = System.nanoTime() + time.toNanos();
    while (once() && System.nanoTime() < end) {
      continue; // Each time it is compiled a little further.
    }
  }

  /** False where the files have other rows than the tables. */
  private boolean once() {
    List<TableChanges> changes = new ArrayList<>();
    List<TableChanges> before = new ArrayList<>();
    try {
      for (EmbeddingTable table : tables) {
        changes.add(new TableChanges(table));
        before.add(new TableChanges(table));
      }
      if (!checkpoint.readSame(tables, changes, MOST_ROWS / Math.max(1, tables.size()))) {
        return false;
      }
      serve(changes);
      fold(changes, before);
      return true;
    } finally {
      layer(List.of());
      changes.forEach(TableChanges::close);
      before.forEach(TableChanges::close);
    }
  }

  /** Scores beneath changes, as the version of an update does. */
  private void serve(List<TableChanges> changes) {
    layer(changes);
    checkpoint.readDense(beside.network());
    beside.view().prepareUnknown();
    seat.set(beside.network(), byTable(changes));
    seat.predictor().prepare();
    score(changes);
  }

  /** Has the tables take changes in, and scores without them. */
  private void fold(List<TableChanges> changes, List<TableChanges> before) {
    for (int t = 0; t < tables.size(); t++) {
      tables.get(t).fold(changes.get(t), Optional.of(before.get(t)));
    }
    for (int t = 0; t < tables.size(); t++) {
      seat.view().drop(t, changes.get(t));
      beside.view().drop(t, changes.get(t));
    }
    score(changes);
  }

  private void layer(List<TableChanges> changes) {
    beside.view().set(byTable(changes));
    seat.view().set(byTable(changes));
  }

  private List<List<TableChanges>> byTable(List<TableChanges> changes) {
    List<List<TableChanges>> all = new ArrayList<>();
    for (int t = 0; t < tables.size(); t++) {
      all.add(changes.isEmpty() ? List.of() : List.of(changes.get(t)));
    }
    return all;
  }

  /** Scores rows whose ids are found, many and single ones. */
  private void score(List<TableChanges> changes) {
    Batch many = rows(changes, Context.MOST_ROWS);
    Batch one = rows(changes, 1);
    float[] target = new float[Context.MOST_ROWS * seat.network().tasks().count()];
    seat.predictor().encodedLogits(many, target);
    for (int i = 0; i < SINGLE_ROWS; i++) {
      seat.predictor().encodedLogits(one, target);
    }
  }

  private Batch rows(List<TableChanges> changes, int count) {
    Schema schema = checkpoint.encoder().schema();
    long[][] ids = new long[schema.slotCount()][];
    for (int t = 0; t < tables.size(); t++) {
      long[] some = changes.get(t).someIds(count);
      checkpoint.slotsOf(t).forEach(slot -> ids[slot] = some);
    }
    Batch rows = new Batch(schema, count);
    for (int row = 0; row < count; row++) {
      for (int slot = 0; slot < ids.length; slot++) {
        long[] some = ids[slot];
        // Beside an id of the changes: one that the table alone may have, and one of neither.
        long id = some.length == 0 ? 0 : some[row % some.length];
        rows.addId(slot, row % 3 == 1 ? id + 1 : row % 3 == 2 ? ~id : id);
      }
      for (int f = 0; f < schema.denseDim(); f++) {
        rows.setDense(f, 0);
      }
      for (int label = 0; label < schema.labelDim(); label++) {
        rows.setLabel(label, 0);
      }
      rows.endRow();
    }
    return rows;
  }
}
