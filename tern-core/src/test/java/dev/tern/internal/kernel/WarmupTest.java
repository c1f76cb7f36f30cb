package dev.tern.internal.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

final class WarmupTest {
  private static final int BUSY_ROUNDS = 20;
  private static final long PATIENCE_SECONDS = 60;

  /** Allocates as code does of which the JIT compiles one part well and another never. */
  private static final class Boxing implements Warmup.Candidate {
    private final CountDownLatch done = new CountDownLatch(1);
    private final int badAttempts;
    private volatile int rounds;
    private volatile int renewals;
    private volatile boolean adopted;
    private volatile byte[] boxed;

    Boxing(int badAttempts) {
      this.badAttempts = badAttempts;
    }

    boolean isDone() throws InterruptedException {
      return done.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    @Override
    public void round(boolean large) {
      rounds = rounds + 1;
      if (rounds <= BUSY_ROUNDS / 2) {
        boxed = new byte[4096];
      } else if (renewals < badAttempts) {
        boxed = new byte[1024];
      }
    }

    @Override
    public int busyRounds() {
      return BUSY_ROUNDS;
    }

    @Override
    public int attempts() {
      return 2;
    }

    @Override
    public void adopt() {
      adopted = true;
      done.countDown();
    }

    @Override
    public void renew() {
      renewals = renewals + 1;
      rounds = 0;
    }

    @Override
    public void giveUp() {
      done.countDown();
    }
  }

  @Test
  void codeThatNoLongerAllocatesIsAdopted() throws InterruptedException {
    Boxing candidate = new Boxing(0);
    Warmup.enqueue(() -> Optional.of(candidate));
    assertTrue(candidate.isDone());
    assertTrue(candidate.adopted);
    assertEquals(0, candidate.renewals);
  }

  @Test
  void codeOfWhichAPartBoxesForGoodIsRenewedAndThenAdopted() throws InterruptedException {
    Boxing candidate = new Boxing(1);
    Warmup.enqueue(() -> Optional.of(candidate));
    assertTrue(candidate.isDone());
    assertTrue(candidate.adopted);
    assertEquals(1, candidate.renewals);
  }

  @Test
  void codeThatBoxesInEveryAttemptIsGivenUp() throws InterruptedException {
    Boxing candidate = new Boxing(2);
    Warmup.enqueue(() -> Optional.of(candidate));
    assertTrue(candidate.isDone());
    assertFalse(candidate.adopted);
    assertEquals(1, candidate.renewals);
  }
}
