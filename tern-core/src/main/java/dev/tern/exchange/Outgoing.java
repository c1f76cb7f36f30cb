package dev.tern.exchange;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** What goes to one peer: messages in order, cut into frames. */
final class Outgoing {
  private final MessageQueue queue;
  private final FrameWriter writer;
  private final Frame head;
  private final int frameBytes;

  /** Bytes after which others get their turn. */
  private final long turn;

  private int inFrame;

  Outgoing(int mostMessages, FrameWriter writer, Frame head, int frameBytes) {
    queue = new MessageQueue(mostMessages);
    this.writer = writer;
    this.head = head;
    this.frameBytes = frameBytes;
    turn = 4L * frameBytes;
  }

  void add(Message message) {
    queue.add(message);
  }

  /** The message that is being sent or waits for its turn, or null. */
  @Nullable Message first() {
    return queue.peek();
  }

  /** Whether something could be written if the wire took it. */
  boolean wantsToWrite() {
    Message message = queue.peek();
    return message != null && (writer.isBusy() || nextLength(message) >= 0);
  }

  /** Sends what the wire takes; returns how many bytes. */
  long advance(int rank) throws IOException {
    long moved = 0;
    for (Message message = queue.peek(); message != null; message = queue.peek()) {
      if (!writer.isBusy()) {
        int length = nextLength(message);
        if (length < 0 || moved >= turn) {
          return moved;
        }
        begin(message, length, rank);
      }
      moved += writer.push();
      if (writer.isBusy()) {
        return moved;
      }
      message.done += inFrame;
      if (message.done == message.bytes) {
        queue.remove();
        message.owner.finished(message);
      }
    }
    return moved;
  }

  /** Bytes of the next frame, or -1 while they are not known yet. */
  private int nextLength(Message message) {
    int length = (int) Math.min(frameBytes, message.bytes - message.done);
    return message.ready - message.done < length ? -1 : length;
  }

  private void begin(Message message, int length, int rank) {
    head.kind = Frame.DATA;
    head.operation = (byte) message.operation.ordinal();
    head.step = (byte) message.step;
    head.detail = message.detail;
    head.sender = rank;
    head.number = message.number;
    head.total = message.bytes;
    head.length = length;
    writer.begin(head, message.address + message.done);
    inFrame = length;
  }
}
