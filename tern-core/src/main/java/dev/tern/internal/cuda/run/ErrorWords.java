package dev.tern.internal.cuda.run;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;

/**
 * What kernels found wrong with their input. Each check has a word on the device: all ones, or the
 * place of the first wrong number in the upper half and the number in the lower. Kernels go on with
 * harmless numbers, so the host looks at the words after the run.
 */
final class ErrorWords {
  private static final long NOTHING = -1;

  private final List<BiFunction<Integer, Integer, RuntimeException>> failures = new ArrayList<>();
  private final long address;

  /** Words from a device address on. */
  ErrorWords(long address) {
    this.address = address;
  }

  /** The device address of a new word; {@code failure} makes an exception of place and number. */
  long add(BiFunction<Integer, Integer, RuntimeException> failure) {
    failures.add(failure);
    return address + 8L * (failures.size() - 1);
  }

  int count() {
    return failures.size();
  }

  long address() {
    return address;
  }

  /** Throws what the first word says that holds something; {@code words} as they were read. */
  void check(long[] words) {
    for (int i = 0; i < failures.size(); i++) {
      if (words[i] != NOTHING) {
        throw failures.get(i).apply((int) (words[i] >>> 32), (int) words[i]);
      }
    }
  }
}
