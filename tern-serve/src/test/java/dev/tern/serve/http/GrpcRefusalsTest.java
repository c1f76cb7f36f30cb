package dev.tern.serve.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.serve.ProtoBodies;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HexFormat;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Calls that no library of gRPC would make, frame by frame. */
final class GrpcRefusalsTest {
  private static final String INFER = "/inference.GRPCInferenceService/ModelInfer";
  private static final byte[] MESSAGE = new ProtoBodies("m", false).with("id", "1").bytes();

  private static TestServer server;

  @BeforeAll
  static void start() {
    server =
        new TestServer(
            TestServer.OPTIONS.withLimits(TestServer.OPTIONS.limits().withBody(100_000)), "m=30");
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static byte[] framed(int first, long length, byte[] message) {
    return ByteBuffer.allocate(5 + message.length)
        .put((byte) first)
        .putInt((int) length)
        .put(message)
        .array();
  }

  private static byte[] framed(byte[] message) {
    return framed(0, message.length, message);
  }

  private static Http2Caller.Answer call(byte[] body, String... fields) throws IOException {
    try (Http2Caller caller = new Http2Caller(server.port())) {
      int stream = caller.call(INFER, fields);
      caller.data(stream, body, true);
      return caller.answer(stream);
    }
  }

  private static void assertRefused(Http2Caller.Answer answer, int status, String said) {
    assertThat(answer.status()).isEqualTo(200);
    assertThat(answer.grpc()).isEqualTo(status);
    assertThat(answer.message()).contains(said);
    assertThat(answer.body()).isEmpty();
    assertThat(answer.fields()).containsEntry("content-type", "application/grpc");
  }

  @Test
  void aMessageInPiecesOfAnySizeIsOne() throws IOException {
    try (Http2Caller caller = new Http2Caller(server.port())) {
      int stream = caller.call(INFER);
      byte[] body = framed(MESSAGE);
      for (int at = 0; at < body.length; at++) {
        boolean padded = at % 2 == 0;
        byte[] piece = padded ? new byte[] {3, body[at], 0, 0, 0} : new byte[] {body[at]};
        caller.frame(Http2Caller.DATA, padded ? Http2Caller.PADDED : 0, stream, piece);
      }
      caller.data(stream, new byte[0], true);
      Http2Caller.Answer answer = caller.answer(stream);
      assertThat(answer.grpc()).isZero();
      assertThat(answer.status()).isEqualTo(200);
      assertThat(answer.body()).isNotEmpty();
      assertThat(answer.body()[0]).isZero();
      assertThat(ByteBuffer.wrap(answer.body(), 1, 4).getInt()).isEqualTo(answer.body().length - 5);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "'', got 0 bytes",
    "000000, got 3 bytes",
    "0000000009, one message of 9",
    "000000000a0a016d, one message of 10",
    "00000000020a016d, one message of 2",
    "00000000030a016d00000000030a016d, one message of 3",
    "02000000030a016d, first byte of 2",
    "ff000000030a016d, first byte of 255",
    "01000000030a016d, compressed",
    "00000000030a026d, a length of 2",
    "00000000020800, wire type",
    "00000000030a01ff, UTF-8"
  })
  void whatIsNotOneMessageIsRefused(String hex, String said) throws IOException {
    assertRefused(call(HexFormat.of().parseHex(hex)), 3, said);
  }

  @Test
  void aCallWithoutAMessageIsRefused() throws IOException {
    try (Http2Caller caller = new Http2Caller(server.port())) {
      int stream =
          caller.begin(true, "POST", INFER, "content-type:application/grpc", "te:trailers");
      assertRefused(caller.answer(stream), 3, "got 0 bytes");
    }
  }

  @Test
  void aMessageThatIsTooLongIsRefusedByItsFirstBytes() throws IOException {
    try (Http2Caller caller = new Http2Caller(server.port())) {
      int stream = caller.call(INFER);
      caller.data(stream, framed(0, 0xFFFFFFFFL, new byte[0]), false);
      assertRefused(caller.answer(stream), 8, "4294967295 bytes, expected at most 100000");
      stream = caller.call(INFER, "content-length:100006");
      assertRefused(caller.answer(stream), 8, "expected at most");
    }
  }

  @Test
  void aCompressedMessageThatIsDamagedOrTooLongIsRefused() throws IOException {
    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(packed)) {
      gzip.write(new byte[200_000]);
    }
    byte[] large = packed.toByteArray();
    String gzip = "grpc-encoding:gzip";
    assertRefused(call(framed(1, large.length, large), gzip), 8, "more than 100000");
    assertRefused(call(framed(1, MESSAGE.length, MESSAGE), gzip), 3, "not gzip");
    assertRefused(call(framed(MESSAGE), "grpc-encoding:br"), 12, "grpc-encoding");
    assertThat(call(framed(MESSAGE), gzip).grpc()).isZero();
    assertThat(server.metric("tern_body_bytes")).isZero();
  }

  @ParameterizedTest
  @CsvSource({
    "grpc-timeout:5, 3, grpc-timeout",
    "grpc-timeout:1234567890m, 3, grpc-timeout",
    "grpc-timeout:1n, 4, grpc-timeout"
  })
  void timesThatAreNoneOrOverAreRefused(String field, int status, String said) throws IOException {
    assertRefused(call(framed(MESSAGE), field), status, said);
  }

  @Test
  void aHeadOfManyFieldsIsRefused() throws IOException {
    String[] fields = new String[100];
    for (int i = 0; i < fields.length; i++) {
      fields[i] = "f" + i + ":1";
    }
    assertRefused(call(framed(MESSAGE), fields), 8, "100 fields");
  }

  @ParameterizedTest
  @CsvSource({
    "content-type:application/json",
    "content-type:application/grpc+json",
    "content-type:application/grpc-web+proto",
    "x:1"
  })
  void anotherTypeOfContentIsRefusedAsHttp(String field) throws IOException {
    try (Http2Caller caller = new Http2Caller(server.port())) {
      int stream = caller.begin(false, "POST", INFER, field);
      caller.data(stream, framed(MESSAGE), true);
      Http2Caller.Answer answer = caller.answer(stream);
      assertThat(answer.status()).isEqualTo(415);
      assertThat(answer.grpc()).isEqualTo(-1);
    }
  }

  @Test
  void anotherMethodOrVersionOfHttpIsRefused() throws IOException {
    try (Http2Caller caller = new Http2Caller(server.port())) {
      int stream = caller.begin(true, "GET", INFER, "content-type:application/grpc");
      assertThat(caller.answer(stream).status()).isEqualTo(405);
    }
    String old = server.ask("POST", INFER, "abc", "Content-Type: application/grpc");
    assertThat(TestServer.status(old)).isEqualTo(505);
  }

  @Test
  void requestsOfJsonAreAnsweredInHttp2Too() throws IOException {
    try (Http2Caller caller = new Http2Caller(server.port())) {
      int stream = caller.begin(false, "POST", "/v2/models/m/infer", "a:1");
      caller.data(stream, "abc".getBytes(StandardCharsets.US_ASCII), true);
      Http2Caller.Answer answer = caller.answer(stream);
      assertThat(answer.status()).isEqualTo(200);
      assertThat(new String(answer.body(), StandardCharsets.US_ASCII))
          .isEqualTo(TestServer.body(server.ask("POST", "/v2/models/m/infer", "abc")));
      assertThat(caller.answer(caller.begin(true, "GET", "/nothing")).status()).isEqualTo(404);
    }
  }

  @Test
  void aRequestOfHttp1DoesNotGoOnInHttp2() throws IOException {
    String answer =
        server.ask(
            "POST",
            "/v2/models/m/infer",
            "abc",
            "Upgrade: h2c",
            "HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA",
            "Connection: Upgrade, HTTP2-Settings");
    assertThat(answer).startsWith("HTTP/1.1 200");
  }

  @Test
  void pingsOfCallersThatMeasureTheLineAreAnswered() throws IOException {
    try (Http2Caller caller = new Http2Caller(server.port())) {
      for (int i = 0; i < 1_000; i++) {
        caller.frame(Http2Caller.PING, 0, 0, new byte[8]);
      }
      int stream = caller.call(INFER);
      caller.data(stream, framed(MESSAGE), true);
      assertThat(caller.answer(stream).grpc()).isZero();
    }
  }

  @Test
  void aCallerThatDoesNotReadItsAnswerHoldsNoPlace() throws IOException {
    try (Http2Caller caller = new Http2Caller(server.port())) {
      byte[] noWindow = {0, 4, 0, 0, 0, 0};
      caller.frame(Http2Caller.SETTINGS, 0, 0, noWindow);
      int[] streams = new int[20]; // More than may run and wait at once.
      for (int i = 0; i < streams.length; i++) {
        streams[i] = caller.call(INFER);
        caller.data(streams[i], framed(MESSAGE), true);
        caller.awaitHead(streams[i]);
      }
      Http2Caller.Answer whole = call(framed(MESSAGE));
      assertThat(whole.grpc()).isZero();
      assertThat(whole.body()).isNotEmpty();
      assertThat(server.metric("tern_body_bytes")).isZero();
      byte[] window = {0, 1, 0, 0};
      for (int stream : streams) {
        caller.frame(Http2Caller.WINDOW, 0, stream, window);
        Http2Caller.Answer answer = caller.answer(stream);
        assertThat(answer.grpc()).isZero();
        assertThat(answer.body()).isEqualTo(whole.body());
      }
    }
  }

  @Test
  void callsThatAreResetLeaveNothingBehind() throws Exception {
    try (Http2Caller caller = new Http2Caller(server.port())) {
      for (int i = 0; i < 500; i++) {
        int stream = caller.call(INFER);
        caller.data(stream, framed(0, 90_000, new byte[i]), false);
        caller.frame(Http2Caller.RESET, 0, stream, new byte[] {0, 0, 0, 8});
      }
      int stream = caller.call(INFER);
      caller.data(stream, framed(MESSAGE), true);
      assertThat(caller.answer(stream).grpc()).isZero();
    }
    for (int i = 0; i < 6_000 && server.metric("tern_body_bytes") > 0; i++) {
      Thread.sleep(10);
    }
    assertThat(server.metric("tern_body_bytes")).isZero();
  }

  @Test
  void aHeadThatComesByteByByteEndsTheConnectionAndPingsDoNot() throws Exception {
    ServeLimits limits =
        TestServer.OPTIONS.limits().withTimes(Duration.ofMillis(300), Duration.ofSeconds(30));
    try (TestServer other = new TestServer(TestServer.OPTIONS.withLimits(limits), "m=30");
        Http2Caller slow = new Http2Caller(other.port());
        Http2Caller pinging = new Http2Caller(other.port())) {
      slow.write(new byte[] {0, 0x10, 0, 1, 4, 0, 0, 0, 1});
      boolean isOpen = true;
      for (int i = 0; i < 600 && isOpen; i++) {
        pinging.frame(Http2Caller.PING, 0, 0, new byte[8]);
        try {
          slow.write(new byte[] {0});
        } catch (IOException e) {
          isOpen = false;
        }
        Thread.sleep(250);
      }
      assertThat(isOpen).isFalse();
      int stream = pinging.call(INFER);
      pinging.data(stream, framed(MESSAGE), true);
      assertThat(pinging.answer(stream).grpc()).isZero();
      assertThat(other.metric("tern_rejected_total{reason=\"slow_header\"}")).isEqualTo(1);
    }
  }
}
