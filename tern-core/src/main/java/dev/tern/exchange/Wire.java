package dev.tern.exchange;

import java.io.IOException;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.channels.WritableByteChannel;
import org.jspecify.annotations.Nullable;

/**
 * A way to and from one peer: a socket, or two pipes. Both channels never block. Two threads may
 * sleep until it is ready: the one that waits for an operation and that of the mesh, each with a
 * selector of its own.
 */
final class Wire {
  /** The selector of the thread that waits for an operation. */
  static final int WAITING = 0;

  /** The selector of the mesh's own thread. */
  static final int BACKGROUND = 1;

  private final ReadableByteChannel in;
  private final WritableByteChannel out;
  private final SelectableChannel readable;
  private final SelectableChannel writable;
  private final @Nullable SelectionKey[] readKeys = new SelectionKey[2];
  private final @Nullable SelectionKey[] writeKeys = new SelectionKey[2];

  Wire(
      ReadableByteChannel in,
      WritableByteChannel out,
      SelectableChannel readable,
      SelectableChannel writable) {
    this.in = in;
    this.out = out;
    this.readable = readable;
    this.writable = writable;
  }

  static Wire of(SocketChannel channel) {
    return new Wire(channel, channel, channel, channel);
  }

  ReadableByteChannel in() {
    return in;
  }

  WritableByteChannel out() {
    return out;
  }

  /** Lets a thread sleep on this wire: {@code which} is {@link #WAITING} or {@link #BACKGROUND}. */
  void register(Selector selector, int which) throws IOException {
    readable.configureBlocking(false);
    writable.configureBlocking(false);
    readKeys[which] = readable.register(selector, 0);
    writeKeys[which] = readable == writable ? readKeys[which] : writable.register(selector, 0);
  }

  /** Says what the thread of selector {@code which} wants to be woken for. */
  void wants(int which, boolean toRead, boolean toWrite) {
    SelectionKey readKey = readKeys[which];
    SelectionKey writeKey = writeKeys[which];
    if (readKey == null || writeKey == null) {
      return;
    }
    int read = toRead ? SelectionKey.OP_READ : 0;
    int write = toWrite ? SelectionKey.OP_WRITE : 0;
    if (readKey == writeKey) {
      set(readKey, read | write);
    } else {
      set(readKey, read);
      set(writeKey, write);
    }
  }

  private static void set(SelectionKey key, int operations) {
    if (key.isValid() && key.interestOps() != operations) {
      key.interestOps(operations);
    }
  }

  void close() {
    try {
      readable.close();
    } catch (IOException _) {
      // A connection that is given up: there is nothing to lose.
    }
    try {
      writable.close();
    } catch (IOException _) {
      // The same.
    }
  }
}
