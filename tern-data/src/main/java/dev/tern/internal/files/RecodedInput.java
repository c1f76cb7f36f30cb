package dev.tern.internal.files;

import java.io.IOException;
import java.io.InputStream;
import java.io.PushbackInputStream;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.Charset;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CharsetEncoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/**
 * Text of any encoding as UTF-8. A byte that is no character of it is an error once the text before
 * it is read.
 */
final class RecodedInput extends InputStream {
  private static final int CHARACTERS = 1 << 13;

  /** More characters than a decoder holds back. */
  private static final int HELD = 16;

  private final InputStream in;
  private final CharsetDecoder decoder;

  /** Bytes of the file that are not decoded yet. */
  private final ByteBuffer encoded = ByteBuffer.allocate(CHARACTERS).flip();

  private final CharsetEncoder encoder =
      StandardCharsets.UTF_8.newEncoder().onMalformedInput(CodingErrorAction.REPORT);
  private final CharBuffer characters = CharBuffer.allocate(CHARACTERS).flip();

  /** Encoded bytes that are not read yet; a character is 3 bytes at most. */
  private final ByteBuffer bytes = ByteBuffer.allocate(3 * CHARACTERS).flip();

  private final Charset charset;

  /** Whether the file ended, and whether all of it is decoded. */
  private boolean drained;

  private boolean ended;

  private RecodedInput(InputStream in, Charset charset) {
    this.in = in;
    this.charset = charset;
    decoder =
        charset
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPORT)
            .onUnmappableCharacter(CodingErrorAction.REPORT);
  }

  static RecodedInput open(InputStream in, Charset encoding) throws IOException {
    PushbackInputStream ahead = new PushbackInputStream(in, 2);
    byte[] first = ahead.readNBytes(2);
    ahead.unread(first);
    Charset charset = encoding.equals(StandardCharsets.UTF_16) ? ordered(first) : encoding;
    return new RecodedInput(ahead, charset);
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
      CoderResult decoded = decode();
      characters.flip();
      bytes.clear();
      CoderResult result = encoder.encode(characters, bytes, ended);
      if (result.isError()) {
        result.throwException();
      }
      bytes.flip();
      if (decoded.isError() && !bytes.hasRemaining()) {
        decoded.throwException();
      }
    }
    return bytes.hasRemaining();
  }

  /** Decodes more of the file, up to what is no character. */
  private CoderResult decode() throws IOException {
    CoderResult decoded = decoder.decode(encoded, characters, drained);
    if (decoded.isUnderflow() && !drained) {
      encoded.compact();
      int got = in.read(encoded.array(), encoded.position(), encoded.remaining());
      drained = got < 0;
      encoded.position(encoded.position() + Math.max(0, got)).flip();
    } else if (decoded.isUnderflow() && characters.remaining() >= HELD) {
      decoder.flush(characters);
      ended = true;
    }
    return decoded;
  }

  @Override
  public void close() throws IOException {
    in.close();
  }
}
