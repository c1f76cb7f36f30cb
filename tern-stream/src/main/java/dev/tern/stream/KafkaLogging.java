package dev.tern.stream;

import java.lang.reflect.Method;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the client of Kafka from logging its settings and each attempt to connect: Tern says once
 * what a user should know.
 */
final class KafkaLogging {
  private static final String CLIENT = "org.apache.kafka";
  private static final String LOGBACK = "ch.qos.logback.classic.";

  private KafkaLogging() {}

  /** Sets the client's level to OFF where nobody set one and the logging system is Logback. */
  static void quiet() {
    quiet(CLIENT);
  }

  /** The same for what logs under a name. */
  static void quiet(String name) {
    Logger logger = LoggerFactory.getLogger(name);
    if (!logger.getClass().getName().startsWith(LOGBACK)) {
      return;
    }
    try { // By name, as users choose their logging system.
      Class<?> level = Class.forName(LOGBACK + "Level", true, logger.getClass().getClassLoader());
      Method get = logger.getClass().getMethod("getLevel");
      if (get.invoke(logger) == null) {
        Method set = logger.getClass().getMethod("setLevel", level);
        set.invoke(logger, level.getField("OFF").get(null));
      }
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(
          "logging: got a Logback without levels, expected one of 1.2 or later", e);
    }
  }
}
