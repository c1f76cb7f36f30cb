package dev.tern.internal.memory;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** The share of a core that the system's scheduler gives a thread where several want it. */
public final class ThreadWeight {
  private static final int NICE = 10;

  private ThreadWeight() {}

  /**
   * Has the calling thread, and threads that it starts, step back behind others that want a core.
   * Does nothing on systems other than Linux: the JDK's priorities of threads have no effect there
   * without options of the JVM.
   */
  public static void lower() {
    if (Pages.RESERVES) {
      Linux.set(NICE);
    }
  }

  /** The system call; loaded on Linux alone. */
  private static final class Linux {
    private static final int THREAD = 0;
    private static final int CALLING = 0;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final MethodHandle SET_PRIORITY =
        Pages.function("setpriority", FunctionDescriptor.of(INT, INT, INT, INT));

    /** Sets the calling thread's nice value, from 0 to 19; a refusal changes nothing. */
    static void set(int nice) {
      long ignored =
          Pages.call("setpriority", () -> (int) SET_PRIORITY.invokeExact(THREAD, CALLING, nice));
    }
  }
}
