package dev.tern.bench.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import dev.tern.embedding.EmbeddingTable;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.TableStatistics;
import dev.tern.embedding.config.UnknownRow;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/** Rows that come. Outcomes that are not listed are forbidden. */
public class InsertStress {
  /** Threads that insert an id at once give it one row. */
  @JCStressTest
  @Outcome(
      id = "1, 1, 11",
      expect = ACCEPTABLE,
      desc = "one row, met once as new and once as known")
  @State
  public static class SameId {
    private final EmbeddingTable table = TableUser.table();
    private final TableUser one = new TableUser(table);
    private final TableUser other = new TableUser(table);

    @Actor
    public void actor1(III_Result r) {
      r.r1 = one.insert(1);
    }

    @Actor
    public void actor2(III_Result r) {
      r.r2 = other.insert(1);
    }

    @Arbiter
    public void arbiter(III_Result r) {
      TableStatistics end = table.statistics();
      boolean once = end.rows() == 1 && end.admitted() == 1 && end.hits() == 1;
      r.r3 = once ? 10 + one.read(1) : TableUser.WRONG;
      one.close();
      other.close();
      table.close();
    }
  }

  /** Ids that threads insert at once do not share a row. */
  @JCStressTest
  @Outcome(id = "1, 1, 21", expect = ACCEPTABLE, desc = "one was updated, the other was not")
  @State
  public static class OtherId {
    private final EmbeddingTable table = TableUser.table();
    private final TableUser one = new TableUser(table);
    private final TableUser other = new TableUser(table);

    @Actor
    public void actor1(III_Result r) {
      r.r1 = one.insert(1);
    }

    @Actor
    public void actor2(III_Result r) {
      r.r2 = other.insert(2);
    }

    @Arbiter
    public void arbiter(III_Result r) {
      one.update();
      r.r3 = one.readBoth(1, 2);
      one.close();
      other.close();
      table.close();
    }
  }

  /** A reader sees no row, or all initial weights. */
  @JCStressTest
  @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "read before")
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "read after")
  @State
  public static class ReadWhileInserted {
    private final EmbeddingTable table = TableUser.table();
    private final TableUser one = new TableUser(table);
    private final TableUser other = new TableUser(table);

    @Actor
    public void actor1(II_Result r) {
      r.r1 = one.insert(1);
    }

    @Actor
    public void actor2(II_Result r) {
      r.r2 = other.read(1);
    }

    @Arbiter
    public void arbiter() {
      one.close();
      other.close();
      table.close();
    }
  }

  /** Rows of one batch appear at once. */
  @JCStressTest
  @Outcome(id = "0", expect = ACCEPTABLE, desc = "read before")
  @Outcome(id = "11", expect = ACCEPTABLE, desc = "read after")
  @State
  public static class BatchWhileInserted {
    private final EmbeddingTable table = TableUser.table();
    private final TableUser one = new TableUser(table);
    private final TableUser other = new TableUser(table);

    @Actor
    public void actor1() {
      one.find(true, 1, 2);
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

  /** A lookup found before stays good while rows come. */
  @JCStressTest
  @Outcome(id = "1", expect = ACCEPTABLE, desc = "its row")
  @State
  public static class LookupWhileInserted {
    private final EmbeddingTable table = TableUser.table();
    private final TableUser one = new TableUser(table);
    private final TableUser other = new TableUser(table);

    public LookupWhileInserted() {
      other.find(true, 1);
    }

    @Actor
    public void actor1() {
      one.find(true, 2, 3);
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

  /** What unknown ids of a lookup read as stays while the mean changes. */
  @JCStressTest
  @Outcome(id = "1", expect = ACCEPTABLE, desc = "the mean of the one row there was")
  @State
  public static class MeanWhileInserted {
    private final EmbeddingTable table = TableUser.table(RowPolicy.ALL, UnknownRow.MEAN);
    private final TableUser one = new TableUser(table);
    private final TableUser other = new TableUser(table);

    public MeanWhileInserted() {
      one.find(true, 1);
      other.find(false, 3);
    }

    @Actor
    public void actor1() {
      one.find(true, 2);
      one.find(false, 3);
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

  /** A full table refuses an id, and goes on to serve others. */
  @JCStressTest
  @Outcome(id = "9, 1, 9", expect = ACCEPTABLE, desc = "refused, read, refused again")
  @State
  public static class FullTable {
    private final EmbeddingTable table = TableUser.full();
    private final TableUser one = new TableUser(table);
    private final TableUser other = new TableUser(table);

    public FullTable() {
      one.find(true, 1);
    }

    @Actor
    public void actor1(III_Result r) {
      r.r1 = one.insert(2);
    }

    @Actor
    public void actor2(III_Result r) {
      r.r2 = other.insert(1);
    }

    @Arbiter
    public void arbiter(III_Result r) {
      r.r3 = other.insert(3);
      one.close();
      other.close();
      table.close();
    }
  }

  /** Statistics describe one moment. */
  @JCStressTest
  @Outcome(id = "1", expect = ACCEPTABLE, desc = "before the insert: one row")
  @Outcome(id = "3", expect = ACCEPTABLE, desc = "after it: three rows")
  @State
  public static class Statistics {
    private final EmbeddingTable table = TableUser.table();
    private final TableUser one = new TableUser(table);
    private final TableUser other = new TableUser(table);

    public Statistics() {
      one.find(true, 1);
    }

    @Actor
    public void actor1() {
      one.find(true, 1, 2, 3);
    }

    @Actor
    public void actor2(I_Result r) {
      TableStatistics now = table.statistics();
      long looked = now.rows() == 1 ? 1 : 4;
      boolean sound = now.rows() == now.admitted() - now.evicted();
      sound &= now.hits() + now.misses() == looked;
      r.r1 = sound ? (int) now.rows() : TableUser.WRONG;
    }

    @Arbiter
    public void arbiter() {
      one.close();
      other.close();
      table.close();
    }
  }
}
