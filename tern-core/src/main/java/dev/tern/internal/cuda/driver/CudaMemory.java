package dev.tern.internal.cuda.driver;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Memory of devices and of the host, and copies between them. Copies and fills are work of a
 * stream: they may end later than the call. A copy from or to memory of the host that is not pinned
 * blocks.
 */
public final class CudaMemory {
  private static final int GLOBAL = 1;
  private static final int PORTABLE = 1;

  private final CudaCall info;
  private final CudaCall allocate;
  private final CudaCall free;
  private final CudaCall allocateAsync;
  private final CudaCall freeAsync;
  private final CudaCall allocateManaged;
  private final CudaCall allocatePinned;
  private final CudaCall freePinned;
  private final CudaCall pin;
  private final CudaCall unpin;
  private final CudaCall devicePointer;
  private final CudaCall copyIn;
  private final CudaCall copyOut;
  private final CudaCall copyWithin;
  private final CudaCall copyPeer;
  private final CudaCall fillBytes;
  private final CudaCall fillInts;
  private final CudaCall canAccess;
  private final CudaCall enablePeer;
  private final CudaVirtualMemory virtual;

  CudaMemory(CudaFunctions functions) {
    info = functions.of("cuMemGetInfo_v2", "LL");
    allocate = functions.of("cuMemAlloc_v2", "LL");
    free = functions.of("cuMemFree_v2", "L");
    allocateAsync = functions.of("cuMemAllocAsync", "LLL");
    freeAsync = functions.of("cuMemFreeAsync", "LL");
    allocateManaged = functions.of("cuMemAllocManaged", "LLI");
    allocatePinned = functions.of("cuMemHostAlloc", "LLI");
    freePinned = functions.of("cuMemFreeHost", "L");
    pin = functions.of("cuMemHostRegister_v2", "LLI");
    unpin = functions.of("cuMemHostUnregister", "L");
    devicePointer = functions.of("cuMemHostGetDevicePointer_v2", "LLI");
    copyIn = functions.of("cuMemcpyHtoDAsync_v2", "LLLL");
    copyOut = functions.of("cuMemcpyDtoHAsync_v2", "LLLL");
    copyWithin = functions.of("cuMemcpyDtoDAsync_v2", "LLLL");
    copyPeer = functions.of("cuMemcpyPeerAsync", "LLLLLL");
    fillBytes = functions.of("cuMemsetD8Async", "LBLL");
    fillInts = functions.of("cuMemsetD32Async", "LILL");
    canAccess = functions.of("cuDeviceCanAccessPeer", "LII");
    enablePeer = functions.of("cuCtxEnablePeerAccess", "LI");
    virtual = new CudaVirtualMemory(functions);
  }

  /** Addresses of devices and the memory behind them, each by itself. */
  public CudaVirtualMemory virtual() {
    return virtual;
  }

  /**
   * Bytes of the device of the current context.
   *
   * @param free not in use by any process
   */
  public record Bytes(long free, long total) {}

  /** How much memory the device of the current context has, and how much of it is free. */
  public Bytes bytes() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(JAVA_LONG, 2);
      info.check(info.call(out.address(), out.address() + 8), "the memory of a device");
      return new Bytes(out.getAtIndex(JAVA_LONG, 0), out.getAtIndex(JAVA_LONG, 1));
    }
  }

  /** The address of new memory of the device, aligned to at least 256 bytes. */
  public long allocate(long bytes) {
    return allocate.answer("%d bytes of device memory", bytes, out -> allocate.call(out, bytes));
  }

  /** Gives memory of {@link #allocate} or {@link #allocateManaged} back. */
  public void free(long address) {
    free.check(free.call(address), "device memory to be given back");
  }

  /** As {@link #allocate}, for work of a stream from here on. */
  public long allocate(long bytes, long stream) {
    return allocateAsync.answer(
        "%d bytes of device memory", bytes, out -> allocateAsync.call(out, bytes, stream));
  }

  /** Gives memory of {@link #allocate(long, long)} back when a stream comes here. */
  public void free(long address, long stream) {
    freeAsync.check(freeAsync.call(address, stream), "device memory to be given back");
  }

  /** The address of new memory that host and device reach, and that moves between them. */
  public long allocateManaged(long bytes) {
    return allocateManaged.answer(
        "%d bytes of managed memory", bytes, out -> allocateManaged.call(out, bytes, GLOBAL));
  }

  /** The address of new memory of the host that devices copy from and to by themselves. */
  public long allocatePinned(long bytes) {
    return allocatePinned.answer(
        "%d bytes of pinned memory", bytes, out -> allocatePinned.call(out, bytes, PORTABLE));
  }

  /** Gives memory of {@link #allocatePinned} back. */
  public void freePinned(long address) {
    freePinned.check(freePinned.call(address), "pinned memory to be given back");
  }

  /** Pins memory that the host has. */
  public void pin(long address, long bytes) {
    pin.check(pin.call(address, bytes, PORTABLE), "%d bytes to be pinned", bytes);
  }

  /** Ends what {@link #pin} began. */
  public void unpin(long address) {
    unpin.check(unpin.call(address), "memory to be unpinned");
  }

  /** The address by which a device reaches pinned memory. */
  public long devicePointer(long pinned) {
    return devicePointer.answer(
        "the device's address of pinned memory", out -> devicePointer.call(out, pinned, 0));
  }

  /** Copies from the host to the device. */
  public void copyIn(long target, long source, long bytes, long stream) {
    copyIn.check(
        copyIn.call(target, source, bytes, stream), "a copy of %d bytes to the device", bytes);
  }

  /** Copies from the device to the host. */
  public void copyOut(long target, long source, long bytes, long stream) {
    copyOut.check(
        copyOut.call(target, source, bytes, stream), "a copy of %d bytes to the host", bytes);
  }

  /** Copies within the device. */
  public void copy(long target, long source, long bytes, long stream) {
    copyWithin.check(
        copyWithin.call(target, source, bytes, stream), "a copy of %d bytes on the device", bytes);
  }

  /**
   * A place on one of several devices.
   *
   * @param context the context of its device
   */
  public record Place(long address, long context) {}

  /** Copies from one device to another. */
  public void copy(Place target, Place source, long bytes, long stream) {
    long[] places = {target.address(), target.context(), source.address(), source.context()};
    copyPeer.check(
        copyPeer.call(places, bytes, stream), "a copy of %d bytes between devices", bytes);
  }

  /** Sets {@code bytes} bytes of the device. */
  public void fill(long target, byte value, long bytes, long stream) {
    if (bytes > 0) {
      fillBytes.check(fillBytes.call(target, value, bytes, stream), "a fill of %d bytes", bytes);
    }
  }

  /** Sets {@code count} words of 4 bytes of the device. */
  public void fillInts(long target, int value, long count, long stream) {
    if (count > 0) {
      fillInts.check(fillInts.call(target, value, count, stream), "a fill of %d words", count);
    }
  }

  /** Whether a device can reach the memory of another. */
  public boolean canAccess(int device, int peer) {
    return (int)
            canAccess.answer("access to device %d", peer, out -> canAccess.call(out, device, peer))
        != 0;
  }

  /** Lets the current context reach the memory of another; does nothing where it can already. */
  public void enablePeer(long context) {
    int code = enablePeer.call(context, 0);
    if (code != CudaErrors.PEER_ACCESS_ALREADY_ENABLED) {
      enablePeer.check(code, "access to the memory of another device");
    }
  }
}
