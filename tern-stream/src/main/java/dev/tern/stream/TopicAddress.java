package dev.tern.stream;

import dev.tern.base.Shown;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A topic, written {@code kafka://HOST:PORT/TOPIC}, with several brokers {@code
 * kafka://HOST:PORT,HOST:PORT/TOPIC}.
 *
 * @param brokers where clients ask first, as {@code host:port[,host:port...]}
 */
public record TopicAddress(String brokers, String topic) {
  private static final String SCHEME = "kafka://";
  private static final String BROKER = "(?:[A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+\\]):[0-9]{1,5}";
  private static final Pattern FORM =
      Pattern.compile(SCHEME + "(" + BROKER + "(?:," + BROKER + ")*)/([A-Za-z0-9._-]{1,249})");

  /** Whether {@code text} is meant as such an address. */
  public static boolean isMeant(String text) {
    return text.startsWith(SCHEME);
  }

  /**
   * Reads an address.
   *
   * @throws IllegalArgumentException if it has another form
   */
  public static TopicAddress of(String text) {
    Matcher match = FORM.matcher(text);
    if (!match.matches() || match.group(2).matches("\\.\\.?")) {
      throw new IllegalArgumentException(
          "topic: got %s, expected kafka://HOST:PORT/TOPIC, with several brokers kafka://HOST:PORT,HOST:PORT/TOPIC; users and passwords belong into --kafka-properties"
              .formatted(Shown.quoted(text)));
    }
    return new TopicAddress(match.group(1), match.group(2));
  }

  @Override
  public String toString() {
    return SCHEME + brokers + "/" + topic;
  }
}
