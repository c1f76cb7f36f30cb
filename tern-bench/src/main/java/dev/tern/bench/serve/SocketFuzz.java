package dev.tern.bench.serve;

import dev.tern.predict.ScoreOptions;
import dev.tern.serve.http.Listening;
import dev.tern.serve.http.ModelServer;
import dev.tern.serve.http.ModelSource;
import dev.tern.serve.http.ServeOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Damaged requests over sockets to a server in this process: bodies that are damaged in requests
 * that are whole, over HTTP and gRPC, and requests that are damaged themselves, head and frames
 * too. The server answers or closes the connection, and answers the next sound request.
 */
final class SocketFuzz {
  private static final long MOST_NANOS = 1_000_000_000L;
  private static final int A_WHOLE = 8;
  private static final String ERROR = "an error in Tern itself";

  private final Path model;
  private final RequestMutator requests = new RequestMutator(RequestCorpus.all());
  private final ConcurrentLinkedQueue<String> notes = new ConcurrentLinkedQueue<>();

  SocketFuzz(Path model) {
    this.model = model;
  }

  /** Sends so many; what was wrong. */
  List<String> run(long count, long firstSeed) {
    ModelSource source =
        new ModelSource(
            "m", ModelSource.STABLE, model, ModelSource.Follow.NONE, ScoreOptions.DEFAULT);
    ServeOptions options =
        ServeOptions.DEFAULT.withListening(Listening.DEFAULT.withPort(0)).withGrace(Duration.ZERO);
    List<String> failures = new ArrayList<>();
    try (ModelServer server = ModelServer.start(options, List.of(source), notes::add);
        Connection http = new Caller(server.port());
        Connection grpc = new GrpcCaller(server.port())) {
      for (long seed = firstSeed; seed < firstSeed + count && failures.isEmpty(); seed++) {
        String wrong =
            seed % A_WHOLE == 0
                ? damagedWhole(server.port(), seed)
                : damagedBody(http, grpc, requests.of(seed));
        if (!wrong.isEmpty()) {
          failures.add("fuzz: over a socket, seed " + seed + ": " + wrong);
        }
      }
      if (grpc.call(GrpcCaller.message(sound().body())) != 200) {
        failures.add("fuzz: got no answer to a sound request in the end");
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    notes.stream().filter(note -> note.contains(ERROR)).forEach(failures::add);
    return failures;
  }

  private static RequestCorpus.Entry sound() {
    return RequestCorpus.all().stream()
        .filter(each -> each.target() == RequestCorpus.Target.GRPC)
        .findFirst()
        .orElseThrow();
  }

  private static byte[] post(RequestCorpus.Entry entry) {
    String field =
        entry.jsonLength().isPresent()
            ? "Inference-Header-Content-Length: " + entry.jsonLength().getAsInt() + "\r\n"
            : "";
    return Caller.post(entry.target().path, entry.body(), field);
  }

  private static String damagedBody(Connection http, Connection grpc, RequestCorpus.Entry entry)
      throws IOException {
    boolean isMessage = entry.target() == RequestCorpus.Target.GRPC;
    byte[] request = isMessage ? GrpcCaller.message(entry.body()) : post(entry);
    long nanos = Long.MAX_VALUE;
    int status = 200;
    for (int times = 0; times < 3 && nanos > MOST_NANOS && isFair(status); times++) {
      long start = System.nanoTime();
      status = (isMessage ? grpc : http).call(request);
      nanos = System.nanoTime() - start;
    }
    if (!isFair(status)) {
      return "got status " + status;
    }
    return nanos > MOST_NANOS ? "took " + nanos / 1_000_000 + " ms three times" : "";
  }

  private static boolean isFair(int status) {
    return status == 200 || status >= 400 && status < 500;
  }

  /** Sends bytes that are hardly a request, and no more; the server answers or hangs up. */
  private String damagedWhole(int port, long seed) throws IOException {
    SplittableRandom random = new SplittableRandom(seed);
    RequestCorpus.Entry entry = requests.of(seed);
    byte[] bytes =
        entry.target() == RequestCorpus.Target.GRPC
            ? GrpcCaller.connection(entry.body())
            : post(entry);
    for (int i = random.nextInt(1, 4); i > 0; i--) {
      bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
    }
    try (Socket socket = new Socket("127.0.0.1", port)) {
      socket.setSoTimeout(60_000);
      socket.getOutputStream().write(bytes);
      socket.shutdownOutput();
      String answer =
          new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
      return answer.startsWith("HTTP/1.1 500") ? "got " + answer : "";
    } catch (SocketException e) {
      return ""; // It hung up.
    }
  }
}
