package dev.tern.exchange;

import javax.crypto.SecretKey;
import org.jspecify.annotations.Nullable;

/**
 * A connection whose peer is known.
 *
 * @param sends the key of what this rank sends, null without encryption
 * @param receives the key of what it receives
 */
record Link(Wire wire, @Nullable SecretKey sends, @Nullable SecretKey receives) {
  /** Closes all links of one rank that there are. */
  static void close(@Nullable Link[][] links) {
    for (Link[] both : links) {
      for (Link link : both) {
        if (link != null) {
          link.wire().close();
        }
      }
    }
  }
}
