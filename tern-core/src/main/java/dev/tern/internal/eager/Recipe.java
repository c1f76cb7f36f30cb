package dev.tern.internal.eager;

import dev.tern.internal.memory.Buffer;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/**
 * How an {@link Evaluator} computes a value, the first time and again.
 *
 * @param operands what the plan reads, by its slots: the value of another recipe, or a leaf
 * @param place the user's line that had it run, as it prints
 */
record Recipe(OpPlan plan, List<Operand> operands, SessionValue result, Object place) {
  /** What an op reads. */
  sealed interface Operand {
    record Value(SessionValue held) implements Operand {}

    /** Memory that does not belong to the session. */
    record Leaf(Buffer buffer) implements Operand {}
  }

  /** The same without operands and result, for messages: it keeps no value alive. */
  Recipe abandoned() {
    return new Recipe(plan, List.of(), new SessionValue(), place);
  }

  /** Numbers of the values that it reads. */
  int[] reads() {
    int[] numbers = new int[operands.size()];
    int count = 0;
    for (Operand operand : operands) {
      if (operand instanceof Operand.Value(SessionValue held)) {
        numbers[count++] = held.number;
      }
    }
    return Arrays.copyOf(numbers, count);
  }

  /** Whether it reads one of these leaves. */
  boolean reads(Predicate<Buffer> leaves) {
    for (Operand operand : operands) {
      if (operand instanceof Operand.Leaf(Buffer buffer) && leaves.test(buffer)) {
        return true;
      }
    }
    return false;
  }

  /** Whether it reads one of these values. */
  boolean readsAny(Set<SessionValue> values) {
    for (Operand operand : operands) {
      if (operand instanceof Operand.Value(SessionValue held) && values.contains(held)) {
        return true;
      }
    }
    return false;
  }

  @Override
  public String toString() {
    return plan.toString();
  }
}
