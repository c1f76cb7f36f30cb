package dev.tern.serve.http;

import dev.tern.predict.ScoreOptions;
import dev.tern.serve.GrpcProtocol;
import dev.tern.serve.LongRequestException;
import dev.tern.serve.Reply;
import dev.tern.serve.ServedVersion;
import dev.tern.serve.wire.RefusedException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** A server at a free port whose protocols say what they were given, and requests as bytes. */
final class TestServer implements AutoCloseable {
  static final ServeOptions OPTIONS =
      ServeOptions.DEFAULT
          .withListening(Listening.DEFAULT.withPort(0))
          .withGrace(Duration.ZERO)
          .withLimits(ServeLimits.DEFAULT.withInFlight(4, 8, Duration.ofMinutes(5)));

  /** Bytes of the answer to a request that begins with {@code large}. */
  static final int LARGE = 32 << 20;

  final ConcurrentLinkedQueue<String> notes = new ConcurrentLinkedQueue<>();
  final Map<String, FakeModel> models = new ConcurrentHashMap<>();

  /** A request that is refused, which ends the server's asking itself. */
  private static final byte[] REFUSED = "refuse".getBytes(StandardCharsets.US_ASCII);

  final ConcurrentLinkedQueue<String> warmed = new ConcurrentLinkedQueue<>();

  /** The protocols of what was answered. */
  final ConcurrentLinkedQueue<String> answered = new ConcurrentLinkedQueue<>();

  /** Requests whose body begins with {@code wait} take one of these. */
  final Semaphore turns = new Semaphore(0);

  /** Bodies that are being answered, or wait for a turn. */
  final Semaphore begun = new Semaphore(0);

  /** Of each answer, whether only a short one was taken. */
  final ConcurrentLinkedQueue<Boolean> brief = new ConcurrentLinkedQueue<>();

  /** Runs on the thread that answers. */
  volatile Runnable whenAnswering = () -> {};

  private final ModelServer server;

  TestServer(ServeOptions options, String... sources) {
    this(options, BodyBudget.of(options.limits()), sources);
  }

  TestServer(ServeOptions options, BodyBudget bodies, String... sources) {
    List<ModelSource> all =
        List.of(sources).stream()
            .map(each ->
                new ModelSource(
                    each.split("[@=]")[0],
                    each.contains("@") ? each.split("[@=]")[1] : "stable",
                    Path.of(each.substring(each.indexOf('=') + 1)),
                    ModelSource.Follow.NONE,
                    ScoreOptions.DEFAULT))
            .toList();
    server =
        ModelServer.start(
            options,
            all,
            new ModelServer.Parts(
                source -> {
                  FakeModel model =
                      new FakeModel(source.name(), Long.parseLong(source.path().toString()));
                  models.put(source.name() + "@" + source.label(), model);
                  return model;
                },
                new Answers.Protocols(
                    new Answers.Scoring(
                        speaking("infer"), speaking("predict"), speaking("invocations")),
                    new Answers.Finding(speaking("tensors"), speaking("rows")),
                    new Answers.Describer() {
                      @Override
                      public Reply describe(ServedVersion version, List<String> versions) {
                        return JsonText.reply(
                            200, "{\"model\":\"" + version.model() + "\",\"of\":" + versions + "}");
                      }

                      @Override
                      public Reply schema(ServedVersion version) {
                        return JsonText.reply(200, "{\"schema\":" + version.step() + "}");
                      }
                    },
                    messages()),
                (model, front) -> {
                  warmed.add(model.name());
                  front.warm(
                      List.of(
                          new HttpWarmUp.Asked("/v2/models/" + model.name() + "/infer", REFUSED)),
                      new byte[5],
                      Duration.ofMinutes(1));
                },
                (model, fresh) -> warmed.add(model.name() + " again"),
                new ServeMetrics(),
                bodies),
            notes::add);
  }

  static TestServer start() {
    return new TestServer(OPTIONS, "m=30");
  }

  /** Messages are answered by their {@code id}, as bodies are by their beginning. */
  private GrpcAnswers.Messages messages() {
    return new GrpcAnswers.Messages() {
      @Override
      public Reply infer(ServedVersion version, byte[] body, int from, int to) {
        String text = new String(body, from, to - from, StandardCharsets.ISO_8859_1);
        String word =
            List.of("wait", "refuse", "break", "long", "large").stream()
                .filter(text::contains)
                .findFirst()
                .orElse("else");
        answer("grpc", word.getBytes(StandardCharsets.US_ASCII), OptionalInt.empty(), version);
        return GrpcProtocol.server("step " + version.step());
      }

      @Override
      public Reply describe(ServedVersion version, List<String> versions) {
        return GrpcProtocol.server(version.model() + " of " + versions);
      }
    };
  }

  private Answers.Protocol speaking(String name) {
    return (version, body, length, jsonLength) ->
        answer(name, Arrays.copyOf(body, length), jsonLength, version);
  }

  private Reply answer(String name, byte[] body, OptionalInt jsonLength, ServedVersion version) {
    String text = new String(body, StandardCharsets.ISO_8859_1);
    if (text.startsWith("long") && version.brief()) {
      throw new LongRequestException();
    }
    answered.add(name);
    brief.add(version.brief());
    whenAnswering.run();
    if (text.startsWith("large")) {
      return Reply.json(200, new byte[LARGE]);
    }
    if (text.startsWith("wait")) {
      begun.release();
      turns.acquireUninterruptibly();
    }
    if (text.startsWith("refuse")) {
      throw new RefusedException(400, "I1: got 3 numbers, expected shape [2]");
    }
    if (text.startsWith("break")) {
      throw new IllegalStateException("the inside of the server");
    }
    String json =
        "{\"protocol\":\"%s\",\"model\":\"%s\",\"step\":%s,\"bytes\":%s%s}"
            .formatted(
                name,
                version.model(),
                version.step(),
                body.length,
                jsonLength.isPresent() ? ",\"json\":" + jsonLength.getAsInt() : "");
    byte[] bytes = json.getBytes(StandardCharsets.UTF_8);
    return jsonLength.isPresent()
        ? new Reply(200, "application/octet-stream", OptionalInt.of(bytes.length), bytes)
        : Reply.json(200, bytes);
  }

  int port() {
    return server.port();
  }

  String url() {
    return server.url();
  }

  ModelServer server() {
    return server;
  }

  /** A connection to it. */
  Socket connect() throws IOException {
    Socket socket = new Socket("127.0.0.1", port());
    socket.setSoTimeout(60_000);
    return socket;
  }

  /** All that it answers to {@code text}, sent as it is, until it closes the connection. */
  String raw(String text) throws IOException {
    return raw(port(), text);
  }

  private static String raw(int port, String text) throws IOException {
    try (Socket socket = new Socket("127.0.0.1", port)) {
      socket.setSoTimeout(60_000);
      socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
      socket.getOutputStream().flush();
      return rest(socket);
    }
  }

  /** What comes until the end of the connection, or until it is reset. */
  static String rest(Socket socket) throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    InputStream in = socket.getInputStream();
    byte[] buffer = new byte[8_192];
    try {
      for (int got = in.read(buffer); got >= 0; got = in.read(buffer)) {
        all.write(buffer, 0, got);
      }
    } catch (SocketException e) {
      // A reset: what was answered before it counts.
    }
    return all.toString(StandardCharsets.ISO_8859_1);
  }

  /** The answer to a request with a head of {@code fields}. */
  String ask(String method, String path, String body, String... fields) throws IOException {
    return ask(port(), method, path, body, fields);
  }

  /** The same of a server at {@code port}. */
  static String ask(int port, String method, String path, String body, String... fields)
      throws IOException {
    StringBuilder head = new StringBuilder(method + " " + path + " HTTP/1.1\r\nHost: h\r\n");
    for (String field : fields) {
      head.append(field).append("\r\n");
    }
    if (!body.isEmpty()) {
      head.append("Content-Length: ").append(body.length()).append("\r\n");
    }
    return raw(port, head + "Connection: close\r\n\r\n" + body);
  }

  static int status(String answer) {
    return Integer.parseInt(answer.split(" ", 3)[1]);
  }

  static String body(String answer) {
    return answer.substring(answer.indexOf("\r\n\r\n") + 4);
  }

  void awaitBegun(int count) throws InterruptedException {
    if (!begun.tryAcquire(count, 60, TimeUnit.SECONDS)) {
      throw new IllegalStateException("no request came in time");
    }
  }

  /** The value of a line of /metrics. */
  double metric(String line) throws IOException {
    for (String each : body(ask("GET", "/metrics", "")).split("\n")) {
      if (each.startsWith(line + " ")) {
        return Double.parseDouble(each.substring(line.length() + 1));
      }
    }
    throw new IllegalStateException("no " + line);
  }

  @Override
  public void close() {
    turns.release(10_000);
    server.close();
  }
}
