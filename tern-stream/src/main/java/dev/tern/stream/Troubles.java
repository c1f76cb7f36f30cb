package dev.tern.stream;

import dev.tern.base.Shown;
import java.util.Locale;
import java.util.Optional;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.errors.UnsupportedVersionException;

/** What errors of the client mean to who runs Tern. */
final class Troubles {
  private Troubles() {}

  /** Whether an error may pass by itself: brokers that are down, a topic that comes later. */
  static boolean passes(Throwable error) {
    return error instanceof RetriableException || isUnresolved(error);
  }

  private static boolean isUnresolved(Throwable error) {
    for (Throwable each = error; each != null; each = each.getCause()) {
      if (each instanceof ConfigException && text(each).contains("resolvable bootstrap")) {
        return true;
      }
    }
    return false;
  }

  /** The same error with words of its own. */
  static StreamException told(TopicAddress topic, Throwable error) {
    return new StreamException(topic + ": " + words(error), error);
  }

  private static String words(Throwable error) {
    if (isUnresolved(error)) {
      return "got no address for the names of the brokers, expected hosts that are known here; mend"
          + " the address";
    }
    return switch (error) {
      case UnknownTopicOrPartitionException _ ->
          "got no such topic, expected one with a single partition; tern publish --create makes it";
      case AuthenticationException _ ->
          "got a refusal of who asks (%s), expected what the brokers ask for; see --kafka-properties"
              .formatted(text(error));
      case AuthorizationException _ ->
          "got a refusal (%s), expected the right to describe the topic and to read, or to write it; ask who runs the brokers"
              .formatted(text(error));
      case RecordTooLargeException _ ->
          "got a record that the brokers do not take (%s), expected smaller ones; lower --chunk, or raise max.message.bytes of the topic"
              .formatted(text(error));
      case UnsupportedVersionException _ ->
          "got brokers of a version that lacks what is needed (%s), expected Kafka 2.1 or later"
              .formatted(text(error));
      case RetriableException _ ->
          "got no answer from the brokers (%s), expected one; start them, mend the address, or name TLS and passwords with --kafka-properties"
              .formatted(text(error));
      case KafkaException _ when error.getCause() != null ->
          "got an error of the client (%s), expected settings that it takes; see --kafka-properties"
              .formatted(text(deepest(error)));
      default ->
          "got an error of the client (%s: %s); see --kafka-properties"
              .formatted(error.getClass().getSimpleName(), text(error));
    };
  }

  private static Throwable deepest(Throwable error) {
    Throwable each = error;
    while (each.getCause() != null) {
      each = each.getCause();
    }
    return each;
  }

  private static String text(Throwable error) {
    return Shown.message(String.valueOf(error.getMessage()));
  }

  /** The library that a topic's records need, if it is missing. */
  static Optional<StreamException> codec(TopicAddress topic, NoClassDefFoundError error) {
    String type = String.valueOf(error.getMessage()).toLowerCase(Locale.ROOT);
    boolean isCodec = type.contains("zstd") || type.contains("lz4") || type.contains("snappy");
    return isCodec
        ? Optional.of(
            new StreamException(
                "%s: got records that are compressed by a library that is not part of Tern (%s), expected none; set the topic's compression.type to producer, or put the library on the class path"
                    .formatted(topic, error.getMessage()),
                error))
        : Optional.empty();
  }
}
