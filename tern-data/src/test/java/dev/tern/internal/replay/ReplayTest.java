package dev.tern.internal.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tern.internal.remat.Simulation;
import dev.tern.internal.remat.Trace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class ReplayTest {
  /** Bytes of a result; the constant has twice as many. */
  private static final int SLOT = 64;

  /** 17 ns in all; the peak is of 8 slots, after f. */
  private static final double COST = 1 + 4 + 4 + 2 + 1 + 1 + 2 + 2;

  private final StringBuilder log = new StringBuilder();

  @TempDir private Path folder;

  private void call(String result, int time, String... reads) {
    String args = String.join("\",\"", reads);
    log.append(
        "{\"INSTRUCTION\":\"CALL\",\"NAME\":\"op\",\"ARGS\":[\"%s\"],\"RESULT\":[\"%s\"],\"TIME\":\"%d\"}%n"
            .formatted(args, result, time));
    memory(result, SLOT);
    log.append("{\"INSTRUCTION\":\"ALIAS\",\"NAME\":\"%s\",\"ALIAS\":\"-1\"}%n".formatted(result));
  }

  private void memory(String name, int bytes) {
    log.append(
        "{\"INSTRUCTION\":\"MEMORY\",\"NAME\":\"%s\",\"MEMORY\":\"%d\"}%n".formatted(name, bytes));
  }

  private void release(String... names) {
    for (String name : names) {
      log.append("{\"INSTRUCTION\":\"RELEASE\",\"NAME\":\"%s\"}%n".formatted(name));
    }
  }

  private void start() {
    log.append("{\"INSTRUCTION\":\"ANNOTATE\",\"ANNOTATION\":\"START\"}%n".formatted());
    log.append("{\"INSTRUCTION\":\"CONSTANT\",\"NAME\":\"w\"}%n".formatted());
    memory("w", 2 * SLOT);
  }

  @BeforeEach
  void write() {
    start();
    call("a", 1, "w");
    call("b", 4, "a");
    call("c", 4, "b");
    call("d", 2, "c");
    call("e", 1, "d");
    call("f", 1, "e");
    release("a", "b", "e");
    call("g", 2, "f", "c");
    release("f");
    call("h", 2, "g", "d");
    release("c", "d", "g");
  }

  private Replay replay() throws IOException {
    Path file = folder.resolve("step.log");
    Files.writeString(file, log);
    return new Replay("step.log", TraceLog.read(file));
  }

  /**
   * A budget of 5/8 leaves three slots beside w. The clock starts at 1; a score is cost with
   * evicted neighbours / time since the last use (sizes are equal):
   *
   * <ul>
   *   <li>d at 10: a 1/8, b 4/4, c is read. a goes.
   *   <li>e at 12: b (4 + 1)/6, c 4/2, d is read. b goes.
   *   <li>f at 13: c (4 + 4 + 1)/3, d 2/1, e is read. d goes, to be recomputed for h in 2.
   *   <li>h: c, whose last use was the recomputation of d, is all that may go.
   * </ul>
   *
   * Without neighbours c, 4/3, goes for f and not d: g then takes a, b and c again, 9, in place of
   * which d goes, 2 more for h.
   */
  @ParameterizedTest
  @EnumSource
  void slowdownsAreThoseDerivedByHand(Replay.Memory memory) throws IOException {
    Replay replay = replay();
    Replay.Result result = replay.run("h_dtr", 0.625, memory);
    assertThat(result.slowdown()).isEqualTo((COST + 2) / COST);
    assertThat(result.peakReserved()).isEqualTo(5 * SLOT);
    assertThat(result.peakLive()).isEqualTo(5 * SLOT);
    assertThat(replay.run("local", 0.625, memory).slowdown()).isEqualTo((COST + 9 + 2) / COST);
  }

  /** One slot is left at f, where c, worth 9, and d, worth 2, are needed later. */
  @Test
  void learnedPoliciesReachTheLowerBound() throws IOException {
    Replay replay = replay();
    double least = (COST + 2) / COST;
    assertThat(replay.lowerBound(0.625)).isCloseTo(least, within(1e-9));
    for (String policy : List.of(Replay.DTR, Replay.PLANNED)) {
      assertThat(replay.run(policy, 0.625, Replay.Memory.ARENA).slowdown()).isEqualTo(least);
    }
  }

  @Test
  void everyPolicyReplaysAStepThatFits() throws IOException {
    Replay replay = replay();
    for (String policy : Replay.policies()) {
      Replay.Result result = replay.run(policy, 8 * SLOT, Replay.Memory.ARENA);
      assertThat(result.status()).as(policy).isEqualTo(Simulation.Status.OK);
      assertThat(result.slowdown()).isEqualTo(1);
      assertThat(result.budgetRatio()).isEqualTo(1);
      boolean dropsEarly = policy.equals(Replay.DTR) || policy.equals(Replay.PLANNED);
      assertThat(result.peakReserved())
          .as(policy)
          .isBetween(dropsEarly ? 1L : 8L * SLOT, 8L * SLOT);
    }
  }

  @Test
  void whatDoesNotFitIsSaid() throws IOException {
    Replay replay = replay();
    for (String policy : Replay.policies()) {
      Replay.Result result = replay.run(policy, 3 * SLOT, Replay.Memory.ARENA);
      assertThat(result.status()).as(policy).isEqualTo(Simulation.Status.OOM);
      assertThat(result.slowdown()).isInfinite();
    }
    assertThat(replay.lowerBound(3 * SLOT)).isInfinite();
  }

  /** In four slots a goes each time that z is made from x, and is computed again for y. */
  @Test
  void moreThanTwiceTheTimeIsThrashing() throws IOException {
    log.setLength(0);
    start();
    call("a", 10, "w");
    for (int i = 0; i < 5; i++) {
      call("x" + i, 1, "w");
      call("z" + i, 1, "x" + i);
      release("x" + i, "z" + i);
      call("y" + i, 1, "a");
      release("y" + i);
    }
    Replay.Result result = replay().run("lru", 4 * SLOT, Replay.Memory.ARENA);
    assertThat(result.status()).isEqualTo(Simulation.Status.THRASH);
    assertThat(result.slowdown()).isInfinite();
  }

  @Test
  void wrongArgumentsAreRefused() throws IOException {
    Replay replay = replay();
    assertThatThrownBy(() -> replay.run("best", 1, Replay.Memory.ARENA))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("got policy best, expected one of [dtr, planned, none");
    for (double budget : new double[] {0, -1, Double.NaN}) {
      assertThatThrownBy(() -> replay.run("lru", budget, Replay.Memory.ARENA))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("got a budget of " + budget);
    }
    assertThatThrownBy(() -> new Replay("empty", new Trace(List.of())))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("got empty, whose ops take 0 ns and 0 bytes");
  }
}
