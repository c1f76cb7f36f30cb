package dev.tern.serve.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;

final class AccessLogTest {
  private static final int ROOM = 100_000;

  private final ConcurrentLinkedQueue<String> notes = new ConcurrentLinkedQueue<>();
  private final LongAdder dropped = new LongAdder();
  private final ByteArrayOutputStream written = new ByteArrayOutputStream();

  private AccessLog log(OutputStream out) {
    return new AccessLog(out, ROOM, dropped, notes::add);
  }

  private static AccessLog.Entry entry(int number) {
    return new AccessLog.Entry(
        new AccessLog.Caller("127.0.0.1", "POST", "/" + number, ""), 200, "", "m", "1", 3, 4, 5);
  }

  private List<String> lines() {
    return written.toString(StandardCharsets.UTF_8).lines().toList();
  }

  @Test
  void linesThatFitAreWrittenInTheirOrder() {
    try (AccessLog log = log(written)) {
      for (int i = 0; i < 100; i++) {
        log.add(entry(i));
      }
    }
    assertThat(lines()).hasSize(100);
    for (int i = 0; i < 100; i++) {
      assertThat(lines().get(i)).contains("\"target\":\"/" + i + "\"").endsWith("}");
    }
    assertThat(dropped.sum()).isZero();
    assertThat(notes).isEmpty();
  }

  @Test
  void aFileThatTakesNothingForAWhileHoldsNoRequestAndWhatIsLeftOutIsCounted() throws Exception {
    CountDownLatch stands = new CountDownLatch(1);
    CountDownLatch goesOn = new CountDownLatch(1);
    OutputStream slow =
        new OutputStream() {
          @Override
          public void write(int one) throws IOException {
            write(new byte[] {(byte) one}, 0, 1);
          }

          @Override
          public void write(byte[] bytes, int from, int count) throws IOException {
            stands.countDown();
            try {
              goesOn.await();
            } catch (InterruptedException e) {
              throw new IOException(e);
            }
            written.write(bytes, from, count);
          }
        };
    int added = 0;
    try (AccessLog log = log(slow)) {
      log.add(entry(added++));
      stands.await();
      while (dropped.sum() < 10) { // Returns each time, though nothing is written.
        log.add(entry(added++));
      }
      goesOn.countDown();
    }
    assertThat(lines()).hasSize(added - 10).allMatch(line -> line.endsWith("}"));
    assertThat(written.size()).isBetween(ROOM / 2, 2 * ROOM);
    assertThat(notes).singleElement().asString().contains("tern_access_log_dropped_total");
  }

  @Test
  void aDiskThatIsFullIsToldOfOnceAndLinesAreWrittenOnceItTakesSomeAgain() throws Exception {
    CountDownLatch failed = new CountDownLatch(2);
    OutputStream full =
        new OutputStream() {
          @Override
          public void write(int one) throws IOException {
            write(new byte[] {(byte) one}, 0, 1);
          }

          @Override
          public void write(byte[] bytes, int from, int count) throws IOException {
            if (failed.getCount() > 0) {
              failed.countDown();
              throw new IOException("No space left on device");
            }
            written.write(bytes, from, count);
          }
        };
    try (AccessLog log = log(full)) {
      log.add(entry(0));
      while (failed.getCount() > 1) {
        Thread.onSpinWait();
      }
      log.add(entry(1));
      failed.await();
      while (dropped.sum() < 2) {
        Thread.onSpinWait();
      }
      log.add(entry(2));
    }
    assertThat(written.toString(StandardCharsets.UTF_8)).startsWith("\n{");
    assertThat(lines()).hasSize(2);
    assertThat(lines().getLast()).contains("\"target\":\"/2\"");
    assertThat(notes)
        .singleElement()
        .asString()
        .contains("No space left on device; lines are lost until the file takes some");
  }
}
