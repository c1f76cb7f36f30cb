package dev.tern.internal.files;

import java.util.Arrays;

/**
 * A text file in the making that takes lines of others: one that ends without a line end gets it.
 */
final class TextPart implements RecordSink {
  /** A byte order mark, which begins a line. */
  private static final byte[] MARK = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};

  private final TextOutput out;

  /** Whether the last line ended, and whether the last that did ended with CR and LF. */
  private boolean ended = true;

  private boolean returns;

  /**
   * Puts the first text.
   *
   * @param head byte order marks, lines, both or nothing
   */
  TextPart(TextOutput out, byte[] head) {
    this.out = out;
    if (head.length > 0) {
      put(head, 0, head.length);
      int last = Math.max(0, head.length - MARK.length);
      ended |= Arrays.equals(head, last, head.length, MARK, 0, MARK.length);
    }
  }

  @Override
  public void put(byte[] bytes, int from, int to) {
    RecordBuffer text = out.text();
    if (!ended) {
      text.putAscii(returns ? "\r\n" : "\n");
    }
    text.putBytes(bytes, from, to);
    ended = bytes[to - 1] == '\n';
    if (ended) {
      returns = to - from > 1 && bytes[to - 2] == '\r';
    }
    out.flushFull();
  }

  @Override
  public void complete() {
    out.complete();
  }

  @Override
  public void finish() {
    out.finish();
  }

  @Override
  public void close() {
    out.close();
  }
}
