package dev.tern.internal.cuda.text;

import dev.tern.internal.ir.ScalarMath;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** The CUDA C++ that is the same for all plans. */
public final class FixedText {
  /** The layers of a grid are products of a batch, or pieces of the terms. */
  private static final String PRODUCT =
      """

      extern "C" __global__ void __launch_bounds__(256, %1$d) %2$s(
          const float* a, i64 lda, i64 a_step, const float* b, i64 ldb, i64 b_step,
          float* c, i64 ldc, i64 c_step, int m, int n, int k, int terms) {
        const int row = blockIdx.y * %6$d;
        const int column = blockIdx.x * %6$d;
        const int from = terms < k ? blockIdx.z * terms : 0;
        a += blockIdx.z * a_step + (%3$b ? row * lda : row);
        b += blockIdx.z * b_step + (%4$b ? column * ldb : column);
        c += blockIdx.z * c_step + row * ldc + column;
        %5$s(a, lda, b, ldb, c, ldc, m - row, n - column, from, min(k, from + terms));
      }
      """;

  private FixedText() {}

  /** Constants and elementwise functions, which every other text needs before it. */
  public static String scalar() {
    return constants() + resource("scalar.cu") + resource("casts.cu");
  }

  /** All fixed kernels, with what they need. */
  public static String library() {
    return scalar() + resource("products.cu") + products() + resource("rows.cu");
  }

  /**
   * A kernel for each form of a product: n and t for A and B as they are stored or transposed, wide
   * loads or any, and the side of a tile.
   */
  private static String products() {
    StringBuilder text = new StringBuilder();
    for (String form : List.of("nn", "nt", "tn", "tt")) {
      for (int side : List.of(128, 64)) {
        boolean aByTerms = form.charAt(0) == 'n';
        boolean bByTerms = form.charAt(1) == 't';
        for (boolean isWide : new boolean[] {true, false}) {
          String name = "product_%s_%s_%d".formatted(form, isWide ? "wide" : "any", side);
          // With more blocks a thread would have too few registers.
          int blocks = side == 64 ? 3 : isWide ? 2 : 1;
          String tile =
              "tile<%b, %b, %b, %d, %d>".formatted(aByTerms, bByTerms, isWide, side, side);
          text.append(PRODUCT.formatted(blocks, name, aByTerms, bByTerms, tile, side));
        }
      }
    }
    return text.toString();
  }

  /** The constants of {@link ScalarMath} under their names, in notation that loses no bit. */
  private static String constants() {
    StringBuilder text = new StringBuilder();
    try {
      for (Field field : ScalarMath.class.getFields()) {
        String type = field.getType().getName();
        String value =
            field.getType() == float.class
                ? Float.toHexString(field.getFloat(null)) + "f"
                : "(int)" + Integer.toUnsignedString(field.getInt(null)) + "u";
        text.append("static constexpr %s %s = %s;\n".formatted(type, field.getName(), value));
      }
    } catch (IllegalAccessException e) {
      throw new AssertionError(e);
    }
    return text.toString();
  }

  private static String resource(String name) {
    try (InputStream in = FixedText.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new AssertionError("resource " + name + " is missing");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
