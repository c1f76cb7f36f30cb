package dev.tern.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Addresses of topics, and the settings of clients. */
final class AddressTest {
  @TempDir Path temp;

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          kafka://broker:9092/ads             | broker:9092         | ads
          kafka://a:1,b.example-1.org:65535/x | a:1,b.example-1.org:65535 | x
          kafka://[::1]:9092/ads.v2_x-1       | [::1]:9092          | ads.v2_x-1
          """)
  void anAddressNamesBrokersAndATopic(String text, String brokers, String topic) {
    assertThat(TopicAddress.of(text)).isEqualTo(new TopicAddress(brokers, topic)).hasToString(text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "kafka://",
        "kafka://broker/ads",
        "kafka://broker:9092",
        "kafka://broker:9092/",
        "kafka://broker:9092/a/b",
        "kafka://user:password@broker:9092/ads",
        "kafka://broker:9092/..",
        "kafka://broker:9092/a b",
        "http://broker:9092/ads"
      })
  void whatIsNoAddressIsRefused(String text) {
    assertThatThrownBy(() -> TopicAddress.of(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("expected kafka://HOST:PORT/TOPIC");
  }

  @Test
  void settingsOfClientsComeFromAFileAndHideWhatIsSecret() throws IOException {
    Path file =
        Files.writeString(
            temp.resolve("client"),
            """
            # of the cluster
            security.protocol=SASL_SSL
            sasl.jaas.config=x password="secret";
            ssl.keystore.password=secret
            """);
    ClientProperties properties = ClientProperties.read(file);
    assertThat(properties.values()).hasSize(3).containsEntry("security.protocol", "SASL_SSL");
    assertThat(properties.toString()).doesNotContain("secret").contains("SASL_SSL");
    assertThatThrownBy(() -> ClientProperties.read(temp.resolve("none")))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("none: got an error reading it (no such file or folder)");
    Files.writeString(file, "a=\\uxyz");
    assertThatThrownBy(() -> ClientProperties.read(file)).isInstanceOf(DataException.class);
  }

  @ParameterizedTest
  @CsvSource({
    "acks, 1, sets it to all",
    "enable.idempotence, false, true",
    "auto.offset.reset, latest, none",
    "bootstrap.servers, a:1, the brokers of the address",
    "compression.type, zstd, whose library is not part of Tern"
  })
  void settingsThatWouldLoseRecordsAreRefused(String name, String value, String said) {
    if (name.equals("compression.type") && isThere("com.github.luben.zstd.Zstd")) {
      return; // The broker of the tests brought it.
    }
    assertThatThrownBy(() -> new ClientProperties(Map.of(name, value)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(said);
  }

  private static boolean isThere(String type) {
    try {
      Class.forName(type);
      return true;
    } catch (ClassNotFoundException e) {
      return false;
    }
  }
}
