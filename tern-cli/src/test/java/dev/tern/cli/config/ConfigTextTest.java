package dev.tern.cli.config;

import static dev.tern.cli.config.ConfigTest.census;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Text that is no configuration, or is very long: what messages say of it. */
final class ConfigTextTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "# nothing",
        "- 1",
        "text",
        "data: [",
        "a: b: c",
        "data: !!binary x",
        "\u0000",
        "{[1]: 2}",
        "data: &a {format: *a}"
      })
  void textThatIsNoConfigurationIsRefused(String yaml) {
    assertThatThrownBy(() -> Config.parse(yaml, "x.yaml", List.of()))
        .isInstanceOf(ConfigException.class)
        .hasMessageStartingWith("x.yaml");
  }

  @Test
  void textNestedThousandsDeepIsRefused() {
    String deep = "data: " + "[".repeat(50_000);
    assertThatThrownBy(() -> Config.parse(deep, "x.yaml", List.of()))
        .isInstanceOf(ConfigException.class)
        .hasMessageStartingWith("x.yaml")
        .hasMessageContaining("got broken YAML")
        .message()
        .hasSizeLessThan(300);
  }

  @Test
  void messagesShowAnExcerptOfALongText() {
    String rows = "1,2,3\n".repeat(10_000);
    String quoted = YamlText.quote(rows);
    for (String yaml :
        List.of(
            rows,
            quoted,
            quoted + ": 1",
            "data: {format: " + quoted + "}",
            "data: {columns: {" + quoted + ": 1}}",
            "data: [" + quoted)) {
      assertThatThrownBy(() -> Config.parse(yaml, "x.yaml", List.of()))
          .isInstanceOf(ConfigException.class)
          .message()
          .startsWith("x.yaml")
          .hasSizeLessThan(500)
          .hasLineCount(1);
    }
    for (String override : List.of(rows, "train.batch=" + rows, "train." + rows + "=1")) {
      assertThatThrownBy(() -> census(override))
          .isInstanceOf(ConfigException.class)
          .message()
          .hasSizeLessThan(700)
          .hasLineCount(1);
    }
  }

  @Test
  void changesAreSeenBehindWhatAMessageShows() {
    String columns = "c".repeat(100);
    Config before = census("data.columns=age,fnlwgt,workclass,education,income," + columns + "1");
    Config after = census("data.columns=age,fnlwgt,workclass,education,income," + columns + "2");
    assertThat(after.changesFrom(before)).hasSize(1);
    assertThat(after.changesFrom(before).getFirst())
        .startsWith("data.columns: ")
        .hasSizeLessThan(300);
    assertThat(after.changesFrom(after)).isEmpty();
  }
}
