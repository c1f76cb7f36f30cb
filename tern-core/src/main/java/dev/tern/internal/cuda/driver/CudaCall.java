package dev.tern.internal.cuda.driver;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * One function of the driver. The methods {@code call} are the forms of signature that the driver
 * has; pointers and handles are {@code long}s. A form that is not the function's own is refused by
 * the method handle.
 */
final class CudaCall {
  private final String name;
  private final MethodHandle handle;
  private final CudaErrors errors;

  CudaCall(String name, MethodHandle handle, CudaErrors errors) {
    this.name = name;
    this.handle = handle;
    this.errors = errors;
  }

  /** A call that writes its answer to an address. */
  @FunctionalInterface
  interface Question {
    int ask(long answer);
  }

  /** The 8 bytes that a call answers; where it writes 4, the others are 0. */
  long answer(String asked, Question question) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
      check(question.ask(out.address()), asked);
      return out.get(ValueLayout.JAVA_LONG, 0);
    }
  }

  /** As the other, with a number that {@code asked} has a {@code %d} for. */
  long answer(String asked, long number, Question question) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
      check(question.ask(out.address()), asked, number);
      return out.get(ValueLayout.JAVA_LONG, 0);
    }
  }

  void check(int code, String asked) {
    if (code != 0) {
      throw failed(code, asked);
    }
  }

  void check(int code, String asked, long number) {
    if (code != 0) {
      throw failed(code, asked.formatted(number));
    }
  }

  CudaException failed(int code, String asked) {
    return errors.failed(name, code, asked);
  }

  int call() {
    try {
      return (int) handle.invokeExact();
    } catch (Throwable e) {
      throw broken(e);
    }
  }

  int call(int a) {
    try {
      return (int) handle.invokeExact(a);
    } catch (Throwable e) {
      throw broken(e);
    }
  }

  int call(long a) {
    try {
      return (int) handle.invokeExact(a);
    } catch (Throwable e) {
      throw broken(e);
    }
  }

  int call(long a, int b) {
    try {
      return (int) handle.invokeExact(a, b);
    } catch (Throwable e) {
      throw broken(e);
    }
  }

  int call(long a, long b) {
    try {
      return (int) handle.invokeExact(a, b);
    } catch (Throwable e) {
      throw broken(e);
    }
  }

  int call(long a, int b, int c) {
    try {
      return (int) handle.invokeExact(a, b, c);
    } catch (Throwable e) {
      throw broken(e);
    }
  }

  int call(long a, int b, long c) {
    try {
      return (int) handle.invokeExact(a, b, c);
    } catch (Throwable e) {
      throw broken(e);
    }
  }

  int call(long a, long b, int c) {
    try {
      return (int) handle.invokeExact(a, b, c);
    } catch (Throwable e) {
      throw broken(e);
    }
  }

  int call(long a, long b, long c) {
    try {
      return (int) handle.invokeExact(a, b, c);
    } catch (Throwable e) {
      throw broken(e);
    }
  }

  int call(long a, int b, long c, long d) {
    try {
      return (int) handle.invokeExact(a, b, c, d);
    } catch (Throwable e) {
      throw broken(e);
    }
  }

  int call(long a, byte b, long c, long d) {
    try {
      return (int) handle.invokeExact(a, b, c, d);
    } catch (Throwable e) {
      throw broken(e);
    }
  }

  int call(long a, long b, int c, long d) {
    try {
      return (int) handle.invokeExact(a, b, c, d);
    } catch (Throwable e) {
      throw broken(e);
    }
  }

  int call(long a, long b, long c, long d) {
    try {
      return (int) handle.invokeExact(a, b, c, d);
    } catch (Throwable e) {
      throw broken(e);
    }
  }

  int call(long a, long b, int c, long d, long e) {
    try {
      return (int) handle.invokeExact(a, b, c, d, e);
    } catch (Throwable t) {
      throw broken(t);
    }
  }

  int call(long a, long b, long c, long d, long e) {
    try {
      return (int) handle.invokeExact(a, b, c, d, e);
    } catch (Throwable t) {
      throw broken(t);
    }
  }

  /** For {@code cuMemcpyPeerAsync}: target and its context, source and its context. */
  int call(long[] places, long bytes, long stream) {
    try {
      return (int) handle.invokeExact(places[0], places[1], places[2], places[3], bytes, stream);
    } catch (Throwable e) {
      throw broken(e);
    }
  }

  /** For {@code cuLaunchKernel}. The segment stays alive during the call. */
  int launch(long function, CudaGrid grid, MemorySegment parameters, long stream) {
    try {
      return (int)
          handle.invokeExact(
              function,
              grid.x(),
              grid.y(),
              grid.z(),
              grid.threadsX(),
              grid.threadsY(),
              grid.threadsZ(),
              grid.sharedBytes(),
              stream,
              parameters,
              0L);
    } catch (Throwable e) {
      throw broken(e);
    }
  }

  private IllegalStateException broken(Throwable cause) {
    return new IllegalStateException(name + ": got a call of another signature", cause);
  }
}
