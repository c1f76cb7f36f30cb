package dev.tern.tensor;

import dev.tern.internal.ir.Program;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.runtime.Interpreter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Tensors made ready to be computed again and again: planned and fused once, with memory of its
 * own. Each {@link #run} reads the variables as they are, computes the outputs and stores the
 * updates; after the first it allocates nothing. One thread at a time.
 */
public final class Computation implements AutoCloseable {
  private final Interpreter.Bound bound;
  private final List<Tensor> outputs;

  private Computation(Interpreter.Bound bound, List<Tensor> outputs) {
    this.bound = bound;
    this.outputs = outputs;
  }

  /**
   * Plans a computation.
   *
   * @param outputs tensors to read after each run
   * @param updates new content of variables, stored after all reads of the old
   */
  public static Computation of(Device device, List<Tensor> outputs, Map<Variable, Tensor> updates) {
    List<Program.Update> stored = new ArrayList<>();
    updates.forEach((variable, value) ->
        stored.add(new Program.Update(variable.tensor().node(), value.node())));
    Program program = Program.of(outputs.stream().map(Tensor::node).toList(), stored);
    return new Computation(device.interpreter().bind(program), List.copyOf(outputs));
  }

  /** Computes the outputs and stores the updates. */
  public void run() {
    bound.execution().run();
  }

  /** Address of output {@code index}, dense, valid until the next run; for Tern's own packages. */
  public long address(int index) {
    return bound.execution().output(index);
  }

  /** Copies output {@code index}, F32, into {@code target} from index {@code at}. */
  public void copyOutput(int index, float[] target, int at) {
    int count = outputs.get(index).shape().elements();
    Memory.copyOut(address(index), target, at, count);
  }

  /** Output {@code index}, F32 of one element. */
  public float item(int index) {
    return Memory.getFloat(address(index));
  }

  /** Frees the computation's memory; variables stay. */
  @Override
  public void close() {
    bound.close();
  }
}
