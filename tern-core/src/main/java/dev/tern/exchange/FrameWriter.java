package dev.tern.exchange;

import dev.tern.internal.memory.Memory;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Writes frames to a wire, one at a time and as much at once as the wire takes. The head and the
 * first bytes of the payload leave in one call, the rest straight from the caller's memory. Calls
 * take one buffer each: for several the JDK makes objects.
 */
final class FrameWriter {
  /** Bytes that are copied so that they leave in one call. */
  static final int STAGED = 16 << 10;

  private final Wire wire;
  private final AddressWindows windows;
  private final @Nullable FrameCipher cipher;
  private final MemorySegment memory;
  private final ByteBuffer stage;
  private final CRC32C crc = new CRC32C();

  private long frames;
  private long address;
  private int left;
  private boolean busy;

  FrameWriter(
      Wire wire, AddressWindows windows, @Nullable FrameCipher cipher, int mostBytes, Arena arena) {
    this.wire = wire;
    this.windows = windows;
    this.cipher = cipher;
    int most = mostBytes + FrameCipher.TAG_BYTES;
    int bytes = Frame.BYTES + (cipher == null ? Math.min(most, STAGED) : most);
    memory = Memory.allocate(arena, bytes, 64, "exchange");
    stage = Frame.littleEndian(memory.asByteBuffer());
  }

  /** Whether a frame was begun that is not written yet. */
  boolean isBusy() {
    return busy;
  }

  /**
   * Begins a frame with {@code head}, whose number and CRC are set here, and with the {@code
   * head.length} bytes at {@code payload}, which must stay as they are until the frame is written.
   */
  void begin(Frame head, long payload) {
    stage.clear();
    head.frame = frames;
    int length = head.length;
    int staged;
    if (cipher == null) {
      crc.reset();
      if (length > 0) {
        crc.update(windows.of(payload, length));
      }
      head.payloadCrc = (int) crc.getValue();
      head.put(stage);
      staged = Math.min(length, stage.capacity() - Frame.BYTES);
      if (staged > 0) {
        Memory.copy(payload, memory.address() + Frame.BYTES, staged);
      }
      stage.limit(Frame.BYTES + staged).position(0);
    } else {
      head.payloadCrc = 0;
      head.put(stage);
      cipher.seal(stage, frames, payload, length);
      staged = length;
      stage.limit(Frame.BYTES + length + FrameCipher.TAG_BYTES).position(0);
    }
    address = payload + staged;
    left = length - staged;
    frames++;
    busy = true;
  }

  /** Writes what the wire takes; returns how many bytes. */
  long push() throws IOException {
    long moved = 0;
    while (stage.hasRemaining()) {
      int written = wire.out().write(stage);
      if (written == 0) {
        return moved;
      }
      moved += written;
    }
    while (left > 0) {
      int written = wire.out().write(windows.of(address, left));
      if (written == 0) {
        return moved;
      }
      moved += written;
      address += written;
      left -= written;
    }
    busy = false;
    return moved;
  }
}
