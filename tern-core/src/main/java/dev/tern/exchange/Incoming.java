package dev.tern.exchange;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** What comes from one peer: the messages that operations wait for, in order. */
final class Incoming {
  private final MessageQueue queue;
  private final FrameReader reader;
  private final Frame head;
  private final int frameBytes;
  private final long turn;
  private final FrameReader.Moved moved = new FrameReader.Moved();

  /** Whether {@link #head} is the checked head of the frame at hand. */
  private boolean isChecked;

  Incoming(int mostMessages, FrameReader reader, Frame head, int frameBytes) {
    queue = new MessageQueue(mostMessages);
    this.reader = reader;
    this.head = head;
    this.frameBytes = frameBytes;
    turn = 4L * frameBytes;
  }

  void add(Message message) {
    queue.add(message);
  }

  /** The message that is being received or waited for, or null. */
  @Nullable Message first() {
    return queue.peek();
  }

  /** Whether something could be read if the wire had it. */
  boolean wantsToRead() {
    Message message = queue.peek();
    return message != null && (isChecked || message.owner.hasRoom(message));
  }

  /** Bytes of the first message that came. */
  long arrived() {
    Message message = queue.peek();
    return message == null ? 0 : message.done + (isChecked ? reader.partial(head) : 0);
  }

  /**
   * Receives what is there; whether something moved. A frame that was read ahead counts as well as
   * bytes of the wire: it may finish an operation, or make room for what another peer sent.
   */
  boolean advance() throws IOException, FrameFaultException {
    moved.bytes = 0;
    boolean any = false;
    for (Message message = queue.peek(); message != null; message = queue.peek()) {
      if (!isChecked) {
        if (!message.owner.hasRoom(message) || moved.bytes >= turn || !reader.head(head, moved)) {
          return any || moved.bytes > 0;
        }
        check(message);
        isChecked = true;
      }
      if (!reader.payload(head, place(message), moved)) {
        return any || moved.bytes > 0;
      }
      isChecked = false;
      any = true;
      message.done += head.length;
      message.owner.arrived(message, head.length);
      if (message.done == head.total) {
        queue.remove();
        message.owner.finished(message);
      }
    }
    return any;
  }

  private long place(Message message) {
    return message.isWindowed
        ? message.address + (message.done / frameBytes & 1) * frameBytes
        : message.address + message.done;
  }

  /** Holds a head to the message that is waited for, before a byte of its payload is read. */
  private void check(Message message) throws FrameFaultException {
    boolean isExpected =
        head.kind == Frame.DATA
            && head.operation == message.operation.ordinal()
            && head.detail == message.detail
            && head.step == message.step
            && head.number == message.number;
    boolean fits = message.isExact ? head.total == message.bytes : head.total <= message.bytes;
    if (!isExpected || !fits) {
      boolean isOther = head.detail != message.detail;
      throw new FrameFaultException(
          "%s %,d%s of %,d bytes%s, expected %s%s of %s%,d bytes"
              .formatted(
                  head.kind == Frame.DATA
                      ? Operation.name(head.operation)
                      : "frame of kind " + head.kind + " in " + Operation.name(head.operation),
                  head.number,
                  isOther ? Operation.detail(head.detail) : "",
                  head.total,
                  head.step == 0 ? "" : ", second step",
                  message.text(),
                  isOther ? Operation.detail(message.detail) : "",
                  message.isExact ? "" : "at most ",
                  message.bytes));
    }
    long rest = Math.min(frameBytes, head.total - message.done);
    if (head.length != rest) {
      throw new FrameFaultException(
          "a frame of %,d bytes, expected %,d: bytes %,d to %,d of %s"
              .formatted(head.length, rest, message.done, message.done + rest, message.text()));
    }
  }
}
