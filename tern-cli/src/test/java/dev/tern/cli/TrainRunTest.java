package dev.tern.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.cli.config.Config;
import dev.tern.model.ModelConfig;
import java.util.List;
import org.junit.jupiter.api.Test;

final class TrainRunTest {
  private static final String DLRM =
      """
      data:
        format: csv
        train: train.csv
        columns: [label, age, city]
        label: {column: label}
        dense: {columns: [age]}
        sparse: {columns: [city]}
      run: {dir: runs/dlrm}
      model: {type: dlrm, embedding: 8, bottom: [64, 8], top: [32, 16, 1]}
      """;

  @Test
  void theLastWidthsOfDlrmAreLayersOfTheModelAndNotAddedToIt() {
    ModelConfig model = TrainRun.model(Config.parse(DLRM, "dlrm.yaml", List.of()).model());
    assertThat(model.type()).isEqualTo(ModelConfig.Type.DLRM);
    assertThat(model.bottom()).containsExactly(64);
    assertThat(model.hidden()).containsExactly(32, 16);
  }
}
