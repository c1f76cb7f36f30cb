package dev.tern.bench.memory;

import dev.tern.internal.memory.Allocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.internal.logging.InternalLoggerFactory;
import io.netty.util.internal.logging.JdkLoggerFactory;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.function.IntFunction;

/** One thread's blocks from an allocator, in numbered slots. */
interface BlockSource {
  /**
   * Fills an empty slot.
   *
   * @return the block's address
   */
  long allocate(int slot, int bytes);

  /** Empties a slot. */
  void free(int slot);

  /** Tern's allocator, which all threads share. */
  static IntFunction<BlockSource> tern(Allocator allocator) {
    return slots -> new Tern(allocator, new long[slots]);
  }

  /** Pooled direct buffers of Netty: its defaults, and caches for all threads. */
  static IntFunction<BlockSource> netty() {
    InternalLoggerFactory.setDefaultFactory(JdkLoggerFactory.INSTANCE);
    PooledByteBufAllocator allocator =
        new PooledByteBufAllocator(
            true,
            PooledByteBufAllocator.defaultNumHeapArena(),
            PooledByteBufAllocator.defaultNumDirectArena(),
            PooledByteBufAllocator.defaultPageSize(),
            PooledByteBufAllocator.defaultMaxOrder(),
            PooledByteBufAllocator.defaultSmallCacheSize(),
            PooledByteBufAllocator.defaultNormalCacheSize(),
            true);
    return slots -> new Netty(allocator, new ByteBuf[slots]);
  }

  /** A confined arena for each block, which it fills with zeros. */
  static IntFunction<BlockSource> arenas() {
    return slots -> new Arenas(new Arena[slots]);
  }

  /** {@code malloc} and {@code free} of the C library. */
  static IntFunction<BlockSource> malloc() {
    return malloc(Linker.nativeLinker().defaultLookup());
  }

  /** The same functions of another library. */
  static IntFunction<BlockSource> malloc(SymbolLookup library) {
    ValueLayout.OfLong pointer = ValueLayout.JAVA_LONG;
    Linker linker = Linker.nativeLinker();
    MethodHandle malloc =
        linker.downcallHandle(
            library.findOrThrow("malloc"), FunctionDescriptor.of(pointer, ValueLayout.JAVA_LONG));
    MethodHandle free =
        linker.downcallHandle(library.findOrThrow("free"), FunctionDescriptor.ofVoid(pointer));
    return slots -> new Malloc(malloc, free, new long[slots]);
  }

  /** Slots hold addresses. */
  record Tern(Allocator allocator, long[] blocks) implements BlockSource {
    @Override
    public long allocate(int slot, int bytes) {
      return blocks[slot] = allocator.allocate(bytes, "bench");
    }

    @Override
    public void free(int slot) {
      allocator.free(blocks[slot]);
    }
  }

  /** Slots hold buffers. */
  record Netty(PooledByteBufAllocator allocator, ByteBuf[] blocks) implements BlockSource {
    @Override
    public long allocate(int slot, int bytes) {
      blocks[slot] = allocator.directBuffer(bytes, bytes);
      return blocks[slot].memoryAddress();
    }

    @Override
    public void free(int slot) {
      blocks[slot].release();
    }
  }

  /** Slots hold arenas of one block. */
  record Arenas(Arena[] blocks) implements BlockSource {
    @Override
    public long allocate(int slot, int bytes) {
      blocks[slot] = Arena.ofConfined();
      MemorySegment block = blocks[slot].allocate(bytes, 64);
      return block.address();
    }

    @Override
    public void free(int slot) {
      blocks[slot].close();
    }
  }

  /** Slots hold addresses. */
  final class Malloc implements BlockSource {
    private final MethodHandle malloc;
    private final MethodHandle free;
    private final long[] blocks;

    Malloc(MethodHandle malloc, MethodHandle free, long[] blocks) {
      this.malloc = malloc;
      this.free = free;
      this.blocks = blocks;
    }

    @Override
    public long allocate(int slot, int bytes) {
      try {
        return blocks[slot] = (long) malloc.invokeExact((long) bytes);
      } catch (Throwable e) {
        throw new IllegalStateException("malloc", e);
      }
    }

    @Override
    public void free(int slot) {
      try {
        free.invokeExact(blocks[slot]);
      } catch (Throwable e) {
        throw new IllegalStateException("free", e);
      }
    }
  }
}
