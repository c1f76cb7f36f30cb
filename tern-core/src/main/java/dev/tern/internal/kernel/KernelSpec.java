package dev.tern.internal.kernel;

import dev.tern.internal.ir.Op;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The structure of a fused kernel. Kernels of equal structure share one class. A structure has no
 * sizes, with one exception: code that reduces short rows is written for the length of these rows.
 *
 * <p>Values are numbered: first the loads, then the scalars, then the results of the instructions.
 * For example, {@code o0 = (a + b) * c0} has the loads 0 and 1, the scalar 2, the instructions
 * {@code ADD(0, 1)} and {@code MUL(3, 2)}, and a store of value 4. Operands are numbered too: first
 * the loads, then the stores.
 *
 * @param loads how each input advances along the inner loop
 * @param scalars number of constants
 * @param row elements of the inner loop in every run, or 0 for any number
 */
public record KernelSpec(
    List<Access> loads, int scalars, List<Instruction> instructions, List<Store> stores, int row) {
  /** How an operand advances along the inner loop. */
  public enum Access {
    /** One element serves the whole loop. */
    BROADCAST,
    /** Elements lie side by side. */
    CONTIGUOUS,
    /** Any other step; such kernels are scalar. */
    STRIDED,
  }

  /** An elementwise op, or a reduction over the whole inner loop, on values by their numbers. */
  public record Instruction(Op op, List<Integer> arguments) {
    public Instruction {
      arguments = List.copyOf(arguments);
    }

    /** The method of {@code Pointwise} and {@code VectorOps} that computes an elementwise op. */
    public String method() {
      return ((Enum<?>) op).name().toLowerCase(Locale.ROOT);
    }
  }

  /** How a result is stored. With {@link Access#BROADCAST} the inner loop stores one element. */
  public enum Mode {
    /** Overwrites the element. */
    WRITE,
    /** Adds to the element; with {@link Access#BROADCAST}, the sum over the inner loop. */
    SUM,
    /** Raises the element; with {@link Access#BROADCAST}, to the maximum over the inner loop. */
    MAX,
  }

  /** Stores value number {@code value} to an operand. */
  public record Store(int value, Mode mode, Access access) {
    /** Whether the store reduces the inner loop, in {@link ReductionLanes}. */
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

  /** The same kernel for rows of {@code n} elements, with 0 for rows of any length. */
  public KernelSpec withRow(int n) {
    return new KernelSpec(loads, scalars, instructions, stores, n);
  }

  /** How operand {@code k} advances along the inner loop. */
  public Access access(int k) {
    return k < loads.size() ? loads.get(k) : stores.get(k - loads.size()).access();
  }

  /** Number of loads and stores. */
  public int operands() {
    return loads.size() + stores.size();
  }

  /** Number of values. */
  public int values() {
    return loads.size() + scalars + instructions.size();
  }

  /** The instruction that computes value {@code value}. */
  public Instruction instruction(int value) {
    return instructions.get(value - loads.size() - scalars);
  }

  /** Whether value {@code value} is a constant. */
  public boolean isScalar(int value) {
    return value >= loads.size() && value < loads.size() + scalars;
  }

  /** Whether all steps are 0 or 1 element, so that vectors can be used. */
  public boolean isVectorizable() {
    return IntStream.range(0, operands()).noneMatch(k -> access(k) == Access.STRIDED);
  }

  /** The kernel as an expression: {@code o0 = mul(add(i0, i1), c0); o1 += ...}. */
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
    Op op = instruction.op();
    String name = op instanceof Op.Reduce reduce ? "row_" + reduce.kind() : op.toString();
    return instruction.arguments().stream()
        .map(argument -> print(argument, depth - 1))
        .collect(Collectors.joining(", ", name.toLowerCase(Locale.ROOT) + "(", ")"));
  }
}
