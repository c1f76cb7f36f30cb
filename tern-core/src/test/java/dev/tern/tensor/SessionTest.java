package dev.tern.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

final class SessionTest {
  private static final long ROOM = 32 << 20;

  private final Device device = Device.cpu(2, 256 << 20);

  @AfterEach
  void close() {
    device.close();
  }

  private static float[] numbers(SplittableRandom random, int count) {
    float[] numbers = new float[count];
    for (int i = 0; i < count; i++) {
      numbers[i] = (float) random.nextDouble(-1, 1);
    }
    return numbers;
  }

  private float[] planned(Tensor tensor) {
    return planned(List.of(tensor)).getFirst();
  }

  private List<float[]> planned(List<Tensor> tensors) {
    try (Computation computation = Computation.of(device, tensors, Map.of())) {
      computation.run();
      List<float[]> results = new ArrayList<>();
      for (int i = 0; i < tensors.size(); i++) {
        float[] result = new float[tensors.get(i).shape().elements()];
        computation.copyOutput(i, result, 0);
        results.add(result);
      }
      return results;
    }
  }

  /** Matrices of 32 x 32, each made of two that were made shortly before or long ago. */
  private static List<Tensor> randomGraph(long seed, int ops) {
    SplittableRandom random = new SplittableRandom(seed);
    Shape shape = Shape.of(32, 32);
    List<Tensor> all = new ArrayList<>();
    all.add(Tensor.of(shape, numbers(random, 1024)));
    all.add(Tensor.of(shape, numbers(random, 1024)));
    while (all.size() < ops) {
      Tensor a = all.get(random.nextInt(Math.max(0, all.size() - 4), all.size()));
      Tensor b = all.get(random.nextInt(all.size()));
      all.add(
          switch (random.nextInt(9)) {
            case 0 -> a.matmul(b).mul(0.1f);
            case 1 -> a.transpose(0, 1).matmul(b).tanh();
            case 2 -> a.add(b.transpose(0, 1)).sigmoid();
            case 3 -> a.softmax(1).sub(b);
            case 4 -> a.sumKeep(0).mul(0.05f).add(b);
            case 5 -> a.reshape(8, 128).transpose(0, 1).reshape(32, 32).max(b);
            case 6 -> Tensor.concat(0, List.of(a.slice(0, 8, 32), b.slice(0, 0, 8)));
            case 7 -> a.lt(b).select(a, b.square());
            default -> a.sub(b).abs().sqrt();
          });
    }
    return all;
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 2, 3, 4, 5})
  void valuesOfRandomGraphsAreThoseOfAComputationUnderAnyBudget(long seed) {
    List<Tensor> graph = randomGraph(seed, 60);
    List<Tensor> read = new ArrayList<>(List.of(graph.getLast()));
    for (int i = 2; i < graph.size(); i += 7) {
      read.add(graph.get(i));
    }
    List<float[]> expected = planned(read);
    long peak;
    try (Session session = device.session(ROOM)) {
      session.run(graph.getLast());
      session.sync();
      peak = session.statistics().peakBytes();
    }
    for (double share : new double[] {1, 0.8, 0.6, 0.4, 0.3}) {
      long budget = (long) (share * peak);
      try (Session session = device.session(budget)) {
        session.run(graph.getLast());
        for (int i = 0; i < read.size(); i++) {
          assertThat(session.get(read.get(i))).as("share %s", share).isEqualTo(expected.get(i));
        }
        Session.Statistics done = session.statistics();
        assertThat(done.peakBytes()).isLessThanOrEqualTo(budget);
        if (share < 0.7) {
          assertThat(done.runsAgain()).isPositive();
        }
      }
    }
  }

  @Test
  void theSumOverSeveralDimensionsIsThatOfTheOpAlone() {
    Tensor x = Tensor.of(Shape.of(65, 33), numbers(new SplittableRandom(1), 65 * 33));
    try (Session session = device.session(ROOM)) {
      Tensor product = x.mul(x.slice(0, 0, 1));
      Tensor written = Tensor.of(product.shape(), planned(product));
      assertThat(session.item(product.sum())).isEqualTo(planned(written.sum())[0]);
    }
  }

  @Test
  void eachOpRunsOnceHoweverOftenItIsAskedFor() {
    Tensor x = Tensor.of(Shape.of(4), 1, 2, 3, 4);
    Tensor y = x.exp();
    Tensor z = y.mul(2);
    try (Session session = device.session(ROOM)) {
      session.run(y, z);
      session.run(z);
      assertThat(session.get(y)).isEqualTo(y.toArray());
      assertThat(session.get(z)).isEqualTo(z.toArray());
      assertThat(session.statistics().runs()).isEqualTo(2);
    }
  }

  @Test
  void viewsTakeNoMemoryAndConstantsAreRead() {
    Tensor x = Tensor.of(Shape.of(2, 3), 1, 2, 3, 4, 5, 6);
    try (Session session = device.session(ROOM)) {
      Tensor square = x.square();
      session.run(square);
      session.sync();
      long before = session.statistics().bytes();
      session.run(square.reshape(3, 2), square.transpose(0, 1), square.slice(1, 0, 2));
      session.sync();
      assertThat(session.statistics().bytes()).isEqualTo(before);
      assertThat(session.get(square.transpose(0, 1))).containsExactly(1, 16, 4, 25, 9, 36);
      assertThat(session.get(square.slice(1, 1, 2))).containsExactly(4, 25);
      assertThat(session.get(square.reshape(6))).containsExactly(1, 4, 9, 16, 25, 36);
      assertThat(session.get(x)).containsExactly(1, 2, 3, 4, 5, 6);
      assertThat(session.get(x.transpose(0, 1))).containsExactly(1, 4, 2, 5, 3, 6);
      assertThat(session.get(Tensor.full(Shape.of(2), 3))).containsExactly(3, 3);
      assertThat(session.get(Tensor.zeros(Shape.of(2)).add(1))).containsExactly(1, 1);
      assertThat(session.get(Tensor.ofLongs(Shape.of(2), 7, 8))).containsExactly(7, 8);
      assertThat(session.get(Tensor.zeros(Shape.of(0, 3)).exp())).isEmpty();
      assertThat(session.statistics().bytes()).isLessThanOrEqualTo(before + 64);
    }
  }

  @Test
  void aLoopMayDependOnValuesThatItReads() {
    SplittableRandom random = new SplittableRandom(3);
    Tensor x = Tensor.of(Shape.of(64, 64), numbers(random, 64 * 64));
    Tensor expected = x;
    int rounds = 0;
    try (Session session = device.session(12 * 4 * 64 * 64)) {
      // Until the largest element is small; the least budget holds a few of the values.
      while (session.item(x.abs().max()) > 0.01f) {
        x = x.mul(x.abs().max(1).reshape(64, 1)).mul(0.9f);
        rounds++;
      }
      for (int i = 0; i < rounds; i++) {
        expected = expected.mul(expected.abs().max(1).reshape(64, 1)).mul(0.9f);
      }
      assertThat(rounds).isGreaterThan(5);
      assertThat(session.get(x)).isEqualTo(planned(expected));
    }
  }

  @Test
  void gradientsRecordedLaterUseTheValuesOfTheForwardPass() {
    Tensor w = Tensor.of(Shape.of(8, 8), numbers(new SplittableRandom(2), 64));
    Tensor hidden = w.matmul(w).tanh();
    Tensor loss = hidden.square().sum();
    try (Session session = device.session(ROOM)) {
      session.run(loss);
      session.sync();
      long forward = session.statistics().runs();
      Tensor gradient = Tensor.gradients(loss, List.of(w)).get(0);
      assertThat(session.get(gradient)).isEqualTo(planned(gradient));
      assertThat(session.statistics().runs()).isLessThan(3 * forward + 4);
      assertThat(session.statistics().runsAgain()).isZero();
    }
  }

  @Test
  void anOpThatFailsFailsWhatNeedsItAndNothingElse() {
    Tensor x = Tensor.of(Shape.of(2, 2), 1, 2, 3, 4);
    Tensor bad = x.gather(Tensor.ofLongs(Shape.of(1), 9));
    Tensor after = bad.mul(2).add(x);
    Tensor good = x.exp();
    try (Session session = device.session(ROOM)) {
      session.run(after, good);
      assertThat(session.get(good)).isEqualTo(good.toArray());
      assertThatThrownBy(() -> session.get(after))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("Gather")
          .hasMessageContaining("got index 9 at position 0, expected 0 to 1")
          .hasCauseInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> session.get(bad.neg())).hasMessageContaining("got index 9");
      assertThat(session.get(good.mul(x))).isEqualTo(good.mul(x).toArray());
    }
  }

  @Test
  void anOpThatFailedRunsAnewOnceItIsReleased() {
    Variable index = Variable.of(device, "index", Shape.of(1), DType.I64);
    Tensor x = Tensor.of(Shape.of(2, 2), 1, 2, 3, 4);
    Tensor row = x.gather(index.tensor());
    index.setLong(5);
    try (Session session = device.session(ROOM)) {
      assertThatThrownBy(() -> session.get(row)).hasMessageContaining("got index 5");
      index.setLong(1);
      assertThatThrownBy(() -> session.get(row)).hasMessageContaining("got index 5");
      session.release(row);
      assertThat(session.get(row)).containsExactly(3, 4);
    }
  }

  @Test
  void whatDoesNotFitFailsAndTheSessionGoesOn() {
    Tensor x = Tensor.of(Shape.of(1024), new float[1024]);
    try (Session session = device.session(3 * 4096)) {
      Tensor small = x.add(1);
      Tensor large = small.reshape(1024, 1).add(small.reshape(1, 1024));
      session.run(small, large);
      assertThatThrownBy(() -> session.get(large))
          .hasMessageContaining("ADD F32[1024, 1024]")
          .hasMessageContaining("raise the memory budget");
      assertThat(session.get(small)).containsOnly(1);
      Tensor next = small;
      for (int i = 0; i < 20; i++) {
        next = next.add(small);
      }
      assertThat(session.get(next)).containsOnly(21);
      assertThat(session.statistics().bytes()).isLessThanOrEqualTo(3 * 4096);
    }
  }

  @Test
  void errorsShowWhereTheLevelSaysThatTheyDo() {
    Tensor x = Tensor.of(Shape.of(64), new float[64]);
    Tensor large = x.reshape(64, 1).add(x.reshape(1, 64)).exp();
    Tensor bad = x.gather(Tensor.ofLongs(Shape.of(1), 99));
    try (Session session = device.session(4096, Session.Level.SYNCHRONOUS, 8)) {
      assertThatThrownBy(() -> session.run(bad)).hasMessageContaining("got index 99");
      assertThatThrownBy(() -> session.run(large)).hasMessageContaining("budget");
      session.run(x.exp());
      assertThat(session.statistics().runs()).isEqualTo(1);
    }
    try (Session session = device.session(4096, Session.Level.ERRORS_SYNCHRONOUS, 8)) {
      session.run(bad);
      assertThatThrownBy(() -> session.run(large))
          .hasMessageContaining("ADD F32[64, 64]")
          .hasMessageContaining("takes 16384 bytes");
      assertThatThrownBy(() -> session.get(bad)).hasMessageContaining("got index 99");
    }
    try (Session session = device.session(4096, Session.Level.ASYNCHRONOUS, 8)) {
      session.run(bad, large);
      session.sync();
      assertThatThrownBy(() -> session.get(large)).hasMessageContaining("budget");
    }
  }

  @ParameterizedTest
  @EnumSource(Session.Level.class)
  void aQueueOfOneOpIsLongEnough(Session.Level level) {
    Tensor x = Tensor.of(Shape.of(4), 1, 2, 3, 4);
    try (Session session = device.session(ROOM, level, 1)) {
      for (int i = 0; i < 200; i++) {
        x = x.add(1);
      }
      assertThat(session.get(x)).containsExactly(201, 202, 203, 204);
    }
    assertThatThrownBy(() -> device.session(ROOM, level, 0)).hasMessageContaining("queue of 0");
  }

  @Test
  void aValueKeepsTheContentThatItsVariableHadWhenItWasAskedFor() {
    Variable w = Variable.zeros(device, "w", Shape.of(4));
    w.set(1, 2, 3, 4);
    Tensor y = w.tensor().mul(10);
    try (Session session = device.session(ROOM)) {
      session.run(y);
      w.set(5, 6, 7, 8);
      assertThat(session.get(y)).containsExactly(10, 20, 30, 40);
      assertThat(session.get(w.tensor().mul(10))).containsExactly(50, 60, 70, 80);
      assertThat(session.get(y.add(w.tensor()))).containsExactly(15, 26, 37, 48);
      session.release(y);
      assertThat(session.get(y)).containsExactly(50, 60, 70, 80);
    }
  }

  @Test
  void aValueThatWasDroppedIsComputedAgainBeforeItsVariableIsWritten() {
    Variable w = Variable.zeros(device, "w", Shape.of(1024));
    w.set(numbers(new SplittableRandom(1), 1024));
    Tensor y = w.tensor().exp();
    float[] expected = planned(y);
    try (Session session = device.session(4 * 4096)) {
      session.run(y);
      Tensor other = Tensor.of(Shape.of(1024), new float[1024]);
      for (int i = 0; i < 10; i++) {
        other = other.add(1);
      }
      session.run(other);
      session.sync();
      assertThat(session.statistics().evictions()).isPositive();
      w.set(new float[1024]);
      for (int i = 0; i < 10; i++) {
        other = other.add(1);
      }
      assertThat(session.get(other)).containsOnly(20);
      assertThat(session.get(y)).isEqualTo(expected);
    }
  }

  @Test
  void whatCameUpOnTheWayIsAnErrorOnceItsVariableWasWritten() {
    Variable w = Variable.zeros(device, "w", Shape.of(4));
    w.set(1, 2, 3, 4);
    Tensor hidden = w.tensor().square();
    Tensor loss = hidden.exp().sum();
    try (Session session = device.session(ROOM)) {
      float before = session.item(loss);
      w.set(0, 0, 0, 0);
      assertThat(session.item(loss)).isEqualTo(before);
      Tensor gradient = Tensor.gradients(loss, List.of(w.tensor())).get(0);
      assertThatThrownBy(() -> session.get(gradient)).hasMessageContaining("was written since");
      assertThatThrownBy(() -> session.get(hidden)).hasMessageContaining("was written since");
      session.release(hidden, loss, hidden.exp());
      assertThat(session.get(w.tensor().square().exp().sum())).containsExactly(4);
    }
  }

  @Test
  void aClosedVariableIsNotReadAgain() {
    Variable w = Variable.zeros(device, "w", Shape.of(1024));
    w.set(numbers(new SplittableRandom(1), 1024));
    Tensor y = w.tensor().exp();
    float[] expected = planned(y);
    Tensor other = Tensor.of(Shape.of(1024), new float[1024]);
    try (Session session = device.session(4 * 4096)) {
      session.run(y);
      w.close();
      for (int i = 0; i < 10; i++) {
        other = other.add(1);
      }
      assertThat(session.get(other)).containsOnly(10);
      assertThat(session.get(y)).isEqualTo(expected);
    }
  }

  @Test
  void storedValuesAreReadByWhatIsAskedForAfter() {
    Variable w = Variable.zeros(device, "w", Shape.of(2));
    Variable v = Variable.zeros(device, "v", Shape.of(2));
    w.set(1, 2);
    v.set(10, 20);
    try (Session session = device.session(ROOM)) {
      // Both are computed before either is written.
      session.store(Map.of(w, v.tensor().add(1), v, w.tensor().add(1)));
      assertThat(w.toArray()).containsExactly(11, 21);
      assertThat(v.toArray()).containsExactly(2, 3);
      session.store(Map.of(w, w.tensor().neg()));
      assertThat(session.get(w.tensor().mul(1))).containsExactly(-11, -21);
      session.store(Map.of(w, v.tensor()));
      assertThat(w.toArray()).containsExactly(2, 3);
      assertThatThrownBy(() -> session.store(Map.of(w, v.tensor().sum())))
          .hasMessageContaining("expected its shape and type");
    }
  }

  @Test
  void seededNumbersAreTheSameWhenTheyAreComputedAgain() {
    Variable seed = Variable.of(device, "seed", Shape.of(1), DType.I64);
    seed.setLong(7);
    Tensor mask = Tensor.uniform(seed, 3, Shape.of(1024));
    float[] expected = planned(mask);
    try (Session session = device.session(4 * 4096)) {
      session.run(mask);
      // It takes all of the budget.
      session.run(Tensor.zeros(Shape.of(4 * 1024)).exp());
      assertThat(session.get(mask)).isEqualTo(expected);
      assertThat(session.statistics().runsAgain()).isPositive();
    }
  }

  @Test
  void releasedValuesTakeNoMemoryAndWhatDependsOnThemStays() {
    Tensor x = Tensor.of(Shape.of(1024), new float[1024]);
    Tensor y = x.add(1);
    Tensor z = y.mul(2);
    try (Session session = device.session(ROOM)) {
      session.run(z);
      session.release(y);
      session.sync();
      assertThat(session.statistics().bytes()).isEqualTo(4096);
      assertThat(session.get(z)).containsOnly(2);
      session.release(y, y, z);
      session.sync();
      assertThat(session.statistics().bytes()).isZero();
    }
  }

  @Test
  void aStepOfATrainingLoopLeavesNothingBehind() {
    Variable w = Variable.zeros(device, "w", Shape.of(8));
    w.set(1, 2, 3, 4, 5, 6, 7, 8);
    try (Session session = device.session(1 << 20)) {
      int most = 0;
      for (int step = 0; step < 4000; step++) {
        Tensor next = w.tensor().mul(0.99f);
        session.store(Map.of(w, next));
        session.release(next);
        most = Math.max(most, session.statistics().recipes());
      }
      assertThat(most).isLessThan(2048);
      assertThat(session.statistics().bytes()).isLessThan(64 * 1024);
      assertThat(w.toArray()[0]).isLessThan(1e-6f);
    }
  }

  @Test
  void valuesOfUnreachableTensorsGo() {
    Tensor x = Tensor.of(Shape.of(64), new float[64]);
    try (Session session = device.session(64 << 20)) {
      int most = 0;
      for (int step = 0; step < 4000; step++) {
        session.run(x.add(1).mul(2).exp());
        // How many collections it takes is the JVM's matter.
        for (int i = 0;
            i < 100 && step % 1000 == 500 && session.statistics().recipes() > 2000;
            i++) {
          System.gc();
          session.sync();
        }
        most = Math.max(most, session.statistics().recipes());
      }
      session.sync();
      assertThat(session.statistics().runs()).isEqualTo(12_000);
      assertThat(most).isLessThan(9000);
      awaitNothing(session);
    }
  }

  private static void awaitNothing(Session session) {
    // How many collections it takes is the JVM's matter.
    for (int i = 0; i < 100 && session.statistics().bytes() > 0; i++) {
      System.gc();
      session.sync();
    }
    assertThat(session.statistics().bytes()).isZero();
  }

  @Test
  void aSmallNetworkTrainsInHalfOfItsMemoryToTheSameBits() {
    float[][] whole = train(1 << 24, 0);
    float[][] half = train((long) whole[1][0] / 2, 1);
    assertThat(half[0]).isEqualTo(whole[0]);
    assertThat(whole[0]).isEqualTo(trainPlanned());
  }

  @Test
  void aTrainingLoopMayLeaveItsValuesToTheGarbageCollector() {
    Variable w = Variable.zeros(device, "w", Shape.of(1024));
    w.set(numbers(new SplittableRandom(1), 1024));
    // Each step leaves a value behind that cannot be computed again once w is written.
    try (Session session = device.session(16 * 4096)) {
      for (int step = 0; step < 100; step++) {
        session.store(Map.of(w, w.tensor().mul(0.5f).add(1)));
      }
      assertThat(session.get(w.tensor())).containsOnly(2);
    }
  }

  private static final int BATCH = 128;

  private record Network(Variable a, Variable b, Variable c, Tensor x, Tensor labels) {
    static Network of(Device device) {
      SplittableRandom random = new SplittableRandom(9);
      Variable a = Variable.zeros(device, "a", Shape.of(16, 64));
      Variable b = Variable.zeros(device, "b", Shape.of(64, 64));
      Variable c = Variable.zeros(device, "c", Shape.of(64, 1));
      a.set(numbers(random, 16 * 64));
      b.set(numbers(random, 64 * 64));
      c.set(numbers(random, 64));
      Tensor x = Tensor.of(Shape.of(BATCH, 16), numbers(random, BATCH * 16));
      float[] labels = new float[BATCH];
      for (int i = 0; i < BATCH; i++) {
        labels[i] = random.nextInt(2);
      }
      return new Network(a, b, c, x, Tensor.of(Shape.of(BATCH, 1), labels));
    }

    List<Variable> parameters() {
      return List.of(a, b, c);
    }

    Tensor loss() {
      Tensor hidden = x.matmul(a.tensor()).relu();
      for (int i = 0; i < 4; i++) {
        hidden = hidden.matmul(b.tensor()).mul(0.2f).tanh();
      }
      return hidden.matmul(c.tensor()).bceWithLogits(labels);
    }

    Map<Variable, Tensor> updates(Tensor loss) {
      List<Tensor> gradients =
          Tensor.gradients(loss, parameters().stream().map(Variable::tensor).toList());
      Map<Variable, Tensor> updates = new LinkedHashMap<>();
      for (int i = 0; i < gradients.size(); i++) {
        Variable w = parameters().get(i);
        updates.put(w, w.tensor().sub(gradients.get(i).mul(0.1f)));
      }
      return updates;
    }

    float[] state() {
      float[] all = new float[16 * 64 + 64 * 64 + 64];
      int at = 0;
      for (Variable w : parameters()) {
        float[] values = w.toArray();
        System.arraycopy(values, 0, all, at, values.length);
        at += values.length;
      }
      return all;
    }
  }

  /** The parameters after some steps, and the peak of memory. */
  private float[][] train(long budget, int least) {
    Network network = Network.of(device);
    try (Session session = device.session(budget)) {
      for (int step = 0; step < 5; step++) {
        Tensor loss = network.loss();
        session.run(loss);
        Map<Variable, Tensor> updates = network.updates(loss);
        session.store(updates);
        session.release(updates.values().toArray(Tensor[]::new));
        session.release(loss);
      }
      Session.Statistics done = session.statistics();
      assertThat(done.runsAgain()).isGreaterThanOrEqualTo(least);
      return new float[][] {network.state(), {done.peakBytes()}};
    }
  }

  private float[] trainPlanned() {
    Network network = Network.of(device);
    Tensor loss = network.loss();
    try (Computation step = Computation.of(device, List.of(loss), network.updates(loss))) {
      for (int i = 0; i < 5; i++) {
        step.run();
      }
    }
    return network.state();
  }

  @Test
  void aSessionTakesItsBudgetAtOnceAndGivesAllBack() {
    long before = device.memoryInUse();
    Session session = device.session(1 << 20);
    assertThat(device.memoryInUse() - before).isEqualTo(1 << 20);
    Tensor y = Tensor.of(Shape.of(2), 1, 2).exp();
    session.run(y);
    session.close();
    session.close();
    assertThat(device.memoryInUse()).isEqualTo(before);
    assertThatThrownBy(() -> session.get(y)).hasMessageContaining("got a closed one");
    assertThatThrownBy(() -> session.run(y.neg())).hasMessageContaining("got a closed one");
    assertThatThrownBy(() -> device.session(1L << 40)).hasMessageContaining("budget");
  }

  @Test
  void closingADeviceClosesItsSessions() {
    Device other = Device.cpu(1, 1 << 20);
    Session session = other.session(1 << 16);
    Tensor y = Tensor.of(Shape.of(2), 1, 2).exp();
    session.run(y);
    other.close();
    assertThatThrownBy(() -> session.get(y)).hasMessageContaining("got a closed one");
    assertThat(Arrays.toString(y.toArray())).isNotEmpty();
  }
}
