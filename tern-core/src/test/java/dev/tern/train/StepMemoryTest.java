package dev.tern.train;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.tern.base.DType;
import dev.tern.data.Batch;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.embedding.BatchLookup;
import dev.tern.embedding.config.Admission;
import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.Eviction;
import dev.tern.embedding.config.InitialWeights;
import dev.tern.embedding.config.OwnOptions;
import dev.tern.embedding.config.RowLimits;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.TableOptions;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.embedding.config.WhenFull;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.runtime.DeviceAccess;
import dev.tern.model.Loss;
import dev.tern.model.Matching;
import dev.tern.model.ModelConfig;
import dev.tern.model.Network;
import dev.tern.model.Task;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import dev.tern.tensor.PlanSearch;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What training asks of the heap, of threads and of the system once it runs: by the counters of the
 * threads that compute. Kernels are warmed up by another, on memory of its own.
 *
 * <p>Code that the JIT has not compiled yet allocates what compiled code does not. So steps go on
 * until some pass without allocating; where each step allocates, none ever do.
 */
@Tag("unchecked") // Checks take heap memory.
final class StepMemoryTest {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private static final Optimizer ADAM = Optimizer.lazyAdam(0.01f);
  private static final int STEPS = 32;
  private static final int MOST_LOOKS = 10_000;
  private static final int BATCHES = 8;

  /** The threads at work: this one, those that compute, and the one that looks ahead. */
  private static long[] threads() {
    return Arrays.stream(THREADS.getThreadInfo(THREADS.getAllThreadIds()))
        .filter(Objects::nonNull)
        .filter(thread ->
            thread.getThreadId() == Thread.currentThread().threadId()
                || thread.getThreadName().startsWith("tern-worker")
                || thread.getThreadName().equals("tern-look-ahead"))
        .mapToLong(ThreadInfo::getThreadId)
        .toArray();
  }

  private static long allocated(long[] threads) {
    return Arrays.stream(THREADS.getThreadAllocatedBytes(threads)).sum();
  }

  private static ModelConfig model(ModelConfig.Type type) {
    return ModelConfig.of(type, 4, 16, 8)
        .withDropout(0.1f)
        .withBottom(8)
        .withCrossLayers(2)
        .withMatching(Matching.of("ad", "price"));
  }

  private static List<Batch> encoded(FeatureEncoder encoder, int rows) {
    List<Batch> batches = new ArrayList<>();
    for (int i = 0; i < BATCHES; i++) {
      Batch batch = new Batch(encoder.schema(), rows);
      encoder.apply(PlantedRuns.planted(i, rows), batch);
      batch.setGroups(batch.ids(0));
      batches.add(batch);
    }
    return batches;
  }

  /** Tables whose steps go other ways than those of {@link #ADAM} alone, by name. */
  private static Stream<Arguments> tables() {
    return Stream.of(
        Arguments.of("f16, bounds", with(ADAM, DType.F16, RowPolicy.ALL, bounds())),
        Arguments.of("l2 of all rows", TableOptions.of(ADAM).l2(0.01f).l2OfAllRows(true)),
        Arguments.of("bf16", with(ADAM, DType.BF16, RowPolicy.ALL, RowLimits.NONE)),
        Arguments.of("row-wise Adagrad", TableOptions.of(Optimizer.rowWiseAdagrad(0.01f))),
        Arguments.of("FTRL beside Adam", firstPart(DType.F32)),
        Arguments.of("FTRL beside Adam, f16", firstPart(DType.F16)),
        Arguments.of("by count, unseen", rows(new Admission.ByCount(2, 100, 3), unseen(3))),
        Arguments.of("by count, score", rows(new Admission.ByCount(2, 100, 1), score())),
        Arguments.of("by probability", rows(new Admission.ByProbability(0.5), unseen(20))),
        Arguments.of(
            "least recent", room(new Eviction.LeastRecent(), RowLimits.NONE.withClipNorm(0.01f))),
        Arguments.of("least frequent", room(new Eviction.LeastFrequent(), RowLimits.NONE)));
  }

  private static RowLimits bounds() {
    return RowLimits.NONE.withBounds(-0.1f, 0.1f);
  }

  private static Eviction unseen(long steps) {
    return new Eviction.Unseen(steps);
  }

  private static Eviction score() {
    return new Eviction.LowScore(0.5, 0.3f, 1, 2);
  }

  private static TableOptions rows(Admission admission, Eviction eviction) {
    RowPolicy policy = RowPolicy.ALL.withAdmission(admission).withEviction(eviction);
    return with(ADAM, DType.F32, policy, RowLimits.NONE);
  }

  private static TableOptions room(Eviction eviction, RowLimits limits) {
    RowPolicy policy = new RowPolicy(new Admission.Always(), eviction, 12, WhenFull.UNKNOWN);
    return with(ADAM, DType.F32, policy, limits);
  }

  private static TableOptions with(
      Optimizer optimizer, DType storage, RowPolicy policy, RowLimits limits) {
    return TableOptions.of(optimizer)
        .combiner(Combiner.MEAN)
        .storage(storage)
        .rows(policy)
        .limits(limits);
  }

  private static TableOptions firstPart(DType storage) {
    return TableOptions.of(ADAM).firstPart(Optimizer.ftrl(0.05f)).l2(1e-5f).storage(storage);
  }

  @ParameterizedTest
  @EnumSource(
      value = ModelConfig.Type.class,
      mode = EnumSource.Mode.EXCLUDE,
      names = {"ESMM", "NEUMF", "GMF"})
  void aStepAllocatesNothingStartsNoThreadAndMapsNoMemory(ModelConfig.Type type) {
    requireNothingAllocated(type, TableOptions.of(ADAM), 64);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("tables")
  void norDoesAStepOnTablesOfAnyKind(String name, TableOptions tables) {
    requireNothingAllocated(ModelConfig.Type.DEEPFM, tables, 16); // So few that ids stay away.
  }

  /** WDL has slots that share a table of rows in two parts, DIN a sequence of a pooled slot's. */
  @ParameterizedTest
  @EnumSource(names = {"WDL", "DIN"})
  void norDoesAStepOnVectorsOfUnequalWidthsInTablesWithOptionsOfTheirOwn(ModelConfig.Type type) {
    OwnOptions own = OwnOptions.NONE.optimizer(Optimizer.adagrad(0.1f)).storage(DType.BF16);
    requireNothingAllocated(
        model(type).withEmbedding("ad", 6),
        PlantedRuns.encoder(PlantedRuns.planted(1, 100), ModelConfig.Type.DIN),
        TableOptions.of(ADAM).own("ad", own.initial(new InitialWeights.Normal(0.1f))),
        64);
  }

  @Test
  void norDoesAStepOfPairsOfRows() {
    requireNothingAllocated(
        model(ModelConfig.Type.DEEPFM)
            .withTasks(Task.of("click").withOptionalLabel().withLoss(new Loss.Pairwise("site"))),
        PlantedRuns.encoder(PlantedRuns.planted(1, 100)),
        TableOptions.of(ADAM),
        64);
  }

  /** DEEPFM has pairs in slots, DIN sequences, and the tables ids that share rows. */
  @ParameterizedTest
  @EnumSource(names = {"DEEPFM", "DIN"})
  void norDoesAStepInLanes(ModelConfig.Type type) {
    RowPolicy counted = RowPolicy.ALL.withAdmission(new Admission.ByCount(2, 100));
    TableOptions tables =
        with(ADAM, DType.BF16, counted, RowLimits.NONE).unknown(new UnknownRow.Hashed(3));
    FeatureEncoder encoder = PlantedRuns.encoder(PlantedRuns.planted(1, 100), type);
    requireNothingAllocated(model(type), encoder, tables, 60, 8);
  }

  private void requireNothingAllocated(ModelConfig.Type type, TableOptions tables, int rows) {
    FeatureEncoder encoder = PlantedRuns.encoder(PlantedRuns.planted(1, 100), type);
    requireNothingAllocated(model(type), encoder, tables, rows);
  }

  private void requireNothingAllocated(
      ModelConfig model, FeatureEncoder encoder, TableOptions tables, int rows) {
    requireNothingAllocated(model, encoder, tables, rows, rows);
  }

  private void requireNothingAllocated(
      ModelConfig model, FeatureEncoder encoder, TableOptions tables, int rows, int rowsOfLane) {
    List<Batch> batches = encoded(encoder, rows);
    try (Device device = Device.cpu(2, 1L << 28);
        Network network = Network.create(device, encoder.schema(), model, tables, 1);
        DenseOptimizer optimizer =
            new DenseOptimizer(device, TrainOptions.of(ADAM), network.parameters());
        BatchLookup lookup = network.newLookup();
        BatchStep step = step(network, optimizer, lookup, rows, rowsOfLane)) {
      run(step, optimizer, lookup, batches, 1);
      Allocator allocator = DeviceAccess.allocator(device);
      long systemCalls = allocator.statistics().systemCalls();
      long least = Long.MAX_VALUE;
      long started = Long.MAX_VALUE; // The JVM may add a thread that compiles.
      long[] atWork = threads();
      long look = allocated(atWork);
      look = allocated(atWork) - look;
      for (int i = 0; i < MOST_LOOKS && (least > 0 || started > 0); i++) {
        long threads = THREADS.getTotalStartedThreadCount();
        long before = allocated(atWork);
        run(step, optimizer, lookup, batches, 2 + (long) i * STEPS);
        least = Math.min(least, allocated(atWork) - before - look);
        started = Math.min(started, THREADS.getTotalStartedThreadCount() - threads);
      }
      assertThat(least).isLessThanOrEqualTo(0);
      assertThat(started).isZero();
      assertThat(allocator.statistics().systemCalls()).isEqualTo(systemCalls);
    }
  }

  private static BatchStep step(
      Network network, DenseOptimizer optimizer, BatchLookup lookup, int rows, int rowsOfLane) {
    List<Integer> rooms = rooms(network, rowsOfLane);
    return rowsOfLane == rows
        ? new TrainStep(network, optimizer, lookup, rows, rooms, PlanSearch.QUICK)
        : new LanedStep(
            network,
            optimizer,
            lookup,
            new Lanes(rows, rowsOfLane, rooms),
            Ranks.alone(),
            PlanSearch.QUICK);
  }

  /** More than the tags of all rows. */
  private static List<Integer> rooms(Network network, int rows) {
    return network.sequences().keySet().stream().map(_ -> 4 * rows).toList();
  }

  private static void run(
      BatchStep step,
      DenseOptimizer optimizer,
      BatchLookup lookup,
      List<Batch> batches,
      long from) {
    for (long number = from; number < from + STEPS; number++) {
      optimizer.prepare(number, 0.01f);
      Batch next = batches.get((int) ((number + 1) % BATCHES));
      Batch batch = batches.get((int) (number % BATCHES));
      step.find(batch, batch, number);
      lookup.lookAhead(next);
      step.update(number, 0.01f);
      step.logits();
    }
  }
}
