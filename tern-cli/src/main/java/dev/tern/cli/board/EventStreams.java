package dev.tern.cli.board;

import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;

/**
 * Server-sent events: first all curves of each run ({@code run}), then the points that come ({@code
 * more}). A page that cannot keep up, and a run whose metrics began anew, get {@code run} again. So
 * a page that connects again needs no memory of before.
 */
final class EventStreams {
  /** Pages at once. */
  static final int MOST = 32;

  private static final long BEAT_MILLIS = 15_000;

  private final Board board;
  private final Semaphore room = new Semaphore(MOST);

  EventStreams(Board board) {
    this.board = board;
  }

  /** Sends events until the page or the board goes. */
  void serve(HttpExchange exchange) throws IOException {
    if (exchange.getRequestMethod().equals("HEAD")) {
      exchange.sendResponseHeaders(200, -1);
      return;
    }
    if (!room.tryAcquire()) {
      byte[] text = (MOST + " pages listen already; close one\n").getBytes(StandardCharsets.UTF_8);
      exchange.getResponseHeaders().set("Retry-After", "10");
      exchange.sendResponseHeaders(503, text.length);
      exchange.getResponseBody().write(text);
      return;
    }
    try {
      exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
      exchange.sendResponseHeaders(200, 0);
      send(exchange.getResponseBody());
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    } finally {
      room.release();
    }
  }

  private void send(OutputStream out) throws IOException, InterruptedException {
    Map<Integer, WatchedRun.Seen> seen = new HashMap<>();
    int leftOut = 0;
    write(out, "retry: 2000\n\n");
    boolean open = true;
    while (open) {
      long version = board.version();
      for (WatchedRun run : board.runs()) {
        Optional<WatchedRun.Message> news =
            run.since(seen.getOrDefault(run.id(), WatchedRun.Seen.NOTHING));
        if (news.isPresent()) {
          seen.put(run.id(), news.get().seen());
          event(out, news.get().event(), news.get().json());
        }
      }
      if (leftOut != board.leftOut()) {
        leftOut = board.leftOut();
        event(out, "left_out", "{\"runs\":" + leftOut + "}");
      }
      // Also tells ages by the server's clock, and finds out that a page is gone.
      event(out, "beat", "{\"now\":" + System.currentTimeMillis() + "}");
      open = board.await(version, BEAT_MILLIS);
    }
  }

  private static void event(OutputStream out, String name, String json) throws IOException {
    write(out, "event: " + name + "\ndata: " + json + "\n\n");
  }

  private static void write(OutputStream out, String text) throws IOException {
    out.write(text.getBytes(StandardCharsets.UTF_8));
    out.flush();
  }
}
