package dev.tern.internal.runtime;

/** A leaf's copy in the memory of an accelerator, and which of the two is the newer one. */
final class LeafCopy {
  final long host;
  final long address;
  final long bytes;

  /** Bound executions that use it. */
  int users;

  boolean isHostNewer = true;
  boolean isDeviceNewer;

  LeafCopy(long host, long address, long bytes) {
    this.host = host;
    this.address = address;
    this.bytes = bytes;
  }
}
