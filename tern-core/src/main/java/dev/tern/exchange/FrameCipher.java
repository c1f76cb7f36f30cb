package dev.tern.exchange;

import dev.tern.internal.memory.Memory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.GeneralSecurityException;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;

/**
 * AES-GCM over the frames of one way. The nonce is the frame's number, which never returns under
 * one key: each way of each connection has a key of its own. The head is authenticated with the
 * payload. Payloads go through arrays, on which the JDK's cipher is three times as fast as on
 * buffers. The JDK makes some objects for each nonce, about 2 KB a frame.
 */
final class FrameCipher {
  static final int TAG_BYTES = 16;

  private final Cipher cipher;
  private final SecretKey key;
  private final byte[] head = new byte[Frame.BYTES];
  private final byte[] nonce = new byte[12];
  private final ByteBuffer counter = ByteBuffer.wrap(nonce).order(ByteOrder.LITTLE_ENDIAN);
  private final byte[] plain;
  private final byte[] sealed;

  /**
   * @param mostBytes of a payload
   */
  FrameCipher(SecretKey key, int mostBytes) {
    this.key = key;
    plain = new byte[mostBytes + TAG_BYTES];
    sealed = new byte[mostBytes + TAG_BYTES];
    try {
      cipher = Cipher.getInstance("AES/GCM/NoPadding");
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("exchange: this Java has no AES-GCM", e);
    }
  }

  /**
   * Puts the payload at {@code address}, sealed, behind the head that {@code frame} begins with.
   */
  void seal(ByteBuffer frame, long number, long address, int length) {
    MemorySegment.copy(Memory.ALL, ValueLayout.JAVA_BYTE, address, plain, 0, length);
    frame.get(0, head);
    try {
      start(Cipher.ENCRYPT_MODE, number);
      cipher.doFinal(plain, 0, length, sealed, 0);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("exchange: cannot encrypt a frame", e);
    }
    frame.put(Frame.BYTES, sealed, 0, length + TAG_BYTES);
  }

  /** Opens the frame at {@code at}; its payload comes to {@code address}. */
  void open(ByteBuffer frame, int at, long number, long address, int length)
      throws FrameFaultException {
    frame.get(at, head);
    frame.get(at + Frame.BYTES, sealed, 0, length + TAG_BYTES);
    try {
      start(Cipher.DECRYPT_MODE, number);
      cipher.doFinal(sealed, 0, length + TAG_BYTES, plain, 0);
    } catch (AEADBadTagException e) {
      throw new FrameFaultException(
          "an encrypted frame that was changed, expected it as it was sent", e);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("exchange: cannot decrypt a frame", e);
    }
    MemorySegment.copy(plain, 0, Memory.ALL, ValueLayout.JAVA_BYTE, address, length);
  }

  private void start(int mode, long number) throws GeneralSecurityException {
    counter.putLong(4, number);
    cipher.init(mode, key, new GCMParameterSpec(8 * TAG_BYTES, nonce));
    cipher.updateAAD(head);
  }
}
