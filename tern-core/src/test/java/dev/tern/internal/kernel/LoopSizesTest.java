package dev.tern.internal.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.MethodModel;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** C2 boxes vectors of a loop that it inlines in another, and inlines no more than 325 bytes. */
final class LoopSizesTest {
  private static final int MOST_INLINED = 325;

  @ParameterizedTest
  @CsvSource({
    "VectorPairs, elements",
    "VectorPairs, gradients",
    "VectorDots, fourRows",
    "VectorTile, tile",
    "VectorTile, rows",
    "VectorTile, narrow",
    "VectorPackedTile, run"
  })
  void loopsThatHoldVectorsAreTooLargeToBeInlined(String type, String name) throws IOException {
    try (InputStream code = VectorPairs.class.getResourceAsStream(type + ".class")) {
      List<MethodModel> methods =
          ClassFile.of().parse(Objects.requireNonNull(code).readAllBytes()).methods().stream()
              .filter(method -> method.methodName().equalsString(name))
              .toList();
      assertThat(methods).hasSize(1);
      int bytes = methods.get(0).findAttribute(Attributes.code()).orElseThrow().codeLength();
      assertThat(bytes).isGreaterThan(MOST_INLINED);
    }
  }
}
