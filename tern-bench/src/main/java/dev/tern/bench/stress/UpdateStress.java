package dev.tern.bench.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import dev.tern.embedding.EmbeddingTable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/** Rows that change. Outcomes that are not listed are forbidden. */
public class UpdateStress {
  /** A reader sees a row before or after an update. */
  @JCStressTest
  @Outcome(id = "1", expect = ACCEPTABLE, desc = "read before")
  @Outcome(id = "2", expect = ACCEPTABLE, desc = "read after")
  @State
  public static class ReadWhileUpdated {
    private final EmbeddingTable table = TableUser.table();
    private final TableUser one = new TableUser(table);
    private final TableUser other = new TableUser(table);

    public ReadWhileUpdated() {
      one.find(true, 1);
    }

    @Actor
    public void actor1() {
      one.update();
    }

    @Actor
    public void actor2(I_Result r) {
      r.r1 = other.read(1);
    }

    @Arbiter
    public void arbiter() {
      one.close();
      other.close();
      table.close();
    }
  }

  /** Rows of one batch change at once. */
  @JCStressTest
  @Outcome(id = "11", expect = ACCEPTABLE, desc = "read before")
  @Outcome(id = "22", expect = ACCEPTABLE, desc = "read after")
  @State
  public static class BatchWhileUpdated {
    private final EmbeddingTable table = TableUser.table();
    private final TableUser one = new TableUser(table);
    private final TableUser other = new TableUser(table);

    public BatchWhileUpdated() {
      one.find(true, 1, 2);
    }

    @Actor
    public void actor1() {
      one.update();
    }

    @Actor
    public void actor2(I_Result r) {
      r.r1 = other.readBoth(1, 2);
    }

    @Arbiter
    public void arbiter() {
      one.close();
      other.close();
      table.close();
    }
  }

  /** A lookup found before an update is refused after it. */
  @JCStressTest
  @Outcome(id = "1", expect = ACCEPTABLE, desc = "pooled before")
  @Outcome(id = "7", expect = ACCEPTABLE, desc = "refused after")
  @State
  public static class LookupWhileUpdated {
    private final EmbeddingTable table = TableUser.table();
    private final TableUser one = new TableUser(table);
    private final TableUser other = new TableUser(table);

    public LookupWhileUpdated() {
      one.find(true, 1);
      other.find(false, 1);
    }

    @Actor
    public void actor1() {
      one.update();
    }

    @Actor
    public void actor2(I_Result r) {
      r.r1 = other.pool(1);
    }

    @Arbiter
    public void arbiter() {
      one.close();
      other.close();
      table.close();
    }
  }

  /** A row pooled after it was found is as it was then. */
  @JCStressTest
  @Outcome(id = "1", expect = ACCEPTABLE, desc = "pooled before")
  @Outcome(id = "2", expect = ACCEPTABLE, desc = "found after")
  @Outcome(id = "7", expect = ACCEPTABLE, desc = "changed between, refused")
  @State
  public static class FindThenPool {
    private final EmbeddingTable table = TableUser.table();
    private final TableUser one = new TableUser(table);
    private final TableUser other = new TableUser(table);

    public FindThenPool() {
      one.find(true, 1);
    }

    @Actor
    public void actor1() {
      one.update();
    }

    @Actor
    public void actor2(I_Result r) {
      r.r1 = other.find(false, 1).pool(1);
    }

    @Arbiter
    public void arbiter() {
      one.close();
      other.close();
      table.close();
    }
  }

  /** No update of threads that train together is lost. */
  @JCStressTest
  @Outcome(
      id = {"1, 1, 3", "1, 2, 3", "2, 1, 3"},
      expect = ACCEPTABLE,
      desc = "both updates, each of what was found")
  @State
  public static class TwoTrain {
    private final EmbeddingTable table = TableUser.table();
    private final TableUser one = new TableUser(table);
    private final TableUser other = new TableUser(table);

    @Actor
    public void actor1(III_Result r) {
      r.r1 = one.insert(1);
      one.update();
    }

    @Actor
    public void actor2(III_Result r) {
      r.r2 = other.insert(1);
      other.update();
    }

    @Arbiter
    public void arbiter(III_Result r) {
      r.r3 = one.read(1);
      one.close();
      other.close();
      table.close();
    }
  }

  /** An export gives the table of one moment. */
  @JCStressTest
  @Outcome(id = "11", expect = ACCEPTABLE, desc = "before")
  @Outcome(id = "22", expect = ACCEPTABLE, desc = "after")
  @State
  public static class ExportWhileUpdated {
    private final EmbeddingTable table = TableUser.table();
    private final TableUser one = new TableUser(table);
    private final TableUser other = new TableUser(table);

    public ExportWhileUpdated() {
      one.find(true, 1, 2);
    }

    @Actor
    public void actor1() {
      one.update();
    }

    @Actor
    public void actor2(I_Result r) {
      r.r1 = other.export();
    }

    @Arbiter
    public void arbiter() {
      one.close();
      other.close();
      table.close();
    }
  }

  /** An export gives all rows of a batch or none. */
  @JCStressTest
  @Outcome(id = "1", expect = ACCEPTABLE, desc = "before")
  @Outcome(id = "111", expect = ACCEPTABLE, desc = "after")
  @State
  public static class ExportWhileInserted {
    private final EmbeddingTable table = TableUser.table();
    private final TableUser one = new TableUser(table);
    private final TableUser other = new TableUser(table);

    public ExportWhileInserted() {
      one.find(true, 1);
    }

    @Actor
    public void actor1() {
      one.find(true, 2, 3);
    }

    @Actor
    public void actor2(I_Result r) {
      r.r1 = other.export();
    }

    @Arbiter
    public void arbiter() {
      one.close();
      other.close();
      table.close();
    }
  }
}
