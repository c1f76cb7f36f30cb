package dev.tern.bench;

import java.nio.file.Path;
import java.util.Locale;

/** What every suite says or asks about the machine and the process that it runs in. */
public final class Machine {
  private Machine() {}

  /** One line about processor, cores, JDK and system, for the head of results. */
  public static String line() {
    return String.format(
        Locale.ROOT,
        "# %s, %d cores, JDK %s, %s",
        System.getProperty("os.arch"),
        Runtime.getRuntime().availableProcessors(),
        Runtime.version(),
        System.getProperty("os.name"));
  }

  /** Where the scripts of the peers lie; the launcher says where the source tree is. */
  public static String peers() {
    return Path.of(System.getProperty("tern.root", ""), "tern-bench", "peers").toString();
  }

  /**
   * Makes kernels use their vector form from the first call on, for checks of their values. Their
   * speed is then not what users get. Call it before the first kernel is made.
   */
  public static void vectorsAtOnce() {
    if (System.getProperty("tern.kernels") == null) {
      System.setProperty("tern.kernels", "eager");
    }
  }
}
