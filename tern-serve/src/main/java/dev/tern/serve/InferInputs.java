package dev.tern.serve;

import java.util.ArrayList;
import java.util.List;

/** The tensors of a request, in objects that are used again. */
final class InferInputs {
  private final List<InferInput> all = new ArrayList<>();
  private int size;

  void clear() {
    size = 0;
  }

  int size() {
    return size;
  }

  InferInput get(int index) {
    return all.get(index);
  }

  InferInput add() {
    if (size == all.size()) {
      all.add(new InferInput());
    }
    InferInput input = all.get(size++);
    input.clear();
    return input;
  }

  /** The offsets or weights of a column, or the tensor of none. */
  InferInput find(int column, InferInput.Role role) {
    for (int i = 0; i < size; i++) {
      if (all.get(i).column == column && all.get(i).role == role) {
        return all.get(i);
      }
    }
    return NOTHING;
  }

  static final InferInput NOTHING = new InferInput();
}
