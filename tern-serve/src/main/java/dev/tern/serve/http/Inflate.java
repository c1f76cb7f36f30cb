package dev.tern.serve.http;

import dev.tern.serve.wire.RefusedException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Locale;
import java.util.Optional;
import java.util.zip.GZIPInputStream;
import java.util.zip.InflaterInputStream;

/** Bodies that a caller compressed. */
final class Inflate {
  private Inflate() {}

  /** Whether {@code encoding}, a field {@code Content-Encoding}, is one that {@link #of} reads. */
  static boolean reads(String encoding) {
    return switch (encoding.strip().toLowerCase(Locale.ROOT)) {
      case "", "identity", "gzip", "x-gzip", "deflate" -> true;
      default -> false;
    };
  }

  /** Whether there is something to inflate. */
  static boolean isNeeded(Optional<String> encoding) {
    String name = encoding.orElse("").strip();
    return !name.isEmpty() && !name.equalsIgnoreCase("identity");
  }

  /**
   * The body {@code body[from, to)} as it was before it was compressed.
   *
   * @param most bytes; it is counted while inflating, so that few bytes cannot become many
   * @throws RefusedException 413 above {@code most}, 400 for damaged bodies
   */
  static byte[] of(byte[] body, int from, int to, String encoding, long most) {
    String name = encoding.strip().toLowerCase(Locale.ROOT);
    ByteArrayInputStream bytes = new ByteArrayInputStream(body, from, to - from);
    try (InputStream in =
        name.endsWith("gzip")
            ? new GZIPInputStream(bytes, 4_096)
            : new InflaterInputStream(bytes)) {
      byte[] inflated = in.readNBytes((int) Math.min(Integer.MAX_VALUE - 16, most + 1));
      if (inflated.length > most) {
        throw tooLarge(most);
      }
      return inflated;
    } catch (IOException e) {
      throw new RefusedException(
          400, "body: got bytes that are not " + name + ", expected what its head says");
    }
  }

  static RefusedException tooLarge(long most) {
    return new RefusedException(
        413,
        "body: got more than "
            + most
            + " bytes, expected at most as many; send fewer rows a request");
  }
}
