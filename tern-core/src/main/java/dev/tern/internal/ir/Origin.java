package dev.tern.internal.ir;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Where in the source a node was written. Found out within {@link #recorded} alone, as looking at
 * the stack takes microseconds; elsewhere every node has {@link #NONE}.
 *
 * @param lines as in {@code Linear.java:30}: the innermost that is no part of the engine, then
 *     those that called it; empty where nobody asked
 * @param isGradient whether the node belongs to the gradient of what was written there
 */
public record Origin(List<String> lines, boolean isGradient) {
  /** Unknown. */
  public static final Origin NONE = new Origin(List.of(), false);

  /** Stands for: look at the stack. */
  private static final Origin HERE = new Origin(List.of(), false);

  private static final ScopedValue<Origin> CURRENT = ScopedValue.newInstance();
  private static final int MOST_LINES = 6;

  /** Code that records what others wrote. */
  private static final List<String> ENGINE =
      List.of("dev.tern.tensor.", "dev.tern.internal.", "java.", "jdk.");

  /** Code that calls models: the lines above it say nothing about them. */
  private static final List<String> CALLERS =
      List.of("dev.tern.train.", "dev.tern.predict.", "dev.tern.model.Network");

  public Origin {
    lines = List.copyOf(lines);
  }

  /** Does {@code work}, whose nodes know where they were written. */
  public static <T> T recorded(Supplier<T> work) {
    return ScopedValue.where(CURRENT, HERE).call(work::get);
  }

  /** Whether there is something to say. */
  public boolean isKnown() {
    return !lines.isEmpty();
  }

  /** Does {@code work}, whose nodes come from here. */
  public <T> T given(Supplier<T> work) {
    return !isKnown() ? work.get() : ScopedValue.where(CURRENT, this).call(work::get);
  }

  /** Does {@code work}, whose nodes come from here. */
  void given(Runnable work) {
    given(() -> {
      work.run();
      return this;
    });
  }

  /** Of the gradient of what comes from here. */
  Origin gradient() {
    return !isKnown() || isGradient ? this : new Origin(lines, true);
  }

  /** Of a node that is being made. */
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
