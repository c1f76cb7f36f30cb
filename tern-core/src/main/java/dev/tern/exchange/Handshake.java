package dev.tern.exchange;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.security.MessageDigest;

/**
 * How two ranks come to know each other. The lower rank answers:
 *
 * <pre>
 * dialer    hello
 * answerer  hello, proof
 * dialer    proof
 * answerer  accepted or not, proof
 * </pre>
 *
 * A proof is an HMAC of the shared secret over both hellos, whose nonces make it good once. Neither
 * side learns the secret, and neither takes a rank whose proof it has not seen.
 */
final class Handshake {
  private static final int ACCEPTED = 1;
  private static final int TAKEN = 2;
  private static final String DIALER = "dialer";
  private static final String ANSWERER = "answerer";
  private static final String VERDICT = "verdict";

  private final MeshOptions options;
  private final MeshKeys keys;

  Handshake(MeshOptions options) {
    this.options = options;
    keys = new MeshKeys(options.secret());
  }

  /** The two hellos of a connection. */
  record Greeting(byte[] dialed, byte[] answered) {}

  /** Asks who takes a place; false if somebody has it. */
  @FunctionalInterface
  interface Claim {
    boolean take(int rank, int link);
  }

  /** A peer that may not join; it is of no use to try again. */
  static final class RefusedException extends Exception {
    private static final long serialVersionUID = 1L;

    RefusedException(String message) {
      super(message);
    }
  }

  Greeting dial(ByteChannel channel, int target, int link) throws IOException, RefusedException {
    byte[] dialed = Hello.of(options, target, link);
    write(channel, dialed);
    byte[] answered = read(channel, Hello.BYTES);
    if (!Hello.isHello(answered)) {
      throw new RefusedException(
          "got no hello of an exchange, expected one; it is another service");
    }
    byte[] proof = read(channel, MeshKeys.MAC_BYTES);
    if (!MessageDigest.isEqual(proof, keys.proof(ANSWERER, dialed, answered, 0))) {
      throw new RefusedException("got a proof by another secret, expected the same secret");
    }
    String difference = Hello.difference(dialed, answered);
    if (!difference.isEmpty()) {
      throw new RefusedException("got " + difference);
    }
    write(channel, keys.proof(DIALER, dialed, answered, 0));
    int verdict = read(channel, 1)[0];
    proof = read(channel, MeshKeys.MAC_BYTES);
    if (!MessageDigest.isEqual(proof, keys.proof(VERDICT, dialed, answered, verdict))) {
      throw new RefusedException("got a verdict by another secret, expected the same secret");
    }
    if (verdict != ACCEPTED) {
      throw new RefusedException(
          "got the answer that rank %d is connected already, expected to be the only one"
              .formatted(options.rank()));
    }
    return new Greeting(dialed, answered);
  }

  Greeting answer(ByteChannel channel, Claim claim) throws IOException, RefusedException {
    byte[] dialed = read(channel, Hello.BYTES);
    int peer = Hello.sender(dialed);
    int link = Hello.link(dialed);
    if (!Hello.isHello(dialed)) {
      throw new RefusedException("got no hello of an exchange");
    }
    boolean isPlace =
        peer > options.rank() && peer < options.ranks() && link >= 0 && link < Hello.LINKS;
    byte[] answered = Hello.of(options, peer, link);
    write(channel, answered);
    write(channel, keys.proof(ANSWERER, dialed, answered, 0));
    String difference = Hello.difference(answered, dialed);
    if (!difference.isEmpty() || !isPlace) {
      throw new RefusedException(
          "got " + (difference.isEmpty() ? "a hello of rank " + peer : difference));
    }
    byte[] proof = read(channel, MeshKeys.MAC_BYTES);
    if (!MessageDigest.isEqual(proof, keys.proof(DIALER, dialed, answered, 0))) {
      throw new RefusedException("got a proof of rank " + peer + " by another secret");
    }
    int verdict = claim.take(peer, link) ? ACCEPTED : TAKEN;
    write(channel, new byte[] {(byte) verdict});
    write(channel, keys.proof(VERDICT, dialed, answered, verdict));
    if (verdict == TAKEN) {
      throw new RefusedException("got a second rank " + peer);
    }
    return new Greeting(dialed, answered);
  }

  /** The connection for frames, with its keys if they are encrypted. */
  Link link(Wire wire, Greeting greeting, boolean hasDialed) {
    if (!options.isEncrypted()) {
      return new Link(wire, null, null);
    }
    byte[] dialed = greeting.dialed();
    byte[] answered = greeting.answered();
    return new Link(
        wire,
        keys.frames(hasDialed ? DIALER : ANSWERER, dialed, answered),
        keys.frames(hasDialed ? ANSWERER : DIALER, dialed, answered));
  }

  private static void write(ByteChannel channel, byte[] bytes) throws IOException {
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    while (buffer.hasRemaining()) {
      channel.write(buffer);
    }
  }

  private static byte[] read(ByteChannel channel, int count) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate(count);
    while (buffer.hasRemaining()) {
      if (channel.read(buffer) < 0) {
        throw new EOFException("the connection ended during the hello");
      }
    }
    return buffer.array();
  }
}
