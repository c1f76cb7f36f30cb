package dev.tern.serve.http;

import java.lang.management.ManagementFactory;

/**
 * How much memory outside the heap models may take where nobody says it. A container that takes
 * more than it is given is killed without a word, at a reload for example, which needs room for two
 * models; with a limit the reload alone is refused.
 */
final class ModelMemory {
  /** What the JVM takes beside heap and models: code, classes, stacks, buffers of sockets. */
  private static final long REST = 256L << 20;

  private ModelMemory() {}

  /** For this process: the JDK knows the limit of a container (cgroup), else the machine's. */
  static long limit() {
    long total =
        ManagementFactory.getOperatingSystemMXBean()
                instanceof com.sun.management.OperatingSystemMXBean system
            ? system.getTotalMemorySize()
            : Long.MAX_VALUE;
    return limit(total, Runtime.getRuntime().maxMemory());
  }

  /** All but the heap and the rest; at least half, as a heap need not become as large as it may. */
  static long limit(long total, long heap) {
    return Math.max(total / 2, total - heap - REST);
  }
}
