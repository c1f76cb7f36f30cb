package dev.tern.bench.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import dev.tern.embedding.EmbeddingTable;
import dev.tern.embedding.TableSnapshot;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** Snapshots of rows that change. Outcomes that are not listed are forbidden. */
public class SnapshotStress {
  /** A snapshot made before an update has the rows of that moment. */
  @JCStressTest
  @Outcome(id = "11", expect = ACCEPTABLE, desc = "before")
  @State
  public static class ReadWhileUpdated {
    private final EmbeddingTable table = TableUser.table();
    private final TableUser one = new TableUser(table);
    private final TableSnapshot snapshot;

    public ReadWhileUpdated() {
      one.find(true, 1, 2);
      snapshot = table.snapshot();
    }

    @Actor
    public void actor1() {
      one.update();
    }

    @Actor
    public void actor2(I_Result r) {
      r.r1 = TableUser.code(snapshot);
    }

    @Arbiter
    public void arbiter() {
      snapshot.close();
      one.close();
      table.close();
    }
  }

  /** A snapshot has the row of an id that another took the place of. */
  @JCStressTest
  @Outcome(id = "2", expect = ACCEPTABLE, desc = "before")
  @State
  public static class ReadWhileEvicted {
    private final EmbeddingTable table = TableUser.ofOneRow();
    private final TableUser one = new TableUser(table);
    private final TableSnapshot snapshot;

    public ReadWhileEvicted() {
      one.find(true, 1).update();
      snapshot = table.snapshot();
    }

    @Actor
    public void actor1() {
      one.find(true, 2).update();
    }

    @Actor
    public void actor2(I_Result r) {
      r.r1 = TableUser.code(snapshot);
    }

    @Arbiter
    public void arbiter() {
      snapshot.close();
      one.close();
      table.close();
    }
  }

  /** A snapshot has no row that came later. */
  @JCStressTest
  @Outcome(id = "1", expect = ACCEPTABLE, desc = "before")
  @State
  public static class ReadWhileInserted {
    private final EmbeddingTable table = TableUser.table();
    private final TableUser one = new TableUser(table);
    private final TableSnapshot snapshot;

    public ReadWhileInserted() {
      one.find(true, 1);
      snapshot = table.snapshot();
    }

    @Actor
    public void actor1() {
      one.find(true, 2, 3);
    }

    @Actor
    public void actor2(I_Result r) {
      r.r1 = TableUser.code(snapshot);
    }

    @Arbiter
    public void arbiter() {
      snapshot.close();
      one.close();
      table.close();
    }
  }

  /** A snapshot is made before a batch changes or after it. */
  @JCStressTest
  @Outcome(id = "11", expect = ACCEPTABLE, desc = "before")
  @Outcome(id = "22", expect = ACCEPTABLE, desc = "after")
  @State
  public static class MadeWhileUpdated {
    private final EmbeddingTable table = TableUser.table();
    private final TableUser one = new TableUser(table);

    public MadeWhileUpdated() {
      one.find(true, 1, 2);
    }

    @Actor
    public void actor1() {
      one.update();
    }

    @Actor
    public void actor2(I_Result r) {
      try (TableSnapshot snapshot = table.snapshot()) {
        r.r1 = TableUser.code(snapshot);
      }
    }

    @Arbiter
    public void arbiter() {
      one.close();
      table.close();
    }
  }
}
