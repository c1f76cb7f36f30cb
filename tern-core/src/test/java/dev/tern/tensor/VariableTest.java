package dev.tern.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class VariableTest {
  private static final int ROWS = 40;
  private static final int INNER = 33;
  private static final int COLUMNS = 21;

  private final Device device = Device.cpu(1, 1 << 24);

  @AfterEach
  void close() {
    device.close();
  }

  private Variable filled(String name, int rows, int columns, float from) {
    Variable variable = Variable.zeros(device, name, Shape.of(rows, columns));
    float[] values = new float[rows * columns];
    for (int i = 0; i < values.length; i++) {
      values[i] = from + (i * 7 % 11) / 8f;
    }
    variable.set(values);
    return variable;
  }

  private static float[] run(Computation computation, int size) {
    float[] result = new float[size];
    computation.run();
    computation.copyOutput(0, result, 0);
    return result;
  }

  @Test
  void aCopyHasTheElementsOfTheOther() {
    Variable one = filled("one", 3, 5, -1);
    Variable other = filled("other", 3, 5, 2);
    one.copy(other);
    assertThat(one.toArray()).isEqualTo(other.toArray());
    other.set(new float[15]);
    assertThat(one.toArray()).doesNotContain(0);
  }

  @Test
  void otherShapesAndTypesAreNotCopied() {
    Variable one = filled("one", 3, 5, 0);
    assertThatThrownBy(() -> one.copy(filled("other", 5, 3, 0)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("one: got a copy of");
    assertThatThrownBy(() -> one.copy(Variable.of(device, "longs", Shape.of(3, 5), DType.I64)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aConstantOfComputationsMayBeReplacedBetweenTheirRuns() {
    Variable x = filled("x", ROWS, INNER, -0.5f);
    Variable weights = filled("weights", INNER, COLUMNS, 0.25f);
    Variable next = filled("next", INNER, COLUMNS, -2);
    try (Computation constant =
            Computation.withConstants(
                device, List.of(x.tensor().matmul(weights.tensor())), List.of(weights));
        Computation changing =
            Computation.of(device, List.of(x.tensor().matmul(weights.tensor())), Map.of())) {
      float[] before = run(constant, ROWS * COLUMNS);
      assertThat(before).isEqualTo(run(changing, ROWS * COLUMNS));
      weights.copy(next);
      float[] after = run(constant, ROWS * COLUMNS);
      assertThat(after).isEqualTo(run(changing, ROWS * COLUMNS)).isNotEqualTo(before);
    }
  }
}
