package dev.tern.internal.cuda.memory;

import dev.tern.internal.cuda.driver.CudaDevice;
import dev.tern.internal.cuda.driver.CudaGraphs;
import dev.tern.internal.cuda.driver.CudaStreams;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.function.LongConsumer;

/**
 * Blocks that nobody wants any more but that streams still use. An event in each of these streams
 * marks the place behind the last use; the block is free when all of its events are done. This is
 * the rule of PyTorch's allocators ({@code recordStream}), and of Torch's before it.
 *
 * <p>A thread that records a graph can neither set nor ask for events of work outside. What it
 * leaves waits for the next call from outside a recording.
 *
 * <p>Not thread-safe.
 */
final class WaitingBlocks implements AutoCloseable {
  private final CudaDevice device;
  private final CudaStreams streams;
  private final LongConsumer free;
  private final Deque<Block> waiting = new ArrayDeque<>();
  private final List<Block> unmarked = new ArrayList<>();
  private final Deque<Long> spareEvents = new ArrayDeque<>();

  /**
   * A block with the streams that use it.
   *
   * @param events one for each stream, in their order; while the block waits, of those that are not
   *     known to be done
   */
  private record Block(long address, long[] streams, Deque<Long> events) {}

  /**
   * @param free takes a block that nothing uses any more
   */
  WaitingBlocks(CudaDevice device, LongConsumer free) {
    this.device = device;
    this.free = free;
    streams = device.driver().streams();
  }

  /** Takes a block that the work of some streams up to here uses. */
  void add(long address, long... users) {
    long[] distinct = Arrays.stream(users).distinct().toArray();
    unmarked.add(new Block(address, distinct, new ArrayDeque<>()));
    if (!CudaGraphs.isRecording()) {
      device.use();
      markAll();
    }
  }

  /** Marks all blocks that are not. One at which a call fails stays among these. */
  private void markAll() {
    while (!unmarked.isEmpty()) {
      Block block = unmarked.getLast();
      while (block.events().size() < block.streams().length) {
        if (spareEvents.isEmpty()) {
          spareEvents.add(streams.createEvent(false));
        }
        long event = spareEvents.getFirst();
        streams.record(event, block.streams()[block.events().size()]);
        block.events().add(spareEvents.remove());
      }
      unmarked.removeLast();
      waiting.add(block);
    }
  }

  /** Frees the blocks whose streams are done, without waiting; returns how many. */
  int collect() {
    if (CudaGraphs.isRecording()) {
      return 0;
    }
    device.use();
    markAll();
    int freed = 0;
    for (Iterator<Block> all = waiting.iterator(); all.hasNext(); ) {
      Block block = all.next();
      while (!block.events().isEmpty() && streams.isEventDone(block.events().getFirst())) {
        spareEvents.add(block.events().remove());
      }
      if (block.events().isEmpty()) {
        all.remove();
        free.accept(block.address());
        freed++;
      }
    }
    return freed;
  }

  /** Waits for the streams and frees all blocks; returns how many. */
  int drain() {
    if (CudaGraphs.isRecording()) {
      return 0;
    }
    device.use();
    markAll();
    int freed = 0;
    while (!waiting.isEmpty()) {
      Block block = waiting.getFirst();
      while (!block.events().isEmpty()) {
        streams.synchronizeEvent(block.events().getFirst());
        spareEvents.add(block.events().remove());
      }
      waiting.removeFirst();
      free.accept(block.address());
      freed++;
    }
    return freed;
  }

  /** How many blocks wait. */
  int count() {
    return waiting.size() + unmarked.size();
  }

  /** Waits for the streams, frees all blocks and ends the events, whatever fails meanwhile. */
  @Override
  public void close() {
    RuntimeException failure = null;
    try {
      drain();
    } catch (RuntimeException e) {
      failure = e;
    }
    for (Block block : waiting) {
      spareEvents.addAll(block.events());
    }
    for (Block block : unmarked) {
      spareEvents.addAll(block.events());
    }
    waiting.clear();
    unmarked.clear();
    while (!spareEvents.isEmpty()) {
      try {
        streams.destroyEvent(spareEvents.remove());
      } catch (RuntimeException e) {
        failure = failure == null ? e : failure;
      }
    }
    if (failure != null) {
      throw failure;
    }
  }
}
