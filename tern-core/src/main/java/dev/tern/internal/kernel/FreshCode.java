package dev.tern.internal.kernel;

import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;

/**
 * The same code in a class of its own, for HotSpot to begin anew with: it can leave a method in an
 * intermediate tier for good, or in code that boxes vectors.
 */
final class FreshCode {
  private FreshCode() {}

  /** An instance of a copy of {@code type}, which has a constructor without parameters. */
  static Object copyOf(Class<?> type) {
    try (InputStream code = type.getResourceAsStream(type.getSimpleName() + ".class")) {
      if (code == null) {
        throw new IllegalStateException("found no class file of " + type);
      }
      MethodHandles.Lookup copy =
          MethodHandles.lookup().defineHiddenClass(code.readAllBytes(), true);
      return copy.lookupClass().getDeclaredConstructor().newInstance();
    } catch (IOException | ReflectiveOperationException e) {
      throw new IllegalStateException("cannot copy " + type, e);
    }
  }
}
