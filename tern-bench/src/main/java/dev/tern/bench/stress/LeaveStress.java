package dev.tern.bench.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import dev.tern.embedding.EmbeddingTable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** Rows and tables that go. Outcomes that are not listed are forbidden. */
public class LeaveStress {
  /** A reader sees the row of the id, or none; never the one that has its place. */
  @JCStressTest
  @Outcome(id = "2", expect = ACCEPTABLE, desc = "read before")
  @Outcome(id = "0", expect = ACCEPTABLE, desc = "read after")
  @State
  public static class ReadWhileEvicted {
    private final EmbeddingTable table = TableUser.ofOneRow();
    private final TableUser one = new TableUser(table);
    private final TableUser other = new TableUser(table);

    public ReadWhileEvicted() {
      one.find(true, 1).update();
    }

    @Actor
    public void actor1() {
      one.find(true, 2);
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

  /** A lookup found before an eviction is refused after it. */
  @JCStressTest
  @Outcome(id = "2", expect = ACCEPTABLE, desc = "pooled before")
  @Outcome(id = "7", expect = ACCEPTABLE, desc = "refused after")
  @State
  public static class LookupWhileEvicted {
    private final EmbeddingTable table = TableUser.ofOneRow();
    private final TableUser one = new TableUser(table);
    private final TableUser other = new TableUser(table);

    public LookupWhileEvicted() {
      one.find(true, 1).update();
      other.find(false, 1);
    }

    @Actor
    public void actor1() {
      one.find(true, 2);
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

  /** The gradient of a row that went does not reach the id that has its place. */
  @JCStressTest
  @Outcome(id = "1", expect = ACCEPTABLE, desc = "the other row as it began")
  @State
  public static class UpdateWhileEvicted {
    private final EmbeddingTable table = TableUser.ofOneRow();
    private final TableUser one = new TableUser(table);
    private final TableUser other = new TableUser(table);

    public UpdateWhileEvicted() {
      one.find(true, 1).update();
      other.find(false, 1);
    }

    @Actor
    public void actor1() {
      one.find(true, 2);
    }

    @Actor
    public void actor2() {
      other.update();
    }

    @Arbiter
    public void arbiter(I_Result r) {
      r.r1 = one.read(2);
      one.close();
      other.close();
      table.close();
    }
  }

  /** A read ends before a table is closed, or is refused. */
  @JCStressTest
  @Outcome(id = "1", expect = ACCEPTABLE, desc = "read before")
  @Outcome(id = "8", expect = ACCEPTABLE, desc = "refused after")
  @State
  public static class ReadWhileClosed {
    private final EmbeddingTable table = TableUser.table();
    private final TableUser one = new TableUser(table);
    private final TableUser other = new TableUser(table);

    public ReadWhileClosed() {
      one.find(true, 1);
    }

    @Actor
    public void actor1() {
      table.close();
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

  /** An insert ends before a table is closed, or is refused. */
  @JCStressTest
  @Outcome(id = "1", expect = ACCEPTABLE, desc = "inserted before")
  @Outcome(id = "8", expect = ACCEPTABLE, desc = "refused after")
  @State
  public static class InsertWhileClosed {
    private final EmbeddingTable table = TableUser.table();
    private final TableUser one = new TableUser(table);
    private final TableUser other = new TableUser(table);

    @Actor
    public void actor1() {
      table.close();
    }

    @Actor
    public void actor2(I_Result r) {
      r.r1 = other.insert(1);
    }

    @Arbiter
    public void arbiter() {
      one.close();
      other.close();
      table.close();
    }
  }

  /** A lookup is pooled before a table is closed, or is refused. */
  @JCStressTest
  @Outcome(id = "1", expect = ACCEPTABLE, desc = "pooled before")
  @Outcome(id = "8", expect = ACCEPTABLE, desc = "refused after")
  @State
  public static class LookupWhileClosed {
    private final EmbeddingTable table = TableUser.table();
    private final TableUser one = new TableUser(table);
    private final TableUser other = new TableUser(table);

    public LookupWhileClosed() {
      other.find(true, 1);
    }

    @Actor
    public void actor1() {
      table.close();
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
}
