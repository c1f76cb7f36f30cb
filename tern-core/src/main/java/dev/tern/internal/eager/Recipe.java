package dev.tern.internal.eager;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import dev.tern.internal.ir.Op;
import dev.tern.internal.memory.Buffer;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;

/**
 * How an {@link Evaluator} computes a value.
 *
 * @param operands what the plan reads, by its slots: the value of another recipe, or a leaf
 * @param place the user's line that had it run, as it prints
 */
record Recipe(
    Op op,
    Shape shape,
    DType type,
    OpPlan plan,
    List<Operand> operands,
    SessionValue result,
    Object place) {
  /** What an op reads. */
  sealed interface Operand {
    /** A value. */
    record Value(SessionValue held) implements Operand {}

    /** Memory that does not belong to the session. */
    record Leaf(Buffer buffer) implements Operand {}
  }

  /** The same for nobody. */
  Recipe abandoned() {
    return new Recipe(op, shape, type, plan, List.of(), new SessionValue(), place);
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

  /** Bytes of the result. */
  long bytes() {
    return (long) shape.elements() * type.bytes();
  }

  /** Whether it reads a leaf that is one of these. */
  boolean reads(Predicate<Buffer> leaves) {
    for (Operand operand : operands) {
      if (operand instanceof Operand.Leaf(Buffer buffer) && leaves.test(buffer)) {
        return true;
      }
    }
    return false;
  }

  /** The op and its result. */
  @Override
  public String toString() {
    return op + " " + type + shape;
  }
}
