package dev.tern.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What values of a session are when variables that they come from are written. */
final class SessionWriteTest {
  private static final Shape ROW = Shape.of(1024);
  private static final long ROW_BYTES = 4096;

  private final Device device = Device.cpu(2, 64 << 20);

  @AfterEach
  void close() {
    device.close();
  }

  private Variable variable(String name, Shape shape, float... values) {
    Variable variable = Variable.zeros(device, name, shape);
    variable.set(values);
    return variable;
  }

  @Test
  void updatesOfAComputationCountAsWrites() {
    Variable w = Variable.zeros(device, "w", Shape.of(2));
    w.set(1, 2);
    Tensor y = w.tensor().add(100);
    try (Session session = device.session(8 * ROW_BYTES);
        Computation step =
            Computation.of(device, List.of(w.tensor().sum()), Map.of(w, w.tensor().mul(2)))) {
      session.run(y);
      step.run();
      assertThat(session.get(y)).containsExactly(101, 102);
      assertThat(session.get(w.tensor().add(100).mul(1))).containsExactly(102, 104);
    }
  }

  @Test
  void aValueSurvivesAWriteThatFollowsAStoreThatFailed() {
    Variable x = variable("x", Shape.of(1), 1);
    Tensor y = x.tensor().mul(10);
    Tensor tooLarge = Tensor.full(Shape.of(1, 100_000), 1).exp().sum(1);
    try (Session session = device.session(4 * ROW_BYTES)) {
      session.run(y);
      assertThatThrownBy(() -> session.store(Map.of(x, tooLarge)))
          .hasMessageContaining("lacks a place");
      assertThat(x.toArray()).containsExactly(1);
      x.set(9);
      evictAll(session);
      assertThat(session.get(y)).containsExactly(10);
    }
  }

  /** What was not used for that long goes where anything does. */
  private static void evictAll(Session session) {
    Tensor other = Tensor.of(ROW, new float[1024]);
    for (int i = 0; i < 20; i++) {
      other = other.add(1);
    }
    assertThat(session.get(other)).containsOnly(20);
    session.release(other);
  }

  @Test
  void variablesStoredIntoEachOtherAreReadBeforeAnyIsWritten() {
    Variable x = variable("x", Shape.of(2, 2), 1, 2, 3, 4);
    Variable y = variable("y", Shape.of(2, 2), 5, 6, 7, 8);
    Variable z = variable("z", Shape.of(2, 2), 9, 10, 11, 12);
    try (Session session = device.session(1 << 20)) {
      session.store(Map.of(x, y.tensor(), y, z.tensor(), z, x.tensor()));
      assertThat(x.toArray()).containsExactly(5, 6, 7, 8);
      assertThat(y.toArray()).containsExactly(9, 10, 11, 12);
      assertThat(z.toArray()).containsExactly(1, 2, 3, 4);
      session.store(Map.of(x, y.tensor().transpose(0, 1), y, x.tensor().transpose(0, 1)));
      assertThat(x.toArray()).containsExactly(9, 11, 10, 12);
      assertThat(y.toArray()).containsExactly(5, 7, 6, 8);
      session.store(Map.of(y, y.tensor().transpose(0, 1), z, y.tensor().reshape(4).reshape(2, 2)));
      assertThat(y.toArray()).containsExactly(5, 6, 7, 8);
      assertThat(z.toArray()).containsExactly(5, 7, 6, 8);
    }
  }

  @Test
  void longsStoredIntoEachOtherAreReadBeforeAnyIsWritten() {
    Variable x = Variable.of(device, "x", Shape.of(1), DType.I64);
    Variable y = Variable.of(device, "y", Shape.of(1), DType.I64);
    x.setLong(1L << 20);
    y.setLong(5);
    try (Session session = device.session(1 << 20)) {
      session.store(Map.of(x, y.tensor(), y, x.tensor()));
      assertThat(session.get(x.tensor())).containsExactly(5);
      assertThat(session.get(y.tensor())).containsExactly(1 << 20);
    }
  }

  @Test
  void aStoreOfWrongShapesWritesNothing() {
    Variable x = variable("x", Shape.of(2), 1, 2);
    Variable y = variable("y", Shape.of(2), 3, 4);
    try (Session session = device.session(1 << 20)) {
      assertThatThrownBy(
              () -> session.store(Map.of(x, y.tensor().mul(2), y, Tensor.zeros(Shape.of(3)))))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("expected its shape and type");
      assertThat(x.toArray()).containsExactly(1, 2);
    }
  }

  @Test
  void aValueThatWasReadThroughAViewStaysWhatItWas() {
    Variable x = variable("x", Shape.of(2, 2), 1, 2, 3, 4);
    Tensor view = x.tensor().mul(2).transpose(0, 1);
    try (Session session = device.session(1 << 20)) {
      assertThat(session.get(view)).containsExactly(2, 6, 4, 8);
      x.set(5, 6, 7, 8);
      assertThat(session.get(view)).containsExactly(2, 6, 4, 8);
    }
  }

  @Test
  void aVariableAndItsViewsShowWhatItHoldsWhenTheyAreRead() {
    Variable x = variable("x", Shape.of(2, 2), 1, 2, 3, 4);
    Tensor view = x.tensor().transpose(0, 1);
    try (Session session = device.session(1 << 20)) {
      session.run(x.tensor(), view);
      x.set(5, 6, 7, 8);
      assertThat(session.get(x.tensor())).containsExactly(5, 6, 7, 8);
      assertThat(session.get(view)).containsExactly(5, 7, 6, 8);
    }
  }

  /** Rows are written where the caller is told to: nobody else sees that write. */
  @Test
  void queuedOpsReadTheRowsOfBeforeOffsetsWereSet() {
    try (Session session = device.session(48 << 20);
        RaggedVariable x = RaggedVariable.of(device, "x", 2, Shape.of(4, 1))) {
      x.set(Levels.ofLengths(new int[] {2, 2}), 1, 2, 3, 4);
      Tensor first = Tensor.full(Shape.of(1000, 1000), 0.001f);
      for (int i = 0; i < 4; i++) {
        first = first.matmul(first);
      }
      Tensor y = x.ragged().values().mul(10);
      session.run(first, y);
      x.setOffsets(new int[] {0, 1, 4}, 2);
      for (int i = 0; i < 4; i++) {
        x.memory().setAtIndex(ValueLayout.JAVA_FLOAT, i, 5 + i);
      }
      assertThat(session.get(y)).containsExactly(10, 20, 30, 40);
    }
  }

  @Test
  void anOperandThatIsLostWhileRoomIsMadeFailsTheOpAndTheSessionGoesOn() {
    Variable large = Variable.zeros(device, "large", ROW);
    Variable small = variable("small", Shape.of(4), 1, 2, 3, 4);
    try (Session session = device.session(2 * ROW_BYTES)) {
      Tensor dropped = Tensor.full(Shape.of(1024 + 512), 0).exp();
      Tensor lasting = large.tensor().mul(2);
      Tensor lost = small.tensor().mul(3);
      session.run(dropped, lasting, lost.add(1));
      large.set(new float[1024]);
      small.set(5, 6, 7, 8);
      // It holds memory until room is made, by forgetting ops that nobody needs.
      session.release(lasting);
      Tensor reader = dropped.slice(0, 0, 4).add(lost);
      assertThatThrownBy(() -> session.get(reader)).hasMessageContaining("was written since");
      Tensor p = Tensor.of(Shape.of(4), 0, 1, 2, 3).add(1);
      Tensor q = p.mul(2);
      Tensor r = q.add(p).mul(q);
      assertThat(session.get(r)).containsExactly(6, 24, 54, 96);
      evictAll(session);
      assertThat(session.get(r)).containsExactly(6, 24, 54, 96);
      assertThat(session.get(q)).containsExactly(2, 4, 6, 8);
    }
  }

  @Test
  void aDroppedValueIsComputedBeforeAWriteWhereReleasedOnesHoldTheRoomForIt() {
    Variable x = Variable.zeros(device, "x", ROW);
    Variable other = Variable.zeros(device, "other", ROW);
    try (Session session = device.session(2 * ROW_BYTES)) {
      Tensor y = x.tensor().add(3);
      Tensor first = other.tensor().mul(2);
      Tensor second = other.tensor().add(1);
      session.run(y, first, second);
      other.set(new float[1024]);
      session.release(first, second);
      session.sync();
      assertThat(session.statistics().bytes()).isEqualTo(2 * ROW_BYTES);
      float[] ones = new float[1024];
      Arrays.fill(ones, 1);
      x.set(ones);
      assertThat(session.get(y)).containsOnly(3);
    }
  }

  @Test
  void aBudgetBelowOneBlockIsRefused() {
    for (long bytes : new long[] {-1, 0, 1, 63}) {
      assertThatThrownBy(() -> device.session(bytes))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("got a budget of " + bytes + " bytes, expected at least 64");
    }
    assertThat(device.memoryInUse()).isZero();
  }

  @Test
  void anErrorOfASessionThatHoldsNothingNamesNoHolders() {
    try (Session session = device.session(64)) {
      assertThatThrownBy(() -> session.get(Tensor.zeros(Shape.of(32)).add(1)))
          .hasMessageContaining("expected room; raise the memory budget by at least 64 bytes");
    }
  }
}
