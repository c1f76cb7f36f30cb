package dev.tern.internal.table;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class ReadGateTest {
  private static final int READERS = 4;
  private static final int CHANGES = 20_000;

  private final ReadGate gate = new ReadGate();

  /** Changed by whoever shut the gate, at different times: equal for all others. */
  private long first;

  private long second;

  private Thread started(Runnable run) {
    Thread thread = new Thread(run);
    thread.start();
    return thread;
  }

  @Test
  void readersSeeNoHalfOfAChangeAndChangesLoseNothing() throws InterruptedException {
    AtomicBoolean over = new AtomicBoolean();
    AtomicLong halves = new AtomicLong();
    AtomicLong[] reads = new AtomicLong[READERS];
    List<Thread> readers = new ArrayList<>();
    for (int i = 0; i < READERS; i++) {
      AtomicLong mine = new AtomicLong();
      reads[i] = mine;
      readers.add(
          started(() -> {
            while (!over.get() || mine.get() == 0) {
              gate.enter();
              halves.addAndGet(first == second ? 0 : 1);
              gate.leave();
              mine.incrementAndGet();
            }
          }));
    }
    Runnable change =
        () -> {
          for (int i = 0; i < CHANGES; i++) {
            gate.shut();
            first++;
            Thread.onSpinWait();
            second++;
            gate.open();
          }
        };
    Thread other = started(change);
    change.run();
    other.join();
    over.set(true);
    for (Thread reader : readers) {
      reader.join();
    }
    assertThat(halves).hasValue(0);
    assertThat(first).isEqualTo(2L * CHANGES);
    assertThat(second).isEqualTo(2L * CHANGES);
    assertThat(reads).allMatch(count -> count.get() > 0);
    requireNobodyIsCountedIn();
  }

  /** Else a change would wait for ever. */
  private void requireNobodyIsCountedIn() throws InterruptedException {
    Thread change = new Thread(gate::shut);
    change.setDaemon(true);
    change.start();
    change.join(10_000);
    assertThat(change.isAlive()).as("a change that waits for a reader who left").isFalse();
  }

  @Test
  void aChangeWaitsForTheReadersWithinAndLaterReadersForTheChange() throws InterruptedException {
    CountDownLatch within = new CountDownLatch(READERS);
    CountDownLatch leave = new CountDownLatch(1);
    List<Thread> readers = new ArrayList<>();
    for (int i = 0; i < READERS; i++) {
      readers.add(
          started(() -> {
            gate.enter();
            within.countDown();
            await(leave);
            gate.leave();
          }));
    }
    await(within);
    CountDownLatch alone = new CountDownLatch(1);
    CountDownLatch open = new CountDownLatch(1);
    Thread change =
        started(() -> {
          gate.shut();
          alone.countDown();
          await(open);
          gate.open();
        });
    while (!gate.isShut()) {
      Thread.onSpinWait();
    }
    CountDownLatch entered = new CountDownLatch(1);
    Thread late =
        started(() -> {
          gate.enter();
          entered.countDown();
          gate.leave();
        });
    assertThat(alone.await(50, TimeUnit.MILLISECONDS)).isFalse();
    leave.countDown();
    await(alone);
    assertThat(entered.await(50, TimeUnit.MILLISECONDS)).isFalse();
    open.countDown();
    await(entered);
    assertThat(gate.isShut()).isFalse();
    change.join();
    late.join();
    for (Thread reader : readers) {
      reader.join();
    }
    requireNobodyIsCountedIn();
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
