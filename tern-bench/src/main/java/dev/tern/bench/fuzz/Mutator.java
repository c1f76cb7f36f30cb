package dev.tern.bench.fuzz;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/** Damages bytes at random, as disks, networks, other programs and adversaries do. */
final class Mutator {
  private static final int MOST = 6;
  private static final long[] INTERESTING = {
    0,
    1,
    2,
    3,
    4,
    7,
    8,
    63,
    64,
    65,
    127,
    128,
    255,
    256,
    1023,
    1024,
    1025,
    4096,
    32767,
    32768,
    65535,
    65536,
    1 << 20,
    1 << 24,
    1 << 26,
    1 << 28,
    1 << 30,
    Integer.MAX_VALUE,
    1L << 31,
    1L << 32,
    1L << 40,
    1L << 62,
    Long.MAX_VALUE
  };

  private final SplittableRandom random;

  Mutator(SplittableRandom random) {
    this.random = random;
  }

  /** {@code bytes} with a few damages; {@code others} are what pieces are taken from. */
  byte[] damage(byte[] bytes, List<byte[]> others) {
    byte[] result = bytes.clone();
    for (int count = random.nextInt(1, MOST + 1); count > 0; count--) {
      result = damageOnce(result, others);
    }
    return result;
  }

  private byte[] damageOnce(byte[] bytes, List<byte[]> others) {
    if (bytes.length == 0) {
      return bytes;
    }
    int at = place(bytes.length);
    return switch (random.nextInt(10)) {
      case 0, 1 -> {
        bytes[at] ^= (byte) (1 << random.nextInt(8));
        yield bytes;
      }
      case 2 -> {
        bytes[at] = (byte) random.nextInt();
        yield bytes;
      }
      case 3, 4 -> putNumber(bytes, at);
      case 5 -> addToNumber(bytes, at);
      case 6 -> Arrays.copyOf(bytes, random.nextInt(8) == 0 ? bytes.length + at % 64 : at);
      case 7 -> splice(bytes, at, bytes, true);
      case 8 -> splice(bytes, at, others.get(random.nextInt(others.size())), random.nextBoolean());
      default -> cutOut(bytes, at);
    };
  }

  /** Any place, those near both ends, where headers and footers are, more often. */
  private int place(int length) {
    int near = Math.min(length, 256);
    return switch (random.nextInt(4)) {
      case 0 -> random.nextInt(near);
      case 1 -> length - 1 - random.nextInt(near);
      default -> random.nextInt(length);
    };
  }

  private byte[] putNumber(byte[] bytes, int at) {
    long value = INTERESTING[random.nextInt(INTERESTING.length)];
    value = random.nextInt(8) == 0 ? bytes.length : random.nextInt(3) == 0 ? -value : value;
    if (at + 8 <= bytes.length && random.nextBoolean()) {
      numbers(bytes).putLong(at, value);
    } else if (at + 4 <= bytes.length) {
      numbers(bytes).putInt(at, (int) value);
    } else {
      bytes[at] = (byte) value;
    }
    return bytes;
  }

  private byte[] addToNumber(byte[] bytes, int at) {
    int more = random.nextInt(-8, 9);
    if (at + 4 <= bytes.length) {
      numbers(bytes).putInt(at, numbers(bytes).getInt(at) + more);
    } else {
      bytes[at] += (byte) more;
    }
    return bytes;
  }

  private static ByteBuffer numbers(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** A piece of {@code source} at {@code at}: over what is there, or before it. */
  private byte[] splice(byte[] bytes, int at, byte[] source, boolean over) {
    int from = random.nextInt(source.length);
    int count = Math.min(source.length - from, random.nextInt(1, 64));
    if (over) {
      count = Math.min(count, bytes.length - at);
      System.arraycopy(source, from, bytes, at, count);
      return bytes;
    }
    byte[] longer = Arrays.copyOf(bytes, bytes.length + count);
    System.arraycopy(bytes, at, longer, at + count, bytes.length - at);
    System.arraycopy(source, from, longer, at, count);
    return longer;
  }

  private byte[] cutOut(byte[] bytes, int at) {
    int count = Math.min(bytes.length - at, random.nextInt(1, 64));
    byte[] shorter = new byte[bytes.length - count];
    System.arraycopy(bytes, 0, shorter, 0, at);
    System.arraycopy(bytes, at + count, shorter, at, shorter.length - at);
    return shorter;
  }
}
