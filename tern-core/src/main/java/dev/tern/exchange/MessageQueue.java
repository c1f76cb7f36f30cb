package dev.tern.exchange;

import org.jspecify.annotations.Nullable;

/** Messages of one way in their order; as many at most as operations may be in flight. */
final class MessageQueue {
  private final @Nullable Message[] ring;
  private int first;
  private int count;

  MessageQueue(int most) {
    ring = new Message[most];
  }

  void add(Message message) {
    if (count == ring.length) {
      throw new IllegalStateException("exchange: got a message too many, expected " + count);
    }
    ring[(first + count++) % ring.length] = message;
  }

  /** The message whose turn it is, or null. */
  @Nullable Message peek() {
    return ring[first];
  }

  void remove() {
    ring[first] = null;
    first = (first + 1) % ring.length;
    count--;
  }

  boolean isEmpty() {
    return count == 0;
  }
}
