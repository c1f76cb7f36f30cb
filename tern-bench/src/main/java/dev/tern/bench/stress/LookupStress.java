package dev.tern.bench.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import dev.tern.embedding.EmbeddingTable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * Lookups that are refreshed or made ahead, and ids that are erased. Outcomes that are not listed
 * are forbidden.
 */
public class LookupStress {
  /** A refreshed lookup gives the row before or after an update, or is refused after it. */
  @JCStressTest
  @Outcome(id = "1", expect = ACCEPTABLE, desc = "read before")
  @Outcome(id = "2", expect = ACCEPTABLE, desc = "read after")
  @Outcome(id = "7", expect = ACCEPTABLE, desc = "changed since it was refreshed")
  @State
  public static class RefreshWhileUpdated {
    private final EmbeddingTable table = TableUser.table();
    private final TableUser one = new TableUser(table);
    private final TableUser other = new TableUser(table);

    public RefreshWhileUpdated() {
      one.find(true, 1);
      other.find(false, 1);
    }

    @Actor
    public void actor1() {
      one.update();
    }

    @Actor
    public void actor2(I_Result r) {
      r.r1 = other.refresh().ragged(1);
    }

    @Arbiter
    public void arbiter() {
      one.close();
      other.close();
      table.close();
    }
  }

  /** A lookup made ahead gives the row before or after an update, or is refused after it. */
  @JCStressTest
  @Outcome(id = "1", expect = ACCEPTABLE, desc = "read before")
  @Outcome(id = "2", expect = ACCEPTABLE, desc = "read after")
  @Outcome(id = "7", expect = ACCEPTABLE, desc = "changed since it was found")
  @State
  public static class AheadWhileUpdated {
    private final EmbeddingTable table = TableUser.table();
    private final TableUser one = new TableUser(table);
    private final TableUser other = new TableUser(table);

    public AheadWhileUpdated() {
      one.find(true, 1);
    }

    @Actor
    public void actor1() {
      one.update();
    }

    @Actor
    public void actor2(I_Result r) {
      r.r1 = other.lookAhead(1).findAhead().pool(1);
    }

    @Arbiter
    public void arbiter() {
      one.close();
      other.close();
      table.close();
    }
  }

  /** A lookup made ahead never gives a row that went. */
  @JCStressTest
  @Outcome(id = "1", expect = ACCEPTABLE, desc = "read before")
  @Outcome(id = "0", expect = ACCEPTABLE, desc = "found after")
  @Outcome(id = "7", expect = ACCEPTABLE, desc = "gone since it was found")
  @State
  public static class AheadWhileErased {
    private final EmbeddingTable table = TableUser.table();
    private final TableUser one = new TableUser(table);
    private final TableUser other = new TableUser(table);

    public AheadWhileErased() {
      one.find(true, 1);
    }

    @Actor
    public void actor1() {
      one.erase(1);
    }

    @Actor
    public void actor2(I_Result r) {
      r.r1 = other.lookAhead(1).findAhead().pool(1);
    }

    @Arbiter
    public void arbiter() {
      one.close();
      other.close();
      table.close();
    }
  }

  /** A lookup made ahead finds the row that an id was given meanwhile, or none. */
  @JCStressTest
  @Outcome(id = "0", expect = ACCEPTABLE, desc = "found before")
  @Outcome(id = "1", expect = ACCEPTABLE, desc = "found after")
  @State
  public static class AheadWhileInserted {
    private final EmbeddingTable table = TableUser.table();
    private final TableUser one = new TableUser(table);
    private final TableUser other = new TableUser(table);

    public AheadWhileInserted() {
      one.find(true, 2);
    }

    @Actor
    public void actor1() {
      one.find(true, 1);
    }

    @Actor
    public void actor2(I_Result r) {
      r.r1 = other.lookAhead(1).findAhead().pool(1);
    }

    @Arbiter
    public void arbiter() {
      one.close();
      other.close();
      table.close();
    }
  }

  /** Ids erased in one call lose their rows at once. */
  @JCStressTest
  @Outcome(id = "11", expect = ACCEPTABLE, desc = "read before")
  @Outcome(id = "0", expect = ACCEPTABLE, desc = "read after")
  @State
  public static class BothWhileErased {
    private final EmbeddingTable table = TableUser.table();
    private final TableUser one = new TableUser(table);
    private final TableUser other = new TableUser(table);

    public BothWhileErased() {
      one.find(true, 1, 2);
    }

    @Actor
    public void actor1() {
      one.erase(1, 2);
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

  /** An id erased and given a row by others at once has a whole row or none. */
  @JCStressTest
  @Outcome(id = "1", expect = ACCEPTABLE, desc = "found, or given one")
  @Outcome(id = "2", expect = ACCEPTABLE, desc = "found as it was")
  @State
  public static class InsertWhileErased {
    private final EmbeddingTable table = TableUser.table();
    private final TableUser one = new TableUser(table);
    private final TableUser other = new TableUser(table);

    public InsertWhileErased() {
      one.find(true, 1).update();
    }

    @Actor
    public void actor1() {
      one.erase(1);
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
}
