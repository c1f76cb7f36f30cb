package dev.tern.internal.remat;

import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Explains why there is no room: how much an op needs, and what holds the rest of the budget. */
record RoomReport(Recipes recipes, StorageStates states, StorageMemory memory) {
  private static final int SHOWN = 5;

  /** The error for some bytes of an op when nothing more may be evicted. */
  NoRoomException refusal(int op, long bytes, WaitingOps waiting) {
    long lacking = memory.used() + bytes - memory.capacity();
    boolean isLast = op == waiting.bottom();
    String again = isLast ? "" : ", run again for " + recipes.describe(waiting.bottom());
    String gap = lacking > 0 ? "" : " and no gap is long enough";
    return new NoRoomException(
        ("residency: got %s%s, which reads %d bytes, makes %d and lacks a place for %d of them,"
                + " while %d of the budget of %d bytes are held by what must stay%s, expected"
                + " room%s; raise the memory budget by at least %d bytes,"
                + " or use a smaller batch or model")
            .formatted(
                recipes.describe(op),
                again,
                inputBytes(op),
                resultBytes(op),
                bytes,
                memory.used(),
                memory.capacity(),
                gap,
                holders(),
                lacking > 0 ? lacking : bytes));
  }

  private long inputBytes(int op) {
    return Arrays.stream(recipes.inputs(op))
        .map(recipes::storage)
        .distinct()
        .mapToLong(recipes::bytes)
        .sum();
  }

  private long resultBytes(int op) {
    return IntStream.range(recipes.firstOutput(op), recipes.endOutput(op))
        .filter(value -> !recipes.isView(value))
        .mapToLong(value -> recipes.bytes(recipes.storage(value)))
        .sum();
  }

  private String holders() {
    String largest =
        IntStream.range(0, recipes.storages())
            .filter(storage -> states.isResident[storage] && recipes.bytes(storage) > 0)
            .boxed()
            .sorted(Comparator.comparingLong(recipes::bytes).reversed())
            .limit(SHOWN)
            .map(this::holder)
            .collect(Collectors.joining(", "));
    return largest.isEmpty() ? "" : "; the largest that stay: " + largest;
  }

  private String holder(int storage) {
    int maker = recipes.makerOfStorage(storage);
    return "%d bytes made by %s (%s)"
        .formatted(recipes.bytes(storage), recipes.describe(maker), reason(storage, maker));
  }

  private String reason(int storage, int maker) {
    if (states.isPinned[storage]) {
      return "pinned";
    }
    if (states.locks[storage] > 0) {
      return "in use by an op that runs";
    }
    return recipes.isRepeatable(maker) ? "kept by the policy" : "cannot be computed again";
  }
}
