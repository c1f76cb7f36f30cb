package dev.tern.tensor;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Op;
import dev.tern.internal.memory.Buffer;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.runtime.Engine;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A named tensor in memory whose content changes: a parameter, optimizer state, or an input that is
 * filled anew for each run of a {@link Computation}. Off-heap, in the memory of its device. Do not
 * write it while a computation runs. Reads and writes throw an IllegalStateException once it or its
 * device is closed.
 */
public final class Variable implements AutoCloseable {
  private final Device device;
  private final long number;
  private final String name;
  private final Tensor tensor;
  private @Nullable LentMemory lent;
  private @Nullable MemorySegment memory;
  private boolean closed;

  private Variable(Device device, String name, Tensor tensor) {
    this.device = device;
    this.number = device.nextVariable();
    this.name = name;
    this.tensor = tensor;
  }

  /** An F32 variable of zeros. */
  public static Variable zeros(Device device, String name, Shape shape) {
    return of(device, name, shape, DType.F32);
  }

  /** A variable of zeros. */
  public static Variable of(Device device, String name, Shape shape, DType type) {
    Node node = device.engine().allocate(shape, type, name);
    Variable variable = new Variable(device, name, new Tensor(node));
    Memory.zero(variable.address(), (long) shape.elements() * type.bytes());
    return variable;
  }

  public String name() {
    return name;
  }

  public Shape shape() {
    return tensor.shape();
  }

  /** The variable in an expression: reads what it holds when the computation runs. */
  public Tensor tensor() {
    return tensor;
  }

  /**
   * The elements in memory, row-major, {@code elements * type.bytes()} bytes in the machine's byte
   * order; the same segment each time. A {@link Session} does not notice writes to the segment:
   * call {@link Session#sync} before, or write by the methods of this class.
   */
  public synchronized MemorySegment memory() {
    long address = address();
    if (memory == null) {
      Engine.lend(buffer());
      lent = new LentMemory(device);
      memory = lent.segment(address, (long) shape().elements() * tensor.type().bytes());
    }
    return memory;
  }

  long address() {
    device.engine().requireOpen(name);
    if (closed) {
      throw new IllegalStateException(
          name + ": got a closed variable, expected an open one; close it after its last user");
    }
    Engine.beforeRead(buffer());
    return buffer().address();
  }

  Buffer buffer() {
    return ((Op.Leaf) tensor.node().op()).buffer();
  }

  /** The address; returns when no session needs the old content. */
  long addressToWrite() {
    long address = address();
    Engine.beforeHostWrite(buffer());
    return address;
  }

  /** Sets all elements, row-major; F32 variables only. */
  public void set(float... values) {
    requireF32("set", values.length);
    Memory.copyIn(values, 0, addressToWrite(), values.length);
  }

  /**
   * Takes all elements of another variable of the same shape and type. Computations that have this
   * one as a constant ({@link Computation#withConstants}) compute with them from then on; none may
   * run meanwhile.
   */
  public void copy(Variable other) {
    if (tensor.type() != other.tensor.type() || !shape().equals(other.shape())) {
      throw new IllegalArgumentException(
          "%s: got a copy of %s, expected %s".formatted(name, other.tensor, tensor));
    }
    long bytes = (long) shape().elements() * tensor.type().bytes();
    Memory.copy(other.address(), addressToWrite(), bytes);
    device.engine().repack(buffer());
  }

  /** Sets the one element of an F32 variable. */
  public void set(float value) {
    requireF32("set", 1);
    Memory.setFloat(addressToWrite(), value);
  }

  /** Sets the one element of an I64 variable. */
  public void setLong(long value) {
    if (tensor.type() != DType.I64 || shape().elements() != 1) {
      throw new IllegalArgumentException(
          name + ": got a setLong of " + tensor + ", expected one I64 element");
    }
    Memory.setLong(addressToWrite(), value);
  }

  /** A copy of all elements, row-major; F32 variables only. */
  public float[] toArray() {
    float[] values = new float[shape().elements()];
    requireF32("toArray", values.length);
    Memory.copyOut(address(), values, 0, values.length);
    return values;
  }

  /** Place in the order in which the variables of the device were made. */
  long number() {
    return number;
  }

  /** Frees its memory; computations that use it must not run again. */
  @Override
  public synchronized void close() {
    if (lent != null) {
      lent.close();
    }
    if (!closed && !device.engine().isClosed()) {
      device.engine().free(buffer());
    }
    closed = true;
  }

  private void requireF32(String method, int count) {
    if (tensor.type() != DType.F32 || count != shape().elements()) {
      throw new IllegalArgumentException(
          "%s: got a %s of %d floats, expected %d of %s"
              .formatted(name, method, count, shape().elements(), tensor.type()));
    }
  }
}
