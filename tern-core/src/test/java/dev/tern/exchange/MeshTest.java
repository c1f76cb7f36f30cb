package dev.tern.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Operations beside a plain evaluation, to the bit. */
final class MeshTest {
  private static final byte[] SECRET = "a secret of sixteen bytes".getBytes();

  static MeshOptions options(int ranks) {
    return MeshOptions.of(0, ranks, SECRET).run(77, 1);
  }

  /** Nothing, one number, odd lengths, and lengths around those of vectors and frames. */
  @ParameterizedTest
  @CsvSource({"1,PIPES", "2,PIPES", "3,PIPES", "4,UNIX", "5,PIPES", "8,UNIX"})
  void everyOperationOfEverySizeGivesTheBitsOfThePlainEvaluation(int ranks, Meshes.Kind kind) {
    long[] sizes = {0, 1, 4, 8, 13, 60, 64, 68, 131, 248, 256, 264, 1000, 8192, 8200, 9999};
    check(new ExchangeProgram(ranks, sizes), kind, options(ranks).frameBytes(256));
  }

  @ParameterizedTest
  @CsvSource({"2,TCP,false", "2,TCP,true", "3,UNIX,false"})
  void messagesLargerThanTheBuffersOfSocketsArrive(int ranks, Meshes.Kind kind, boolean encrypted) {
    check(
        new ExchangeProgram(ranks, ranks == 2 ? 6_000_000 : 1_500_000),
        kind,
        options(ranks).encrypted(encrypted));
  }

  private static void check(ExchangeProgram program, Meshes.Kind kind, MeshOptions options) {
    try (Meshes meshes = Meshes.open(kind, options)) {
      List<List<byte[]>> results = meshes.run(program::run);
      for (int rank = 0; rank < options.ranks(); rank++) {
        assertThat(program.difference(rank, results.get(rank))).isEmpty();
      }
    }
  }

  /** Small frames, so that moderate sizes need many; all sizes up to more than sockets buffer. */
  @ParameterizedTest
  @CsvSource({"1,TCP", "2,TCP", "3,UNIX", "4,PIPES", "5,TCP", "8,PIPES"})
  void randomProgramsGiveTheBitsOfThePlainEvaluation(int ranks, Meshes.Kind kind) {
    for (int seed = 0; seed < 6; seed++) {
      boolean encrypted = seed % 3 == 2;
      MeshOptions options =
          options(ranks).frameBytes(seed % 2 == 0 ? 1024 : 64 << 10).encrypted(encrypted);
      int most = seed == 0 ? 400_000 / ranks : 20_000;
      ExchangeProgram program = new ExchangeProgram(ranks, seed == 0 ? 12 : 40, most, seed);
      check(program, kind, options);
    }
  }
}
