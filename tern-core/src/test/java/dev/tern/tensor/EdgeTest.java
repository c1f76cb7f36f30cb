package dev.tern.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Views, types, empty shapes and lifetimes. */
final class EdgeTest {
  private static final Tensor SIX = Tensor.of(Shape.of(2, 3), 1, 2, 3, 4, 5, 6);

  @Test
  void gradientsReachATensorThatIsReshapedAgain() {
    Tensor flat = SIX.mul(1).reshape(6);
    Tensor loss = flat.reshape(2, 3).reshape(3, 2).square().sum();
    assertThat(gradient(loss, flat)).containsExactly(2, 4, 6, 8, 10, 12);
    Tensor sums = SIX.sum(0);
    assertThat(gradient(sums.mul(Tensor.full(Shape.of(4, 3), 2)).sum(), sums))
        .containsExactly(8, 8, 8);
  }

  private static float[] gradient(Tensor loss, Tensor x) {
    return Tensor.gradients(loss, List.of(x)).get(0).toArray();
  }

  @Test
  void viewsOfIntegersReadRight() {
    Tensor x = Tensor.ofLongs(Shape.of(2, 3), 1, 2, 3, 4, 5, Long.MAX_VALUE);
    assertThat(x.slice(1, 1, 3).toArray()).containsExactly(2, 3, 5, Long.MAX_VALUE);
    assertThat(x.transpose(0, 1).toArray()).containsExactly(1, 4, 2, 5, 3, Long.MAX_VALUE);
    assertThat(x.slice(0, 0, 1).slice(1, 1, 2).broadcast(Shape.of(3, 2)).toArray())
        .containsExactly(2, 2, 2, 2, 2, 2);
    assertThat(Tensor.concat(0, List.of(x.transpose(0, 1), x.transpose(0, 1))).toArray())
        .containsExactly(1, 4, 2, 5, 3, Long.MAX_VALUE, 1, 4, 2, 5, 3, Long.MAX_VALUE);
    assertThat(x.transpose(0, 1).reshape(6).toArray())
        .containsExactly(1, 4, 2, 5, 3, Long.MAX_VALUE);
    Tensor rows = Tensor.of(Shape.of(6, 1), 0, 10, 20, 30, 40, 50);
    assertThat(rows.gather(x.slice(1, 0, 2).transpose(0, 1)).toArray())
        .containsExactly(10, 40, 20, 50);
  }

  @ParameterizedTest
  @EnumSource(names = {"F16", "BF16"})
  void halfWidthIsStoredSlicedUpdatedAndDifferentiated(DType half) {
    try (Device device = Device.cpu(1, 1 << 20)) {
      Variable stored = Variable.of(device, "w", Shape.of(4), half);
      Tensor w = stored.tensor();
      Tensor next = w.cast(DType.F32).add(Tensor.of(Shape.of(4), 1, 2, 3, 0.5f)).cast(half);
      Tensor read = w.slice(0, 1, 3).cast(DType.F32);
      try (Computation step = Computation.of(device, List.of(read, w), Map.of(stored, next))) {
        step.run();
        step.run();
        float[] out = new float[2];
        step.copyOutput(0, out, 0);
        assertThat(out).containsExactly(2, 3);
        assertThatThrownBy(() -> step.copyOutput(1, new float[4], 0))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("expected F32");
      }
      Tensor full = w.cast(DType.F32);
      Tensor wide = w.reshape(4, 1).broadcast(Shape.of(4, 2)).cast(DType.F32);
      Tensor loss = full.square().sum().add(wide.sum()).add(read.sum());
      Tensor gradient = Tensor.gradients(loss, List.of(w)).get(0);
      assertThat(gradient.type()).isEqualTo(DType.F32);
      try (Computation gradients = Computation.of(device, List.of(gradient), Map.of())) {
        gradients.run();
        float[] out = new float[4];
        gradients.copyOutput(0, out, 0);
        assertThat(out).containsExactly(6, 11, 15, 4);
      }
    }
  }

  @Test
  void emptyTensorsOfEveryRankComputeNothing() {
    Tensor x = Tensor.zeros(Shape.of(3, 0, 4, 5, 6));
    assertThat(x.add(Tensor.full(Shape.of(1, 1, 4, 1, 6), 1)).exp().toArray()).isEmpty();
    assertThat(x.sum(1).toArray()).hasSize(360).containsOnly(0);
    assertThat(x.reshape(0, 7).transpose(0, 1).reshape(0).toArray()).isEmpty();
    Tensor wide = Tensor.of(Shape.of(128, 0));
    assertThat(wide.reshape(128, 0, 8).reshape(-1, 0).mul(2).toArray()).isEmpty();
    Tensor product = wide.matmul(Tensor.of(Shape.of(0, 3)));
    assertThat(product.toArray()).hasSize(384).containsOnly(0);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void aLongRowTimesAColumnIsOneNumberOnAnyThreads(int threads) {
    int k = 300_000;
    try (Device device = Device.cpu(threads, 1 << 26)) {
      Tensor row = Tensor.full(Shape.of(1, k), 0.5f).add(Tensor.zeros(Shape.of(1, k)));
      Tensor column = Tensor.full(Shape.of(k, 1), 2).add(Tensor.zeros(Shape.of(k, 1)));
      try (Computation product = Computation.of(device, List.of(row.matmul(column)), Map.of())) {
        product.run();
        assertThat(product.item(0)).isEqualTo(k);
      }
    }
  }

  @Test
  void logitsAndLabelsOfDifferentShapesAreRefused() {
    Tensor logits = Tensor.zeros(Shape.of(4, 1));
    assertThatThrownBy(() -> logits.bceWithLogits(Tensor.zeros(Shape.of(4))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("got logits [4, 1] and labels [4]");
  }

  @Test
  void whatIsClosedIsRefusedAndClosingTwiceIsFine() {
    Device device = Device.cpu(1, 1 << 20);
    Variable x = Variable.zeros(device, "x", Shape.of(2));
    Variable y = Variable.zeros(device, "y", Shape.of(2));
    Computation early = Computation.of(device, List.of(x.tensor().add(1)), Map.of());
    Computation late = Computation.of(device, List.of(y.tensor().add(1)), Map.of());
    early.close();
    early.close();
    x.close();
    x.close();
    refused(early::run, "computation: got a closed one");
    refused(x::toArray, "x: got a closed variable");
    device.close();
    device.close();
    refused(late::run, "got a closed device");
    refused(() -> late.copyOutput(0, new float[2], 0), "got a closed device");
    refused(y::toArray, "y: got a closed device");
    refused(() -> y.set(1, 2), "y: got a closed device");
    refused(() -> Variable.zeros(device, "z", Shape.of(2)), "closed");
    late.close();
    y.close();
  }

  private static void refused(
      org.assertj.core.api.ThrowableAssert.ThrowingCallable use, String with) {
    assertThatThrownBy(use).isInstanceOf(IllegalStateException.class).hasMessageContaining(with);
  }

  @Test
  void bitsDoNotDependOnTheOrderOfTheMapOfUpdates() {
    float[] forward = updated(List.of(0, 1, 2));
    for (List<Integer> order : List.of(List.of(2, 1, 0), List.of(1, 2, 0), List.of(2, 0, 1))) {
      assertThat(updated(order)).containsExactly(forward);
    }
  }

  /** Three variables that share the terms of their updates, stored in the given order. */
  private static float[] updated(List<Integer> order) {
    try (Device device = Device.cpu(2, 1 << 26)) {
      Tensor x = TensorTest.random(4, 300, 700);
      List<Variable> variables =
          List.of(
              Variable.zeros(device, "a", Shape.of(1, 700)),
              Variable.zeros(device, "b", Shape.of(300, 1)),
              Variable.zeros(device, "c", Shape.of(300, 700)));
      List<Tensor> values =
          List.of(x.sigmoid().sumKeep(0), x.sigmoid().sumKeep(1), x.sigmoid().mul(x));
      Map<Variable, Tensor> updates = new LinkedHashMap<>();
      order.forEach(i -> updates.put(variables.get(i), values.get(i)));
      try (Computation step = Computation.of(device, List.of(), updates)) {
        step.run();
      }
      float[] result = new float[1000];
      System.arraycopy(variables.get(0).toArray(), 0, result, 0, 700);
      System.arraycopy(variables.get(1).toArray(), 0, result, 700, 300);
      return result;
    }
  }
}
