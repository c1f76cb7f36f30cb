package dev.tern.internal.runtime;

import dev.tern.internal.kernel.matmul.MatMul;
import dev.tern.internal.kernel.matmul.PackedOrder;
import dev.tern.internal.kernel.matmul.ProductSpec;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Buffer;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * Matrices whose content does not change while they are in use, packed once in the order in which
 * products read them. All computations of an engine share them: products of 20 rows and of 250 read
 * the same ones. Their memory is the engine's until it closes, or until the matrix itself is freed.
 */
final class PackedConstants {
  private final Allocator allocator;
  private final Map<Key, Packed> packed = new HashMap<>();

  private record Key(Buffer buffer, PackedOrder order) {}

  private record Packed(ProductSpec spec, long address) {}

  PackedConstants(Allocator allocator) {
    this.allocator = allocator;
  }

  /** Where a product finds its B packed. */
  @FunctionalInterface
  interface Lookup {
    /** Nothing is constant. */
    Lookup NONE = (spec, b) -> 0;

    /** The address of the packed B; 0 where it is not constant or the product packs nothing. */
    long find(ProductSpec spec, long b);
  }

  /** The lookup of a computation for which {@code constants} never change. */
  Lookup of(Set<Buffer> constants) {
    return (spec, b) -> {
      for (Buffer buffer : constants) {
        if (buffer.address() == b) {
          return MatMul.packedOrder(spec).map(order -> find(spec, buffer, order)).orElse(0L);
        }
      }
      return 0;
    };
  }

  /** Frees the copies of a matrix that nobody computes with any more. */
  synchronized void forget(Buffer buffer) {
    packed
        .entrySet()
        .removeIf(entry -> {
          boolean isOf = entry.getKey().buffer().equals(buffer);
          if (isOf) {
            allocator.free(entry.getValue().address());
          }
          return isOf;
        });
  }

  /** Packs a matrix again whose content was replaced; nobody may compute with it meanwhile. */
  synchronized void repack(Buffer buffer) {
    packed.forEach((key, copy) -> {
      if (key.buffer().equals(buffer)) {
        MatMul.pack(copy.spec(), buffer.address(), copy.address());
      }
    });
  }

  private synchronized long find(ProductSpec spec, Buffer buffer, PackedOrder order) {
    return packed
        .computeIfAbsent(
            new Key(buffer, order),
            key -> {
              long to = allocator.allocate(order.bytes(), "packed weights");
              MatMul.pack(spec, buffer.address(), to);
              return new Packed(spec, to);
            })
        .address();
  }
}
