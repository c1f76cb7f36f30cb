package dev.tern.bench.exchange;

import dev.tern.bench.Machine;
import dev.tern.exchange.FrameFuzz;
import java.util.Locale;

/**
 * {@code bench fuzz --exchange FRAMES}: damaged frames against live meshes ({@link FrameFuzz}), one
 * case after another until so many frames were sent. Ends in an error at wrong bytes, at an error
 * that names nobody, at a case that hangs, and where the process comes to hold more and more.
 */
public final class ExchangeFuzz {
  private static final int SHOWN = 3;
  private static final int EACH_LOOKED_AT = 4000;
  private static final long MOST_HELD = 64L << 20;

  private ExchangeFuzz() {}

  /** Checks cases from {@code seed} on. */
  public static void run(long most, long seed, boolean json) {
    FrameFuzz fuzz = new FrameFuzz();
    long start = System.nanoTime();
    long cases = 0;
    long failed = 0;
    long heldAtFirst = 0;
    for (; fuzz.frames() < most; cases++) {
      String wrong = fuzz.check(seed + cases);
      if (!wrong.isEmpty() && failed++ < SHOWN) {
        System.err.println("fuzz: " + wrong);
      }
      if (cases % EACH_LOOKED_AT == EACH_LOOKED_AT - 1) {
        long held = held();
        heldAtFirst = heldAtFirst == 0 ? held : heldAtFirst;
        if (held > heldAtFirst + MOST_HELD) {
          throw new IllegalStateException(
              "fuzz: got %,d bytes of heap in use after %,d cases, expected about %,d"
                  .formatted(held, cases, heldAtFirst));
        }
        if (!json) {
          System.out.printf(
              Locale.ROOT, "%,d frames, %,d cases, %d wrong%n", fuzz.frames(), cases + 1, failed);
        }
      }
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    System.out.printf(
        Locale.ROOT,
        json
            ? "{\"frames\": %d, \"cases\": %d, \"refused\": %d, \"whole\": %d, \"wrong\": %d,"
                + " \"seconds\": %.1f}%n"
            : "%,d frames in %,d cases: %,d refused, %,d whole all the same, %d wrong; %.1f s%n",
        fuzz.frames(),
        cases,
        fuzz.refused(),
        fuzz.taken(),
        failed,
        seconds);
    if (!json) {
      System.out.println(Machine.line());
    }
    if (failed > 0) {
      throw new IllegalStateException("fuzz: got " + failed + " wrong cases, expected none");
    }
  }

  private static long held() {
    System.gc();
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }
}
