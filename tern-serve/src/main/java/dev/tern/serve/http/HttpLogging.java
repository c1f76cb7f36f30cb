package dev.tern.serve.http;

import java.lang.reflect.Method;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the HTTP library from logging each step of a request. Logback without a configuration logs
 * all, which makes a request take a hundred times longer. A server does this by itself; it is
 * public for programs that use parts of the library on their own.
 */
public final class HttpLogging {
  private static final String NAME = "org.eclipse.jetty";
  private static final String LOGBACK = "ch.qos.logback.classic.";

  private HttpLogging() {}

  /** Sets the library's level to WARN where nobody set one and the logging system is Logback. */
  public static void quiet() {
    Logger logger = LoggerFactory.getLogger(NAME);
    if (!logger.getClass().getName().startsWith(LOGBACK)) {
      return;
    }
    try { // By name, as users choose their logging system.
      Class<?> level = Class.forName(LOGBACK + "Level", true, logger.getClass().getClassLoader());
      Method get = logger.getClass().getMethod("getLevel");
      if (get.invoke(logger) == null) {
        Method set = logger.getClass().getMethod("setLevel", level);
        set.invoke(logger, level.getField("WARN").get(null));
      }
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(
          "logging: got a Logback without levels, expected one of 1.2 or later", e);
    }
  }
}
