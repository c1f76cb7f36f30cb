package dev.tern.bench.memory;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * The physical memory of this process that the JVM does not account for, sampled while it runs: its
 * resident set without what native memory tracking names (heap, classes, compiled code, compilers,
 * collector), which needs {@code -XX:NativeMemoryTracking=summary} and a heap that is touched ahead
 * ({@code -XX:+AlwaysPreTouch}). Works on Linux.
 */
final class Resident {
  private static final Path PAGES = Path.of("/proc/self/statm");
  private static final long PAGE = 4096;
  private static final Pattern COMMITTED = Pattern.compile("committed=(\\d+)");
  private static final long MILLIS = 5;

  /** Samples of pages for one of what the JVM accounts for, which takes longer. */
  private static final int PAGES_A_SAMPLE = 20;

  private long before;
  private long known;
  private long most;
  private boolean begun;

  /** What is held from here on counts. */
  void begin() {
    System.gc();
    synchronized (this) {
      before = pages() - jvm();
      begun = true;
    }
    Thread.ofPlatform().daemon().start(this::sample);
  }

  /** Bytes that are not to count from here on: weights, tables, optimizer state. */
  synchronized void note(long bytes) {
    if (begun) {
      known = bytes;
    }
  }

  /** The most bytes that counted at a time. */
  synchronized long most() {
    return most;
  }

  private void sample() {
    for (int i = 0; ; i++) {
      long jvm = jvm();
      for (int j = 0; j < PAGES_A_SAMPLE; j++) {
        long pages = pages();
        synchronized (this) {
          most = known == 0 ? most : Math.max(most, pages - jvm - before - known);
        }
        try {
          Thread.sleep(MILLIS);
        } catch (InterruptedException e) {
          return;
        }
      }
    }
  }

  private static long pages() {
    try {
      return PAGE * Long.parseLong(Files.readString(PAGES).split(" ")[1]);
    } catch (IOException e) {
      throw new IllegalStateException(PAGES + ": cannot be read; this needs Linux", e);
    }
  }

  /** Bytes that native memory tracking counts, all in all. */
  private static long jvm() {
    try {
      Object text =
          ManagementFactory.getPlatformMBeanServer()
              .invoke(
                  new ObjectName("com.sun.management:type=DiagnosticCommand"),
                  "vmNativeMemory",
                  new Object[] {new String[] {"summary", "scale=1"}},
                  new String[] {String[].class.getName()});
      Matcher total = COMMITTED.matcher(String.valueOf(text));
      if (!total.find()) {
        throw new IllegalStateException(
            "native memory tracking: got " + text + ", expected a total; start java with it");
      }
      return Long.parseLong(total.group(1));
    } catch (JMException e) {
      throw new IllegalStateException("native memory tracking: cannot be asked", e);
    }
  }
}
