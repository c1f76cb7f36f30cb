package dev.tern.serve.http;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Certificates and keys in PEM, as stores in memory. */
final class PemFiles {
  private static final Pattern KEY =
      Pattern.compile(
          "-----BEGIN ([A-Z ]*)PRIVATE KEY-----([^-]*)-----END [A-Z ]*PRIVATE KEY-----");

  private PemFiles() {}

  /** A store with the server's certificate and key. */
  static KeyStore identity(Path certificate, Path key) {
    PrivateKey secret = key(key);
    Certificate[] chain = certificates(certificate).toArray(Certificate[]::new);
    try {
      KeyStore store = empty();
      store.setKeyEntry("tern", secret, new char[0], chain);
      return store;
    } catch (GeneralSecurityException | IOException e) {
      throw new IllegalArgumentException(
          "%s: got a certificate that does not fit the key of %s (%s), expected a pair"
              .formatted(certificate, key, e.getMessage()),
          e);
    }
  }

  /** A store of those whose signature is trusted. */
  static KeyStore trusted(Path authorities) {
    try {
      KeyStore store = empty();
      int number = 0;
      for (Certificate each : certificates(authorities)) {
        store.setCertificateEntry("ca" + number++, each);
      }
      return store;
    } catch (GeneralSecurityException | IOException e) {
      throw new IllegalArgumentException(authorities + ": got " + e.getMessage(), e);
    }
  }

  private static KeyStore empty() throws GeneralSecurityException, IOException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    return store;
  }

  private static List<? extends Certificate> certificates(Path file) {
    try {
      List<? extends Certificate> all =
          List.copyOf(
              CertificateFactory.getInstance("X.509")
                  .generateCertificates(new ByteArrayInputStream(bytes(file))));
      if (all.isEmpty()) {
        throw new CertificateException("no certificate in it");
      }
      return all;
    } catch (CertificateException e) {
      throw new IllegalArgumentException(
          "%s: got %s, expected certificates in PEM, which begin with -----BEGIN CERTIFICATE-----"
              .formatted(file, e.getMessage()),
          e);
    }
  }

  private static PrivateKey key(Path file) {
    Matcher block = KEY.matcher(new String(bytes(file), StandardCharsets.ISO_8859_1));
    if (!block.find() || !block.group(1).isEmpty()) {
      throw noKey(file);
    }
    PKCS8EncodedKeySpec encoded;
    try {
      encoded = new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(block.group(2)));
    } catch (IllegalArgumentException e) {
      throw noKey(file);
    }
    for (String algorithm : List.of("EC", "RSA", "EdDSA")) {
      try {
        return KeyFactory.getInstance(algorithm).generatePrivate(encoded);
      } catch (InvalidKeySpecException e) {
        continue; // A key of another algorithm.
      } catch (GeneralSecurityException e) {
        throw new IllegalStateException("java: got no " + algorithm + " keys", e);
      }
    }
    throw noKey(file);
  }

  private static IllegalArgumentException noKey(Path file) {
    return new IllegalArgumentException(
        file
            + ": got no key in PKCS #8, expected -----BEGIN PRIVATE KEY----- of an EC, RSA or"
            + " Ed25519 key, not encrypted; convert it by openssl pkcs8 -topk8 -nocrypt");
  }

  private static byte[] bytes(Path file) {
    try {
      return Files.readAllBytes(file);
    } catch (IOException e) {
      throw new IllegalArgumentException(
          file + ": got " + e + ", expected a PEM file; give one that can be read", e);
    }
  }
}
