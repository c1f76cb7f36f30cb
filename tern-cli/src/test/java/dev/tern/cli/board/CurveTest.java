package dev.tern.cli.board;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.internal.json.Json;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class CurveTest {
  private static Json.Obj json(Curve curve) {
    StringBuilder out = new StringBuilder();
    curve.appendTo(out);
    return Json.parseObject(out.toString(), "curve");
  }

  private static List<Double> numbers(Json.Obj curve, String name) {
    return curve.array(name).stream().map(value -> value.asNumber(name)).toList();
  }

  @Test
  void aShortCurveIsKeptPointByPoint() {
    Curve curve = new Curve();
    curve.add(10, 0.5, 0.25);
    curve.add(20, 1.5, -1e-5);
    assertThat(json(curve).toString())
        .isEqualTo("{\"s\":[10,20],\"t\":[0.5,1.5],\"y\":[0.25,-1.0E-5]}");
  }

  @ParameterizedTest
  @ValueSource(ints = {999, 1_000, 1_001, 1_999, 2_000, 2_001, 4_001, 123_457})
  void aLongCurveKeepsItsEndsAndItsExtremesInBoundedRoom(int points) {
    Random random = new Random(points);
    int peak = random.nextInt(points);
    int dip = (peak + 1 + random.nextInt(points - 1)) % points;
    Curve curve = new Curve();
    for (int i = 0; i < points; i++) {
      curve.add(i + 1, i, i == peak ? 9 : i == dip ? -9 : random.nextDouble());
    }
    Json.Obj json = json(curve);
    List<Double> steps = numbers(json, "s");
    assertThat(steps).hasSizeLessThanOrEqualTo(Curve.MOST).isSorted();
    assertThat(steps.size()).isGreaterThanOrEqualTo(Math.min(points, Curve.MOST / 2));
    assertThat(steps.getLast()).isEqualTo(points);
    List<Double> high = numbers(json, json.has("hi") ? "hi" : "y");
    List<Double> low = numbers(json, json.has("lo") ? "lo" : "y");
    int atPeak = high.indexOf(9.0);
    assertThat(steps.get(atPeak)).isGreaterThanOrEqualTo(peak + 1);
    assertThat(atPeak == 0 ? 0 : steps.get(atPeak - 1)).isLessThan(peak + 1);
    assertThat(low).contains(-9.0);
  }

  @ParameterizedTest
  @ValueSource(
      doubles = {0, -0.0, 1, -7, 123_456_789, 1e30, 1e300, 3.3895314e38, 0.1, 1e-40, 4.9e-324})
  void numbersReadBackToSevenDigits(double value) {
    double back = Json.parse(Curve.text(value), "number").asNumber("number");
    assertThat(back)
        .isCloseTo(value, org.assertj.core.data.Offset.offset(Math.abs(value) * 1e-6 + 1e-44));
  }
}
