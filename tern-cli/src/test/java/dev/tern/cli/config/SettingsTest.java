package dev.tern.cli.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** What keys mean that are not written. */
final class SettingsTest {
  private static final Key.Section KEYS = new Key.Section();
  private static final Key<Long> STEADY = KEYS.key("train.steady", Kind.COUNT, 1L, "");
  private static final Key<String> PAIRS =
      KEYS.key("train.pairs", Kind.Choice.of("all", "few"), "all", "").before("few");
  private static final Key<Long> OF_FEW =
      KEYS.key("train.of_few", Kind.COUNT, 3L, "").when(PAIRS, "few").before(4L);

  /** Keys as {@code path=value}; those of no section of Tern's cannot come from a file. */
  private static Settings settings(Settings.Absent absent, String... written) {
    Map<String, Raw> file = new TreeMap<>();
    for (String line : written) {
      String[] parts = line.split("=", 2);
      file.put(parts[0], new Raw.Scalar(parts[1], new Raw.Source("c.yaml line 1", false)));
    }
    return Settings.resolve("c.yaml", file, List.of(), KEYS.keys(), absent);
  }

  private static Settings user(String... written) {
    return settings(new Settings.Absent.Default(), written);
  }

  private static Settings before(String... written) {
    return settings(new Settings.Absent.Before(), written);
  }

  private static Settings resumed(Settings run, String... written) {
    return settings(new Settings.Absent.Earlier(run), written);
  }

  private static final String OLD = "train.steady=7";

  @Test
  void aKeyThatAnEarlierRunDidNotKnowMeansWhatThatBuildDid() {
    assertThat(user(OLD).get(PAIRS)).isEqualTo("all");
    assertThat(before(OLD).get(PAIRS)).isEqualTo("few");
    assertThat(before(OLD).get(OF_FEW)).isEqualTo(4);
    assertThat(before("train.pairs=all").get(PAIRS)).isEqualTo("all");
    assertThat(before("train.pairs=few").get(STEADY)).isEqualTo(1);
  }

  @Test
  void aRunThatGoesOnKeepsItsValueWhereItsUserGivesNone() {
    Settings run = before(OLD, "train.of_few=9");
    assertThat(resumed(run, OLD).get(PAIRS)).isEqualTo("few");
    assertThat(resumed(run, OLD).get(OF_FEW)).isEqualTo(9);
    assertThat(resumed(run, "train.pairs=all").get(PAIRS)).isEqualTo("all");
  }

  @Test
  void aKeyThatAlwaysMeantItsDefaultIsNotTakenFromTheEarlierRun() {
    assertThat(resumed(before(OLD), "train.pairs=few").get(STEADY)).isEqualTo(1);
  }
}
