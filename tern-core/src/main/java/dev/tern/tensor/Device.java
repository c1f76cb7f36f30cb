package dev.tern.tensor;

import dev.tern.base.Workers;
import dev.tern.internal.eager.Eager;
import dev.tern.internal.runtime.DeviceAccess;
import dev.tern.internal.runtime.Engine;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Where tensors live and computation runs: a number of threads and off-heap memory under a hard
 * budget. Closing it frees what was made on it.
 */
public final class Device implements AutoCloseable {
  static {
    DeviceAccess.register(device -> ((Device) device).interpreter);
  }

  private final Engine interpreter;
  private final AtomicLong variables = new AtomicLong();
  private final Set<LentMemory> lent = ConcurrentHashMap.newKeySet();

  private Device(Engine interpreter) {
    this.interpreter = interpreter;
  }

  /**
   * The processor with {@code threads} threads.
   *
   * @param memoryBytes hard limit of parameters, tables and the values of computations together
   */
  public static Device cpu(int threads, long memoryBytes) {
    return cpu(threads, memoryBytes, memoryBytes);
  }

  /**
   * The processor with {@code threads} threads.
   *
   * @param memoryBytes hard limit of parameters, tables and the values of computations together
   * @param stepBytes hard limit of the values of each computation: those that do not fit are
   *     dropped and computed again when they are needed, which gives the same bits
   */
  public static Device cpu(int threads, long memoryBytes, long stepBytes) {
    return new Device(new Engine(threads, memoryBytes, stepBytes));
  }

  /** Threads that compute. */
  public int threads() {
    return interpreter.workers().threads();
  }

  /** The threads that compute; they end when the device is closed. */
  public Workers workers() {
    return interpreter.workers();
  }

  /** The hard limit, in bytes. */
  public long memoryBudget() {
    return interpreter.allocator().budget();
  }

  /** Bytes in use. */
  public long memoryInUse() {
    return interpreter.allocator().live();
  }

  /** Most bytes that were ever in use. */
  public long memoryPeak() {
    return interpreter.allocator().peak();
  }

  /**
   * A session that computes tensors op by op, asynchronously.
   *
   * @param bytes of this device's memory that it takes at once, for all its values; at least 64
   */
  public Session session(long bytes) {
    return session(bytes, Session.Level.ASYNCHRONOUS, 10_000);
  }

  /**
   * A session that computes tensors op by op.
   *
   * @param bytes of this device's memory that it takes at once, for all its values; at least 64
   * @param level when callers get to know of errors
   * @param queued most ops that wait; who asks for more is held up
   */
  public Session session(long bytes, Session.Level level, int queued) {
    return new Session(new Eager(interpreter, bytes, Eager.Level.valueOf(level.name()), queued));
  }

  /**
   * Keeps the last {@code events} allocations and frees for {@link #memorySnapshot} and for the
   * message of an error that memory is lacking; 0 ends that. Each takes about 30 bytes of heap.
   *
   * @param events 0 to 16 million
   */
  public void recordMemoryHistory(int events) {
    interpreter.allocator().recordHistory(events);
  }

  /**
   * All memory held at this moment, block by block with its holder, what was counted so far and the
   * recorded history. JSON in the form of PyTorch's {@code torch.cuda.memory._snapshot()}, which
   * its viewers read: {@code segments}, {@code device_traces}; and {@code statistics} beside them.
   */
  public String memorySnapshot() {
    return interpreter.memorySnapshot();
  }

  Engine interpreter() {
    return interpreter;
  }

  /** Numbers variables in the order in which they are made. */
  long nextVariable() {
    return variables.getAndIncrement();
  }

  void lends(LentMemory memory) {
    lent.add(memory);
  }

  /** Returns whether it was lent until now. */
  boolean takesBack(LentMemory memory) {
    return lent.remove(memory);
  }

  @Override
  public void close() {
    lent.forEach(LentMemory::close);
    interpreter.close();
  }
}
