package dev.tern.exchange;

import dev.tern.internal.memory.Memory;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Reads frames from a wire, as much at once as is there. Small payloads come with their head in one
 * call, large ones go straight to where they belong. It reads ahead no more than its buffer holds,
 * so a peer that sends what nobody asked for fills the buffers of the system and no memory here.
 */
final class FrameReader {
  /** A rest of a payload that is shorter than this comes with the next head. */
  private static final int DIRECT = FrameWriter.STAGED / 2;

  private final Wire wire;
  private final AddressWindows windows;
  private final @Nullable FrameCipher cipher;
  private final int peer;
  private final MemorySegment memory;
  private final ByteBuffer stage;
  private final CRC32C crc = new CRC32C();

  /** The bytes in {@link #stage} that are read but not used. */
  private int from;

  private int to;
  private long frames;
  private long address;
  private int left;
  private boolean hasHead;
  private boolean hasPlace;

  FrameReader(
      Wire wire, AddressWindows windows, @Nullable FrameCipher cipher, int peer, Room room) {
    this.wire = wire;
    this.windows = windows;
    this.cipher = cipher;
    this.peer = peer;
    int most = room.mostBytes() + FrameCipher.TAG_BYTES;
    int bytes = Frame.BYTES + (cipher == null ? Math.min(most, FrameWriter.STAGED) : most);
    memory = Memory.allocate(room.arena(), bytes, 64, "exchange");
    stage = Frame.littleEndian(memory.asByteBuffer());
  }

  /** The largest payload, and where buffers come from. */
  record Room(int mostBytes, Arena arena) {}

  /**
   * Reads the head of the next frame; false if it is not there yet. A second call gives the same
   * head until its payload is read.
   *
   * @param moved gets the number of bytes read
   */
  boolean head(Frame head, Moved moved) throws IOException, FrameFaultException {
    if (!hasHead) {
      if (!ensure(Frame.BYTES, moved)) {
        return false;
      }
      head.take(stage, from, peer, frames);
      hasHead = true;
      hasPlace = false;
    }
    return true;
  }

  /** Counts bytes. */
  static final class Moved {
    long bytes;
  }

  /**
   * Reads the payload of the frame with {@code head} to {@code target}; false as long as some of it
   * is missing.
   */
  boolean payload(Frame head, long target, Moved moved) throws IOException, FrameFaultException {
    if (cipher == null ? !plain(head, target, moved) : !sealed(head, target, moved)) {
      return false;
    }
    frames++;
    hasHead = false;
    return true;
  }

  /** Bytes of the payload at hand that are read already. */
  int partial(Frame head) {
    return hasHead && hasPlace ? head.length - left : 0;
  }

  private boolean sealed(Frame head, long target, Moved moved)
      throws IOException, FrameFaultException {
    int bytes = Frame.BYTES + head.length + FrameCipher.TAG_BYTES;
    if (!ensure(bytes, moved)) {
      return false;
    }
    if (cipher != null) {
      cipher.open(stage, from, frames, target, head.length);
    }
    from += bytes;
    return true;
  }

  private boolean plain(Frame head, long target, Moved moved)
      throws IOException, FrameFaultException {
    if (!hasPlace) {
      from += Frame.BYTES;
      address = target;
      left = head.length;
      hasPlace = true;
    }
    while (left > 0) {
      if (from < to) {
        int bytes = Math.min(left, to - from);
        Memory.copy(memory.address() + from, address, bytes);
        from += bytes;
        advance(bytes);
      } else if (left >= DIRECT) {
        int read = read(windows.of(address, left), moved);
        if (read == 0) {
          return false;
        }
        advance(read);
      } else if (!ensure(1, moved)) {
        return false;
      }
    }
    crc.reset();
    if (head.length > 0) {
      crc.update(windows.of(target, head.length));
    }
    if ((int) crc.getValue() != head.payloadCrc) {
      throw new FrameFaultException(
          "a payload of %,d bytes with CRC-32C %08x, expected %08x"
              .formatted(head.length, (int) crc.getValue(), head.payloadCrc));
    }
    return true;
  }

  private void advance(int bytes) {
    address += bytes;
    left -= bytes;
  }

  /** Reads until the buffer has {@code bytes} bytes; false if they are not there yet. */
  private boolean ensure(int bytes, Moved moved) throws IOException {
    if (from == to) {
      from = 0;
      to = 0;
    } else if (from + bytes > stage.capacity()) {
      Memory.copy(memory.address() + from, memory.address(), to - from);
      to -= from;
      from = 0;
    }
    while (to - from < bytes) {
      int read = read(stage.limit(stage.capacity()).position(to), moved);
      if (read == 0) {
        return false;
      }
      to += read;
    }
    stage.limit(stage.capacity());
    return true;
  }

  private int read(ByteBuffer target, Moved moved) throws IOException {
    int read = wire.in().read(target);
    if (read < 0) {
      throw new EOFException("the connection ended");
    }
    moved.bytes += read;
    return read;
  }
}
