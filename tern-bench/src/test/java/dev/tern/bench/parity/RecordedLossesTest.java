package dev.tern.bench.parity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tern.model.ModelConfig;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Losses beside those that PyTorch had, as {@code tern bench parity} printed them: {@code
 * losses.txt} has a case, its first loss and its 20th in each line.
 */
final class RecordedLossesTest {
  @TempDir private Path folder;

  static List<String> recorded() throws IOException {
    try (InputStream in =
        Objects.requireNonNull(RecordedLossesTest.class.getResourceAsStream("losses.txt"))) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
    }
  }

  @ParameterizedTest
  @MethodSource("recorded")
  void lossesOfTwentyStepsAreThoseOfPyTorch(String line) {
    String[] words = line.split(" ");
    double[] losses = ParityBench.losses(model(words[0]), false, folder);
    assertThat(losses[0]).isCloseTo(Double.parseDouble(words[1]), within(3e-6));
    assertThat(losses[19]).isCloseTo(Double.parseDouble(words[2]), within(5e-6));
  }

  private static ModelConfig model(String name) {
    String type = name.replaceFirst("-.*", "").toUpperCase(Locale.ROOT);
    List<ModelConfig> models = ParityCases.models(ModelConfig.Type.valueOf(type));
    return Stream.iterate(0, i -> i + 1)
        .limit(models.size())
        .filter(i -> ParityBench.name(models.get(i), i).equals(name))
        .map(models::get)
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no case of the name " + name));
  }
}
