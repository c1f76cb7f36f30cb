package dev.tern.stream;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.TopicExistsException;

/**
 * What the brokers say about a topic.
 *
 * @param id another topic of its name has another one
 * @param record the most bytes of a record; empty where one may not ask
 */
record TopicFacts(String id, Optional<Integer> record) {
  /** What the client does where the properties say nothing else. */
  private static final Map<String, String> DEFAULTS =
      Map.of(
          "request.timeout.ms", "5000",
          "default.api.timeout.ms", "10000",
          "enable.metrics.push", "false",
          "client.id", "tern");

  /**
   * Asks the brokers.
   *
   * @param create whether to make the topic, if it is not there
   * @throws StreamException if the topic is not fit to carry a run
   * @throws KafkaException if there is no answer, or no topic
   */
  static TopicFacts ask(TopicAddress topic, ClientProperties properties, boolean create) {
    try (Admin admin = Admin.create(properties.with(topic, DEFAULTS, Map.of()))) {
      if (create) {
        create(admin, topic);
      }
      TopicDescription told =
          get(admin.describeTopics(List.of(topic.topic())).allTopicNames()).get(topic.topic());
      if (told == null || told.partitions().size() != 1) {
        throw new StreamException(
            "%s: got a topic of %d partitions, expected 1, as there is an order within one alone; name a topic of one"
                .formatted(topic, told == null ? 0 : told.partitions().size()));
      }
      return new TopicFacts(told.topicId().toString(), mostBytes(admin, topic));
    }
  }

  private static void create(Admin admin, TopicAddress topic) {
    try {
      NewTopic wanted = new NewTopic(topic.topic(), Optional.of(1), Optional.empty());
      get(admin.createTopics(List.of(wanted.configs(Map.of("cleanup.policy", "delete")))).all());
    } catch (TopicExistsException _) {
      // Then it is described.
    }
  }

  private static Optional<Integer> mostBytes(Admin admin, TopicAddress topic) {
    ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic.topic());
    Config config;
    try {
      config = get(admin.describeConfigs(List.of(resource)).all()).get(resource);
    } catch (KafkaException _) {
      return Optional.empty(); // One may write without the right to ask.
    }
    if (config == null) {
      return Optional.empty();
    }
    if (text(config, "cleanup.policy").contains("compact")) {
      throw new StreamException(
          "%s: got a topic with cleanup.policy=%s, expected delete, as each record is a part of a checkpoint; name another topic"
              .formatted(topic, text(config, "cleanup.policy")));
    }
    String most = text(config, "max.message.bytes");
    return most.isEmpty() ? Optional.empty() : Optional.of(Integer.parseInt(most));
  }

  private static String text(Config config, String name) {
    ConfigEntry entry = config.get(name);
    return entry == null || entry.value() == null ? "" : entry.value();
  }

  private static <T> T get(KafkaFuture<T> future) {
    try {
      return future.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof KafkaException cause) {
        throw cause;
      }
      throw new KafkaException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new org.apache.kafka.common.errors.InterruptException(e);
    }
  }
}
