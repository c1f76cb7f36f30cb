package dev.tern.data.encode;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.readers.Readers;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@link NumberEncoding.Auto} chooses. */
final class AutoEncodingTest {
  private static final float NAN = Float.NaN;

  private static Batch numbers(float... values) {
    Batch batch = new Batch(new Schema(List.of(), List.of("x"), List.of()), 4);
    for (float value : values) {
      batch.setDense(0, value);
      batch.endRow();
    }
    return batch;
  }

  private static FeatureEncoder fit(NumberEncoding encoding, float... values) {
    return FeatureEncoder.fit(
        Readers.inMemory(numbers(values)),
        List.of(encoding),
        List.of(),
        TextDictionary.none(),
        rows -> {});
  }

  private static float[] encoded(FeatureEncoder encoder, float... values) {
    Batch encoded = new Batch(encoder.schema(), 1);
    encoder.apply(numbers(values), encoded);
    return Arrays.copyOf(encoded.dense(), values.length);
  }

  private static NumberEncoding chosen(float... values) {
    return fit(NumberEncoding.auto(), values).dense().getFirst();
  }

  private static float[] skewed(int count, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = (float) Math.floor(Math.exp(2.5 * random.nextGaussian()));
    }
    return values;
  }

  private static float[] shifted(float[] values, float by) {
    float[] sums = values.clone();
    for (int i = 0; i < sums.length; i++) {
      sums[i] += by;
    }
    return sums;
  }

  @Test
  void skewedCountsAreStandardizedAfterTheirLogarithm() {
    float[] counts = skewed(2000, 1);
    assertThat(chosen(counts)).isEqualTo(NumberEncoding.log1pStandardize());
    FeatureEncoder stated = fit(NumberEncoding.log1pStandardize(), counts);
    FeatureEncoder found = fit(NumberEncoding.auto(), counts);
    assertThat(encoded(found, counts)).isEqualTo(encoded(stated, counts));
    assertThat(found.toJson()).isEqualTo(stated.toJson());
  }

  @Test
  void skewedNumbersBelowZeroAreStandardized() {
    float[] moved = shifted(skewed(2000, 1), -1);
    assertThat(moved).contains(-1f);
    assertThat(chosen(moved)).isEqualTo(NumberEncoding.standardize());
    FeatureEncoder stated = fit(NumberEncoding.standardize(), moved);
    assertThat(fit(NumberEncoding.auto(), moved).toJson()).isEqualTo(stated.toJson());
  }

  @Test
  void skewnessIsThatOfTheTextbook() {
    SplittableRandom random = new SplittableRandom(7);
    int logarithms = 0;
    for (int i = 0; i < 300; i++) {
      double power = 1 + 14 * random.nextDouble();
      float offset = i % 3 == 0 ? 1e6f : 0;
      float[] values = new float[3 + random.nextInt(60)];
      for (int k = 0; k < values.length; k++) {
        values[k] = offset + (float) (100 * Math.pow(random.nextDouble(), power));
      }
      double mean =
          IntStream.range(0, values.length).mapToDouble(k -> values[k]).average().orElse(0);
      double second = 0;
      double third = 0;
      for (float value : values) {
        second += Math.pow(value - mean, 2) / values.length;
        third += Math.pow(value - mean, 3) / values.length;
      }
      double skewness = third / Math.pow(second, 1.5);
      if (Math.abs(skewness - 2) > 1e-6) {
        logarithms += skewness > 2 ? 1 : 0;
        assertThat(chosen(values))
            .as("skewness %s", skewness)
            .isEqualTo(new NumberEncoding.Scaled(skewness > 2, true, 0));
      }
    }
    assertThat(logarithms).isGreaterThan(5);
  }

  @Test
  void columnsWithoutNumbersAndConstantOnesBecomeZeros() {
    assertThat(encoded(fit(NumberEncoding.auto(), NAN, NAN), NAN, 3)).containsExactly(0, 3);
    assertThat(encoded(fit(NumberEncoding.auto()), NAN, 3)).containsExactly(0, 3);
    for (float only : new float[] {0, 7, -2.5f, 1e-30f, 3e38f}) {
      FeatureEncoder encoder = fit(NumberEncoding.auto(), only, only, NAN, only);
      assertThat(encoded(encoder, only, NAN)).as("%s", only).containsExactly(0, 0);
    }
  }

  /** Features stay small enough for a model, which raw ones are not. */
  @ParameterizedTest
  @ValueSource(floats = {1e-30f, 1e-3f, 1, 1500, 1e9f, 1e30f})
  void featuresHaveTheSizeOfOneWhateverTheUnit(float unit) {
    float[] values = skewed(3000, 5);
    for (int i = 0; i < values.length; i++) {
      values[i] = Math.min(3e37f, values[i] * unit);
    }
    float[] features = encoded(fit(NumberEncoding.auto(), values), values);
    double squares = 0;
    for (float feature : features) {
      assertThat(feature).isFinite();
      squares += feature * feature / features.length;
    }
    assertThat(squares).isBetween(0.99, 1.01);
  }

  @Test
  void missingNumbersBecomeTheStatedOne() {
    FeatureEncoder encoder = fit(new NumberEncoding.Auto(-4), 1, 2, NAN);
    assertThat(encoded(encoder, NAN)).containsExactly(-4);
    assertThat(encoder.dense()).containsExactly(new NumberEncoding.Scaled(false, true, -4));
    FeatureEncoder read = FeatureEncoder.fromJson(encoder.toJson(), "encoders.json");
    assertThat(read.toJson()).isEqualTo(encoder.toJson());
    assertThat(read.dense()).isEqualTo(encoder.dense());
  }
}
