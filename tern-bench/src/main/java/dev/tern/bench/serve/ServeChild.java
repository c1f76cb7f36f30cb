package dev.tern.bench.serve;

import dev.tern.predict.ScoreOptions;
import dev.tern.serve.http.Listening;
import dev.tern.serve.http.ModelServer;
import dev.tern.serve.http.ModelSource;
import dev.tern.serve.http.ServeOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** A server in a process of its own, until its standard input ends. */
final class ServeChild {
  private ServeChild() {}

  public static void main(String[] args) throws IOException {
    ModelSource source =
        new ModelSource(
            "m",
            ModelSource.STABLE,
            Path.of(args[0]),
            ModelSource.Follow.NONE,
            ScoreOptions.DEFAULT);
    ServeOptions options =
        ServeOptions.DEFAULT.withListening(Listening.DEFAULT.withPort(0)).withGrace(Duration.ZERO);
    long start = System.nanoTime();
    try (ModelServer server = ModelServer.start(options, List.of(source), System.err::println)) {
      System.out.println(server.port() + " " + (System.nanoTime() - start) / 1_000_000);
      while (System.in.read() >= 0) {
        continue;
      }
    }
  }
}
