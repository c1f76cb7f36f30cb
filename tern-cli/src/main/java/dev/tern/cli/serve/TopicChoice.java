package dev.tern.cli.serve;

import dev.tern.cli.config.ConfigException;
import dev.tern.stream.ClientProperties;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options about topics that whoever publishes and whoever serves have alike. */
final class TopicChoice {
  private static final String OVER_TOPIC = "kafka";

  @Option(
      names = "--kafka-properties",
      paramLabel = "FILE",
      description =
          "How clients of Kafka reach the brokers, as lines NAME=VALUE such as"
              + " security.protocol=SASL_SSL: TLS, SASL, times.")
  private @Nullable Path properties;

  @Option(
      names = "--full",
      paramLabel = "kafka|PATH",
      description =
          "Where full checkpoints go: over the topic (kafka), or into a folder that publisher and"
              + " servers reach, while the topic carries their names and all changes (default"
              + " ${DEFAULT-VALUE}).",
      defaultValue = OVER_TOPIC)
  private String full = OVER_TOPIC;

  ClientProperties properties() {
    try {
      return properties == null ? ClientProperties.NONE : ClientProperties.read(properties);
    } catch (IllegalArgumentException e) {
      throw new ConfigException(properties + ": " + e.getMessage(), e);
    }
  }

  /** The shared folder, if there is one. */
  Optional<Path> full() {
    return full.equals(OVER_TOPIC) ? Optional.empty() : Optional.of(Path.of(full));
  }
}
