package dev.tern.exchange;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How a mesh ends: in peace, by an abort, by ranks that do not do the same. */
final class MeshEndTest {
  /** What {@code work} throws on each rank. */
  private static List<String> messages(Meshes meshes, Meshes.Work<?> work) {
    return meshes.run(mesh -> {
      try {
        work.run(mesh);
        return "nothing";
      } catch (MeshException e) {
        return e.getMessage();
      }
    });
  }

  @ParameterizedTest
  @EnumSource
  void anAbortFreesAllWhoWaitWithItsReason(Meshes.Kind kind) {
    try (Meshes meshes = Meshes.open(kind, MeshTest.options(4));
        Arena arena = Arena.ofShared()) {
      CountDownLatch waiting = new CountDownLatch(3);
      List<String> messages =
          messages(
              meshes,
              mesh -> {
                MemorySegment values = arena.allocate(1 << 20);
                if (mesh.rank() == 2) {
                  waiting.await();
                  mesh.abort("no more data");
                  return mesh.barrier();
                }
                // Bytes for rank 2 fill its buffers: the abort must come through beside them.
                Exchange exchange = mesh.allReduce(values, Reduction.FLOAT_SUM);
                waiting.countDown();
                return exchange.await();
              });
      assertThat(messages).containsOnly("exchange: rank 2 ended it: no more data");
    }
  }

  @Test
  void ranksThatDoNotTheSameAreToldBothOperations() {
    try (Meshes meshes = Meshes.open(Meshes.Kind.PIPES, MeshTest.options(3));
        Arena arena = Arena.ofShared()) {
      List<String> messages =
          messages(
              meshes,
              mesh -> {
                MemorySegment values = arena.allocate(48);
                mesh.barrier().await();
                return mesh.rank() == 1
                    ? mesh.allToAll(values, arena.allocate(48)).await()
                    : mesh.allReduce(values, Reduction.LONG_SUM).await();
              });
      assertThat(messages)
          .allMatch(m -> m.contains("all-reduce 1") && m.contains("all-to-all 1"))
          .allMatch(m -> m.contains("the same operations in the same order"));
    }
  }

  @Test
  void ranksThatDisagreeAboutSizesAreToldBoth() {
    try (Meshes meshes = Meshes.open(Meshes.Kind.PIPES, MeshTest.options(2));
        Arena arena = Arena.ofShared()) {
      List<String> messages =
          messages(
              meshes,
              mesh ->
                  mesh.allReduce(arena.allocate(8 + 8 * mesh.rank()), Reduction.LONG_SUM).await());
      assertThat(messages).allMatch(m -> m.contains("of 8 ") && m.contains("of 16 "));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {8, 80_000})
  void ranksThatCombineInOtherWaysAreToldBoth(int bytes) {
    try (Meshes meshes = Meshes.open(Meshes.Kind.PIPES, MeshTest.options(2));
        Arena arena = Arena.ofShared()) {
      Reduction[] reductions = {Reduction.DOUBLE_SUM, Reduction.LONG_SUM};
      assertThat(
              messages(
                  meshes,
                  mesh -> mesh.allReduce(arena.allocate(bytes), reductions[mesh.rank()]).await()))
          .allMatch(m -> m.contains("all-reduce 0 with DOUBLE_SUM"))
          .allMatch(m -> m.contains("all-reduce 0 with LONG_SUM"));
    }
  }

  @Test
  void ranksWithOtherRootsAreToldBoth() {
    try (Meshes meshes = Meshes.open(Meshes.Kind.PIPES, MeshTest.options(2));
        Arena arena = Arena.ofShared()) {
      assertThat(
              messages(
                  meshes,
                  mesh -> {
                    MemorySegment values = arena.allocate(80_000);
                    return mesh.reduce(values, Reduction.LONG_SUM, mesh.rank()).await();
                  }))
          .allMatch(m -> m.contains("reduce 0 with LONG_SUM at root 0"))
          .allMatch(m -> m.contains("reduce 0 with LONG_SUM at root 1"));
    }
  }

  /** Both send and nobody receives, so the next operation gets what nobody asked for. */
  @Test
  void twoRootsOfABroadcastAreFoundByTheNextOperation() {
    try (Meshes meshes = Meshes.open(Meshes.Kind.PIPES, MeshTest.options(2));
        Arena arena = Arena.ofShared()) {
      assertThat(
              messages(
                  meshes,
                  mesh -> {
                    mesh.broadcast(arena.allocate(8), mesh.rank()).await();
                    return mesh.barrier().await();
                  }))
          .allMatch(m -> m.contains("broadcast 0 at root") && m.contains("expected barrier 1"));
    }
  }

  @Test
  void aRankThatClosedInPeaceIsNamedByWhoWaitsForIt() {
    try (Meshes meshes = Meshes.open(Meshes.Kind.TCP, MeshTest.options(2))) {
      List<String> messages =
          messages(
              meshes,
              mesh -> {
                mesh.barrier().await();
                if (mesh.rank() == 1) {
                  mesh.close();
                  return 0L;
                }
                return mesh.barrier().await();
              });
      assertThat(messages.get(0)).contains("rank 1 closed its mesh").contains("barrier 1");
      assertThat(messages.get(1)).isEqualTo("nothing");
    }
  }

  /** The last operation of a rank may be done while its bytes are still on their way. */
  @ParameterizedTest
  @EnumSource
  void whatWasSentBeforeAPeacefulEndArrives(Meshes.Kind kind) {
    for (int round = 0; round < 5; round++) {
      try (Meshes meshes = Meshes.open(kind, MeshTest.options(2));
          Arena arena = Arena.ofShared()) {
        meshes.run(mesh -> {
          MemorySegment values = arena.allocate(40_000);
          if (mesh.rank() == 0) {
            values.fill((byte) 3);
            mesh.send(1, values).await();
            mesh.close();
          } else {
            assertThat(mesh.receive(0, values).await()).isEqualTo(40_000);
            assertThat(values.get(ValueLayout.JAVA_BYTE, 39_999)).isEqualTo((byte) 3);
          }
          return 0;
        });
      }
    }
  }

  @Test
  void closingWithOperationsInFlightEndsTheMesh() {
    try (Meshes meshes = Meshes.open(Meshes.Kind.PIPES, MeshTest.options(2));
        Arena arena = Arena.ofShared()) {
      List<String> messages =
          messages(
              meshes,
              mesh -> {
                Exchange exchange = mesh.allReduce(arena.allocate(64), Reduction.FLOAT_SUM);
                if (mesh.rank() == 0) {
                  exchange.await();
                }
                mesh.receive(1 - mesh.rank(), arena.allocate(64));
                mesh.close();
                return mesh.barrier().await();
              });
      assertThat(messages).allMatch(m -> m.contains("closed its mesh with operations in flight"));
    }
  }

  @Test
  void anInterruptEndsTheMeshOnAllRanks() {
    try (Meshes meshes = Meshes.open(Meshes.Kind.UNIX, MeshTest.options(2))) {
      List<String> messages =
          messages(
              meshes,
              mesh -> {
                if (mesh.rank() == 0) {
                  Thread.currentThread().interrupt();
                  try {
                    return mesh.receive(1, MemorySegment.NULL).await();
                  } finally {
                    assertThat(Thread.interrupted()).isTrue();
                  }
                }
                return mesh.receive(0, MemorySegment.NULL).await();
              });
      assertThat(messages)
          .containsOnly("exchange: rank 0 was interrupted while it waited for message 0");
    }
  }

  @Test
  void severalThreadsMayWaitAtOnce() throws Exception {
    try (Meshes meshes = Meshes.open(Meshes.Kind.UNIX, MeshTest.options(2));
        Arena arena = Arena.ofShared()) {
      Mesh mesh = meshes.all().get(0);
      Mesh other = meshes.all().get(1);
      List<Exchange> exchanges = new ArrayList<>();
      for (int i = 0; i < 6; i++) {
        exchanges.add(mesh.receive(1, arena.allocate(100_000)));
      }
      List<Thread> threads = new ArrayList<>();
      for (Exchange exchange : exchanges.reversed()) {
        threads.add(Thread.ofPlatform().start(exchange::await));
      }
      for (int i = 0; i < 6; i++) {
        assertThat(exchanges.get(5).isDone()).isFalse();
        other.send(0, arena.allocate(100_000)).await();
      }
      for (Thread thread : threads) {
        thread.join();
      }
    }
  }

  /**
   * The last short frame of rank 2 is read together with the one before it and waits for rank 1 to
   * make room, so the operation ends in a round in which no byte comes.
   */
  @Test
  @Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void aSleeperIsWokenByAnOperationThatEndsWithBytesReadAhead() throws Exception {
    int frame = 20_000;
    MeshOptions options = MeshTest.options(3).frameBytes(frame);
    try (Meshes meshes = Meshes.open(Meshes.Kind.PIPES, options);
        Arena arena = Arena.ofShared()) {
      long part = 2 * frame + 64;
      List<Exchange> sums = new ArrayList<>();
      for (int rank : new int[] {2, 0}) {
        sums.add(sum(meshes.all().get(rank), arena, part));
      }
      sums.getFirst().start();
      Exchange message = meshes.all().get(0).receive(1, arena.allocate(8));
      Thread driver = Thread.ofPlatform().daemon().start(message::await);
      Thread sleeper = new Thread(sums.get(1)::await);
      Thread.sleep(20);
      sleeper.setDaemon(true);
      sleeper.start();
      while (sleeper.getState() != Thread.State.WAITING) {
        Thread.onSpinWait();
      }
      sum(meshes.all().get(1), arena, part).await();
      sleeper.join();
      meshes.all().get(1).send(0, arena.allocate(8)).await();
      driver.join();
      assertThat(sums.getFirst().await()).isEqualTo(2 * part);
    }
  }

  private static Exchange sum(Mesh mesh, Arena arena, long part) {
    MemorySegment values = arena.allocate(3 * part);
    return mesh.reduceScatter(values, arena.allocate(part), Reduction.LONG_SUM);
  }

  @Test
  void misuseIsRefusedAndLeavesTheMeshWhole() {
    MeshOptions options = MeshTest.options(2).inFlight(2);
    try (Meshes meshes = Meshes.open(Meshes.Kind.PIPES, options);
        Arena arena = Arena.ofShared()) {
      Mesh mesh = meshes.all().get(0);
      MemorySegment eight = arena.allocate(8);
      assertThatThrownBy(() -> mesh.send(0, eight)).hasMessageContaining("to itself");
      assertThatThrownBy(() -> mesh.send(2, eight)).hasMessageContaining("rank 2, expected 0 to 1");
      assertThatThrownBy(() -> mesh.broadcast(eight, -1)).hasMessageContaining("rank -1");
      assertThatThrownBy(() -> mesh.send(1, MemorySegment.ofArray(new byte[8])))
          .hasMessageContaining("on the heap");
      assertThatThrownBy(() -> mesh.receive(1, eight.asReadOnly()))
          .hasMessageContaining("read only");
      assertThatThrownBy(() -> mesh.allReduce(eight.asSlice(0, 6), Reduction.FLOAT_SUM))
          .hasMessageContaining("6 bytes, expected a multiple of 4");
      assertThatThrownBy(() -> mesh.allGather(eight, eight))
          .hasMessageContaining("2 times as many");
      assertThatThrownBy(() -> mesh.allToAll(eight, arena.allocate(6)))
          .hasMessageContaining("room for 6");
      assertThatThrownBy(() -> allToAll(mesh, eight, 0, 4, 2)).hasMessageContaining("that ascend");
      assertThatThrownBy(() -> allToAll(mesh, eight, 0, 4, 9)).hasMessageContaining("[0, 4, 9]");
      Exchange first = mesh.send(1, eight);
      Exchange _ = mesh.receive(1, eight);
      assertThatThrownBy(mesh::barrier).hasMessageContaining("while 2 are in flight");
      meshes.all().get(1).receive(0, eight).await();
      first.await();
      assertThatThrownBy(first::await).hasMessageContaining("second wait");
      meshes.all().get(1).send(0, eight).await();
    }
  }

  private static Exchange allToAll(Mesh mesh, MemorySegment values, long... starts) {
    return mesh.allToAll(values, starts, values, starts, new long[2]);
  }

  @Test
  void optionsOutOfRangeAreRefused() {
    byte[] secret = new byte[16];
    assertThatThrownBy(() -> MeshOptions.of(0, 0, secret)).hasMessageContaining("0 ranks");
    assertThatThrownBy(() -> MeshOptions.of(2, 2, secret)).hasMessageContaining("rank 2");
    assertThatThrownBy(() -> MeshOptions.of(0, 1, new byte[15])).hasMessageContaining("15 bytes");
    MeshOptions options = MeshOptions.of(0, 2, secret);
    assertThatThrownBy(() -> options.frameBytes(100)).hasMessageContaining("multiple of 8");
    assertThatThrownBy(() -> options.inFlight(0)).hasMessageContaining("0 operations");
    assertThatThrownBy(() -> options.deadline(Duration.ZERO))
        .hasMessageContaining("deadline of PT0S");
  }
}
