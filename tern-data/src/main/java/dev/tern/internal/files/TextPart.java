package dev.tern.internal.files;

import java.util.Arrays;

/**
 * A text file in the making that takes lines of others: one that ends without a line end gets it.
 */
final class TextPart implements RecordSink {
  /** A byte order mark, which begins a line. */
  private static final byte[] MARK = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};

  private final TextOutput out;

  /** Whether a backslash before the end of a line makes it a part of the record. */
  private final boolean escapes;

  /** Whether the last line ended, and whether the last that did ended with CR and LF. */
  private boolean ended = true;

  private boolean returns;

  /** Whether the last line ended with CR alone, as where a file is cut within its last line end. */
  private boolean cut;

  /**
   * Puts the first text.
   *
   * @param head byte order marks, lines, both or nothing
   * @param escapes whether a backslash before the end of a line makes it a part of the record
   */
  TextPart(TextOutput out, byte[] head, boolean escapes) {
    this.out = out;
    this.escapes = escapes;
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
      text.putAscii(returns && !cut ? "\r\n" : "\n");
    }
    ended = bytes[to - 1] == '\n' && !(escapes && isEscaped(bytes, from, to - 1));
    cut = bytes[to - 1] == '\r';
    int open = ended || !escapes || bytes[to - 1] == '\n' ? -1 : openBackslash(bytes, from, to);
    if (open >= 0) {
      // Before the line end that follows it needs another to stay what it is.
      text.putBytes(bytes, from, open);
      text.putAscii("\\");
      text.putBytes(bytes, open, to);
    } else {
      text.putBytes(bytes, from, to);
    }
    if (ended) {
      returns = to - from > 1 && bytes[to - 2] == '\r';
    }
    out.flushFull();
  }

  /** Whether the line end at {@code end} is a part of the last field, which then ends the file. */
  private static boolean isEscaped(byte[] bytes, int from, int end) {
    return end > from && openBackslash(bytes, from, end) >= 0;
  }

  /** Where the backslash stands that would escape a line end put behind; -1 for none. */
  private static int openBackslash(byte[] bytes, int from, int to) {
    int last = to - (bytes[to - 1] == '\r' ? 2 : 1);
    int at = last;
    while (at >= from && bytes[at] == '\\') {
      at--;
    }
    return (last - at) % 2 == 1 ? last : -1;
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
