package dev.tern.internal.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.tern.base.DataException;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.encode.TextHash;
import dev.tern.files.Columns;
import dev.tern.files.ReadPolicy;
import dev.tern.files.SparseColumn;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class HivePathTest {
  private static HivePath path(String folders) {
    return HivePath.of(Path.of("/data").resolve(folders).resolve("part-0.csv"));
  }

  @ParameterizedTest
  @CsvSource({
    "day=2026-01-01/country=de, day, 2026-01-01",
    "day=1/x/hour=7, hour, 7",
    "day=07, day, 07",
    "day=1/day=2, day, 2",
    "a=b=c, a, b=c",
    "c=a%2Fb%3Ac%20d%25, c, a/b:c d%",
    "c=m%C3%BCnchen, c, münchen",
    "c=münchen, c, münchen",
    "a%20b=1, a b, 1",
    "c=100%, c, 100%",
    "c=%4, c, %4",
    "c=%zz, c, %zz",
    "_hour=3, _hour, 3",
    "c=__HIVE_DEFAULT_PARTITION__, c, ''",
    "c=, c, ''"
  })
  void foldersHoldColumns(String folders, String column, String text) {
    assertThat(path(folders).has(column)).isTrue();
    assertThat(path(folders).text(column)).isEqualTo(text);
  }

  @Test
  void aFileOrAFolderWithoutASignHoldsNone() {
    assertThat(HivePath.of(Path.of("/data/x/day=1")).columns()).isEmpty();
    assertThat(path("=1/x").columns()).isEmpty();
    assertThat(HivePath.of(Path.of("part.csv")).has("day")).isFalse();
  }

  @Test
  void valuesAreNumbersIdsAndTexts() {
    Set<String> na = Set.of("NA");
    HivePath path = path("n=-2.5/i=-7/u=18446744073709551615/t=NA/e=__HIVE_DEFAULT_PARTITION__");
    TextDictionary dictionary = new TextDictionary();
    assertThat(path.number("n", na)).isEqualTo(-2.5f);
    assertThat(path.number("t", na)).isNaN();
    assertThat(path.number("e", na)).isNaN();
    assertThat(path.ids(SparseColumn.id("i"), na, dictionary)).containsExactly(-7);
    assertThat(path.ids(SparseColumn.unsigned("u"), na, dictionary)).containsExactly(-1);
    assertThat(path.ids(SparseColumn.id("e"), na, dictionary)).isEmpty();
    assertThat(path.ids(SparseColumn.text("e"), na, dictionary)).containsExactly(TextHash.EMPTY);
    assertThat(path.ids(SparseColumn.text("t"), na, dictionary)).containsExactly(TextHash.EMPTY);
    assertThat(path.ids(new SparseColumn("e", true, "|"), na, dictionary)).isEmpty();
    assertThat(path.ids(SparseColumn.text("n"), na, dictionary))
        .containsExactly(TextHash.of("-2.5"));
    assertThat(dictionary.text(TextHash.of("-2.5"))).contains("-2.5");
  }

  @Test
  void partsOfATimeAreColumnsToo() {
    HivePath path = path("day=2026-01-01/at=2026-01-01 13%3A30%3A00");
    TextDictionary none = TextDictionary.none();
    assertThat(path.number("day@days", Set.of())).isEqualTo(20_454f);
    assertThat(path.ids(SparseColumn.id("day@weekday"), Set.of(), none)).containsExactly(4);
    assertThat(path.ids(SparseColumn.text("at@hour"), Set.of(), none))
        .containsExactly(TextHash.of("13"));
    assertThat(path.has("day@century")).isFalse();
  }

  @Test
  void labelsFollowTheRuleOfTheColumns() {
    Columns numbers = new Columns(List.of("y"), Set.of(), List.of(), List.of());
    Columns texts = new Columns(List.of("y"), Set.of("yes"), List.of(), List.of());
    ReadPolicy policy = ReadPolicy.STRICT;
    assertThat(path("y=1").label("y", numbers, policy)).isEqualTo(1);
    assertThat(path("y=yes").label("y", texts, policy)).isEqualTo(1);
    assertThat(path("y=no").label("y", texts, policy)).isZero();
    for (String bad : List.of("y=2", "y=", "y=__HIVE_DEFAULT_PARTITION__")) {
      assertThatExceptionOfType(DataException.class)
          .isThrownBy(() -> path(bad).label("y", numbers, policy))
          .withMessageContaining("folder of column y");
    }
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> path("y=").label("y", texts, policy));
  }

  @Test
  void whatIsNoNumberOrIdIsAFaultThatNamesTheColumn() {
    TextDictionary none = TextDictionary.none();
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> path("day=2026-01-01").number("day", Set.of()))
        .withMessageContaining("folder of column day: got \"2026-01-01\"")
        .withMessageContaining("day@days");
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> path("c=de").number("c", Set.of()))
        .withMessageContaining("expected a finite number");
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> path("c=18446744073709551615").ids(SparseColumn.id("c"), Set.of(), none))
        .withMessageContaining("data.sparse.values: unsigned");
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> path("c=-1").ids(SparseColumn.unsigned("c"), Set.of(), none))
        .withMessageContaining("from 0 to");
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> path("c=de").number("c@hour", Set.of()))
        .withMessageContaining("expected a time");
  }
}
