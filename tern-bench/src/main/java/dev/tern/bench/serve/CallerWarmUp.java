package dev.tern.bench.serve;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;

/**
 * Calls of an answer that is always the same, from this process, until the caller's own code is
 * compiled: what is measured then is the server.
 */
final class CallerWarmUp {
  private static final int CALLS = 30_000;
  private static final byte[] ANSWER =
      """
      HTTP/1.1 200 OK\r
      Date: Thu, 01 Jan 1970 00:00:00 GMT\r
      Content-Type: application/json\r
      Content-Length: 83\r
      \r
      {"model_name":"m","outputs":[{"name":"score","data":[0.5],"datatype":"FP32     "}]}\
      """
          .getBytes(StandardCharsets.US_ASCII);

  private CallerWarmUp() {}

  /** Sends {@code requests} in turn. */
  static void run(byte[][] requests) throws IOException {
    InetAddress here = InetAddress.getLoopbackAddress();
    try (ServerSocket server = new ServerSocket(0, 1, here);
        Caller caller = new Caller(server.getLocalPort());
        Socket other = server.accept()) {
      CompletableFuture<Void> answering =
          CompletableFuture.runAsync(
              () -> answer(other, requests), task -> new Thread(task).start());
      for (int at = 0; at < CALLS; at++) {
        if (caller.call(requests[at % requests.length]) != 200 || caller.body().length() != 83) {
          throw new IOException("bench service: got another answer than was sent");
        }
      }
      answering.join();
    }
  }

  private static void answer(Socket caller, byte[][] requests) {
    try {
      caller.setTcpNoDelay(true);
      for (int at = 0; at < CALLS; at++) {
        caller.getInputStream().readNBytes(requests[at % requests.length].length);
        caller.getOutputStream().write(ANSWER);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
