package dev.tern.train;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.tern.data.Batch;
import dev.tern.data.FeatureEncoder;
import dev.tern.embedding.BatchLookup;
import dev.tern.internal.memory.Allocator;
import dev.tern.model.ModelConfig;
import dev.tern.model.Network;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What training asks of the heap, of threads and of the system once it runs: by the counters of the
 * threads that compute. Kernels are warmed up by another, on memory of its own.
 *
 * <p>Code that the JIT has not compiled yet allocates what compiled code does not. So steps go on
 * until some pass without allocating; where each step allocates, none ever do.
 */
final class StepMemoryTest {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private static final int STEPS = 32;
  private static final int MOST_LOOKS = 10_000;
  private static final int BATCHES = 8;

  private @Nullable BatchLookup lookup;
  private @Nullable Batch next;
  private final Runnable ahead =
      () -> Objects.requireNonNull(lookup).lookAhead(Objects.requireNonNull(next));

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
    return new ModelConfig(type, 4, List.of(16, 8), 0.1f, List.of(8), 2);
  }

  private static List<Batch> encoded(FeatureEncoder encoder, int rows) {
    List<Batch> batches = new ArrayList<>();
    for (int i = 0; i < BATCHES; i++) {
      Batch batch = new Batch(encoder.schema(), rows);
      encoder.apply(TrainerTest.planted(i, rows), batch);
      batches.add(batch);
    }
    return batches;
  }

  @ParameterizedTest
  @EnumSource(ModelConfig.Type.class)
  void aStepAllocatesNothingStartsNoThreadAndMapsNoMemory(ModelConfig.Type type) {
    FeatureEncoder encoder = TrainerTest.encoder(TrainerTest.planted(1, 100));
    List<Batch> batches = encoded(encoder, 64);
    Optimizer adam = Optimizer.lazyAdam(0.01f);
    Network.Tables tables = Network.Tables.of(adam);
    try (Device device = Device.cpu(2, 1L << 28);
        Network network = Network.create(device, encoder.schema(), model(type), tables, 1);
        DenseOptimizer optimizer =
            new DenseOptimizer(device, TrainOptions.of(adam), network.parameters());
        BatchLookup batchLookup = network.newLookup();
        TrainStep step = new TrainStep(network, optimizer, batchLookup, 64)) {
      lookup = batchLookup;
      run(step, optimizer, batches, 1);
      Allocator allocator = device.interpreter().allocator();
      long threads = THREADS.getTotalStartedThreadCount();
      long systemCalls = allocator.systemCalls();
      long least = Long.MAX_VALUE;
      long[] atWork = threads();
      long look = allocated(atWork);
      look = allocated(atWork) - look;
      for (int i = 0; i < MOST_LOOKS && least > 0; i++) {
        long before = allocated(atWork);
        run(step, optimizer, batches, 2 + (long) i * STEPS);
        least = Math.min(least, allocated(atWork) - before - look);
      }
      assertThat(least).isLessThanOrEqualTo(0);
      assertThat(THREADS.getTotalStartedThreadCount()).isEqualTo(threads);
      assertThat(allocator.systemCalls()).isEqualTo(systemCalls);
    }
  }

  private void run(TrainStep step, DenseOptimizer optimizer, List<Batch> batches, long from) {
    for (long number = from; number < from + STEPS; number++) {
      optimizer.prepare(number, 0.01f);
      next = batches.get((int) ((number + 1) % BATCHES));
      step.run(batches.get((int) (number % BATCHES)), number, 0.01f, number, ahead);
      step.logits();
    }
  }
}
