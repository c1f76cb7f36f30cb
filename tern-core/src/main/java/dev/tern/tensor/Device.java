package dev.tern.tensor;

import dev.tern.base.ProductMath;
import dev.tern.base.Workers;
import dev.tern.internal.eager.Eager;
import dev.tern.internal.runtime.DeviceAccess;
import dev.tern.internal.runtime.Engine;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** Compute threads, and off-heap memory under a hard budget. Closing it frees what it holds. */
public final class Device implements AutoCloseable {
  static {
    DeviceAccess.register(device -> ((Device) device).engine);
  }

  private final Engine engine;
  private final AtomicLong variables = new AtomicLong();
  private final Set<LentMemory> lent = ConcurrentHashMap.newKeySet();

  private Device(Engine engine) {
    this.engine = engine;
  }

  /** {@link #cpu(int, long, long)} without a limit for each computation. */
  public static Device cpu(int threads, long memoryBytes) {
    return cpu(threads, memoryBytes, memoryBytes);
  }

  /**
   * The processor with {@code threads} threads.
   *
   * @param memoryBytes hard limit of parameters, tables and the values of computations together
   * @param stepBytes hard limit of the values of each computation: values that do not fit are
   *     dropped and computed again when they are needed, to the same bits
   */
  public static Device cpu(int threads, long memoryBytes, long stepBytes) {
    return new Device(new Engine(threads, memoryBytes, stepBytes));
  }

  /**
   * A CUDA device of NVIDIA, with what the processor keeps: tables, and the content of variables
   * while the host reads and writes them. Computations give the bits that {@link #cpu} gives,
   * except those of a NaN. Sessions are for the processor alone.
   *
   * @param ordinal number of the device among those that the process sees, from 0 on
   * @param threads of the processor, for tables
   * @param memoryBytes hard limit of tables in the host's memory; variables, in pinned memory of
   *     the host, have as much again
   * @param stepBytes hard limit, in the device's memory, of the values of each computation
   * @throws IllegalStateException when NVIDIA's driver or a compiler for it is not found; the
   *     message names the places looked in
   */
  public static Device cuda(int ordinal, int threads, long memoryBytes, long stepBytes) {
    return cuda(ordinal, threads, memoryBytes, stepBytes, ProductMath.EXACT);
  }

  /**
   * The same, with products on tensor cores unless {@code math} is exact. Their factors are
   * rounded, so results are near those of the processor and not equal.
   *
   * @throws IllegalStateException when, beside the above, cuBLASLt is needed and not found
   */
  public static Device cuda(
      int ordinal, int threads, long memoryBytes, long stepBytes, ProductMath math) {
    return new Device(Engine.cuda(ordinal, threads, memoryBytes, stepBytes, math));
  }

  /** Number of threads that compute. */
  public int threads() {
    return engine.workers().threads();
  }

  /** The threads that compute; they end when the device is closed. */
  public Workers workers() {
    return engine.workers();
  }

  /** The hard limit, in bytes. */
  public long memoryBudget() {
    return engine.allocator().budget();
  }

  /** Bytes in use. */
  public long memoryInUse() {
    return engine.allocator().live();
  }

  /** Most bytes in use at any time. */
  public long memoryPeak() {
    return engine.allocator().peak();
  }

  /** An asynchronous {@link #session(long, Session.Level, int)} with 10,000 ops that may wait. */
  public Session session(long bytes) {
    return session(bytes, Session.Level.ASYNCHRONOUS, 10_000);
  }

  /**
   * A session that computes tensors op by op.
   *
   * @param bytes of this device's memory that it takes at once, for all its values; at least 64
   * @param level when callers learn of errors
   * @param queued most ops that wait; calls for more ops block
   */
  public Session session(long bytes, Session.Level level, int queued) {
    if (engine.isAccelerated()) {
      throw new IllegalStateException(
          "session: got a CUDA device, expected the processor; make the session of Device.cpu");
    }
    return new Session(
        new Eager(engine, bytes, queued, level == Session.Level.ERRORS_SYNCHRONOUS), level);
  }

  /**
   * Records the last {@code events} allocations and frees for {@link #memorySnapshot} and for
   * errors about lack of memory; 0 ends the record. Each event takes about 30 bytes of heap.
   *
   * @param events 0 to 16 million
   */
  public void recordMemoryHistory(int events) {
    engine.allocator().recordHistory(events);
  }

  /**
   * JSON of all memory held at this moment, block by block with its holder. It has the form of
   * PyTorch's {@code torch.cuda.memory._snapshot()}, which PyTorch's viewers read: {@code
   * segments}, {@code device_traces} with the recorded history, and in addition {@code statistics}.
   */
  public String memorySnapshot() {
    return engine.memorySnapshot();
  }

  Engine engine() {
    return engine;
  }

  /** The number of the next variable. */
  long nextVariable() {
    return variables.getAndIncrement();
  }

  void lends(LentMemory memory) {
    lent.add(memory);
  }

  /** Ends a loan; false if it had ended before. */
  boolean takesBack(LentMemory memory) {
    return lent.remove(memory);
  }

  @Override
  public void close() {
    lent.forEach(LentMemory::close);
    engine.close();
  }
}
