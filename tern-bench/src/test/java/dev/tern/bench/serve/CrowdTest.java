package dev.tern.bench.serve;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Callers of a server that answers as the path says. */
final class CrowdTest {
  private final AtomicInteger asked = new AtomicInteger();
  private HttpServer server;

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newCachedThreadPool(Thread.ofPlatform().daemon().factory()));
    server.createContext(
        "/",
        exchange -> {
          int number = asked.incrementAndGet();
          String path = exchange.getRequestURI().getPath();
          if (path.equals("/cut") && number % 3 == 0) {
            throw new IOException("cut");
          }
          int status = path.equals("/refuse") ? 503 : path.equals("/fail") ? 500 : 200;
          if (path.equals("/last")) {
            exchange.getResponseHeaders().set("Connection", "close");
          }
          byte[] body = path.getBytes(StandardCharsets.US_ASCII);
          exchange.sendResponseHeaders(status, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    server.start();
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  private Crowd.Tally drive(String path, Crowd.Check check) throws IOException {
    byte[][] requests = {Caller.get(path)};
    return new Crowd(server.getAddress().getPort(), requests, 2, 200).drive(0.25, check);
  }

  @Test
  void answersAreCountedByWhatTheyAre() throws IOException {
    Crowd.Tally right = drive("/right", (caller, request) -> caller.body().equals("/right"));
    assertThat(right.answered().count()).isBetween(1L, 60L);
    assertThat(right.wrong() + right.lost() + right.gone() + right.refused().count()).isZero();
    Crowd.Tally wrong = drive("/right", (caller, request) -> caller.body().equals("/other"));
    assertThat(wrong.wrong()).isPositive();
    assertThat(wrong.answered().count()).isZero();
    Crowd.Tally failed = drive("/fail", Crowd.Check.NONE);
    assertThat(failed.wrong()).isPositive();
    Crowd.Tally refused = drive("/refuse", Crowd.Check.NONE);
    assertThat(refused.refused().count()).isPositive();
    assertThat(refused.wrong() + refused.lost()).isZero();
  }

  @Test
  void requestsWithoutAnAnswerAreLostAndTheNextOnesHaveAnotherConnection() throws IOException {
    Crowd.Tally tally = drive("/cut", Crowd.Check.NONE);
    assertThat(tally.lost()).isPositive();
    assertThat(tally.answered().count()).isPositive();
  }

  @Test
  void aConnectionThatTheServerEndsIsFollowedByAnother() throws IOException {
    Crowd.Tally tally = drive("/last", Crowd.Check.NONE);
    assertThat(tally.answered().count()).isGreaterThan(2);
    assertThat(tally.lost()).isZero();
  }

  @Test
  void threadsThatFindNoServerEnd() throws IOException {
    server.stop(0);
    Crowd.Tally tally = drive("/right", Crowd.Check.NONE);
    assertThat(tally.gone()).isEqualTo(2);
    assertThat(tally.lost() + tally.answered().count()).isZero();
  }
}
