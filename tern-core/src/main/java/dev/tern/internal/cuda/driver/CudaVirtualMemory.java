package dev.tern.internal.cuda.driver;

import java.lang.foreign.Arena;

/**
 * Addresses of devices without memory, memory without addresses, and what joins the two. Memory
 * comes in pieces of {@link #granularity} bytes.
 */
public final class CudaVirtualMemory {
  private static final int RECOMMENDED = 1;

  private final CudaCall granularity;
  private final CudaCall reserve;
  private final CudaCall create;
  private final CudaCall map;
  private final CudaCall setAccess;
  private final CudaCall unmap;
  private final CudaCall release;
  private final CudaCall unreserve;

  CudaVirtualMemory(CudaFunctions functions) {
    granularity = functions.of("cuMemGetAllocationGranularity", "LLI");
    reserve = functions.of("cuMemAddressReserve", "LLLLL");
    create = functions.of("cuMemCreate", "LLLL");
    map = functions.of("cuMemMap", "LLLLL");
    setAccess = functions.of("cuMemSetAccess", "LLLL");
    unmap = functions.of("cuMemUnmap", "LL");
    release = functions.of("cuMemRelease", "L");
    unreserve = functions.of("cuMemAddressFree", "LL");
  }

  /** The unit in bytes of addresses and sizes of the other methods; a power of two. */
  public long granularity(int device) {
    try (Arena arena = Arena.ofConfined()) {
      long properties = CudaStructs.allocation(arena, device).address();
      return granularity.answer(
          "the unit of memory of device %d",
          device, out -> granularity.call(out, properties, RECOMMENDED));
    }
  }

  /** Reserves addresses; the lowest is returned. */
  public long reserve(long bytes) {
    return reserve.answer(
        "%d bytes of addresses", bytes, out -> reserve.call(out, bytes, 0L, 0L, 0L));
  }

  /** Makes a piece of memory on a device; returns its handle. */
  public long create(long bytes, int device) {
    try (Arena arena = Arena.ofConfined()) {
      long properties = CudaStructs.allocation(arena, device).address();
      return create.answer(
          "%d bytes of device memory", bytes, out -> create.call(out, bytes, properties, 0L));
    }
  }

  /** Puts a whole piece of memory behind reserved addresses. */
  public void map(long address, long bytes, long piece) {
    map.check(map.call(address, bytes, 0L, piece, 0L), "%d bytes behind addresses", bytes);
  }

  /** Lets a device read and write mapped addresses. */
  public void allow(long address, long bytes, int device) {
    try (Arena arena = Arena.ofConfined()) {
      long access = CudaStructs.access(arena, device).address();
      setAccess.check(setAccess.call(address, bytes, access, 1L), "access to %d bytes", bytes);
    }
  }

  /** Takes memory from addresses, in whole pieces. */
  public void unmap(long address, long bytes) {
    unmap.check(unmap.call(address, bytes), "%d bytes to be taken from addresses", bytes);
  }

  /** Gives a piece of memory up; it is freed when no address has it. */
  public void release(long piece) {
    release.check(release.call(piece), "device memory to be given back");
  }

  /** Gives addresses back, as they were reserved; nothing may be mapped to them. */
  public void unreserve(long address, long bytes) {
    unreserve.check(unreserve.call(address, bytes), "%d bytes of addresses", bytes);
  }
}
