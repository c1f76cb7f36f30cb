package dev.tern.exchange;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import javax.crypto.KDF;
import javax.crypto.Mac;
import javax.crypto.SecretKey;
import javax.crypto.spec.HKDFParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/** What ranks prove to each other and encrypt with, all from one secret. */
final class MeshKeys {
  static final int NONCE_BYTES = 32;
  static final int MAC_BYTES = 32;

  private static final int AES_BYTES = 16;
  private static final String MAC = "HmacSHA256";
  private static final SecureRandom RANDOM = new SecureRandom();

  private final byte[] secret;

  MeshKeys(byte[] secret) {
    this.secret = secret;
  }

  static byte[] nonce() {
    byte[] nonce = new byte[NONCE_BYTES];
    RANDOM.nextBytes(nonce);
    return nonce;
  }

  /** HMAC-SHA256 over who says it, both hellos and one more byte. */
  byte[] proof(String who, byte[] dialed, byte[] answered, int more) {
    try {
      Mac mac = Mac.getInstance(MAC);
      mac.init(new SecretKeySpec(secret, MAC));
      mac.update(("tern exchange 1 " + who).getBytes(StandardCharsets.US_ASCII));
      mac.update(dialed);
      mac.update(answered);
      mac.update((byte) more);
      return mac.doFinal();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("exchange: this Java has no HMAC-SHA256", e);
    }
  }

  /**
   * The key of one way of one connection, by HKDF-SHA256 with the nonces of both sides as salt.
   *
   * @param way who sends on it
   */
  SecretKey frames(String way, byte[] dialed, byte[] answered) {
    byte[] salt = new byte[2 * NONCE_BYTES];
    System.arraycopy(dialed, Hello.NONCE, salt, 0, NONCE_BYTES);
    System.arraycopy(answered, Hello.NONCE, salt, NONCE_BYTES, NONCE_BYTES);
    byte[] info = ("tern exchange 1 frames " + way).getBytes(StandardCharsets.US_ASCII);
    try {
      return KDF.getInstance("HKDF-SHA256")
          .deriveKey(
              "AES",
              HKDFParameterSpec.ofExtract()
                  .addSalt(salt)
                  .addIKM(secret)
                  .thenExpand(info, AES_BYTES));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("exchange: this Java has no HKDF-SHA256", e);
    }
  }
}
