package dev.tern.serve.http;

import static dev.tern.serve.http.GrpcCalls.INFER;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.serve.GrpcProtocol;
import dev.tern.serve.ProtoBodies;
import dev.tern.serve.RequestMemory;
import io.grpc.CallOptions;
import io.grpc.ClientInterceptors;
import io.grpc.CompressorRegistry;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import java.io.IOException;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Calls by a client that others wrote: grpc-java, over sockets. */
final class GrpcServerTest {
  private static final String SERVICE = "inference.GRPCInferenceService/";

  /** On a machine that has much else to do it takes a while until calls are quick. */
  private static final int MOST_CALLS = 50_000;

  static final String HEALTH = "grpc.health.v1.Health/";

  @TempDir Path temp;

  static byte[] infer(String model, String id) {
    return new ProtoBodies(model, false).with("id", id).bytes();
  }

  private static byte[] named(String name) {
    return ProtoBodies.builder("ModelReadyRequest")
        .setField(ProtoBodies.type("ModelReadyRequest").findFieldByNumber(1), name)
        .build()
        .toByteArray();
  }

  /** The message of an answer of the fake protocols, without its prefix. */
  private static byte[] message(byte[] framed) {
    return Arrays.copyOfRange(framed, 5, framed.length);
  }

  @Test
  void everyMethodIsAnswered() {
    try (TestServer server = new TestServer(TestServer.OPTIONS, "m=30", "m@canary=40");
        GrpcCalls calls = GrpcCalls.plain(server.port())) {
      byte[] yes = {8, 1};
      assertThat(calls.call(SERVICE + "ServerLive", new byte[0])).isEqualTo(yes);
      assertThat(calls.call(SERVICE + "ServerReady", new byte[0])).isEqualTo(yes);
      assertThat(calls.call(SERVICE + "ModelReady", named("m"))).isEqualTo(yes);
      assertThat(calls.call(SERVICE + "ServerMetadata", new byte[0]))
          .isEqualTo(message(GrpcProtocol.server(Answers.VERSION).body()));
      assertThat(calls.call(SERVICE + "ModelMetadata", named("m")))
          .isEqualTo(message(GrpcProtocol.server("m of [30, 40]").body()));
      assertThat(calls.call(INFER, infer("m", "1")))
          .isEqualTo(message(GrpcProtocol.server("step 30").body()));
      byte[] canary = new ProtoBodies("m", false).with("model_version", "40").bytes();
      assertThat(calls.call(INFER, canary))
          .isEqualTo(message(GrpcProtocol.server("step 40").body()));
      assertThat(calls.call(HEALTH + "Check", new byte[0])).isEqualTo(yes);
      assertThat(calls.call(HEALTH + "Check", named("inference.GRPCInferenceService")))
          .isEqualTo(yes);
    }
  }

  @Test
  void aCallThatTakesLongIsAnsweredByAThreadThatMayBeHeld() throws IOException {
    try (TestServer server = TestServer.start();
        GrpcCalls calls = GrpcCalls.plain(server.port())) {
      boolean isQuick = false;
      for (int i = 0; i < MOST_CALLS && !isQuick; i++) {
        server.brief.clear();
        calls.call(INFER, infer("m", "1"));
        isQuick = server.brief.remove();
      }
      assertThat(isQuick).isTrue();
      assertThat(calls.call(INFER, infer("m", "long")))
          .isEqualTo(message(GrpcProtocol.server("step 30").body()));
      assertThat(server.brief).containsExactly(false);
      assertThat(server.metric("tern_body_bytes")).isZero();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "x, 1, NOT_FOUND, 'model: got x, expected one of m'",
    "m@x, 1, NOT_FOUND, 'model: got no such name'",
    "'', 1, INVALID_ARGUMENT, 'model_name: got nothing'",
    "m, refuse, INVALID_ARGUMENT, 'I1: got 3 numbers, expected shape [2]'",
    "m, break, INTERNAL, an error in the server; its log has it"
  })
  void refusalsHaveAStatusAndSayWhatToMend(String model, String id, Status.Code code, String said) {
    try (TestServer server = TestServer.start();
        GrpcCalls calls = GrpcCalls.plain(server.port())) {
      Status status = calls.status(INFER, infer(model, id));
      assertThat(status.getCode()).isEqualTo(code);
      assertThat(status.getDescription()).startsWith(said).doesNotContain("inside");
    }
  }

  @Test
  void whatIsNotServedIsRefusedByItsStatus() {
    try (TestServer server = TestServer.start();
        GrpcCalls calls = GrpcCalls.plain(server.port())) {
      assertThat(calls.status(SERVICE + "ModelStreamInfer", new byte[0]).getCode())
          .isEqualTo(Status.Code.UNIMPLEMENTED);
      assertThat(calls.status("other.Service/Do", new byte[0]).getCode())
          .isEqualTo(Status.Code.UNIMPLEMENTED);
      assertThat(calls.status(HEALTH + "Check", named("other")).getCode())
          .isEqualTo(Status.Code.NOT_FOUND);
      byte[] version = new ProtoBodies("m", false).with("model_version", "31").bytes();
      assertThat(calls.status(INFER, version).getCode()).isEqualTo(Status.Code.NOT_FOUND);
      byte[] damaged = {10, 127, 1};
      assertThat(calls.status(INFER, damaged).getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
      assertThat(calls.status(SERVICE + "ModelReady", damaged).getCode())
          .isEqualTo(Status.Code.INVALID_ARGUMENT);
    }
  }

  @Test
  void compressedMessagesAreTakenAndOtherEncodingsRefused() {
    try (TestServer server = TestServer.start();
        GrpcCalls calls = GrpcCalls.plain(server.port())) {
      CallOptions options = CallOptions.DEFAULT.withDeadlineAfter(60, TimeUnit.SECONDS);
      assertThat(calls.call(INFER, infer("m", "1".repeat(100)), options.withCompression("gzip")))
          .isEqualTo(message(GrpcProtocol.server("step 30").body()));
    }
  }

  @Test
  void anEncodingThatIsNotReadIsRefused() {
    CompressorRegistry registry = CompressorRegistry.newEmptyInstance();
    registry.register(
        new io.grpc.Codec() {
          @Override
          public String getMessageEncoding() {
            return "zip7";
          }

          @Override
          public OutputStream compress(OutputStream out) {
            return out;
          }

          @Override
          public java.io.InputStream decompress(java.io.InputStream in) {
            return in;
          }
        });
    try (TestServer server = TestServer.start();
        GrpcCalls calls =
            new GrpcCalls(
                NettyChannelBuilder.forAddress("127.0.0.1", server.port())
                    .usePlaintext()
                    .compressorRegistry(registry))) {
      CallOptions options = CallOptions.DEFAULT.withDeadlineAfter(60, TimeUnit.SECONDS);
      GrpcCalls.Begun begun = calls.begin(INFER, options.withCompression("zip7"), new Metadata());
      begun.call.sendMessage(infer("m", "1"));
      begun.call.halfClose();
      assertThat(begun.end().getCode()).isEqualTo(Status.Code.UNIMPLEMENTED);
      Metadata.Key<String> key =
          Metadata.Key.of("grpc-accept-encoding", Metadata.ASCII_STRING_MARSHALLER);
      assertThat(begun.trailers.get(key)).contains("gzip");
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void largeMessagesComeInPiecesUpToTheLimit() {
    ServeLimits limits = TestServer.OPTIONS.limits().withBody(300_000);
    try (TestServer server = new TestServer(TestServer.OPTIONS.withLimits(limits), "m=30");
        GrpcCalls calls = GrpcCalls.plain(server.port())) {
      byte[] large = infer("m", "1".repeat(299_000));
      assertThat(calls.call(INFER, large)).isNotEmpty();
      Status status = calls.status(INFER, infer("m", "1".repeat(300_001)));
      assertThat(status.getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
      assertThat(status.getDescription()).contains("expected at most 300000");
      CallOptions zipped =
          CallOptions.DEFAULT.withDeadlineAfter(60, TimeUnit.SECONDS).withCompression("gzip");
      assertThat(calls.status(INFER, infer("m", "1".repeat(900_000)), zipped).getCode())
          .isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
    }
  }

  @Test
  void aServerWithTokensAnswersOnlyWhoShowsOne() throws Exception {
    byte[] hash =
        MessageDigest.getInstance("SHA-256").digest("right".getBytes(StandardCharsets.UTF_8));
    Path file = Files.writeString(temp.resolve("tokens"), HexFormat.of().formatHex(hash));
    try (TestServer server = new TestServer(TestServer.OPTIONS.withTokens(file, false), "m=30");
        GrpcCalls calls = GrpcCalls.plain(server.port())) {
      Status status = calls.status(INFER, infer("m", "1"));
      assertThat(status.getCode()).isEqualTo(Status.Code.UNAUTHENTICATED);
      assertThat(calls.status(SERVICE + "ModelMetadata", named("m")).getCode())
          .isEqualTo(Status.Code.UNAUTHENTICATED);
      assertThat(calls.status(SERVICE + "ServerReady", new byte[0]).isOk()).isTrue();
      assertThat(calls.status(HEALTH + "Check", new byte[0]).isOk()).isTrue();
      Metadata head = new Metadata();
      head.put(Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER), "Bearer right");
      byte[] answer =
          ClientCalls.blockingUnaryCall(
              ClientInterceptors.intercept(
                  calls.channel, MetadataUtils.newAttachHeadersInterceptor(head)),
              GrpcCalls.unary(INFER),
              CallOptions.DEFAULT,
              infer("m", "1"));
      assertThat(answer).isNotEmpty();
    }
  }

  @Test
  void tlsIsSpokenOnTheSamePortAsHttp() throws Exception {
    Certificates.make(temp, "one", "EC");
    Listening.Tls files =
        new Listening.Tls(temp.resolve("one.pem"), temp.resolve("one.key"), Optional.empty());
    Listening listening = TestServer.OPTIONS.listening().withTls(files);
    try (TestServer server = new TestServer(TestServer.OPTIONS.withListening(listening), "m=30");
        GrpcCalls calls =
            new GrpcCalls(
                NettyChannelBuilder.forAddress("127.0.0.1", server.port())
                    .overrideAuthority("localhost")
                    .sslContext(
                        GrpcSslContexts.forClient()
                            .trustManager(temp.resolve("one.pem").toFile())
                            .build()))) {
      assertThat(calls.call(INFER, infer("m", "1")))
          .isEqualTo(message(GrpcProtocol.server("step 30").body()));
    }
  }

  @Test
  void callsAreCountedLoggedAndTraced() throws IOException {
    Path log = temp.resolve("access.jsonl");
    String trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    try (TestServer server = new TestServer(TestServer.OPTIONS.withAccessLog(log), "m=30");
        GrpcCalls calls = GrpcCalls.plain(server.port())) {
      Metadata head = new Metadata();
      head.put(Metadata.Key.of("traceparent", Metadata.ASCII_STRING_MARSHALLER), trace);
      ClientCalls.blockingUnaryCall(
          ClientInterceptors.intercept(
              calls.channel, MetadataUtils.newAttachHeadersInterceptor(head)),
          GrpcCalls.unary(INFER),
          CallOptions.DEFAULT,
          infer("m", "1"));
      calls.status(INFER, infer("m", "refuse"));
      calls.status(INFER, infer("x", "1"));
      String counter = "tern_requests_total{model=\"%s\",protocol=\"grpc\",code=\"%s\"}";
      assertThat(server.metric(counter.formatted("m", "OK"))).isEqualTo(1);
      assertThat(server.metric(counter.formatted("m", "INVALID_ARGUMENT"))).isEqualTo(1);
      assertThat(server.metric(counter.formatted("", "NOT_FOUND"))).isEqualTo(1);
      assertThat(
              server.metric("tern_request_duration_seconds_count{model=\"m\",protocol=\"grpc\"}"))
          .isEqualTo(2);
      assertThat(server.metric("tern_body_bytes")).isZero();
    }
    List<String> lines = Files.readAllLines(log);
    assertThat(lines.get(0))
        .matches(
            "\\{\"time\":\"[^\"]+Z\",\"remote\":\"127.0.0.1\",\"method\":\"POST\","
                + "\"target\":\"/inference.GRPCInferenceService/ModelInfer\",\"status\":200,"
                + "\"grpc\":\"OK\",\"model\":\"m\",\"version\":\"30\",\"bytes_in\":11,"
                + "\"bytes_out\":\\d+,\"micros\":\\d+,\"traceparent\":\""
                + trace
                + "\"\\}");
    assertThat(lines.get(1)).contains("\"grpc\":\"INVALID_ARGUMENT\"");
    assertThat(lines.get(2)).contains("\"grpc\":\"NOT_FOUND\"").doesNotContain("\"model\"");
  }

  @Test
  void aServerThatLoadsItsModelsLivesAndIsNotReady() throws Exception {
    int port;
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    ServeOptions options =
        TestServer.OPTIONS.withListening(TestServer.OPTIONS.listening().withPort(port));
    ModelSource source =
        new ModelSource(
            "m", "stable", temp, ModelSource.Follow.NONE, dev.tern.predict.ScoreOptions.DEFAULT);
    try (GrpcCalls calls = GrpcCalls.plain(port)) {
      List<String> seen = new ArrayList<>();
      ModelServer.Parts parts =
          new ModelServer.Parts(
              from -> {
                seen.add(Arrays.toString(calls.call(SERVICE + "ServerLive", new byte[0])));
                seen.add(Arrays.toString(calls.call(SERVICE + "ServerReady", new byte[0])));
                seen.add(Arrays.toString(calls.call(HEALTH + "Check", new byte[0])));
                seen.add(calls.status(INFER, infer("m", "1")).getCode().name());
                seen.add(calls.status(SERVICE + "ModelReady", named("m")).getCode().name());
                return new FakeModel("m", 30);
              },
              ServedProtocols.all(RequestMemory.UNLIMITED),
              (model, front) -> {},
              (model, fresh) -> {},
              new ServeMetrics(),
              new BodyBudget(1 << 20));
      try (ModelServer server = ModelServer.start(options, List.of(source), parts, note -> {})) {
        assertThat(seen).containsExactly("[8, 1]", "[]", "[8, 2]", "UNAVAILABLE", "UNAVAILABLE");
        assertThat(server.port()).isEqualTo(port);
        assertThat(calls.call(SERVICE + "ModelReady", named("m"))).isEqualTo(new byte[] {8, 1});
      }
    }
  }

  @Test
  void healthFollowsTheServer() throws Exception {
    ServeOptions options = TestServer.OPTIONS.withGrace(Duration.ofMinutes(5));
    TestServer server = new TestServer(options, "m=30");
    try (GrpcCalls calls = GrpcCalls.plain(server.port())) {
      GrpcCalls.Begun watch = calls.begin(HEALTH + "Watch");
      watch.call.sendMessage(new byte[0]);
      watch.call.halfClose();
      GrpcCalls.Begun other = calls.begin(HEALTH + "Watch");
      other.call.sendMessage(named("other"));
      other.call.halfClose();
      assertThat(watch.messages.poll(60, TimeUnit.SECONDS)).isEqualTo(new byte[] {8, 1});
      assertThat(other.messages.poll(60, TimeUnit.SECONDS)).isEqualTo(new byte[] {8, 3});
      Thread end = Thread.ofPlatform().start(server.server()::close);
      assertThat(watch.messages.poll(60, TimeUnit.SECONDS)).isEqualTo(new byte[] {8, 2});
      assertThat(calls.call(HEALTH + "Check", new byte[0])).isEqualTo(new byte[] {8, 2});
      assertThat(calls.call(SERVICE + "ServerReady", new byte[0])).isEmpty();
      assertThat(calls.call(INFER, infer("m", "1"))).isNotEmpty();
      end.interrupt();
      end.join();
      assertThat(watch.end().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
      assertThat(other.messages).isEmpty();
    }
  }
}
