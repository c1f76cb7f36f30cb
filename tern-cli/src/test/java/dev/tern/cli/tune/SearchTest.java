package dev.tern.cli.tune;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tern.cli.config.ConfigException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class SearchTest {
  private static List<String> drawn(String text) {
    Search search = Search.parse(text);
    SplittableRandom random = new SplittableRandom(1);
    return IntStream.range(0, 2000).mapToObj(i -> search.draw(random)).toList();
  }

  @Test
  void aRangeOfPowersHasAsManyValuesInEachPowerOfTen() {
    List<String> values = drawn("train.optimizer.lr=1e-4..1e-2:log");
    List<Double> numbers = values.stream().map(Double::valueOf).toList();
    assertThat(numbers).allMatch(value -> value >= 1e-4 && value <= 1e-2);
    assertThat(numbers.stream().filter(value -> value < 1e-3).count()).isBetween(900L, 1100L);
    assertThat(values).allMatch(value -> value.matches("0\\.0\\d{1,7}"));
  }

  @Test
  void aRangeOfWholeNumbersHasBothEnds() {
    Set<String> values = new TreeSet<>(drawn("model.embedding=4..8"));
    assertThat(values).containsExactly("4", "5", "6", "7", "8");
    assertThat(new TreeSet<>(drawn("train.batch=1..64:log"))).contains("1", "2", "64");
  }

  @Test
  void aRangeOfFractionsIsEven() {
    List<Double> numbers = drawn("model.dropout=0..0.5").stream().map(Double::valueOf).toList();
    assertThat(numbers).allMatch(value -> value >= 0 && value <= 0.5);
    assertThat(numbers.stream().mapToDouble(each -> each).average().orElseThrow())
        .isCloseTo(0.25, within(0.01));
  }

  @Test
  void choicesAreTakenAsTheyStand() {
    assertThat(new TreeSet<>(drawn("model.hidden=[64,32] | [128, 64]|[]")))
        .containsExactly("[128, 64]", "[64,32]", "[]");
  }

  @Test
  void placesOnAnAxisFollowTheScale() {
    Search log = Search.parse("train.optimizer.lr=1e-4..1e-2:log");
    assertThat(log.at("0.001")).isCloseTo(0.5, within(1e-9));
    assertThat(log.marks()).containsExactly("1e-4", "0.001", "0.01");
    assertThat(Search.parse("model.embedding=4..8").at("5")).isEqualTo(0.25);
    assertThat(Search.parse("model.type=fm|lr|wdl").at("lr")).isEqualTo(0.5);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      textBlock =
          """
          train.optimizer.lr              ~ got no key and values, expected KEY=LOW..HIGH
          =1..2                           ~ got no key and values
          train.optimizer.lr=             ~ got no values
          train.optimizer.lr=0.1          ~ got one value
          train.optimizer.lr=0.1|         ~ got an empty value
          train.optimizer.lr=0.1|0.2|0.1  ~ got a value twice
          train.optimizer.lr=2..1         ~ got a range that ends where it begins or before
          train.optimizer.lr=1..1         ~ got a range that ends where it begins or before
          train.optimizer.lr=0..1:log     ~ got a range of powers that does not begin above 0
          train.optimizer.lr=a..b         ~ got an end of a range that is no number
          train.optimizer.lr=1..2:lin     ~ got an end of a range that is no number
          train.optimizer.lr=1..          ~ got an end of a range that is no number
          train.optimizer.lr=1e-400..1e400 ~ got an end of a range that is no number
          train.optimiser.lr=1..2         ~ got the unknown key train.optimiser.lr, expected one of a configuration; did you mean train.optimizer.lr?
          train.optimizer=1..2            ~ got the section train.optimizer, expected one of its keys
          run.dir=a|b                     ~ got run.dir, expected a key whose values leave trials comparable
          train.monitor=auc|log_loss      ~ got train.monitor, expected a key
          """)
  void whatIsNoSearchIsRefused(String text, String message) {
    assertThatThrownBy(() -> Search.parse(text == null ? "" : text))
        .isInstanceOf(ConfigException.class)
        .hasMessageStartingWith("--search")
        .hasMessageContaining(message);
  }

  private static Plan plan(int trials, long seed, String... searches) {
    return new Plan(
        Path.of("run.yaml"),
        List.of("train.epochs=3"),
        List.of(searches).stream().map(Search::parse).toList(),
        trials,
        seed,
        false);
  }

  @Test
  void theSeedDecidesTheTrialsAndMoreTrialsBeginWithTheSame() {
    String[] searches = {"train.optimizer.lr=1e-4..1e-2:log", "model.dropout=0..0.5"};
    List<Trial> ten = plan(10, 1, searches).draw();
    assertThat(plan(10, 1, searches).draw()).isEqualTo(ten);
    assertThat(plan(20, 1, searches).draw()).startsWith(ten.toArray(Trial[]::new));
    assertThat(plan(10, 2, searches).draw()).isNotEqualTo(ten);
  }

  @Test
  void noTwoTrialsHaveTheSameValues() {
    List<Trial> all = plan(50, 1, "model.type=fm|lr", "model.embedding=4..6").draw();
    assertThat(all).hasSize(6);
    assertThat(all.stream().map(Trial::values).distinct()).hasSize(6);
  }

  @Test
  void aKeyIsSearchedOnce() {
    assertThatThrownBy(() -> plan(2, 1, "model.embedding=4..6", "model.embedding=8..9"))
        .hasMessageContaining("got model.embedding twice");
  }

  @Test
  void roundsOfHalvingGrowThreefoldUpToAllEpochs() {
    assertThat(Plan.rounds(12)).containsExactly(1L, 4L, 12L);
    assertThat(Plan.rounds(27)).containsExactly(1L, 3L, 9L, 27L);
    assertThat(Plan.rounds(3)).containsExactly(1L, 3L);
    assertThatThrownBy(() -> Plan.rounds(2))
        .hasMessageContaining("--halving: got train.epochs: 2, expected 3 or more");
    assertThat(List.of(Plan.inRound(20, 0), Plan.inRound(20, 1), Plan.inRound(20, 2)))
        .containsExactly(20, 7, 3);
  }

  @Test
  void theCommandCanBePastedIntoAShell() {
    Plan plan = plan(1, 1, "model.hidden=[64,32]|[8]", "train.optimizer.lr=1e-4..1e-2:log");
    assertThat(plan.command(plan.draw().getFirst(), Path.of("runs/s")))
        .matches(
            "tern train run.yaml --set train.epochs=3 --set 'model.hidden=\\[[0-9,]+]' --set"
                + " train.optimizer.lr=0\\.\\d+ --set run.dir=runs/s/best");
  }
}
