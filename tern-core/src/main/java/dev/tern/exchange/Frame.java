package dev.tern.exchange;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * The head of a frame, 64 bytes in little-endian order, before its payload:
 *
 * <pre>
 *  0  "TRNX"                         24  number of the operation      52  CRC-32C of the payload
 *  4  version, kind, operation, step 32  number of the frame          56  detail
 *  8  rank of the sender             40  bytes of the whole message   60  CRC-32C of bytes 0 to 59
 * 12  attempt                        48  bytes of the payload
 * 16  id of the run
 * </pre>
 *
 * <p>The detail says which {@link Reduction} and which root the operation has: see {@link
 * Operation#detail}. Frames of one way are numbered from 0. A message is cut into frames of equal
 * size; the last may be shorter. Where frames are encrypted, the head is not, but authenticated; 16
 * bytes of tag follow the payload, whose CRC is then 0.
 */
final class Frame {
  static final int BYTES = 64;

  static final byte DATA = 1;
  static final byte HEARTBEAT = 2;
  static final byte ABORT = 3;
  static final byte GOODBYE = 4;

  private static final int MAGIC = 0x584e5254;
  private static final byte VERSION = 2;
  private static final int SUMMED = 60;

  private final long run;
  private final int attempt;
  private final CRC32C crc = new CRC32C();

  byte kind;
  byte operation;
  byte step;
  int detail;
  int sender;
  long number;
  long frame;
  long total;
  int length;
  int payloadCrc;

  Frame(long run, int attempt) {
    this.run = run;
    this.attempt = attempt;
  }

  /** Writes the head to the first bytes of {@code to}, a little-endian buffer. */
  void put(ByteBuffer to) {
    to.putInt(0, MAGIC);
    to.put(4, VERSION).put(5, kind).put(6, operation).put(7, step);
    to.putInt(8, sender).putInt(12, attempt).putLong(16, run);
    to.putLong(24, number).putLong(32, frame).putLong(40, total);
    to.putInt(48, length).putInt(52, payloadCrc).putInt(56, detail);
    to.putInt(SUMMED, sum(to, 0));
  }

  /**
   * Reads the head at {@code at}. It must come from {@code peer} and be number {@code next} of its
   * way.
   */
  void take(ByteBuffer from, int at, int peer, long next) throws FrameFaultException {
    requireWhole(from, at);
    sender = from.getInt(at + 8);
    if (sender != peer || from.getInt(at + 12) != attempt || from.getLong(at + 16) != run) {
      throw new FrameFaultException(
          "a frame of rank %d, attempt %d, run %016x, expected rank %d, attempt %d, run %016x"
              .formatted(sender, from.getInt(at + 12), from.getLong(at + 16), peer, attempt, run));
    }
    kind = from.get(at + 5);
    operation = from.get(at + 6);
    step = from.get(at + 7);
    number = from.getLong(at + 24);
    frame = from.getLong(at + 32);
    total = from.getLong(at + 40);
    length = from.getInt(at + 48);
    payloadCrc = from.getInt(at + 52);
    detail = from.getInt(at + 56);
    if (frame != next) {
      throw new FrameFaultException("frame %d, expected frame %d".formatted(frame, next));
    }
    if (length < 0 || total < length) {
      throw new FrameFaultException(
          "a frame of %,d bytes of a message of %,d".formatted(length, total));
    }
  }

  private void requireWhole(ByteBuffer from, int at) throws FrameFaultException {
    int magic = from.getInt(at);
    if (magic != MAGIC) {
      throw new FrameFaultException(
          "%08x where a frame begins, expected %08x".formatted(magic, MAGIC));
    }
    if (from.get(at + 4) != VERSION) {
      throw new FrameFaultException(
          "a frame of version %d, expected version %d".formatted(from.get(at + 4), VERSION));
    }
    int sum = sum(from, at);
    if (sum != from.getInt(at + SUMMED)) {
      throw new FrameFaultException(
          "the head of a frame with CRC-32C %08x, expected %08x"
              .formatted(sum, from.getInt(at + SUMMED)));
    }
  }

  private int sum(ByteBuffer head, int at) {
    int position = head.position();
    int limit = head.limit();
    crc.reset();
    crc.update(head.limit(at + SUMMED).position(at));
    head.limit(limit).position(position);
    return (int) crc.getValue();
  }

  /** A buffer as heads are written to and read from. */
  static ByteBuffer littleEndian(ByteBuffer buffer) {
    return buffer.order(ByteOrder.LITTLE_ENDIAN);
  }
}
