package dev.tern.stream;

import dev.tern.base.DataException;
import dev.tern.base.Shown;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;

/**
 * How clients reach the brokers, for what an address does not say: TLS, SASL, times. Names and
 * values are those of Kafka, such as {@code security.protocol=SASL_SSL}.
 *
 * @param values by name; none of those that Tern sets
 */
public record ClientProperties(Map<String, String> values) {
  /** What correctness hangs on, with what Tern sets it to. */
  private static final Map<String, String> OWN =
      Map.ofEntries(
          Map.entry("bootstrap.servers", "the brokers of the address"),
          Map.entry("acks", "all"),
          Map.entry("enable.idempotence", "true"),
          Map.entry("transactional.id", "none"),
          Map.entry("key.serializer", "bytes"),
          Map.entry("value.serializer", "bytes"),
          Map.entry("key.deserializer", "bytes"),
          Map.entry("value.deserializer", "bytes"),
          Map.entry("group.id", "none"),
          Map.entry("enable.auto.commit", "false"),
          Map.entry("auto.offset.reset", "none"),
          Map.entry("allow.auto.create.topics", "false"));

  /** What compresses by libraries that may be missing, with a class of each. */
  private static final Map<String, String> CODECS =
      Map.of(
          "zstd", "com.github.luben.zstd.Zstd",
          "lz4", "net.jpountz.lz4.LZ4Factory",
          "snappy", "org.xerial.snappy.Snappy");

  private static final Set<String> SECRET_ENDINGS = Set.of("password", "jaas.config", "key");

  /** Neither TLS nor a password. */
  public static final ClientProperties NONE = new ClientProperties(Map.of());

  /**
   * Checks the names.
   *
   * @throws IllegalArgumentException if one is set by Tern, or names a way to compress whose
   *     library is not there
   */
  public ClientProperties {
    values = Map.copyOf(values);
    values.forEach((name, value) -> {
      String own = OWN.get(name);
      if (own != null) {
        throw new IllegalArgumentException(
            "kafka properties: got %s=%s, expected no such line, as Tern sets it to %s; leave it out"
                .formatted(name, Shown.excerpt(value), own));
      }
    });
    String codec = values.getOrDefault("compression.type", "none");
    String type = CODECS.get(codec);
    if (type != null && !isThere(type)) {
      throw new IllegalArgumentException(
          "kafka properties: got compression.type=%s, whose library is not part of Tern, expected none or gzip; weights hardly shrink, leave it out"
              .formatted(codec));
    }
  }

  /**
   * Reads a file as Java writes properties: lines {@code name=value}, {@code #} begins a comment.
   *
   * @throws DataException if it cannot be read
   */
  public static ClientProperties read(Path file) {
    Properties properties = new Properties();
    try (Reader reader = Files.newBufferedReader(file)) {
      properties.load(reader);
    } catch (IOException e) {
      throw new DataException(
          "%s: got an error reading it (%s), expected lines name=value of a client of Kafka; name another file"
              .formatted(file, DataException.reason(e)),
          e);
    } catch (IllegalArgumentException e) {
      throw new DataException(
          "%s: got %s, expected lines name=value of a client of Kafka; mend it"
              .formatted(file, e.getMessage()),
          e);
    }
    Map<String, String> values = new LinkedHashMap<>();
    properties
        .stringPropertyNames()
        .forEach(name -> values.put(name, properties.getProperty(name)));
    return new ClientProperties(values);
  }

  private static boolean isThere(String type) {
    try {
      Class.forName(type, false, ClientProperties.class.getClassLoader());
      return true;
    } catch (ClassNotFoundException _) {
      return false;
    }
  }

  /** The settings of a client: defaults, over them those of the user, over them Tern's own. */
  Map<String, Object> with(TopicAddress address, Map<String, ?> defaults, Map<String, ?> own) {
    Map<String, Object> all = new HashMap<>(defaults);
    all.putAll(values);
    all.putAll(own);
    all.put("bootstrap.servers", address.brokers());
    return all;
  }

  /** Without what is secret. */
  @Override
  public String toString() {
    Map<String, String> shown = new TreeMap<>(values);
    shown.replaceAll(
        (name, value) -> SECRET_ENDINGS.stream().anyMatch(name::endsWith) ? "..." : value);
    return shown.toString();
  }
}
