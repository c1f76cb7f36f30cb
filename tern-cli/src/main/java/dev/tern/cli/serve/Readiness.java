package dev.tern.cli.serve;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.Optional;
import javax.net.SocketFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * Asks a server whether it is ready, for the health checks of containers.
 *
 * @param certificate what the server shows, if it speaks TLS
 */
record Readiness(String host, int port, Optional<Path> certificate) {
  private static final int MILLIS = 5_000;

  /** Whether it says so within 5 seconds. */
  boolean holds() {
    try (Socket socket = factory().createSocket()) {
      String to = host.equals("0.0.0.0") || host.equals("::") ? "127.0.0.1" : host;
      socket.connect(new InetSocketAddress(to, port), MILLIS);
      socket.setSoTimeout(MILLIS);
      String request =
          "GET /v2/health/ready HTTP/1.1\r\nHost: " + to + "\r\nConnection: close\r\n\r\n";
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      socket.getOutputStream().flush();
      BufferedReader answer =
          new BufferedReader(
              new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
      String first = answer.readLine();
      return first != null && first.startsWith("HTTP/1.1 200");
    } catch (IOException | GeneralSecurityException e) {
      return false;
    }
  }

  private SocketFactory factory() throws IOException, GeneralSecurityException {
    if (certificate.isEmpty()) {
      return SocketFactory.getDefault();
    }
    KeyStore trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, null);
    int number = 0;
    try (InputStream in = Files.newInputStream(certificate.get())) {
      for (Certificate each : CertificateFactory.getInstance("X.509").generateCertificates(in)) {
        trusted.setCertificateEntry("c" + number++, each);
      }
    }
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(trusted);
    SSLContext context = SSLContext.getInstance("TLSv1.3");
    context.init(null, trust.getTrustManagers(), null);
    return context.getSocketFactory();
  }
}
