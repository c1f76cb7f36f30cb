package dev.tern.internal.remat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.internal.memory.BlockArena;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a residency is after ops failed, were forgotten, or had to have memory moved for them. */
final class ResidencyFailureTest {
  private static final int WORD = 8;

  /** Ops that write words into an array; each word of a storage follows from its inputs. */
  private static final class Machine {
    final Recipes recipes = new Recipes();
    final BlockArena arena;
    final long[] memory;
    final Residency residency;

    /** By op: the first word of its result. */
    List<Long> content = new ArrayList<>();

    /** By op: the ops that it reads. */
    List<int[]> reads = new ArrayList<>();

    int failing = -1;

    Machine(long bytes, boolean moves) {
      arena = new BlockArena(bytes);
      memory = new long[(int) bytes / WORD];
      Optional<StorageMemory.Mover> mover = moves ? Optional.of(this::move) : Optional.empty();
      residency =
          new Residency(
              recipes,
              new StorageMemory.Placed(arena, Foresight.NONE, mover),
              Policy.H_DTR_EQ,
              Foresight.NONE,
              this::execute);
    }

    private void move(long from, long to, long bytes) {
      assertThat(to).isLessThan(from);
      System.arraycopy(memory, (int) from / WORD, memory, (int) to / WORD, (int) bytes / WORD);
    }

    /** Every op makes one value, so values and storages have the numbers of ops. */
    void run(long bytes, long workspace, int... inputs) {
      int op = recipes.addOp(1, true, inputs);
      recipes.addOutput(bytes);
      recipes.setWorkspace(op, workspace);
      long sum = 31L * content.size();
      for (int input : inputs) {
        sum = 17 * sum + content.get(input);
      }
      content.add(sum);
      reads.add(inputs);
      residency.run(op);
    }

    private void execute(int op, boolean again) {
      for (int input : reads.get(op)) {
        check(input);
      }
      if (recipes.workspace(op) > 0) {
        int from = (int) (arena.offset(residency.workspace()) / WORD);
        Arrays.fill(memory, from, from + (int) recipes.workspace(op) / WORD, -1);
      }
      if (op == failing) {
        throw new ArithmeticException("op " + op);
      }
      int from = at(op);
      for (int i = 0; i < recipes.bytes(op) / WORD; i++) {
        memory[from + i] = content.get(op) + i;
      }
    }

    private int at(int value) {
      return recipes.bytes(value) == 0 ? 0 : (int) (arena.offset(residency.handle(value)) / WORD);
    }

    void check(int value) {
      for (int i = 0; i < recipes.bytes(value) / WORD; i++) {
        assertThat(memory[at(value) + i]).isEqualTo(content.get(value) + i);
      }
    }

    void read(int value) {
      residency.ensure(value);
      check(value);
    }

    int[] forget() {
      int[] to = residency.forget();
      List<Long> keptContent = new ArrayList<>();
      List<int[]> keptReads = new ArrayList<>();
      for (int op = 0; op < to.length; op++) {
        if (to[op] >= 0) {
          keptContent.add(content.get(op));
          boolean isRepeatable = recipes.isRepeatable(to[op]);
          keptReads.add(
              isRepeatable ? Arrays.stream(reads.get(op)).map(in -> to[in]).toArray() : new int[0]);
        }
      }
      content = keptContent;
      reads = keptReads;
      return to;
    }
  }

  @Test
  void anOpThatThrowsLeavesTheOthersAsTheyWere() {
    Machine machine = new Machine(64 * 4, false);
    machine.run(64, 0);
    machine.run(64, 0, 0);
    machine.failing = 2;
    assertThatThrownBy(() -> machine.run(64, 64, 0, 1)).isInstanceOf(ArithmeticException.class);
    assertThat(machine.arena.allocatedBytes().current()).isEqualTo(128);
    machine.run(64, 64, 0, 1);
    machine.run(64, 0, 3);
    machine.run(64, 0, 4);
    for (int value : new int[] {0, 1, 3, 4, 5}) {
      machine.read(value);
    }
    assertThatThrownBy(() -> machine.residency.ensure(2)).isInstanceOf(LostValueException.class);
  }

  @Test
  void anOpThatThrowsWhenItRunsAgainCanBeTriedOnceMore() {
    Machine machine = new Machine(64 * 3, false);
    machine.run(64, 0);
    for (int i = 1; i < 6; i++) {
      machine.run(64, 0, i - 1);
    }
    assertThat(machine.residency.isResident(1)).isFalse();
    machine.failing = 1;
    assertThatThrownBy(() -> machine.residency.pin(1)).hasMessage("op 1");
    machine.failing = -1;
    machine.read(1);
    machine.read(5);
  }

  @Test
  void whatFoundNoRoomIsForgottenAndTheRestGoesOn() {
    Machine machine = new Machine(64 * 3, false);
    machine.run(64, 0);
    assertThatThrownBy(() -> machine.run(64 * 4, 0, 0)).isInstanceOf(NoRoomException.class);
    assertThatThrownBy(() -> machine.run(64, 64 * 4, 0)).isInstanceOf(NoRoomException.class);
    machine.run(64, 64, 0);
    int[] to = machine.forget();
    assertThat(to).containsExactly(0, -1, -1, 1);
    machine.read(1);
  }

  @Test
  void whatIsReferredToIsComputedFromStaysAndKeepsItsContent() {
    Machine machine = new Machine(64 * 3, false);
    machine.run(64, 0);
    for (int i = 1; i < 8; i++) {
      machine.run(64, 0, i - 1);
    }
    machine.run(64, 0);
    for (int value = 1; value < 8; value++) {
      if (value != 5) {
        machine.residency.release(value);
      }
    }
    assertThat(machine.forget()).containsExactly(0, 1, 2, 3, 4, 5, -1, -1, 6);
    machine.read(5);
    machine.read(6);
    assertThat(machine.recipes.ops()).isEqualTo(7);
  }

  @Test
  void whatCannotRunAgainNeedsNothingAndWhatIsLostIsAnError() {
    Machine machine = new Machine(64 * 2, false);
    machine.run(64, 0);
    machine.run(64, 0, 0);
    machine.run(64, 0, 1);
    machine.run(64, 0, 2);
    assertThat(machine.residency.isResident(1)).isFalse();
    machine.residency.lose(1);
    assertThatThrownBy(() -> machine.read(1)).isInstanceOf(LostValueException.class);
    machine.read(3);
    machine.residency.release(0);
    machine.residency.release(1);
    assertThat(machine.forget()).containsExactly(-1, -1, 0, 1);
    machine.read(0);
    machine.read(1);
  }

  @Test
  void gapsAreMadeOneWhereNoneIsLongEnough() {
    for (boolean moves : new boolean[] {false, true}) {
      Machine machine = new Machine(64 * 4, moves);
      for (int i = 0; i < 4; i++) {
        machine.run(64, 0);
      }
      // The first and the third cannot go and cut what is free in two.
      machine.residency.expire(0, 2);
      machine.residency.release(1);
      machine.residency.release(3);
      if (moves) {
        machine.run(128, 0, 0, 2);
        machine.read(4);
        machine.read(2);
      } else {
        assertThatThrownBy(() -> machine.run(128, 0, 0, 2)).isInstanceOf(NoRoomException.class);
      }
    }
  }

  @Test
  void aPinnedStorageIsNotMoved() {
    Machine machine = new Machine(64 * 5, true);
    for (int i = 0; i < 5; i++) {
      machine.run(64, 0);
    }
    machine.residency.pin(2);
    int at = machine.at(2);
    machine.run(128, 0);
    machine.residency.expire(0);
    assertThat(machine.at(2)).isEqualTo(at);
    machine.read(2);
    machine.read(5);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void contentIsRightAfterRandomFailuresAndForgetting(boolean moves) {
    long runs = 0;
    for (int seed = 0; seed < 300; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      Machine machine = new Machine(64L * random.nextInt(8, 24), moves);
      List<Integer> live = new ArrayList<>();
      for (int i = 0; i < 150; i++) {
        runs += step(machine, random, live);
      }
    }
    assertThat(runs).isGreaterThan(5_000);
  }

  /** Does something at random; returns how many ops ran to their end. */
  private static int step(Machine machine, SplittableRandom random, List<Integer> live) {
    int kind = random.nextInt(20);
    if (live.isEmpty() || kind < 10) {
      int[] inputs =
          random
              .ints(live.isEmpty() ? 0 : random.nextInt(3), 0, Math.max(1, live.size()))
              .map(live::get)
              .distinct()
              .toArray();
      int op = machine.recipes.ops();
      machine.failing = random.nextInt(8) == 0 ? op - random.nextInt(3) : -1;
      long workspace = random.nextInt(3) == 0 ? 64L * random.nextInt(1, 4) : 0;
      try {
        machine.run(64L * random.nextInt(0, 4), workspace, inputs);
        live.add(op);
        return 1;
      } catch (ArithmeticException | NoRoomException e) {
        return 0;
      } finally {
        machine.failing = -1;
      }
    }
    int value = live.get(random.nextInt(live.size()));
    if (kind < 13) {
      try {
        machine.read(value);
      } catch (NoRoomException e) {
        // Other values stay.
      }
    } else if (kind < 18) {
      machine.residency.release(value);
      live.remove((Integer) value);
    } else if (kind < 19) {
      try {
        machine.residency.expire(value);
      } catch (NoRoomException e) {
        // It can still run again.
      }
    } else {
      int[] to = machine.forget();
      live.replaceAll(old -> to[old]);
      assertThat(live).allMatch(kept -> kept >= 0);
    }
    return 0;
  }

  @Test
  void anOpThatReadsWhatIsNotThereIsRefusedAndNothingIsAdded() {
    Recipes recipes = new Recipes();
    recipes.addOp(1, true);
    recipes.addOutput(WORD);
    for (int value : new int[] {-1, 1}) {
      assertThatThrownBy(() -> recipes.addOp(1, true, 0, value))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("got value " + value + " to read, expected 0 to 0");
    }
    int op = recipes.addOp(1, true, 0);
    recipes.addOutput(WORD);
    assertThat(op).isEqualTo(1);
    assertThat(recipes.inputs(op)).containsExactly(0);
    IntLists readers = recipes.readers();
    assertThat(readers.get(readers.first(0))).isEqualTo(1);
    assertThat(readers.next(readers.first(0))).isNegative();
  }
}
