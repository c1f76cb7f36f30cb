package dev.tern.files.records;

import dev.tern.base.DataException;
import dev.tern.files.KeyType;
import dev.tern.files.ReadPolicy;
import dev.tern.internal.files.BinaryInput;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Finds the width of a Norm file's keys, which the file does not say, from how records add up.
 *
 * <p>Framed records each tell for themselves: the keys of the right width end where the frame does.
 * They are asked until one width leads, so damaged ones do not matter. Plain records are walked
 * with both widths at once: the wrong one soon meets counts that cannot be and labels that are
 * none, or misses the end of the file. Where damage stops both walks, the longer one tells, else
 * the size of the file.
 */
final class NormProbe {
  /** Records by which a width must lead to be settled before the end of the file. */
  private static final int LEAD = 16;

  private NormProbe() {}

  /**
   * The width of keys that fits the file; empty where it has no keys or nothing of it fits either.
   *
   * @throws DataException if both widths fit
   */
  static Optional<KeyType> detect(Path file, ReadPolicy policy) {
    try (BinaryInput in = BinaryInput.open(file)) {
      NormHeader header = NormHeader.read(file, in);
      return header.check() == NormCheck.SUM
          ? framed(file, in, header)
          : plain(file, policy, header, in.size());
    }
  }

  private static Optional<KeyType> framed(Path file, BinaryInput in, NormHeader header) {
    int narrow = 0;
    int wide = 0;
    boolean both = false;
    for (long i = 0; i < header.records() && Math.abs(narrow - wide) < LEAD; i++) {
      if (!in.has(4)) {
        break;
      }
      int length = in.readInt();
      if (length < header.emptyBytes()
          || length >= BinaryInput.MAX_CONTIGUOUS
          || !in.has(length + 1)) {
        break;
      }
      long start = in.offset();
      if (in.sum(0, length) == in.peekByte(length)) {
        boolean fitsNarrow = fills(in, header, KeyType.U32, start + length);
        in.seek(start);
        boolean fitsWide = fills(in, header, KeyType.I64, start + length);
        narrow += fitsNarrow && !fitsWide ? 1 : 0;
        wide += fitsWide && !fitsNarrow ? 1 : 0;
        both |= fitsNarrow && fitsWide && length > header.emptyBytes();
      }
      in.seek(start + length + 1);
    }
    if (narrow == wide && (both || narrow > 0)) {
      throw unclear(file);
    }
    return narrow == wide
        ? Optional.empty()
        : Optional.of(narrow > wide ? KeyType.U32 : KeyType.I64);
  }

  /** Whether the slots of a framed record of {@code keys} end at {@code end}. */
  private static boolean fills(BinaryInput in, NormHeader header, KeyType keys, long end) {
    in.seek(in.offset() + header.fixedBytes());
    for (int s = 0; s < header.slots(); s++) {
      long room = end - in.offset() - 4;
      long bytes = room < 0 ? -1 : (long) in.readInt() * keys.bytes();
      if (bytes < 0 || bytes > room) {
        return false;
      }
      in.seek(in.offset() + bytes);
    }
    return in.offset() == end;
  }

  private static Optional<KeyType> plain(
      Path file, ReadPolicy policy, NormHeader header, long size) {
    try (Race labelled = new Race(file, policy, true)) {
      labelled.run();
      if (labelled.settled()) {
        return labelled.winner();
      }
      try (Race bare = new Race(file, policy, false)) {
        bare.run();
        if (bare.settled()) {
          return bare.winner();
        }
      }
      return labelled.winner().or(() -> bySize(header, size));
    }
  }

  /** The width that the bytes left for keys allow, where they are of one a slot, or odd. */
  private static Optional<KeyType> bySize(NormHeader header, long size) {
    if (header.records() > size) {
      return Optional.empty();
    }
    long bytes = size - NormHeader.BYTES - header.records() * header.emptyBytes();
    long slots = header.records() * header.slots();
    if (bytes > 0 && (bytes == 4 * slots || bytes % 8 == 4)) {
      return Optional.of(KeyType.U32);
    }
    return bytes > 0 && bytes == 8 * slots ? Optional.of(KeyType.I64) : Optional.empty();
  }

  private static DataException unclear(Path file) {
    return new DataException(
        file
            + ": got records that fit keys of both 4 and 8 bytes, expected one width to fit; give"
            + " the type of keys");
  }

  /** Two walks through a plain file, side by side. */
  private static final class Race implements AutoCloseable {
    private final Path file;
    private final Walk narrow;
    private final Walk wide;

    Race(Path file, ReadPolicy policy, boolean labels) {
      this.file = file;
      narrow = new Walk(file, KeyType.U32, policy, labels);
      wide = new Walk(file, KeyType.I64, policy, labels);
    }

    void run() {
      while ((narrow.more() || wide.more()) && !leads(narrow, wide) && !leads(wide, narrow)) {
        narrow.step();
        wide.step();
      }
    }

    private static boolean leads(Walk one, Walk other) {
      return one.sound && !other.sound && one.good() - other.good() >= LEAD;
    }

    /** Whether a walk is known to be right, or both reached the end. */
    boolean settled() {
      return narrow.sound || wide.sound;
    }

    /** The width whose walk was right, or went farther; empty where neither or without keys. */
    Optional<KeyType> winner() {
      if (narrow.sound != wide.sound) {
        return Optional.of(narrow.sound ? KeyType.U32 : KeyType.I64);
      }
      if (narrow.good() != wide.good()) {
        return Optional.of(narrow.good() > wide.good() ? KeyType.U32 : KeyType.I64);
      }
      if (narrow.sound && narrow.keyCount + wide.keyCount > 0) {
        throw unclear(file);
      }
      return Optional.empty();
    }

    @Override
    public void close() {
      narrow.close();
      wide.close();
    }
  }

  /** Goes from record to record of a plain file on the guess that keys have one width. */
  private static final class Walk implements AutoCloseable {
    private static final float LEAST_LABEL = 1e-30f;

    private final KeyType keys;
    private final ReadPolicy.Labels values;
    private final boolean mayMiss;
    private final boolean labels;
    private final BinaryInput in;
    private final NormHeader header;
    private long records;
    private long badRecords;
    private long keyCount;
    private boolean sound = true;

    Walk(Path file, KeyType keys, ReadPolicy policy, boolean labels) {
      this.keys = keys;
      // Labels of some names have no names here.
      values = policy.apart().isEmpty() ? policy.labels() : ReadPolicy.Labels.FINITE;
      mayMiss = policy.apart().values().stream().anyMatch(ReadPolicy.Labels::optional);
      this.labels = labels && !policy.labels().equals(ReadPolicy.Labels.NONE);
      in = BinaryInput.open(file);
      try {
        header = NormHeader.read(file, in);
      } catch (RuntimeException e) {
        in.close();
        throw e;
      }
      sound = header.records() > 0 || in.remaining() == 0;
    }

    boolean more() {
      return sound && records < header.records();
    }

    /** Records walked whose labels were legal. */
    long good() {
      return records - badRecords;
    }

    void step() {
      if (!more()) {
        return;
      }
      sound = record();
      records += sound ? 1 : 0;
      // Some labels may be bad in data that are otherwise sound; of a wrong width, most are.
      sound &= badRecords <= 4 + records / 8;
      sound &= records < header.records() || in.remaining() == 0;
    }

    private boolean record() {
      if (in.remaining() < header.emptyBytes() || !in.has(header.fixedBytes())) {
        return false;
      }
      boolean legal = true;
      for (int i = 0; i < header.labels(); i++) {
        float label = in.readFloat();
        legal &=
            mayMiss && Float.isNaN(label)
                || values.accepts(label) && (label == 0 || Math.abs(label) >= LEAST_LABEL);
      }
      in.seek(in.offset() + 4L * header.dense());
      for (int s = 0; s < header.slots(); s++) {
        if (!in.has(4)) {
          return false;
        }
        int count = in.readInt();
        long bytes = (long) count * keys.bytes();
        if (count < 0 || bytes > in.remaining()) {
          return false;
        }
        keyCount += count;
        in.seek(in.offset() + bytes);
      }
      badRecords += legal || !labels ? 0 : 1;
      return true;
    }

    @Override
    public void close() {
      in.close();
    }
  }
}
