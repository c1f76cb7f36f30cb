package dev.tern.internal.eager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import dev.tern.internal.ir.Leaves;
import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Nodes;
import dev.tern.internal.ir.Op;
import dev.tern.internal.memory.Buffer;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.runtime.Engine;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Threads that write or free what the ops of others read, and sessions that close meanwhile. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class EagerWriteTest {
  private static final Shape ROW = Shape.of(1024);
  private static final Shape SQUARE = Shape.of(256, 256);
  private static final int ELEMENTS = 256 * 256;

  private final Engine engine = new Engine(1, 64 << 20, 64 << 20);
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final Node x = engine.allocate(SQUARE, DType.F32, "x");
  private final Buffer leaf = ((Op.Leaf) x.op()).buffer();

  @AfterEach
  void close() {
    threads.shutdownNow();
    engine.close();
  }

  private Eager eager(long budget, int queued) {
    return new Eager(engine, budget, queued, false);
  }

  private static void write(Node row, float value) {
    float[] numbers = new float[1024];
    Arrays.fill(numbers, value);
    Buffer memory = ((Op.Leaf) row.op()).buffer();
    Engine.beforeWrite(memory);
    Memory.copyIn(numbers, 0, memory.address(), 1024);
  }

  /** Some milliseconds of work that reads the leaf. */
  private Node product() {
    return Nodes.matmul(x, x);
  }

  private static boolean sessionRuns() {
    return Thread.getAllStackTraces().keySet().stream()
        .anyMatch(thread -> thread.getName().equals("tern-session"));
  }

  @Test
  void aValueAskedForBesideAWriteIsNotComputedAgainFromALaterOne() throws Exception {
    int count = 300;
    List<Node> leaves = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      leaves.add(engine.allocate(ROW, DType.F32, "row"));
    }
    // With a queue of one op, who asks and who writes most often wait for a place in it.
    try (Eager eager = eager((count + 20L) * 4096, 1)) {
      for (int round = 0; round < 5; round++) {
        leaves.forEach(row -> write(row, 1));
        List<Node> values = leaves.stream().map(row -> Nodes.mul(row, 10)).toList();
        AtomicInteger asked = new AtomicInteger();
        Future<?> writing =
            threads.submit(() -> {
              for (int last = -1; last < count - 1; ) {
                int now = asked.get();
                if (now > last) {
                  write(leaves.get(now), 2);
                  last = now;
                }
              }
            });
        for (int i = 0; i < count; i++) {
          asked.set(i);
          eager.run(List.of(values.get(i)));
        }
        writing.get();
        leaves.forEach(row -> write(row, 9));
        evictAll(eager, count);
        for (int i = 0; i < count; i++) {
          assertThat(eager.get(values.get(i))[0]).as("%d in round %d", i, round).isIn(10f, 20f);
        }
        eager.release(values);
      }
    }
  }

  /** All but what cannot be computed again. */
  private static void evictAll(Eager eager, int count) {
    Node at = Leaves.of(ROW, new float[1024]);
    for (int i = 0; i < 2 * count; i++) {
      at = Nodes.mul(at, 2);
      eager.run(List.of(at));
    }
    eager.sync();
  }

  @Test
  void eachOfSeveralWritersWaitsForTheOpsThatRead() throws Exception {
    try (Eager eager = eager(8L * 4 * ELEMENTS, 100)) {
      for (int round = 1; round <= 20; round++) {
        List<Node> asked = List.of(product(), product());
        eager.run(asked);
        int runs = 2 * round;
        CyclicBarrier start = new CyclicBarrier(3);
        List<Future<Long>> writers = new ArrayList<>();
        for (int thread = 0; thread < 3; thread++) {
          writers.add(
              threads.submit(() -> {
                start.await();
                Engine.beforeWrite(leaf);
                return eager.counts().runs();
              }));
        }
        for (Future<Long> writer : writers) {
          assertThat(writer.get()).as("round %d", round).isGreaterThanOrEqualTo(runs);
        }
        eager.release(asked);
      }
    }
  }

  @Test
  void whoWritesBesideAClosingSessionWaitsForTheOpThatReadsAndHasNoError() throws Exception {
    for (int round = 0; round < 10; round++) {
      Eager eager = eager(16L * 4 * ELEMENTS, 1000);
      List<Node> asked = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        asked.add(product());
      }
      eager.run(asked);
      Future<?> closing = threads.submit(eager::close);
      if (round % 2 == 0) {
        awaitClosed(eager);
      }
      Engine.beforeWrite(leaf);
      awaitClosed(eager);
      Engine.beforeWrite(leaf);
      // Else the first writer may have come before the end, and the thread may still be ending.
      if (round % 2 == 0) {
        assertThat(sessionRuns()).as("round %d", round).isFalse();
      }
      closing.get();
    }
  }

  /** Returns when the session refuses ops; the one that runs may still run. */
  private static void awaitClosed(Eager eager) {
    assertThatThrownBy(
            () -> {
              while (true) {
                eager.run(List.of(Nodes.mul(Nodes.full(Shape.of(1), 1), 2)));
              }
            })
        .hasMessageContaining("got a closed one");
  }

  @Test
  void aDeviceClosedBesideItsSessionWaitsForTheOpThatRuns() throws Exception {
    for (int round = 0; round < 10; round++) {
      Engine other = new Engine(1, 64 << 20, 64 << 20);
      Node operand = other.allocate(Shape.of(512, 512), DType.F32, "operand");
      Eager eager = new Eager(other, 16 << 20, 1000, false);
      List<Node> asked = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        asked.add(Nodes.matmul(operand, operand));
      }
      eager.run(asked);
      Future<?> closing = threads.submit(eager::close);
      if (round % 2 == 0) {
        awaitClosed(eager);
      }
      other.close();
      assertThat(sessionRuns()).as("round %d", round).isFalse();
      closing.get();
    }
  }

  @Test
  void aSessionOfAClosedDeviceIsRefused() {
    Engine other = new Engine(1, 1 << 20, 1 << 20);
    other.close();
    assertThatThrownBy(() -> new Eager(other, 4096, 1, false))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void anOpOnMemoryOfAClosedDeviceIsRefused() {
    Engine other = new Engine(1, 1 << 20, 1 << 20);
    Node operand = other.allocate(ROW, DType.F32, "operand");
    try (Eager eager = eager(1 << 20, 10)) {
      float[] before = eager.get(Nodes.mul(operand, 0));
      assertThat(before).hasSize(1024);
      other.close();
      assertThatThrownBy(() -> eager.get(Nodes.mul(operand, 3)))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("got a closed device");
    }
  }

  @Test
  void aWriteReachesSessionsOfOtherDevices() {
    try (Engine other = new Engine(1, 1 << 20, 1 << 20)) {
      Node row = other.allocate(ROW, DType.F32, "row");
      write(row, 1);
      try (Eager eager = eager(1 << 20, 10)) {
        Node value = Nodes.mul(row, 10);
        eager.run(List.of(value));
        write(row, 2);
        assertThat(eager.get(value)[0]).isEqualTo(10);
      }
    }
  }

  @Test
  void nothingKeepsASessionThatIsForgottenWithItsDevice() throws Exception {
    WeakReference<Eager> forgotten = forgotten();
    for (int i = 0; i < 100 && forgotten.get() != null; i++) {
      System.gc();
      Thread.sleep(10);
    }
    for (Thread thread : Thread.getAllStackTraces().keySet()) {
      if (thread.getName().equals("tern-session")) {
        thread.interrupt();
        thread.join();
      }
    }
    assertThat(forgotten.get()).isNull();
  }

  @SuppressWarnings("resource")
  private static WeakReference<Eager> forgotten() {
    Engine device = new Engine(1, 1 << 20, 1 << 20);
    Eager eager = new Eager(device, 1 << 16, 10, false);
    assertThat(eager.get(Nodes.mul(Leaves.of(ROW, new float[1024]), 2))).hasSize(1024);
    return new WeakReference<>(eager);
  }
}
