package dev.tern.internal.cuda.run;

import dev.tern.internal.cuda.driver.CudaCompiler;
import dev.tern.internal.cuda.driver.CudaDevice;
import dev.tern.internal.cuda.text.FixedText;
import java.util.HashMap;
import java.util.Map;
import java.util.function.ToLongFunction;

/** The code on a device: the fixed kernels, and one module for each text of a plan. */
public final class KernelLibrary implements AutoCloseable {
  private final CudaDevice device;
  private final CudaCompiler compiler;
  private final Module fixed;
  private final Map<String, Module> modules = new HashMap<>();

  /** The code of texts that were compiled ahead. */
  private final Map<String, byte[]> ahead = new HashMap<>();

  /** A module and the functions of it that were asked for. */
  private final class Module {
    private final long handle;

    /** How often its kernels were asked for and not given back. */
    private int users;

    private final Map<String, Long> functions = new HashMap<>();

    Module(byte[] code) {
      handle = device.driver().modules().load(code);
    }

    long function(String name) {
      return functions.computeIfAbsent(name, n -> device.driver().modules().function(handle, n));
    }
  }

  /**
   * Kernels by name.
   *
   * @param fixed those that are the same for all plans
   * @param written those that were written for a plan
   */
  public record Kernels(ToLongFunction<String> fixed, ToLongFunction<String> written) {}

  /** Compiles the fixed kernels, or finds them compiled. */
  public KernelLibrary(CudaDevice device, CudaCompiler compiler) {
    this.device = device;
    this.compiler = compiler;
    device.use();
    fixed = new Module(compiler.compile(FixedText.library(), device.architecture()));
  }

  /**
   * Compiles a text that {@link #kernels} is asked for later. Other threads may compile and ask
   * meanwhile.
   */
  public void compile(String text) {
    byte[] code = code(text);
    synchronized (this) {
      ahead.put(text, code);
    }
  }

  private byte[] code(String text) {
    return compiler.compile(FixedText.scalar() + text, device.architecture());
  }

  /**
   * The kernels of a text, of one plan or of several, and the fixed ones. They are on the device
   * until {@link #release}.
   */
  public synchronized Kernels kernels(String text) {
    Module own =
        text.isEmpty()
            ? fixed
            : modules.computeIfAbsent(
                text,
                t -> {
                  byte[] code = ahead.remove(t);
                  return new Module(code == null ? code(t) : code);
                });
    own.users++;
    return new Kernels(fixed::function, own::function);
  }

  /**
   * Gives back the kernels of a text. The last one to do so takes its code off the device; no
   * kernel of it may be at work.
   */
  public synchronized void release(String text) {
    Module own = modules.get(text);
    if (own != null && --own.users == 0) {
      modules.remove(text);
      device.use();
      device.driver().modules().unload(own.handle);
    }
  }

  /** Takes the code off the device; no kernel of it may be at work. */
  @Override
  public synchronized void close() {
    device.use();
    device.driver().modules().unload(fixed.handle);
    modules.values().forEach(module -> device.driver().modules().unload(module.handle));
    modules.clear();
  }
}
