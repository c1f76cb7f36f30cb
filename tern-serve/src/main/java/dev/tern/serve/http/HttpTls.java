package dev.tern.serve.http;

import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.eclipse.jetty.util.ssl.SslContextFactory;

/** TLS 1.3 by files of PEM, which are read again when they change. */
final class HttpTls {
  private record Stores(KeyStore identity, Optional<KeyStore> clients) {}

  private final SslContextFactory.Server factory = new SslContextFactory.Server();
  private final Watched<Stores> stores;
  private final Consumer<String> notes;

  HttpTls(Listening.Tls files, Consumer<String> notes) {
    this.notes = notes;
    List<Path> all = new ArrayList<>(List.of(files.certificate(), files.key()));
    files.clients().ifPresent(all::add);
    stores = new Watched<>(all, () -> read(files), notes);
    factory.setIncludeProtocols("TLSv1.3");
    factory.setSniRequired(false);
    put(factory);
  }

  private static Stores read(Listening.Tls files) {
    return new Stores(
        PemFiles.identity(files.certificate(), files.key()),
        files.clients().map(PemFiles::trusted));
  }

  private void put(SslContextFactory to) {
    Stores now = stores.value();
    to.setKeyStore(now.identity());
    to.setKeyStorePassword("");
    now.clients()
        .ifPresent(clients -> {
          to.setTrustStore(clients);
          factory.setNeedClientAuth(true);
        });
  }

  SslContextFactory.Server factory() {
    return factory;
  }

  /** Takes new certificates into use for connections from here on. */
  void refresh() {
    if (stores.refresh()) {
      try {
        factory.reload(this::put);
      } catch (Exception e) {
        notes.accept("tls: got " + e.getMessage() + "; the certificate before stays in use");
      }
    }
  }
}
