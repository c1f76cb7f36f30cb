package dev.tern.internal.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.internal.memory.AllocationHistory.Action;
import dev.tern.internal.memory.AllocationHistory.Event;
import dev.tern.internal.memory.MemorySnapshot.Block;
import dev.tern.internal.memory.MemorySnapshot.Segment;
import dev.tern.internal.memory.MemorySnapshot.State;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class MemorySnapshotTest {
  private static final long BUDGET = 8 << 20;

  private static List<Block> blocks(MemorySnapshot snapshot) {
    return snapshot.segments().stream().flatMap(segment -> segment.blocks().stream()).toList();
  }

  private static Block at(MemorySnapshot snapshot, long address) {
    return blocks(snapshot).stream().filter(b -> b.address() == address).findFirst().orElseThrow();
  }

  private static long bytes(MemorySnapshot snapshot, State state) {
    return blocks(snapshot).stream().filter(b -> b.state() == state).mapToLong(Block::bytes).sum();
  }

  /** Blocks tile segments, segments are what is reserved, live blocks what is allocated. */
  private static void assertWhole(MemorySnapshot snapshot) {
    long reserved = 0;
    long requested = 0;
    for (Segment segment : snapshot.segments()) {
      long next = segment.address();
      for (Block block : segment.blocks()) {
        assertThat(block.address()).isEqualTo(next);
        assertThat(block.bytes()).isPositive();
        next += block.bytes();
        requested += block.state() == State.LIVE ? block.requested() : 0;
      }
      assertThat(next).isEqualTo(segment.address() + segment.bytes());
      reserved += segment.bytes();
    }
    MemoryStatistics counted = snapshot.statistics();
    assertThat(reserved).isEqualTo(counted.reserved().current()).isLessThanOrEqualTo(BUDGET);
    assertThat(bytes(snapshot, State.LIVE)).isEqualTo(counted.allocated().current());
    assertThat(requested).isEqualTo(counted.requested().current());
  }

  @Tag("unchecked") // Blocks lie elsewhere in checked mode.
  @ParameterizedTest
  @EnumSource
  void everyBlockIsThereWithItsHolderAndState(SystemMemory backing) {
    try (Allocator allocator = new Allocator(BUDGET, backing)) {
      long live = allocator.allocate(1000, "table");
      long kept = allocator.allocate(5000, "batch");
      allocator.free(kept);
      MemorySnapshot snapshot = allocator.snapshot();
      assertWhole(snapshot);
      assertThat(at(snapshot, live)).isEqualTo(new Block(live, 1024, 1000, State.LIVE, "table"));
      assertThat(at(snapshot, kept)).isEqualTo(new Block(kept, 5056, 0, State.KEPT, ""));
      allocator.trim();
      MemorySnapshot after = allocator.snapshot();
      assertWhole(after);
      assertThat(bytes(after, State.KEPT)).isZero();
      assertThat(at(after, live).holder()).isEqualTo("table");
    }
  }

  @Test
  void snapshotsTakenWhileThreadsAllocateAreWhole() throws InterruptedException {
    AtomicReference<Throwable> failure = new AtomicReference<>();
    AtomicBoolean isOver = new AtomicBoolean();
    try (Allocator allocator = Allocator.of(BUDGET)) {
      allocator.recordHistory(64);
      List<Thread> threads = new ArrayList<>();
      for (int t = 0; t < 3; t++) {
        SplittableRandom random = new SplittableRandom(t);
        threads.add(Thread.ofPlatform().start(() -> churn(allocator, random, isOver, failure)));
      }
      for (int i = 0; i < 200; i++) {
        assertWhole(allocator.snapshot());
      }
      isOver.set(true);
      for (Thread thread : threads) {
        thread.join();
      }
      assertThat(failure.get()).isNull();
      assertThat(bytes(allocator.snapshot(), State.LIVE)).isZero();
    }
  }

  private static void churn(
      Allocator allocator,
      SplittableRandom random,
      AtomicBoolean isOver,
      AtomicReference<Throwable> failure) {
    try {
      long[] live = new long[20];
      while (!isOver.get()) {
        int slot = random.nextInt(live.length);
        if (live[slot] != 0) {
          allocator.free(live[slot]);
        }
        live[slot] = allocator.allocate(random.nextInt(100_000), "churn");
      }
      for (long address : live) {
        if (address != 0) {
          allocator.free(address);
        }
      }
    } catch (RuntimeException | Error e) {
      failure.set(e);
    }
  }

  @Tag("unchecked") // Blocks lie elsewhere in checked mode.
  @Test
  void historySaysWhatHappenedInOrder() {
    try (Allocator allocator = Allocator.of(BUDGET)) {
      long before = allocator.allocate(64, "before");
      allocator.recordHistory(100);
      long a = allocator.allocate(100, "a");
      allocator.free(a);
      long again = allocator.allocate(100, "b");
      allocator.free(again);
      allocator.free(before);
      allocator.trim();
      List<Event> events = allocator.snapshot().events();
      assertThat(events.stream().map(Event::action).filter(x -> x != Action.GROW))
          .containsExactly(
              Action.ALLOCATE, Action.FREE, Action.ALLOCATE, Action.FREE, Action.FREE, Action.TRIM);
      assertThat(events).isSortedAccordingTo((x, y) -> Long.compare(x.nanos(), y.nanos()));
      Event first =
          events.stream().filter(e -> e.action() == Action.ALLOCATE).findFirst().orElseThrow();
      assertThat(first)
          .isEqualTo(new Event(Action.ALLOCATE, first.nanos(), a, 128, "a"))
          .satisfies(e -> assertThat(e.nanos()).isNotNegative());
      assertThat(events).anyMatch(e -> e.address() == before && e.holder().equals("before"));
      allocator.recordHistory(0);
      allocator.free(allocator.allocate(100, "c"));
      assertThat(allocator.snapshot().events()).isEqualTo(events);
    }
  }

  @Test
  void historyKeepsTheLastEventsAndCountsAll() {
    try (Allocator allocator = Allocator.of(BUDGET)) {
      allocator.free(allocator.allocate(64, "warm"));
      assertThat(allocator.snapshot().events()).isEmpty();
      allocator.recordHistory(5);
      for (int i = 0; i < 10; i++) {
        allocator.free(allocator.allocate(64, "h" + i));
      }
      MemorySnapshot snapshot = allocator.snapshot();
      assertThat(snapshot.eventCount()).isEqualTo(20);
      assertThat(snapshot.events().stream().map(e -> e.action() + " " + e.holder()))
          .containsExactly("FREE h7", "ALLOCATE h8", "FREE h8", "ALLOCATE h9", "FREE h9");
    }
  }

  @Test
  void eventsOfAnAddressAlternateThoughThreadsShareIt() throws InterruptedException {
    AtomicReference<Throwable> failure = new AtomicReference<>();
    AtomicBoolean isOver = new AtomicBoolean();
    try (Allocator allocator = Allocator.of(BUDGET)) {
      allocator.recordHistory(1 << 20);
      List<Thread> threads = new ArrayList<>();
      for (int t = 0; t < 3; t++) {
        SplittableRandom random = new SplittableRandom(t);
        threads.add(Thread.ofPlatform().start(() -> churn(allocator, random, isOver, failure)));
      }
      while (allocator.snapshot().eventCount() < 20_000) {
        Thread.yield();
      }
      isOver.set(true);
      for (Thread thread : threads) {
        thread.join();
      }
      assertThat(failure.get()).isNull();
      MemorySnapshot snapshot = allocator.snapshot();
      assertThat(snapshot.events()).hasSize((int) snapshot.eventCount());
      Map<Long, Long> live = new HashMap<>();
      for (Event event : snapshot.events()) {
        if (event.action() == Action.ALLOCATE) {
          assertThat(live.put(event.address(), event.bytes())).isNull();
        } else if (event.action() == Action.FREE) {
          assertThat(live.remove(event.address())).isEqualTo(event.bytes());
        }
      }
      assertThat(live).isEmpty();
    }
  }

  @Test
  void refusedRequestNamesTheLastEventsWhereThereIsAHistory() {
    try (Allocator allocator = Allocator.of(1 << 20)) {
      allocator.recordHistory(100);
      allocator.allocate(4096, "batch");
      assertThatThrownBy(() -> allocator.allocate(2 << 20, "table"))
          .hasMessageContaining("; before it: ")
          .hasMessageContaining("allocate 4096 batch;");
      Event last = allocator.snapshot().events().getLast();
      assertThat(last.action()).isEqualTo(Action.OUT_OF_MEMORY);
      assertThat(last.address()).isEqualTo((1 << 20) - 4096);
      allocator.recordHistory(0);
      assertThatThrownBy(() -> allocator.allocate(2 << 20, "table"))
          .hasMessageNotContaining("before it");
    }
  }

  @Test
  void roomBeyondReasonIsRefused() {
    try (Allocator allocator = Allocator.of(BUDGET)) {
      assertThatThrownBy(() -> allocator.recordHistory(-1)).hasMessageContaining("memory history");
      assertThatThrownBy(() -> allocator.recordHistory(Integer.MAX_VALUE))
          .hasMessageContaining("expected 1 to 16777216");
    }
  }
}
