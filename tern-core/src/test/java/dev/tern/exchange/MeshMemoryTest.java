package dev.tern.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Operations make no garbage, on the threads that begin them and on those of the meshes. */
final class MeshMemoryTest {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private static final int RANKS = 3;
  private static final int WARM_UP = 60;
  private static final int STEPS = 60;

  /**
   * For counting itself, and because the JDK's selector makes an object of 16 bytes for each
   * connection that woke a thread, where its descriptor is above 127.
   */
  private static final long MOST_BYTES_A_STEP = 2000;

  @ParameterizedTest
  @EnumSource
  void stepsMakeNoGarbage(Meshes.Kind kind) {
    try (Meshes meshes = Meshes.open(kind, MeshTest.options(RANKS).frameBytes(16 << 10))) {
      long[] threads = threadsOfMeshes();
      assertThat(allocated(threads)).isPositive();
      CyclicBarrier together = new CyclicBarrier(RANKS);
      List<Long> made =
          meshes.run(mesh -> {
            try (Arena arena = Arena.ofShared()) {
              Step step = new Step(mesh, arena);
              for (int i = 0; i < WARM_UP; i++) {
                step.run();
              }
              together.await();
              long before = allocated(threads);
              together.await();
              for (int i = 0; i < STEPS; i++) {
                step.run();
              }
              together.await();
              long after = allocated(threads);
              together.await();
              return after - before;
            }
          });
      assertThat(made).allMatch(bytes -> bytes < STEPS * MOST_BYTES_A_STEP, made.toString());
    }
  }

  private static long[] threadsOfMeshes() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("tern-mesh-"))
        .mapToLong(Thread::threadId)
        .toArray();
  }

  /** Bytes that this thread and those of the meshes ever allocated. */
  private static long allocated(long[] threads) {
    return THREADS.getCurrentThreadAllocatedBytes()
        + Arrays.stream(THREADS.getThreadAllocatedBytes(threads)).sum();
  }

  /** One of everything, of sizes that change from step to step. */
  private static final class Step {
    private static final int MOST = 100_000;

    private final Mesh mesh;
    private final MemorySegment a;
    private final MemorySegment b;
    private final MemorySegment sum;
    private final MemorySegment few;
    private final long[] starts = new long[RANKS + 1];
    private final long[] rooms = new long[RANKS + 1];
    private final long[] received = new long[RANKS];
    private int count;

    Step(Mesh mesh, Arena arena) {
      this.mesh = mesh;
      a = arena.allocate(RANKS * MOST);
      b = arena.allocate(RANKS * MOST);
      sum = arena.allocate(MOST);
      few = arena.allocate(64);
      for (int p = 0; p <= RANKS; p++) {
        rooms[p] = (long) p * MOST;
      }
    }

    void run() {
      count++;
      for (int p = 0; p < RANKS; p++) {
        starts[p + 1] = starts[p] + 1000 * (count % 7) + 13 * p;
      }
      Exchange rows = mesh.allToAll(a, starts, b, rooms, received).start();
      Exchange gradients = mesh.allReduce(sum, Reduction.FLOAT_SUM).start();
      mesh.allReduce(few, Reduction.DOUBLE_SUM).await();
      mesh.barrier().await();
      rows.await();
      gradients.await();
      mesh.broadcast(sum, count % RANKS).await();
      mesh.reduce(sum, Reduction.FLOAT_MAX, 1).await();
    }
  }
}
