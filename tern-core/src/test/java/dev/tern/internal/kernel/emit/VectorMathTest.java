package dev.tern.internal.kernel.emit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.tern.internal.ir.ScalarMath;
import dev.tern.internal.ir.ScalarMathTest;
import dev.tern.internal.kernel.VectorSupport;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Map;
import java.util.function.UnaryOperator;
import jdk.incubator.vector.FloatVector;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class VectorMathTest {
  private static final int STEP = 16_411;

  private interface Scalar {
    float apply(float x);
  }

  private record Pair(Scalar scalar, UnaryOperator<FloatVector> vector) {}

  private static final Map<String, Pair> FUNCTIONS =
      Map.ofEntries(
          Map.entry("exp", new Pair(ScalarMath::exp, VectorMath::exp)),
          Map.entry("expm1", new Pair(ScalarMath::expm1, VectorMath::expm1)),
          Map.entry("log", new Pair(ScalarMath::log, VectorMath::log)),
          Map.entry("log1p", new Pair(ScalarMath::log1p, VectorMath::log1p)),
          Map.entry("tanh", new Pair(ScalarMath::tanh, VectorMath::tanh)),
          Map.entry("sigmoid", new Pair(ScalarMath::sigmoid, VectorMath::sigmoid)),
          Map.entry("softplus", new Pair(ScalarMath::softplus, VectorMath::softplus)),
          Map.entry("erf", new Pair(ScalarMath::erf, VectorMath::erf)),
          Map.entry("rsqrt", new Pair(ScalarMath::rsqrt, VectorMath::rsqrt)),
          Map.entry("sinpi", new Pair(ScalarMath::sinpi, VectorMath::sinpi)),
          Map.entry("cospi", new Pair(ScalarMath::cospi, VectorMath::cospi)),
          Map.entry("atan", new Pair(ScalarMath::atan, VectorMath::atan)));

  /** Where scalar and vector differ, as text; called in a copy of the classes of another length. */
  static String differences(int[] samples, int bits) {
    if (VectorOps.SPECIES.vectorBitSize() != bits) {
      return "vectors have " + VectorOps.SPECIES.vectorBitSize() + " bits";
    }
    StringBuilder text = new StringBuilder();
    FUNCTIONS.forEach((name, pair) -> compare(name, pair, samples, text));
    return text.toString();
  }

  private static void compare(String name, Pair pair, int[] samples, StringBuilder text) {
    int lanes = VectorOps.SPECIES.length();
    float[] in = new float[lanes];
    float[] out = new float[lanes];
    for (int i = 0; i + lanes <= samples.length; i += lanes) {
      for (int lane = 0; lane < lanes; lane++) {
        in[lane] = Float.intBitsToFloat(samples[i + lane]);
      }
      pair.vector.apply(FloatVector.fromArray(VectorOps.SPECIES, in, 0)).intoArray(out, 0);
      for (int lane = 0; lane < lanes; lane++) {
        float expected = pair.scalar.apply(in[lane]);
        // Not the raw bits: NaN has many.
        if (Float.floatToIntBits(expected) != Float.floatToIntBits(out[lane])
            && text.length() < 1000) {
          text.append("%s(%s): %s, %s; ".formatted(name, in[lane], expected, out[lane]));
        }
      }
    }
  }

  /** Samples in a whole number of the longest vectors. */
  private static int[] samples() {
    int[] samples = ScalarMathTest.samples(STEP);
    return Arrays.copyOf(samples, (samples.length + 15) / 16 * 16);
  }

  @Test
  void vectorsGiveTheBitsOfTheScalarFunctions() {
    assumeThat(VectorSupport.available()).isTrue();
    assertThat(differences(samples(), VectorOps.SPECIES.vectorBitSize())).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {128, 256, 512})
  void shorterVectorsGiveTheSameBits(int bits) throws ReflectiveOperationException {
    assumeThat(VectorSupport.available() && bits < VectorOps.SPECIES.vectorBitSize()).isTrue();
    String property = "tern.vector.bits";
    String before = System.getProperty(property, "-1");
    System.setProperty(property, Integer.toString(bits));
    try {
      Class<?> copy = new Copies().loadClass(VectorMathTest.class.getName());
      Method differences = copy.getDeclaredMethod("differences", int[].class, int.class);
      differences.setAccessible(true);
      assertThat((String) differences.invoke(null, samples(), bits)).isEmpty();
    } finally {
      System.setProperty(property, before);
    }
  }

  /** Defines Tern's classes once more, so that they read the system properties again. */
  private static final class Copies extends ClassLoader {
    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (!name.startsWith("dev.tern.")) {
        return super.loadClass(name, resolve);
      }
      Class<?> loaded = findLoadedClass(name);
      if (loaded != null) {
        return loaded;
      }
      try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
        byte[] bytes = in.readAllBytes();
        return defineClass(name, bytes, 0, bytes.length);
      } catch (IOException e) {
        throw new ClassNotFoundException(name, e);
      }
    }
  }
}
