package dev.tern.internal.memory;

import java.util.ArrayList;
import java.util.List;

/**
 * The last events of an {@link Allocator}, in a ring of primitive arrays. It is off until {@link
 * #start}. From then on an event takes about ten nanoseconds and no heap memory.
 *
 * <p>Thread-safe. A thread that holds other locks may call it: no lock is taken inside of its own.
 */
public final class AllocationHistory {
  /** What happened; in brackets PyTorch's names for it. */
  public enum Action {
    /** A block was given out (alloc). */
    ALLOCATE,
    /** A block came back (free_requested and free_completed). */
    FREE,
    /** Memory was put behind addresses (segment_map). */
    GROW,
    /** Memory was taken from addresses (segment_unmap). */
    TRIM,
    /** A request was refused (oom). */
    OUT_OF_MEMORY
  }

  /**
   * One event.
   *
   * @param nanos nanoseconds since the history began
   * @param address of the block or of the memory. For a refused request: the bytes of the budget
   *     that were in no live block
   * @param bytes of the block, rounded up to 64, or of the memory
   * @param holder who holds the block; empty for memory
   */
  public record Event(Action action, long nanos, long address, long bytes, String holder) {}

  private static final int MOST_EVENTS = 1 << 24;
  private static final Action[] ACTIONS = Action.values();

  private volatile boolean isOn;
  private long began;
  private long count;
  private Ring ring = new Ring(0);

  /** The events by their place in the ring; an action by its ordinal. */
  private record Ring(
      byte[] actions, long[] times, long[] addresses, long[] sizes, String[] holders) {
    Ring(int events) {
      this(
          new byte[events],
          new long[events],
          new long[events],
          new long[events],
          new String[events]);
    }
  }

  AllocationHistory() {}

  /** Begins anew. The last {@code events} events stay. */
  synchronized void start(int events) {
    if (events < 1 || events > MOST_EVENTS) {
      throw new IllegalArgumentException(
          "memory history: got room for %d events, expected 1 to %d, or 0 to end it; each takes about"
                  .formatted(events, MOST_EVENTS)
              + " 30 bytes");
    }
    ring = new Ring(events);
    count = 0;
    began = System.nanoTime();
    isOn = true;
  }

  /** Stops recording; the events so far can still be read. */
  void stop() {
    isOn = false;
  }

  boolean isOn() {
    return isOn;
  }

  /** Notes an event, if on. */
  void note(Action action, long address, long bytes, String holder) {
    if (isOn) {
      add(action, address, bytes, holder);
    }
  }

  private synchronized void add(Action action, long address, long bytes, String holder) {
    int at = (int) (count++ % ring.actions.length);
    ring.actions[at] = (byte) action.ordinal();
    ring.times[at] = System.nanoTime() - began;
    ring.addresses[at] = address;
    ring.sizes[at] = bytes;
    ring.holders[at] = holder;
  }

  /** The number of events since the start. Beyond the room of the ring, the oldest are lost. */
  public synchronized long count() {
    return count;
  }

  /** At most {@code most} of the last events, the oldest first. */
  public synchronized List<Event> last(int most) {
    long kept = Math.min(Math.min(count, ring.actions.length), most);
    List<Event> events = new ArrayList<>();
    for (long i = count - kept; i < count; i++) {
      int at = (int) (i % ring.actions.length);
      Action action = ACTIONS[ring.actions[at]];
      events.add(
          new Event(action, ring.times[at], ring.addresses[at], ring.sizes[at], ring.holders[at]));
    }
    return List.copyOf(events);
  }
}
