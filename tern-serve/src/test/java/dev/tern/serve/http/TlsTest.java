package dev.tern.serve.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.KeyStore;
import java.util.Optional;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class TlsTest {
  @TempDir static Path made;
  @TempDir Path temp;

  @BeforeAll
  static void make() throws Exception {
    for (String name : new String[] {"one", "two", "caller"}) {
      Certificates.make(made, name, name.equals("two") ? "RSA" : "EC");
    }
  }

  private Listening.Tls files(Optional<Path> clients) throws IOException {
    copy("one");
    return new Listening.Tls(temp.resolve("c.pem"), temp.resolve("c.key"), clients);
  }

  private void copy(String name) throws IOException {
    for (String end : new String[] {".pem", ".key"}) {
      Files.copy(
          made.resolve(name + end), temp.resolve("c" + end), StandardCopyOption.REPLACE_EXISTING);
    }
  }

  private static TestServer server(Listening.Tls files) {
    return new TestServer(
        TestServer.OPTIONS.withListening(TestServer.OPTIONS.listening().withTls(files)), "m=30");
  }

  /** The first line of the answer over TLS by {@code version} to who trusts and shows these. */
  private static String ask(
      TestServer server, String trusted, Optional<String> shown, String version) throws Exception {
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(PemFiles.trusted(made.resolve(trusted + ".pem")));
    KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    KeyStore none = KeyStore.getInstance("PKCS12");
    none.load(null, null);
    keys.init(
        shown.isPresent()
            ? PemFiles.identity(
                made.resolve(shown.get() + ".pem"), made.resolve(shown.get() + ".key"))
            : none,
        new char[0]);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
    try (SSLSocket socket =
        (SSLSocket) context.getSocketFactory().createSocket("127.0.0.1", server.port())) {
      socket.setSoTimeout(60_000);
      socket.setEnabledProtocols(new String[] {version});
      socket
          .getOutputStream()
          .write(
              "GET /v2 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
                  .getBytes(StandardCharsets.US_ASCII));
      String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
      return answer.lines().findFirst().orElse("nothing");
    }
  }

  @Test
  void aServerWithACertificateSpeaksTls13Alone() throws Exception {
    try (TestServer server = server(files(Optional.empty()))) {
      assertThat(server.url()).startsWith("https://");
      assertThat(ask(server, "one", Optional.empty(), "TLSv1.3")).isEqualTo("HTTP/1.1 200 OK");
      assertThatThrownBy(() -> ask(server, "one", Optional.empty(), "TLSv1.2"))
          .isInstanceOf(IOException.class);
      assertThatThrownBy(() -> ask(server, "two", Optional.empty(), "TLSv1.3"))
          .isInstanceOf(IOException.class);
      assertThat(plain(server)).doesNotContain("200 OK");
    }
  }

  private static String plain(TestServer server) throws IOException {
    try (Socket socket = server.connect()) {
      socket
          .getOutputStream()
          .write("GET /v2 HTTP/1.1\r\nHost: h\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      return TestServer.rest(socket);
    }
  }

  @Test
  void whoMustShowACertificateIsAnsweredWithTheRightOneAlone() throws Exception {
    try (TestServer server = server(files(Optional.of(made.resolve("caller.pem"))))) {
      assertThat(ask(server, "one", Optional.of("caller"), "TLSv1.3")).isEqualTo("HTTP/1.1 200 OK");
      assertThatThrownBy(() -> ask(server, "one", Optional.empty(), "TLSv1.3"))
          .isInstanceOf(IOException.class);
      assertThatThrownBy(() -> ask(server, "one", Optional.of("two"), "TLSv1.3"))
          .isInstanceOf(IOException.class);
    }
  }

  @Test
  void aNewCertificateIsShownWithoutAStop() throws Exception {
    try (TestServer server = server(files(Optional.empty()))) {
      assertThat(ask(server, "one", Optional.empty(), "TLSv1.3")).isEqualTo("HTTP/1.1 200 OK");
      copy("two");
      String answer = "none";
      for (int i = 0; i < 600 && !answer.equals("HTTP/1.1 200 OK"); i++) {
        Thread.sleep(100);
        try {
          answer = ask(server, "two", Optional.empty(), "TLSv1.3");
        } catch (IOException e) {
          answer = String.valueOf(e.getMessage());
        }
      }
      assertThat(answer).isEqualTo("HTTP/1.1 200 OK");
      Files.writeString(temp.resolve("c.key"), "damaged");
      for (int i = 0; i < 6_000 && !server.notes.toString().contains("stays in use"); i++) {
        Thread.sleep(10);
      }
      assertThat(server.notes.toString()).contains("stays in use");
      assertThat(ask(server, "two", Optional.empty(), "TLSv1.3")).isEqualTo("HTTP/1.1 200 OK");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "nothing",
        "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n",
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n",
        "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
        "-----BEGIN PRIVATE KEY-----\n"
      })
  void aFileWithoutAKeyThatCanBeReadIsRefusedByName(String text) throws IOException {
    Path key = Files.writeString(temp.resolve("x.key"), text);
    assertThatThrownBy(() -> PemFiles.identity(made.resolve("one.pem"), key))
        .hasMessageContaining("x.key")
        .hasMessageContaining("openssl pkcs8");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "nothing", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"})
  void aFileWithoutACertificateIsRefusedByName(String text) throws IOException {
    Path file = Files.writeString(temp.resolve("x.pem"), text);
    assertThatThrownBy(() -> PemFiles.trusted(file)).hasMessageContaining("x.pem");
    assertThatThrownBy(() -> PemFiles.trusted(temp.resolve("none.pem")))
        .hasMessageContaining("none.pem");
  }
}
