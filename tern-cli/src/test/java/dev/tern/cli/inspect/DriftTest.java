package dev.tern.cli.inspect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class DriftTest {
  private static ColumnDrift of(long... counts) {
    List<ColumnDrift.Bin> bins = new java.util.ArrayList<>();
    for (int i = 0; i < counts.length; i += 2) {
      bins.add(new ColumnDrift.Bin(ColumnDrift.Kind.VALUE, "b" + i, counts[i], counts[i + 1]));
    }
    return new ColumnDrift("c", "sparse", bins, 0);
  }

  @Test
  void theExamplesOfTheDocumentationHold() {
    assertThat(of(500_000, 600_000, 500_000, 400_000).psi()).isCloseTo(0.0405, within(1e-4));
    assertThat(of(100, 50, 0, 50).jensenShannon()).isCloseTo(0.311, within(1e-3));
  }

  @Test
  void equalDistributionsDoNotDrift() {
    assertThat(of(10, 10, 30, 30).psi()).isZero();
    assertThat(of(10, 100, 30, 300).jensenShannon()).isCloseTo(0, within(1e-12));
  }

  @Test
  void distributionsWithoutACommonBinAreOneBitApart() {
    assertThat(of(7, 0, 0, 9).jensenShannon()).isCloseTo(1, within(1e-12));
    assertThat(of(7, 0, 0, 9).psi()).isPositive().isFinite();
  }

  @Test
  void theLargestBinsKeepTheirOrderAndTheOthersBecomeOne() {
    assertThat(of(1, 2, 50, 40, 3, 60, 2, 2).largest(2))
        .containsExactly(
            new ColumnDrift.Bin(ColumnDrift.Kind.VALUE, "b2", 50, 40),
            new ColumnDrift.Bin(ColumnDrift.Kind.VALUE, "b4", 3, 60),
            ColumnDrift.Bin.of(ColumnDrift.Kind.OTHERS, 3, 4));
    assertThat(of(1, 2, 3, 4).largest(5)).hasSize(2);
  }

  @Test
  void aValueWithTheNameOfAnotherBinIsAValue() {
    ColumnDrift.Bin missing = new ColumnDrift.Bin(ColumnDrift.Kind.VALUE, "missing", 5, 5);
    ColumnDrift.Bin others = new ColumnDrift.Bin(ColumnDrift.Kind.VALUE, "all others", 4, 4);
    ColumnDrift.Bin none = ColumnDrift.Bin.of(ColumnDrift.Kind.MISSING, 5, 5);
    ColumnDrift column = new ColumnDrift("c", "sparse", List.of(others, missing, none), 0);
    assertThat(column.largest(3)).containsExactly(others, missing, none);
    assertThat(column.largest(2))
        .containsExactly(missing, none, ColumnDrift.Bin.of(ColumnDrift.Kind.OTHERS, 4, 4));
    assertThat(List.of(others.shown(), missing.shown(), none.shown()))
        .containsExactly("\"all others\"", "\"missing\"", "missing");
  }

  @Test
  void nothingIsNotComparable() {
    assertThat(of(0, 5).psi()).isNaN();
    assertThat(of(5, 0).jensenShannon()).isNaN();
    assertThat(of().psi()).isNaN();
  }

  @Test
  void thinnedValuesKeepTheShapeTheEndsAndTheCount() {
    ThinnedValues values = new ThinnedValues();
    Random random = new Random(3);
    for (int i = 0; i < 300_000; i++) {
      values.add(i % 10 == 0 ? Float.NaN : (float) random.nextGaussian());
    }
    values.add(-100);
    values.add(100);
    assertThat(values.count()).isEqualTo(270_002);
    assertThat(values.missing()).isEqualTo(30_000);
    assertThat(values.least()).isEqualTo(-100);
    assertThat(values.greatest()).isEqualTo(100);
    float[] sorted = values.sorted();
    assertThat(sorted.length).isBetween(1 << 15, 1 << 16);
    assertThat(sorted[sorted.length / 2]).isCloseTo(0, within(0.02f));
    assertThat(sorted[(int) (sorted.length * 0.975)]).isCloseTo(1.96f, within(0.05f));
  }
}
