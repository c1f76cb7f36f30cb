package dev.tern.internal.kernel.matmul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.MethodModel;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Bytes of bytecode of the loops that hold vectors. Both bounds come from HotSpot. C2 boxes the
 * vectors of a loop that it inlines into another, and inlines no method of more than 325 bytes. At
 * the other end, C1 runs out of registers in {@code VectorPackedTile.run} with a tenth more code,
 * and C2 stops inlining at 18,000 nodes of its graph, which grow with the calls in the code: then a
 * tile calls methods in its loop, a hundred times slower. So each tile may grow by 3 % before
 * somebody has to look at what C2 makes of it: see {@code TileCompilationTest}.
 */
final class LoopSizesTest {
  private static final int MOST_INLINED = 325;

  static Stream<Arguments> loops() {
    return Stream.of(
        arguments("../ops/VectorPairs", "elements", 697),
        arguments("../ops/VectorPairs", "gradients", 497),
        arguments("VectorBlocks", "interleave", 1012),
        arguments("VectorDots", "byEight", 806),
        arguments("VectorDots", "bySixteen", 640),
        arguments("VectorTile", "tile", 1243),
        arguments("VectorTile", "rows", 1312),
        arguments("VectorTile", "narrow", 816),
        arguments("VectorPackedTile", "run", 1633));
  }

  @ParameterizedTest
  @MethodSource("loops")
  void loopsThatHoldVectorsKeepWithinTheBoundsOfTheJit(String type, String name, int most)
      throws IOException {
    try (InputStream code = VectorTile.class.getResourceAsStream(type + ".class")) {
      List<MethodModel> methods =
          ClassFile.of().parse(Objects.requireNonNull(code).readAllBytes()).methods().stream()
              .filter(method -> method.methodName().equalsString(name))
              .toList();
      assertThat(methods).hasSize(1);
      int bytes = methods.get(0).findAttribute(Attributes.code()).orElseThrow().codeLength();
      assertThat(bytes).isBetween(MOST_INLINED + 1, most);
    }
  }
}
