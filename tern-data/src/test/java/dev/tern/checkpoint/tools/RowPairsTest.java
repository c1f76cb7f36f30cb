package dev.tern.checkpoint.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.data.Batch;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.NumberEncoding;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.readers.Readers;
import dev.tern.model.ModelConfig;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import dev.tern.train.PlantedRuns;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which checkpoints have tables that may be compared. */
final class RowPairsTest {
  private static final ModelConfig MODEL = ModelConfig.of(ModelConfig.Type.DEEPFM, 2, 4);

  @TempDir Path folder;

  /** A vocabulary of the ids in {@code rows}, in the order in which they occur. */
  private static FeatureEncoder vocabulary(Batch rows) {
    return FeatureEncoder.fit(
        Readers.inMemory(rows),
        List.of(NumberEncoding.none(), NumberEncoding.none()),
        List.of(IdEncoding.vocabulary(), IdEncoding.vocabulary(), IdEncoding.vocabulary()),
        TextDictionary.none(),
        read -> {});
  }

  private Checkpoint trained(String name, FeatureEncoder encoder, ModelConfig model) {
    Path target = folder.resolve(name);
    TrainOptions options = TrainOptions.of(Optimizer.adam(0.01f)).batch(100).shuffleRows(0);
    try (Device device = Device.cpu(1, 1L << 26);
        Trainer trainer = Trainer.create(device, encoder, model, options)) {
      trainer.fit(Readers.inMemory(PlantedRuns.planted(5, 100)));
      trainer.save(target);
    }
    return Checkpoint.open(target);
  }

  private void requireRefused(Checkpoint first, Checkpoint second, String message) {
    Path target = folder.resolve("changes");
    assertThatThrownBy(() -> TableDifference.of(first, second, 0))
        .isInstanceOf(DataException.class)
        .hasMessageContaining(second.folder() + ": got " + message)
        .hasMessageContaining(first.folder().toString());
    for (TableFormat format : List.of(TableFormat.TEXT, TableFormat.SAFETENSORS)) {
      assertThatThrownBy(() -> TableExport.writeChanges(first, second, 0, format, target))
          .isInstanceOf(DataException.class)
          .hasMessageContaining(second.folder() + ": got " + message);
      assertThat(target).doesNotExist();
    }
  }

  @Test
  void idsOfOtherVocabulariesStandForOtherValuesAndAreNotCompared() {
    Checkpoint first = trained("first", vocabulary(PlantedRuns.planted(5, 200)), MODEL);
    Checkpoint other = trained("other", vocabulary(PlantedRuns.planted(6, 200)), MODEL);
    requireRefused(first, other, "other encoders");
    Checkpoint again = trained("again", vocabulary(PlantedRuns.planted(5, 200)), MODEL);
    assertThat(TableDifference.of(first, again, 0).same()).isPositive();
  }

  @Test
  void idsOfRunsThatScaleNumbersOtherwiseAreCompared() {
    Batch rows = PlantedRuns.planted(5, 200);
    Batch others = PlantedRuns.planted(6, 200);
    FeatureEncoder one = scaled(rows);
    assertThat(scaled(others).toJson()).isNotEqualTo(one.toJson());
    Checkpoint first = trained("first", one, MODEL);
    Checkpoint other = trained("other", scaled(others), MODEL);
    assertThat(TableDifference.of(first, other, 0).same()).isNotNegative();
  }

  private static FeatureEncoder scaled(Batch rows) {
    return FeatureEncoder.fit(
        Readers.inMemory(rows),
        List.of(NumberEncoding.standardize(), NumberEncoding.standardize()),
        List.of(IdEncoding.verbatim(), IdEncoding.verbatim(), IdEncoding.verbatim()),
        TextDictionary.none(),
        read -> {});
  }

  @Test
  void tablesOfOtherModelsAreNotCompared() {
    FeatureEncoder encoder = PlantedRuns.encoder(PlantedRuns.planted(5, 200));
    Checkpoint first = trained("first", encoder, MODEL);
    ModelConfig wider = ModelConfig.of(ModelConfig.Type.DEEPFM, 2, 5);
    requireRefused(first, trained("wider", encoder, wider), "the model ModelConfig[type=DEEPFM,");
    ModelConfig other = ModelConfig.of(ModelConfig.Type.WDL, 2, 4);
    requireRefused(first, trained("other", encoder, other), "the model ModelConfig[type=WDL,");
  }
}
