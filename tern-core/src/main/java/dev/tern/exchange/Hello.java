package dev.tern.exchange;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * What two ranks say first on a connection, 72 bytes in little-endian order:
 *
 * <pre>
 *  0  "TRNH"           16  attempt        28  rank meant          38  byte order of numbers, 0
 *  4  version          20  ranks          32  bytes of a frame    40  nonce, 32 bytes
 *  8  id of the run    24  own rank       36  link, encryption
 * </pre>
 */
final class Hello {
  static final int BYTES = 72;
  static final int NONCE = 40;

  /** The connection for data. */
  static final int DATA = 0;

  /** That for heartbeats and what ends the mesh. */
  static final int CONTROL = 1;

  static final int LINKS = 2;

  private static final int MAGIC = 0x484e5254;
  private static final int VERSION = 1;

  private Hello() {}

  static byte[] of(MeshOptions options, int target, int link) {
    byte[] bytes = new byte[BYTES];
    ByteBuffer hello = view(bytes);
    hello.putInt(MAGIC).putInt(VERSION).putLong(options.run()).putInt(options.attempt());
    hello.putInt(options.ranks()).putInt(options.rank()).putInt(target);
    hello.putInt(options.frameBytes()).put((byte) link);
    hello.put((byte) (options.isEncrypted() ? 1 : 0));
    hello.put((byte) (ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? 0 : 1)).put((byte) 0);
    hello.put(MeshKeys.nonce());
    return bytes;
  }

  private static ByteBuffer view(byte[] hello) {
    return ByteBuffer.wrap(hello).order(ByteOrder.LITTLE_ENDIAN);
  }

  static boolean isHello(byte[] hello) {
    return view(hello).getInt(0) == MAGIC && view(hello).getInt(4) == VERSION;
  }

  static int sender(byte[] hello) {
    return view(hello).getInt(24);
  }

  static int link(byte[] hello) {
    return hello[36];
  }

  /** What {@code came} says otherwise than it must for {@code own}, empty if nothing. */
  static String difference(byte[] own, byte[] came) {
    ByteBuffer a = view(own);
    ByteBuffer b = view(came);
    if (a.getLong(8) != b.getLong(8)) {
      return "run %016x, expected run %016x".formatted(b.getLong(8), a.getLong(8));
    }
    String[] names = {"attempt", "ranks", "bytes a frame"};
    int[] places = {16, 20, 32};
    for (int i = 0; i < names.length; i++) {
      if (a.getInt(places[i]) != b.getInt(places[i])) {
        return "%s %,d, expected %,d".formatted(names[i], b.getInt(places[i]), a.getInt(places[i]));
      }
    }
    if (a.getInt(24) != b.getInt(28) || a.getInt(28) != b.getInt(24)) {
      return "a hello of rank %d to rank %d, expected one of rank %d to rank %d"
          .formatted(b.getInt(24), b.getInt(28), a.getInt(28), a.getInt(24));
    }
    if (own[36] != came[36]) {
      return "a hello for link %d, expected link %d".formatted(came[36], own[36]);
    }
    if (own[37] != came[37]) {
      return came[37] == 0 ? "a rank that does not encrypt" : "a rank that encrypts";
    }
    return own[38] == came[38] ? "" : "a machine with another order of bytes";
  }
}
