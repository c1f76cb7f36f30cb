/**
 * Off-heap memory: blocks under one budget, and access to them by address.
 *
 * <ul>
 *   <li>{@link dev.tern.internal.memory.Allocator} gives blocks to variables, tables and plans, and
 *       frees them. It counts, keeps a history and describes itself ({@link
 *       dev.tern.internal.memory.MemorySnapshot}).
 *   <li>{@link dev.tern.internal.memory.Memory} reads and writes by address. In checked mode it
 *       compares each access with the live blocks.
 *   <li>{@link dev.tern.internal.memory.BlockArena} places blocks of all sizes in one range of
 *       offsets, with or without memory behind them.
 *   <li>{@link dev.tern.internal.memory.ScratchFile} holds bytes for which memory has no room.
 * </ul>
 *
 * <p>All packages of core except {@code base} may use it; it uses none of them.
 *
 * <pre>{@code
 * try (Allocator allocator = Allocator.of(1 << 20)) {
 *   long address = allocator.allocate(8, "counts");
 *   Memory.setLong(address, 7);
 *   allocator.free(address);
 * }
 * }</pre>
 */
@NullMarked
package dev.tern.internal.memory;

import org.jspecify.annotations.NullMarked;
