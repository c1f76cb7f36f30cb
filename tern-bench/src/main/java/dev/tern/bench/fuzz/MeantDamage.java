package dev.tern.bench.fuzz;

import java.util.Arrays;
import java.util.SplittableRandom;

/** One damage of a kind that programs, copies and people do to files of data. */
final class MeantDamage {
  /** What stands between fields, or changes what a character means. */
  private static final String SIGNS = ",\t|:;\u0001\\#";

  private MeantDamage() {}

  /** {@code bytes} with one damage; it may do nothing where they hold no place for it. */
  static byte[] of(byte[] bytes, SplittableRandom random) {
    return switch (random.nextInt(15)) {
      case 0 -> inserted(bytes, place(bytes, random), "\"");
      case 1 -> without(bytes, random, '"');
      case 2 -> without(bytes, random, '\n');
      case 3 -> inserted(bytes, behind(bytes, random, '\n'), "\n");
      case 4 -> without(bytes, random, SIGNS.charAt(random.nextInt(SIGNS.length())));
      case 5 -> Arrays.copyOf(bytes, place(bytes, random));
      case 6 -> inserted(bytes, bytes.length, "garbage");
      case 7 -> Arrays.copyOf(bytes, bytes.length + random.nextInt(1, 600));
      case 8 -> inserted(bytes, behind(bytes, random, '\n'), "x");
      case 9 -> inserted(bytes, behind(bytes, random, '\n'), "1,2\n");
      case 10 -> joined(bytes, bytes);
      case 11 -> joined(bytes, Arrays.copyOf(bytes, place(bytes, random)));
      case 12 -> inserted(bytes, place(bytes, random), "\\");
      case 13 -> inserted(bytes, behind(bytes, random, '\n'), "# ");
      default -> swapped(bytes, random);
    };
  }

  private static int place(byte[] bytes, SplittableRandom random) {
    return random.nextInt(bytes.length + 1);
  }

  /** Behind a {@code value} drawn at random; 0 where there is none. */
  private static int behind(byte[] bytes, SplittableRandom random, int value) {
    int from = place(bytes, random);
    for (int i = 0; i < bytes.length; i++) {
      int at = (from + i) % bytes.length;
      if (bytes[at] == value) {
        return at + 1;
      }
    }
    return 0;
  }

  private static byte[] without(byte[] bytes, SplittableRandom random, int value) {
    int at = behind(bytes, random, value);
    if (at == 0) {
      return bytes;
    }
    byte[] shorter = Arrays.copyOf(bytes, bytes.length - 1);
    System.arraycopy(bytes, at, shorter, at - 1, bytes.length - at);
    return shorter;
  }

  private static byte[] inserted(byte[] bytes, int at, String text) {
    byte[] longer = Arrays.copyOf(bytes, bytes.length + text.length());
    for (int i = 0; i < text.length(); i++) {
      longer[at + i] = (byte) text.charAt(i);
    }
    System.arraycopy(bytes, at, longer, at + text.length(), bytes.length - at);
    return longer;
  }

  private static byte[] joined(byte[] bytes, byte[] more) {
    byte[] both = Arrays.copyOf(bytes, bytes.length + more.length);
    System.arraycopy(more, 0, both, bytes.length, more.length);
    return both;
  }

  /** Two pieces of equal length change places. */
  private static byte[] swapped(byte[] bytes, SplittableRandom random) {
    byte[] swapped = bytes.clone();
    int length = Math.min(random.nextInt(1, 64), bytes.length / 2);
    if (length == 0) {
      return swapped;
    }
    int first = random.nextInt(bytes.length - 2 * length + 1);
    int second = random.nextInt(first + length, bytes.length - length + 1);
    System.arraycopy(bytes, second, swapped, first, length);
    System.arraycopy(bytes, first, swapped, second, length);
    return swapped;
  }
}
