package dev.tern.train;

import dev.tern.base.Shape;
import dev.tern.data.Batch;
import dev.tern.embedding.BatchLookup;
import dev.tern.internal.ir.Pointwise;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.memory.OutOfBudgetException;
import dev.tern.model.Network;
import dev.tern.model.TaskLabels;
import dev.tern.tensor.Computation;
import dev.tern.tensor.PlanSearch;
import dev.tern.tensor.StepTime;
import dev.tern.tensor.Variable;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A training step for batches of one size in lanes: the ids of the batch are found once, then each
 * lane reads its rows and computes gradients, and their sums along a tree over the lanes update
 * dense parameters and rows. So no bit depends on who computes a lane, and memory holds the values
 * of one lane at a time.
 *
 * <p>Of several ranks each computes its own lanes, and all have the same dense parameters, loss and
 * logits afterwards.
 *
 * <p>A lane is computed as a batch of its own would be, but its loss is its part of the loss of the
 * batch ({@link StepGraph}), and its dropout has a seed of its own. Of the statistics of layers
 * each lane computes new values from its rows; their mean by rows are the new ones.
 */
final class LanedStep implements BatchStep {
  private final Network network;
  private final DenseOptimizer optimizer;
  private final BatchLookup lookup;
  private final Lanes lanes;

  /** The number of the first lane of this rank, and its lanes. */
  private final int firstLane;

  private final Lanes own;
  private final PlanSearch search;
  private final BatchSums sums;

  // What computes lanes, and a last one of fewer rows.
  private Optional<LaneStep> usual = Optional.empty();
  private Optional<LaneStep> rest = Optional.empty();

  private final float[] logits;

  /** Takes the logits of all ranks; none of one alone. */
  private final Optional<Variable> gathered;

  private final Ranks.Sums gathering;

  /** Of each task the weights of the rows that count for it. */
  private final double[] counted;

  private final double[] ofLanes;

  // The batch that was found last, this rank's rows of it, and the seed of its dropout.
  private @Nullable Batch found;
  private @Nullable Batch ownRows;
  private long noise;

  /** Where rows of this rank are copied to, if others have some. */
  private @Nullable Batch room;

  private long runs;
  private long copying;
  private long lookingUp;
  private long summing;
  private long updating;

  /** A step for batches in {@code lanes}, of which each rank computes its own. */
  LanedStep(
      Network network,
      DenseOptimizer optimizer,
      BatchLookup lookup,
      Lanes lanes,
      Ranks ranks,
      PlanSearch search) {
    this.network = network;
    this.optimizer = optimizer;
    this.lookup = lookup;
    this.lanes = lanes;
    firstLane = ranks.firstLane();
    own = lanes.between(firstLane, ranks.endLane());
    this.search = search;
    int tasks = network.tasks().count();
    logits = new float[Math.multiplyExact(lanes.batch(), tasks)];
    counted = new double[tasks];
    ofLanes = new double[lanes.count()];
    int rows = own.usualRows();
    LaneGraph graph = LaneGraph.of(network, optimizer, rows, lanes.rooms(), Optional.empty());
    try {
      sums = new BatchSums(network, optimizer, ranks, own, graph);
    } catch (RuntimeException | Error e) {
      graph.close();
      throw e;
    }
    try {
      // Last, so that it is planned for the memory that is left.
      keep(new LaneStep(network, graph, search(rows)));
      gathered =
          ranks.isAlone()
              ? Optional.empty()
              : Optional.of(
                  Variable.zeros(network.device(), "logits of ranks", Shape.of(logits.length)));
      gathering = ranks.sums(gathered.stream().toList());
    } catch (RuntimeException | Error e) {
      closeLanes();
      sums.close();
      throw e;
    }
  }

  /** A long search pays for lanes that come again and again. */
  private PlanSearch search(int rows) {
    return rows == lanes.rowsOfLane() ? search : PlanSearch.QUICK;
  }

  private LaneStep keep(LaneStep made) {
    if (made.rows() == lanes.rowsOfLane()) {
      usual = Optional.of(made);
    } else {
      rest = Optional.of(made);
    }
    return made;
  }

  /** What computes a lane of {@code rows} rows. */
  private LaneStep step(int rows) {
    Optional<LaneStep> made = rows == lanes.rowsOfLane() ? usual : rest;
    if (made.isPresent()) {
      return made.get();
    }
    try {
      return make(rows);
    } catch (OutOfBudgetException e) {
      if (usual.isEmpty() && rest.isEmpty()) {
        throw e;
      }
      closeLanes(); // They take the memory in turn.
      return make(rows);
    }
  }

  private LaneStep make(int rows) {
    Optional<List<Variable>> changed = Optional.of(sums.statistics());
    LaneGraph graph = LaneGraph.of(network, optimizer, rows, lanes.rooms(), changed);
    return keep(new LaneStep(network, graph, search(rows)));
  }

  private void closeLanes() {
    usual.ifPresent(LaneStep::close);
    rest.ifPresent(LaneStep::close);
    usual = Optional.empty();
    rest = Optional.empty();
  }

  @Override
  public boolean isFor(int rows, List<Integer> ofSequences) {
    return lanes.batch() == rows && lanes.rooms().equals(ofSequences);
  }

  @Override
  public void find(Batch batch, Batch rows, long noise) {
    long start = System.nanoTime();
    TaskLabels tasks = network.tasks();
    for (int k = 0; k < counted.length; k++) {
      for (int lane = 0; lane < ofLanes.length; lane++) {
        int from = lanes.first(lane);
        ofLanes[lane] = StepGraph.counted(tasks, batch, from, from + lanes.rows(lane), k);
      }
      counted[k] = Lanes.sum(ofLanes);
    }
    long copied = System.nanoTime();
    ownRows = own.batch() == rows.size() ? rows : cut(rows);
    lookup.findLanes(network.device().workers(), ownRows, lanes.rowsOfLane());
    found = rows;
    this.noise = noise;
    copying += copied - start;
    lookingUp += System.nanoTime() - copied;
  }

  /** The first row of this rank in a batch. */
  private int firstRow() {
    return Math.min(lanes.batch(), lanes.first(Math.min(firstLane, lanes.count())));
  }

  /** The rows of this rank. */
  private Batch cut(Batch rows) {
    if (room == null) {
      room = new Batch(rows.schema(), Math.max(1, own.batch()));
    }
    int from = firstRow();
    room.clear();
    room.appendRows(rows, from, from + own.batch());
    return room;
  }

  @Override
  public float update(long step, float tableRate) {
    Batch batch = Objects.requireNonNull(found, "a batch that was found");
    sums.begin();
    for (int lane = 0; lane < own.count(); lane++) {
      compute(batch, lane);
    }
    found = null;
    sums.join(); // It goes on beside the update of rows.
    long computed = System.nanoTime();
    sums.updateRows(lookup, tableRate, step);
    updating += System.nanoTime() - computed;
    sums.updateDense();
    gatherLogits();
    runs++;
    return sums.loss();
  }

  /** Computes a lane of this rank. */
  private void compute(Batch batch, int lane) {
    Batch rows = Objects.requireNonNull(ownRows);
    int from = own.first(lane);
    LaneStep step = step(own.rows(lane));
    long start = System.nanoTime();
    step.copy(batch, lanes.first(firstLane + lane), counted, seed(firstLane + lane));
    long copied = System.nanoTime();
    step.pool(lookup, rows, lane, from);
    long pooled = System.nanoTime();
    step.computation().run();
    long computed = System.nanoTime();
    sums.take(step, rows, from);
    copying += copied - start;
    lookingUp += pooled - copied;
    summing += System.nanoTime() - computed;
  }

  /** The seed of dropout in a lane: in the first one that of the batch. */
  private long seed(int lane) {
    return lane == 0 ? noise : Pointwise.mix(noise + lane);
  }

  @Override
  public Computation computation() {
    return usual.or(() -> rest).orElseThrow().computation();
  }

  @Override
  public List<StepTime> times() {
    LaneStep lane = usual.or(() -> rest).orElseThrow();
    double bytes = (double) own.count() * lane.inputs().lookedUpBytes();
    double copied = 2.0 * own.count() * lane.inputs().dense().memory().byteSize();
    List<StepTime> times = new ArrayList<>();
    times.add(new StepTime("copy of the batch", "", runs, copying, 0, copied));
    times.add(new StepTime("lookup of rows", "", runs, lookingUp, 0, 2 * bytes));
    times.addAll(lane.computation().times());
    times.add(new StepTime("sums of lanes", "", runs, summing, 0, 2.0 * sums.bytesOfRows()));
    sums.updates().ifPresent(updates -> times.addAll(updates.times()));
    times.add(new StepTime("update of rows", "", runs, updating, 0, 3 * bytes));
    return times;
  }

  /** Puts the logits of all ranks together: each rank adds its own to nothing. */
  private void gatherLogits() {
    if (gathered.isEmpty()) {
      return;
    }
    Variable all = gathered.get();
    int at = firstRow() * counted.length;
    sums.copyLogits(logits, at);
    Ranks.clear(all.memory());
    Memory.copyIn(logits, at, all.memory().address() + 4L * at, own.batch() * counted.length);
    gathering.begin(true);
    gathering.await();
    Memory.copyOut(all.memory().address(), logits, 0, logits.length);
  }

  @Override
  public float[] logits() {
    if (gathered.isEmpty()) {
      sums.copyLogits(logits, 0);
    }
    return logits;
  }

  @Override
  public void close() {
    closeLanes();
    sums.close();
    gathered.ifPresent(Variable::close);
  }
}
