package dev.tern.internal.kernel.warmup;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * Gets vector code compiled before it is used. Until the JIT's last tier has compiled it, a loop of
 * Vector API calls boxes every vector and runs a hundred times slower than scalar code, so a
 * background thread drives new code on memory of its own and hands it over once several rounds
 * allocate nothing. All that waits is driven in turns: what the JIT takes long over holds up
 * nobody. What is in use then may be looked after: see {@link BoxingWatch}.
 *
 * <p>The system property {@code tern.kernels=eager} uses vector code at once, for tests.
 */
public final class Warmup {
  public static final boolean EAGER = "eager".equals(System.getProperty("tern.kernels"));

  /** Code to be compiled. */
  public interface Candidate {
    /**
     * Runs the code once or a few times on memory of its own, by a call that has met several
     * receivers: with one the JIT would compile the code into the caller, and leave those that
     * others call to the interpreter.
     *
     * @param large whether in the sizes of work; else small, but through every branch: the JIT
     *     leaves a branch that it never saw taken to the interpreter
     */
    void round(boolean large);

    /** Takes the code into use. */
    void adopt();

    /** Puts the code into a new class: see {@link FreshCode}. */
    void renew();

    /** Times that it is tried before {@link #giveUp}. */
    default int attempts() {
      return ATTEMPTS;
    }

    /** Rounds after which the JIT has seen enough and only needs time. */
    default int busyRounds() {
      return BUSY_ROUNDS;
    }

    /** Says that the code will not be used. */
    void giveUp();

    /**
     * Whether the code is looked after once it is in use: if it comes to box for good, {@link
     * #withdraw} and {@link #renew} follow, and it is driven again.
     */
    default boolean isWatched() {
      return false;
    }

    /** Takes the code out of use. */
    default void withdraw() {}
  }

  /** Bytes that a round may allocate, by other doings of the thread. */
  private static final long FEW_BYTES = 64;

  /** Of code whose rounds take long. */
  private static final int BUSY_ROUNDS = 300;

  /** Of few short loops. */
  static final int MANY_ROUNDS = 1200;

  private static final long PAUSE_NANOS = 200_000;

  /** Matrix products hardly go without. */
  private static final int ATTEMPTS = 20;

  private static final LinkedBlockingQueue<Supplier<Optional<? extends Candidate>>> QUEUE =
      new LinkedBlockingQueue<>();
  private static final AtomicInteger PENDING = new AtomicInteger();

  static {
    Thread.ofPlatform().daemon().name("tern-warmup").start(Warmup::serve);
  }

  private Warmup() {}

  /** Has a candidate driven, which the warm-up thread makes; nothing if there is none after all. */
  public static void enqueue(Supplier<Optional<? extends Candidate>> candidate) {
    PENDING.incrementAndGet();
    QUEUE.add(candidate);
  }

  /** Whether nothing waits. */
  public static boolean isIdle() {
    return PENDING.get() == 0;
  }

  private static void serve() {
    List<WarmupRun> drives = new ArrayList<>();
    List<BoxingWatch> watches = new ArrayList<>();
    try {
      while (true) {
        if (drives.isEmpty()) {
          await(watches).ifPresent(next -> admit(next, drives));
        }
        for (var next = QUEUE.poll(); next != null; next = QUEUE.poll()) {
          admit(next, drives);
        }
        look(watches, drives);
        if (!drive(drives, watches) && !drives.isEmpty()) {
          LockSupport.parkNanos(PAUSE_NANOS);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Waits for something new, or until it is time to look at what is in use. */
  private static Optional<Supplier<Optional<? extends Candidate>>> await(List<BoxingWatch> watches)
      throws InterruptedException {
    if (watches.isEmpty()) {
      return Optional.of(QUEUE.take());
    }
    long nanos = watches.stream().mapToLong(BoxingWatch::nanos).min().orElseThrow();
    return Optional.ofNullable(QUEUE.poll(Math.max(0, nanos), TimeUnit.NANOSECONDS));
  }

  /** Gives each a turn that is to have one; false if none was. */
  private static boolean drive(List<WarmupRun> drives, List<BoxingWatch> watches) {
    boolean ran = false;
    boolean busy = false;
    for (WarmupRun drive : List.copyOf(drives)) {
      boolean due = drive.isBusy() ? !busy : drive.isDue();
      busy |= drive.isBusy();
      ran |= due;
      if (due && drive.round()) {
        drives.remove(drive);
        PENDING.decrementAndGet();
        if (drive.isAdopted() && drive.candidate().isWatched()) {
          watches.add(new BoxingWatch(drive.candidate()));
        }
      }
    }
    return ran;
  }

  /** Has what boxes for good driven anew. */
  private static void look(List<BoxingWatch> watches, List<WarmupRun> drives) {
    for (BoxingWatch watch : List.copyOf(watches)) {
      try {
        if (watch.boxes()) {
          watches.remove(watch);
          watch.candidate().withdraw();
          watch.candidate().renew();
          PENDING.incrementAndGet();
          drives.add(new WarmupRun(watch.candidate()));
        }
      } catch (RuntimeException | Error e) {
        watches.remove(watch);
        log(e);
      }
    }
  }

  /** Runs a round; returns the bytes that it allocated, 0 where other doings of the thread may. */
  static long round(Candidate candidate, boolean large) {
    long before = Heap.BEAN.getCurrentThreadAllocatedBytes();
    candidate.round(large);
    long allocated = Heap.BEAN.getCurrentThreadAllocatedBytes() - before;
    return allocated < FEW_BYTES ? 0 : allocated;
  }

  private static void admit(Supplier<Optional<? extends Candidate>> maker, List<WarmupRun> drives) {
    try {
      Optional<? extends Candidate> candidate = maker.get();
      if (candidate.isPresent()) {
        drives.add(new WarmupRun(candidate.get()));
        return;
      }
    } catch (RuntimeException | Error e) {
      log(e);
    }
    PENDING.decrementAndGet();
  }

  static void log(Throwable e) {
    System.getLogger("dev.tern").log(System.Logger.Level.DEBUG, "code stays scalar", e);
  }

  /** What threads allocate. */
  private static final class Heap {
    static final ThreadMXBean BEAN = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  }
}
