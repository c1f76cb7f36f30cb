package dev.tern.internal.kernel;

import dev.tern.internal.ir.Op;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * The structure of a fused kernel: kernels of equal structure share one class. It holds no sizes,
 * except the length of short rows that are reduced, whose code is written for that length.
 *
 * <p>Values are numbered: first the loads, then the scalars, then the results of the instructions.
 * For example, {@code o0 = (a + b) * c0} has the loads 0 and 1, the scalar 2, the instructions
 * {@code ADD(0, 1)} and {@code MUL(3, 2)}, and a store of value 4.
 *
 * @param loads how each input advances along the inner loop; operand {@code k} is load {@code k}
 * @param scalars number of constants
 * @param instructions elementwise ops in order
 * @param stores results, operands after the loads
 * @param row elements of the inner loop in every run, or 0 for any number
 */
public record KernelSpec(
    List<Access> loads, int scalars, List<Instruction> instructions, List<Store> stores, int row) {
  /** How an operand advances along the inner loop. */
  public enum Access {
    /** Stays: one element for the whole loop. */
    BROADCAST,
    /** Neighbouring elements. */
    CONTIGUOUS,
    /** Any other step; such kernels are scalar. */
    STRIDED,
  }

  /**
   * One elementwise op, or a reduction over the whole inner loop whose result later ones use;
   * {@code arguments} are value numbers.
   */
  public record Instruction(Op op, List<Integer> arguments) {
    public Instruction {
      arguments = List.copyOf(arguments);
    }

    /** The method of {@code Pointwise} and {@code VectorOps} that does an elementwise op. */
    public String method() {
      return ((Enum<?>) op).name().toLowerCase(Locale.ROOT);
    }
  }

  /** What a result does to its operand. */
  public enum Mode {
    /** Overwrites each element; with {@link Access#BROADCAST} the one of the inner loop. */
    WRITE,
    /** Adds to memory, or with {@link Access#BROADCAST} adds the inner loop's sum. */
    SUM,
    /** Raises memory to the maximum, or with {@link Access#BROADCAST} the inner loop's maximum. */
    MAX,
  }

  /** Value {@code value} goes to an operand. */
  public record Store(int value, Mode mode, Access access) {
    /** Whether the inner loop is reduced in lanes. */
    public boolean reducesLanes() {
      return mode != Mode.WRITE && access == Access.BROADCAST;
    }
  }

  public KernelSpec {
    loads = List.copyOf(loads);
    instructions = List.copyOf(instructions);
    stores = List.copyOf(stores);
  }

  /** A kernel for inner loops of any length. */
  public KernelSpec(
      List<Access> loads, int scalars, List<Instruction> instructions, List<Store> stores) {
    this(loads, scalars, instructions, stores, 0);
  }

  /** The same kernel for rows of {@code n} elements. */
  public KernelSpec withRow(int n) {
    return new KernelSpec(loads, scalars, instructions, stores, n);
  }

  /** The kernel for rows of any length. */
  public KernelSpec forAnyRows() {
    return new KernelSpec(loads, scalars, instructions, stores);
  }

  /** Loads and stores. */
  public int operands() {
    return loads.size() + stores.size();
  }

  /** Loads, scalars and results of instructions. */
  public int values() {
    return loads.size() + scalars + instructions.size();
  }

  /** The instruction whose result is value {@code value}. */
  public Instruction instruction(int value) {
    return instructions.get(value - loads.size() - scalars);
  }

  /** Whether value {@code value} is a constant. */
  public boolean isScalar(int value) {
    return value >= loads.size() && value < loads.size() + scalars;
  }

  /** Whether all steps are 0 or 1 element, so that vectors can be used. */
  public boolean isVectorizable() {
    return loads.stream().noneMatch(a -> a == Access.STRIDED)
        && stores.stream().noneMatch(s -> s.access() == Access.STRIDED);
  }

  /** The kernel as an expression: {@code o0 = MUL(ADD(a, b), c0); o1 += ...}. */
  public String expression() {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < stores.size(); i++) {
      Store store = stores.get(i);
      String sign =
          switch (store.mode()) {
            case WRITE -> " = ";
            case SUM -> " += ";
            case MAX -> " max= ";
          };
      text.append(i > 0 ? "; o" : "o").append(i).append(sign).append(print(store.value(), 6));
    }
    return text.toString();
  }

  private String print(int value, int depth) {
    if (value < loads.size()) {
      return "i" + value;
    }
    if (value < loads.size() + scalars) {
      return "c" + (value - loads.size());
    }
    if (depth == 0) {
      return "...";
    }
    Instruction instruction = instruction(value);
    return instruction.arguments().stream()
        .map(argument -> print(argument, depth - 1))
        .collect(
            Collectors.joining(", ", name(instruction.op()).toLowerCase(Locale.ROOT) + "(", ")"));
  }

  private static String name(Op op) {
    return op instanceof Op.Reduce reduce ? "row_" + reduce.kind() : op.toString();
  }
}
