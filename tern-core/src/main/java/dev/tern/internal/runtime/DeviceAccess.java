package dev.tern.internal.runtime;

import dev.tern.internal.memory.Allocator;
import java.util.function.Function;

/**
 * Gives Tern's packages the memory of a {@code dev.tern.tensor.Device}, which no exported method
 * shows. {@code Device} lies above this package, so a device is an {@code Object} here. When the
 * class {@code Device} is initialized, it registers how to get a device's engine.
 */
public final class DeviceAccess {
  private static volatile Function<Object, Engine> engines =
      device -> {
        throw new IllegalStateException("device: got " + device + " before its class registered");
      };

  private DeviceAccess() {}

  /** Called once, by {@code Device}. */
  public static void register(Function<Object, Engine> engineOfDevice) {
    engines = engineOfDevice;
  }

  /**
   * The allocator of a device, under the device's budget.
   *
   * @param device a {@code dev.tern.tensor.Device}
   */
  public static Allocator allocator(Object device) {
    return engines.apply(device).allocator();
  }
}
