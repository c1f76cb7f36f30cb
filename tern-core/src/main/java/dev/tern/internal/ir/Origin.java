package dev.tern.internal.ir;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Where in the source a node was written. Only nodes made within {@link #recorded} know it, as a
 * look at the stack takes microseconds; all others have {@link #NONE}.
 *
 * @param lines such as {@code Linear.java:30}: the innermost line outside of the engine, then the
 *     lines that called it; empty where unknown
 * @param isGradient whether the node belongs to the gradient of the code there
 */
public record Origin(List<String> lines, boolean isGradient) {
  /** Unknown. */
  public static final Origin NONE = new Origin(List.of(), false);

  /** Marks that the stack must be looked at. */
  private static final Origin HERE = new Origin(List.of(), false);

  private static final ScopedValue<Origin> CURRENT = ScopedValue.newInstance();
  private static final int MOST_LINES = 6;

  /** Code that records nodes for others. */
  private static final List<String> ENGINE =
      List.of("dev.tern.tensor.", "dev.tern.internal.", "java.", "jdk.");

  /** Code that calls models: the lines above it say nothing about them. */
  private static final List<String> CALLERS =
      List.of("dev.tern.train.", "dev.tern.predict.", "dev.tern.model.Network");

  public Origin {
    lines = List.copyOf(lines);
  }

  /** Does {@code work}; its nodes know where they were written. */
  public static <T> T recorded(Supplier<T> work) {
    return ScopedValue.where(CURRENT, HERE).call(work::get);
  }

  public boolean isKnown() {
    return !lines.isEmpty();
  }

  /** Does {@code work}; its nodes have this origin. */
  public <T> T given(Supplier<T> work) {
    return !isKnown() ? work.get() : ScopedValue.where(CURRENT, this).call(work::get);
  }

  /** Does {@code work}; its nodes have this origin. */
  void given(Runnable work) {
    given(() -> {
      work.run();
      return this;
    });
  }

  /** The origin of the gradient of nodes from here. */
  Origin gradient() {
    return !isKnown() || isGradient ? this : new Origin(lines, true);
  }

  /** The origin of a node that is being made. */
  static Origin current() {
    if (!CURRENT.isBound()) {
      return NONE;
    }
    Origin origin = CURRENT.get();
    return origin == HERE
        ? new Origin(StackWalker.getInstance().walk(Origin::lines), false)
        : origin;
  }

  private static List<String> lines(Stream<StackWalker.StackFrame> stack) {
    List<String> lines = new ArrayList<>();
    for (StackWalker.StackFrame frame : (Iterable<StackWalker.StackFrame>) stack::iterator) {
      boolean isCaller = isOf(frame, CALLERS);
      if (isCaller && !lines.isEmpty() || lines.size() == MOST_LINES) {
        break;
      }
      if (!isOf(frame, ENGINE)) {
        String file = Optional.ofNullable(frame.getFileName()).orElse(frame.getClassName());
        lines.add(file + ":" + frame.getLineNumber());
        if (isCaller) {
          break;
        }
      }
    }
    return lines;
  }

  private static boolean isOf(StackWalker.StackFrame frame, List<String> prefixes) {
    return prefixes.stream().anyMatch(frame.getClassName()::startsWith);
  }
}
