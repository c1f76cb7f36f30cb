package dev.tern.cli.tune;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.cli.config.Config;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

final class FixedSettingsTest {
  private static final String YAML =
      """
      data:
        format: csv
        train: [train.csv]
        label: {column: click}
        sparse:
        - columns: [user]
        - columns: [tags]
          separator: "|"
      model: {type: dcnv2}
      run: {dir: runs/one}
      train: {epochs: 2}
      """;

  private static FixedSettings settings(String... overrides) {
    return FixedSettings.of(List.of(), Config.parse(YAML, "test", List.of(overrides)));
  }

  private static FixedSettings without(FixedSettings settings, String path) {
    Map<String, String> others = new TreeMap<>(settings.values());
    assertThat(others.remove(path)).isNotNull();
    return new FixedSettings(others);
  }

  @Test
  void aKeyThatTheSearchDidNotKnowMayHaveItsDefault() {
    FixedSettings now = settings();
    assertThat(now.values())
        .containsKeys("train.l2", "data.sparse[1].encode", "model.cross_layers");
    for (Map.Entry<String, String> each : now.values().entrySet()) {
      if (Config.unknown(each.getKey()).filter(each.getValue()::equals).isPresent()) {
        assertThat(now.changesFrom(without(now, each.getKey()))).as(each.getKey()).isEmpty();
      }
    }
    assertThat(now.changesFrom(without(now, "model.cross_layers"))).isEmpty();
    assertThat(now.changesFrom(without(now, "data.sparse[1].encode"))).isEmpty();
  }

  @Test
  void aKeyThatTheSearchDidNotKnowHasNoOtherValue() {
    FixedSettings now = settings("model.cross_layers=2");
    assertThat(now.changesFrom(without(now, "model.cross_layers")))
        .containsExactly("model.cross_layers: 2, was 3");
    assertThat(now.changesFrom(without(now, "data.sparse[1].separator")))
        .singleElement()
        .asString()
        .startsWith("data.sparse[1].separator: |, was ");
    assertThat(now.changesFrom(without(now, "model.type")))
        .containsExactly("model.type: dcnv2, was nothing");
    assertThat(without(now, "train.l2").changesFrom(now)).hasSize(1);
  }
}
