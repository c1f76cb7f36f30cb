package dev.tern.internal.files;

import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PushbackInputStream;
import java.io.Reader;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.Charset;
import java.nio.charset.CharsetEncoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/** Text of any encoding as UTF-8. A byte that is no character of it is an error. */
final class RecodedInput extends InputStream {
  private static final int CHARACTERS = 1 << 13;

  private final Reader text;
  private final CharsetEncoder encoder =
      StandardCharsets.UTF_8.newEncoder().onMalformedInput(CodingErrorAction.REPORT);
  private final CharBuffer characters = CharBuffer.allocate(CHARACTERS).flip();

  /** Encoded bytes that are not read yet; a character is 3 bytes at most. */
  private final ByteBuffer bytes = ByteBuffer.allocate(3 * CHARACTERS).flip();

  private final Charset charset;
  private boolean ended;

  private RecodedInput(Reader text, Charset charset) {
    this.text = text;
    this.charset = charset;
  }

  static RecodedInput open(InputStream in, Charset encoding) throws IOException {
    PushbackInputStream ahead = new PushbackInputStream(in, 2);
    byte[] first = ahead.readNBytes(2);
    ahead.unread(first);
    Charset charset = encoding.equals(StandardCharsets.UTF_16) ? ordered(first) : encoding;
    return new RecodedInput(
        new InputStreamReader(
            ahead,
            charset
                .newDecoder()
                .onMalformedInput(CodingErrorAction.REPORT)
                .onUnmappableCharacter(CodingErrorAction.REPORT)),
        charset);
  }

  /**
   * UTF-16 in the order of bytes that its first two tell: a byte order mark, which stays a
   * character of the text, or an ASCII character.
   */
  private static Charset ordered(byte[] first) {
    boolean little =
        first.length == 2
            && (first[1] == 0 && first[0] != 0
                || first[0] == (byte) 0xFF && first[1] == (byte) 0xFE);
    return little ? StandardCharsets.UTF_16LE : StandardCharsets.UTF_16BE;
  }

  /** What the text is written in; of UTF-16 the order of bytes, too. */
  Charset charset() {
    return charset;
  }

  @Override
  public int read() throws IOException {
    return fill() ? bytes.get() & 0xFF : -1;
  }

  @Override
  public int read(byte[] out, int offset, int length) throws IOException {
    if (length == 0) {
      return 0;
    }
    if (!fill()) {
      return -1;
    }
    int count = Math.min(length, bytes.remaining());
    bytes.get(out, offset, count);
    return count;
  }

  /** Whether bytes are left; makes more where none are. */
  private boolean fill() throws IOException {
    while (!bytes.hasRemaining() && !ended) {
      characters.compact();
      ended = text.read(characters) < 0;
      characters.flip();
      bytes.clear();
      CoderResult result = encoder.encode(characters, bytes, ended);
      if (result.isError()) {
        result.throwException();
      }
      bytes.flip();
    }
    return bytes.hasRemaining();
  }

  @Override
  public void close() throws IOException {
    text.close();
  }
}
