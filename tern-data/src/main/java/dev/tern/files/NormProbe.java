package dev.tern.files;

import dev.tern.data.DataException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Walks the records of a Norm file on the guess that keys have one width, to see how long that
 * holds: counts must be possible, labels legal, frames filled and the last record must end the
 * file. A wrong guess rarely survives two records.
 */
final class NormProbe implements AutoCloseable {
  private static final float LEAST_LABEL = 1e-30f;

  private final KeyType keys;
  private final ReadPolicy policy;
  private final BinaryInput in;
  private final NormHeader header;
  private long record;
  private long keyCount;
  private boolean plausible = true;

  private NormProbe(Path file, KeyType keys, ReadPolicy policy) {
    this.keys = keys;
    this.policy = policy;
    in = BinaryInput.open(file);
    try {
      header = NormHeader.read(file, in);
    } catch (RuntimeException e) {
      in.close();
      throw e;
    }
  }

  /** The width of keys that fits the file, where only one does; empty where a file has no keys. */
  static Optional<KeyType> detect(Path file, ReadPolicy policy) {
    try (NormProbe narrow = new NormProbe(file, KeyType.U32, policy);
        NormProbe wide = new NormProbe(file, KeyType.I64, policy)) {
      while (narrow.plausible && wide.plausible && (narrow.more() || wide.more())) {
        narrow.step();
        wide.step();
      }
      if (narrow.plausible != wide.plausible) {
        return Optional.of(narrow.plausible ? KeyType.U32 : KeyType.I64);
      }
      if (narrow.plausible && narrow.keyCount == 0 && wide.keyCount == 0) {
        return Optional.empty();
      }
      throw new DataException(
          "%s: record %s: got data that %s, expected one of them; %s"
              .formatted(
                  file,
                  wide.record + 1,
                  (narrow.plausible
                      ? "fit keys of both 4 and 8 bytes"
                      : "fit keys of neither 4 nor 8" + " bytes"),
                  (narrow.plausible
                      ? "say which"
                      : "check the file, or say which to see the first fault")));
    }
  }

  private boolean more() {
    return record < header.records();
  }

  private void step() {
    if (!plausible) {
      return;
    }
    if (more()) {
      plausible = header.check() == NormCheck.SUM ? stepFrame() : walk(in.size());
      record++;
    }
    if (!more()) {
      plausible &= in.remaining() == 0;
    }
  }

  private boolean stepFrame() {
    if (!in.has(4)) {
      return false;
    }
    int length = in.readInt();
    if (length < header.emptyBytes() || length >= in.remaining() || !in.has(length + 1)) {
      return false;
    }
    long end = in.offset() + length;
    byte sum = in.sum(0, length);
    boolean damaged = sum != in.peekByte(length);
    boolean fits = damaged || (walk(end) && in.offset() == end);
    in.seek(end + 1);
    return fits;
  }

  private boolean walk(long end) {
    if (end - in.offset() < header.emptyBytes() || !in.has(header.fixedBytes())) {
      return false;
    }
    for (int i = 0; i < header.labels(); i++) {
      float label = in.readFloat();
      if (!policy.accepts(label) || (label != 0 && Math.abs(label) < LEAST_LABEL)) {
        return false;
      }
    }
    in.seek(in.offset() + 4L * header.dense());
    for (int s = 0; s < header.slots(); s++) {
      if (end - in.offset() < 4 || !in.has(4)) {
        return false;
      }
      int count = in.readInt();
      long bytes = (long) count * keys.bytes();
      if (count < 0 || bytes > end - in.offset()) {
        return false;
      }
      keyCount += count;
      in.seek(in.offset() + bytes);
    }
    return true;
  }

  @Override
  public void close() {
    in.close();
  }
}
