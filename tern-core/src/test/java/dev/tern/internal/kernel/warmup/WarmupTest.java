package dev.tern.internal.kernel.warmup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

final class WarmupTest {
  private static final int SLOW_ROUNDS = 10;
  private static final long PATIENCE_SECONDS = 60;

  /** Allocates as code does of which the JIT compiles one part well and another never. */
  private static final class Boxing implements Warmup.Candidate {
    private final CountDownLatch done = new CountDownLatch(1);
    private final int badAttempts;
    private volatile int rounds;
    private volatile int entries;
    private volatile int slowEntries;
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
    public void round(Warmup.Round round) {
      if (round == Warmup.Round.ENTRY) {
        entries = entries + 1;
        return;
      }
      rounds = rounds + 1;
      if (rounds <= SLOW_ROUNDS) {
        slowEntries = entries;
        boxed = new byte[4096];
      } else if (renewals < badAttempts) {
        boxed = new byte[1024];
      }
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

  /** Comes to allocate once it is in use, as code does that the JIT takes back. */
  private static final class Spoilt implements Warmup.Candidate {
    private final CountDownLatch done = new CountDownLatch(1);
    private final List<String> events = Collections.synchronizedList(new ArrayList<>());
    private volatile byte[] boxed;

    @Override
    public void round(Warmup.Round round) {
      if (events.equals(List.of("adopted"))) {
        boxed = new byte[1024];
      }
    }

    @Override
    public void adopt() {
      events.add("adopted");
      if (!isWatched()) {
        done.countDown();
      }
    }

    @Override
    public boolean isWatched() {
      return !events.contains("withdrawn");
    }

    @Override
    public void withdraw() {
      events.add("withdrawn");
    }

    @Override
    public void renew() {
      events.add("renewed");
    }

    @Override
    public void giveUp() {
      events.add("given up");
      done.countDown();
    }
  }

  @Test
  void codeThatComesToBoxInUseIsWithdrawnAndDrivenAnew() throws InterruptedException {
    Spoilt candidate = new Spoilt();
    Warmup.enqueue(() -> Optional.of(candidate));
    assertTrue(candidate.done.await(PATIENCE_SECONDS, TimeUnit.SECONDS));
    assertEquals(List.of("adopted", "withdrawn", "renewed", "adopted"), candidate.events);
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
  void codeIsEnteredBeforeEachRoundWhileItAllocatesAndOftenBeforeTheFirst()
      throws InterruptedException {
    Boxing candidate = new Boxing(0);
    Warmup.enqueue(() -> Optional.of(candidate));
    assertTrue(candidate.isDone());
    assertTrue(candidate.slowEntries > SLOW_ROUNDS);
    assertEquals(candidate.slowEntries + 1, candidate.entries);
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
  void codeThatBoxesInSmallSizesThoughNoProbeDoesIsRenewedSoon() throws InterruptedException {
    CountDownLatch renewed = new CountDownLatch(1);
    byte[][] boxed = new byte[1][];
    Warmup.enqueue(() ->
        Optional.of(
            new Warmup.Candidate() {
              @Override
              public void round(Warmup.Round round) {
                if (round == Warmup.Round.SMALL && renewed.getCount() > 0) {
                  boxed[0] = new byte[1024];
                }
              }

              @Override
              public void adopt() {}

              @Override
              public void renew() {
                renewed.countDown();
              }

              @Override
              public void giveUp() {}
            }));
    assertTrue(renewed.await(PATIENCE_SECONDS, TimeUnit.SECONDS));
  }

  @Test
  void codeThatIsTriedAgainAfterATimeIsAdopted() throws InterruptedException {
    Boxing candidate = new Boxing(0);
    Warmup.enqueueAfter(Duration.ofMillis(1), () -> Optional.of(candidate));
    assertTrue(candidate.isDone());
    assertTrue(candidate.adopted);
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
