package dev.tern.exchange;

import java.lang.foreign.Arena;
import javax.crypto.SecretKey;
import org.jspecify.annotations.Nullable;

/** Puts a {@link Peer} together. */
final class PeerParts {
  private final MeshOptions options;
  private final int rank;
  private final AddressWindows windows;
  private final Arena arena = Arena.ofAuto();

  PeerParts(MeshOptions options, int rank, AddressWindows windows) {
    this.options = options;
    this.rank = rank;
    this.windows = windows;
  }

  Peer peer(Link data, Link control) {
    int bytes = options.frameBytes();
    int messages = Collective.STEPS * options.inFlight();
    Outgoing out = new Outgoing(messages, writer(data, bytes), head(), bytes);
    Incoming in = new Incoming(messages, reader(data, bytes), head(), bytes);
    int most = ControlLink.MOST_BYTES;
    ControlLink link =
        new ControlLink(
            control.wire(), writer(control, most), reader(control, most), head(), head());
    return new Peer(rank, data.wire(), out, in, link);
  }

  private Frame head() {
    return new Frame(options.run(), options.attempt());
  }

  private FrameWriter writer(Link link, int bytes) {
    return new FrameWriter(link.wire(), windows, cipher(link.sends(), bytes), bytes, arena);
  }

  private FrameReader reader(Link link, int bytes) {
    return new FrameReader(
        link.wire(),
        windows,
        cipher(link.receives(), bytes),
        rank,
        new FrameReader.Room(bytes, arena));
  }

  private static @Nullable FrameCipher cipher(@Nullable SecretKey key, int bytes) {
    return key == null ? null : new FrameCipher(key, bytes);
  }
}
