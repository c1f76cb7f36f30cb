package dev.tern.serve;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/** The tensors of a request, in objects that are used again. */
final class InferInputs {
  private static final int ROLES = InferInput.Role.values().length;

  private final List<InferInput> all = new ArrayList<>();

  /** Of each column its roles that have a tensor, {@link InferInput.Role} by ordinal. */
  private final BitSet given = new BitSet();

  private int size;

  void clear() {
    size = 0;
    given.clear();
  }

  /** Notes that a column has a tensor of a role; false if it had one before. */
  boolean note(int column, InferInput.Role role) {
    int place = column * ROLES + role.ordinal();
    boolean isFirst = !given.get(place);
    given.set(place);
    return isFirst;
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
    if (!given.get(column * ROLES + role.ordinal())) {
      return NOTHING;
    }
    for (int i = 0; i < size; i++) {
      if (all.get(i).column == column && all.get(i).role == role) {
        return all.get(i);
      }
    }
    return NOTHING;
  }

  static final InferInput NOTHING = new InferInput();
}
