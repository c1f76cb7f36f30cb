package dev.tern.serve.http;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The tokens that callers may show. The file holds the SHA-256 of each, not the token, so that who
 * reads it cannot call; several may hold at once, so that they can be exchanged one by one.
 */
final class Tokens {
  private static final Pattern LINE = Pattern.compile("([0-9a-fA-F]{64})(\\s.*)?");
  private static final String SCHEME = "bearer ";

  private final List<byte[]> hashes;

  private Tokens(List<byte[]> hashes) {
    this.hashes = hashes;
  }

  /** Reads a file with the SHA-256 of a token on each line. */
  static Tokens read(Path file) {
    List<byte[]> hashes = new ArrayList<>();
    List<String> lines;
    try {
      lines = Files.readAllLines(file, StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(
          file + ": got " + e + ", expected a file of tokens; give one that can be read", e);
    }
    for (int at = 0; at < lines.size(); at++) {
      String line = lines.get(at).strip();
      if (line.isEmpty() || line.startsWith("#")) {
        continue;
      }
      var match = LINE.matcher(line);
      if (!match.matches()) {
        // The line is not shown: it may be a token that somebody put there as it is.
        throw new IllegalArgumentException(
            "%s, line %s: got no SHA-256, expected 64 hexadecimal digits; write what `printf %%s TOKEN | sha256sum` prints"
                .formatted(file, at + 1));
      }
      hashes.add(HexFormat.of().parseHex(match.group(1)));
    }
    if (hashes.isEmpty()) {
      throw new IllegalArgumentException(
          file + ": got no token, expected one a line; nobody could call");
    }
    return new Tokens(hashes);
  }

  /**
   * Whether the field {@code Authorization} shows one of the tokens. All are compared, each in a
   * time that does not tell how much of it was right.
   */
  boolean admit(Optional<String> authorization) {
    String field = authorization.orElse("");
    if (!field.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
      return false;
    }
    byte[] shown = sha256(field.substring(SCHEME.length()).strip());
    boolean found = false;
    for (byte[] hash : hashes) {
      found |= MessageDigest.isEqual(hash, shown);
    }
    return found;
  }

  int count() {
    return hashes.size();
  }

  private static byte[] sha256(String token) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("java: got no SHA-256, expected one; use a full JDK", e);
    }
  }
}
