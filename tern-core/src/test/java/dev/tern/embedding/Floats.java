package dev.tern.embedding;

import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;

/** A block of off-heap floats for a test. */
public final class Floats implements AutoCloseable {
  private final Allocator allocator;
  public final long address;
  public final int length;

  public Floats(Allocator allocator, int length) {
    this.allocator = allocator;
    this.length = length;
    address = allocator.allocate(4L * Math.max(1, length), "test");
    for (int i = 0; i < length; i++) {
      set(i, Float.NaN);
    }
  }

  static Floats of(Allocator allocator, float... values) {
    Floats floats = new Floats(allocator, values.length);
    Memory.copyIn(values, 0, floats.address, values.length);
    return floats;
  }

  public float get(int index) {
    return Memory.getFloat(address + 4L * index);
  }

  public void set(int index, float value) {
    Memory.setFloat(address + 4L * index, value);
  }

  public float[] toArray() {
    float[] values = new float[length];
    Memory.copyOut(address, values, 0, length);
    return values;
  }

  @Override
  public void close() {
    allocator.free(address);
  }
}
