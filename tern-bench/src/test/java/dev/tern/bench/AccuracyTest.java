package dev.tern.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.internal.ir.Op;
import dev.tern.internal.ir.ScalarMath;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A small share of {@code bench accuracy}, and every float where something begins or ends. */
final class AccuracyTest {
  private static final int STRIDE = 9973;
  private static final int AROUND = 64;
  private static final float[] EDGES = {
    0,
    Float.MIN_NORMAL,
    Float.MAX_VALUE,
    1,
    2,
    ScalarMath.EXP_HIGH,
    ScalarMath.EXP_LOW,
    88.722839f,
    87.336548f,
    103.27893f,
    103.97208f,
    ScalarMath.EXPM1_LOW,
    ScalarMath.SIGMOID_HIGH,
    ScalarMath.TANH_HIGH,
    ScalarMath.TANH_MIDDLE,
    ScalarMath.ERF_HIGH,
    ScalarMath.ERF_MIDDLE,
    ScalarMath.LOG1P_SMALL,
    (float) Math.log(2) / 2,
    (float) Math.sqrt(0.5),
    (float) Math.sqrt(2),
    ScalarMath.ATAN_MIDDLE,
    ScalarMath.ATAN_HIGH,
    0.25f,
    0.5f,
    0x1p22f,
    0x1p24f,
    0x1p-126f,
    0x1p126f
  };

  @ParameterizedTest
  @EnumSource
  void everyFunctionIsWithinItsBoundAndLikeScalarCode(Op.Unary op) {
    AccuracyBench.Found found = AccuracyBench.measure(op, STRIDE, 2);
    assertThat(found.isWithin(op)).as(found.toText(op, 0)).isTrue();
  }

  @ParameterizedTest
  @EnumSource
  void everyFunctionIsWithinItsBoundAtItsEdges(Op.Unary op) {
    float[] x = new float[EDGES.length * 4 * AROUND];
    int[] bits =
        Arrays.stream(edges())
            .flatMap(edge -> IntStream.range(edge - AROUND, edge + AROUND))
            .flatMap(value -> IntStream.of(value, value ^ ScalarMath.SIGN_BIT))
            .toArray();
    for (int i = 0; i < x.length; i++) {
      x[i] = Float.intBitsToFloat(bits[i]);
    }
    try (AccuracyBench.Evaluation evaluation = new AccuracyBench.Evaluation(op, x.length)) {
      AccuracyBench.Found found = evaluation.compare(x, x.length);
      assertThat(found.isWithin(op)).as(found.toText(op, 0)).isTrue();
    }
  }

  private static int[] edges() {
    return IntStream.range(0, EDGES.length)
        .map(i -> Float.floatToRawIntBits(Math.abs(EDGES[i])))
        .toArray();
  }

  @Test
  void documentedBoundsAreThoseThatAreChecked() throws IOException {
    String source =
        Files.readString(
            Path.of("../tern-core/src/main/java/dev/tern/internal/ir/ScalarMath.java"));
    Matcher matcher =
        Pattern.compile(
                "/\\*\\* [^\n]*?to ([0-9.]+) ulp[^\n]*\\*/\n  public static float (\\w+)\\(")
            .matcher(source);
    Map<String, Double> documented = new TreeMap<>();
    while (matcher.find()) {
      documented.put(matcher.group(2), Double.valueOf(matcher.group(1)));
    }
    Map<String, Double> checked = new TreeMap<>();
    for (Op.Unary op : Op.Unary.values()) {
      // The others are one IEEE operation each.
      if (Exact.ulps(op) > 0.5) {
        checked.put(op.name().toLowerCase(Locale.ROOT), Exact.ulps(op));
      }
    }
    assertThat(documented).isEqualTo(checked);
  }

  @Test
  void anErrorIsCountedInLastPlacesOfTheExactResult() {
    assertThat(Exact.error(1 + 0x1p-23f, 1)).isEqualTo(1);
    assertThat(Exact.error(1 - 0x1p-24f, 1)).isEqualTo(0.5);
    assertThat(Exact.error(Float.MIN_VALUE, 0)).isEqualTo(1);
    assertThat(Exact.error(Float.POSITIVE_INFINITY, 1e300)).isZero();
    assertThat(Exact.error(Float.MAX_VALUE, 1e300)).isGreaterThanOrEqualTo(0.5);
    assertThat(Exact.error(Float.NaN, 1)).isInfinite();
  }
}
