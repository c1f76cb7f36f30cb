package dev.tern.serve.http;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;

/** Certificates that the JDK's keytool makes, as PEM. */
final class Certificates {
  private static final char[] PASSWORD = "changeit".toCharArray();

  private Certificates() {}

  /** Writes {@code NAME.pem} and {@code NAME.key} of a new certificate for this machine. */
  static void make(Path folder, String name, String algorithm) throws Exception {
    Path store = folder.resolve(name + ".p12");
    Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                "a",
                "-keyalg",
                algorithm,
                "-dname",
                "CN=" + name,
                "-ext",
                "san=dns:localhost,ip:127.0.0.1",
                "-ext",
                "bc:c=ca:true",
                "-validity",
                "3650",
                "-storetype",
                "PKCS12",
                "-storepass",
                "changeit",
                "-keystore",
                store.toString())
            .redirectErrorStream(true)
            .start();
    String said = new String(keytool.getInputStream().readAllBytes());
    if (keytool.waitFor() != 0) {
      throw new IllegalStateException(said);
    }
    KeyStore made = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(store)) {
      made.load(in, PASSWORD);
    }
    write(folder.resolve(name + ".pem"), "CERTIFICATE", made.getCertificate("a").getEncoded());
    write(folder.resolve(name + ".key"), "PRIVATE KEY", made.getKey("a", PASSWORD).getEncoded());
  }

  private static void write(Path file, String what, byte[] bytes) throws IOException {
    String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes);
    Files.write(file, List.of("-----BEGIN " + what + "-----", text, "-----END " + what + "-----"));
  }
}
