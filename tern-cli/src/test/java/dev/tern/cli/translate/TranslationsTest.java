package dev.tern.cli.translate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.cli.config.Config;
import dev.tern.cli.config.ConfigException;
import dev.tern.model.ModelConfig;
import dev.tern.optim.Optimizer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Small configurations of FuxiCTR, each read by Tern once it is translated. */
final class TranslationsTest {
  private static final String MODELS =
      """
      Base:
          model_root: './checkpoints/'
          num_workers: 3
          verbose: 1
          early_stop_patience: 2
          group_id: null

      shop_deepfm:
          model: DeepFM
          dataset_id: shop
          loss: 'binary_crossentropy'
          metrics: ['logloss', 'AUC']
          task: binary_classification
          optimizer: adam
          hidden_units: [64, 32]
          hidden_activations: ReLU
          net_regularizer: 0
          embedding_regularizer: 1.e-5
          learning_rate: 1.e-3
          batch_norm: True
          net_dropout: 0.1
          batch_size: 128
          embedding_dim: 8
          epochs: 3
          shuffle: True
          seed: 2019
          monitor: {'AUC': 1, 'logloss': -1}
          monitor_mode: 'max'
          my_setting: [1, {deep: 2}]
      """;

  private static final String DATA =
      """
      shop:
          data_root: ../data/
          data_format: csv
          train_data: ../data/shop/train.csv
          valid_data: ../data/shop/valid.csv
          test_data: ../data/shop/test.csv
          min_categr_count: 2
          feature_cols:
              - {name: [age, price], active: True, dtype: float, type: numeric, normalizer: StandardScaler}
              - {name: [user, item], active: True, dtype: str, type: categorical}
              - {name: seen, active: True, dtype: str, type: sequence, splitter: "^", max_len: 5, share_embedding: item}
              - {name: notes, active: False, dtype: str, type: categorical}
          label_col: {name: click, dtype: float}
      """;

  @TempDir Path folder;

  private Translation translate(String models, String data, String... experiment)
      throws IOException {
    Files.writeString(folder.resolve("model_config.yaml"), models);
    Files.writeString(folder.resolve("dataset_config.yaml"), data);
    Translation translation =
        FuxiCtr.translate(List.of(folder), List.of(experiment).stream().findFirst());
    translation.requireReadable();
    return translation;
  }

  private static Config config(Translation translation) {
    return Config.parse(translation.text(), "run.yaml", List.of());
  }

  @Test
  void anExperimentIsARunOfTern() throws IOException {
    Config config = config(translate(MODELS, DATA));
    assertThat(config.model().type()).isEqualTo(ModelConfig.Type.DEEPFM);
    assertThat(config.model().hidden()).containsExactly(64, 32);
    assertThat(config.model().embedding()).isEqualTo(8);
    assertThat(config.model().style().batchNorm()).isTrue();
    assertThat(config.data().train())
        .containsExactly(Path.of("../data/shop/train.csv").toAbsolutePath().normalize());
    assertThat(config.data().labels()).containsExactly("click");
    assertThat(config.train().options().batch()).isEqualTo(128);
    assertThat(config.train().options().optimizer()).isInstanceOf(Optimizer.Adam.class);
    assertThat(config.values())
        .containsEntry("data.dense[0].columns", "[age, price]")
        .containsEntry("data.dense[0].vector", "field")
        .containsEntry("data.dense[0].transform", "standardize")
        .containsEntry("data.sparse[0].columns", "[user, item]")
        .containsEntry("data.sparse[0].min_count", "2")
        .containsEntry("data.sparse[1].table", "item")
        .containsEntry("data.sparse[1].separator", "^")
        .containsEntry("data.sparse[1].sequence.max_length", "5")
        .containsEntry("model.initializer.scale", "0.0001")
        .containsEntry("model.tables[0].columns", "[age, item, price, user]")
        .containsEntry("model.tables[0].l2", "0.00001")
        .containsEntry("train.rows.l2_all", "true")
        .containsEntry("train.clip_norm", "10")
        .containsEntry("train.early_stop", "2")
        .containsEntry("train.monitor", "auc");
  }

  @Test
  void whatIsLeftOutIsNamedWithItsLineAndReason() throws IOException {
    Translation translation = translate(MODELS, DATA);
    assertThat(translation.notes().left())
        .contains(
            "model_config.yaml line 4: verbose: 1: what is printed changes no model",
            "model_config.yaml line 29: shop_deepfm.my_setting.deep: 2: Tern has no such setting",
            "dataset_config.yaml line 6: test_data: ../data/shop/test.csv: tern evaluate RUN FILES"
                + " scores such rows once the run is trained")
        .anyMatch(
            line -> line.startsWith("dataset_config.yaml line 12: feature_cols.name: notes:"));
    assertThat(translation.notes().changed())
        .anyMatch(line -> line.startsWith("model_config.yaml line 27: monitor: {...}: AUC alone"))
        .anyMatch(line -> line.startsWith("model_config.yaml line 5: early_stop_patience: 2:"))
        .anyMatch(line -> line.startsWith("dataset_config.yaml line 7: min_categr_count: 2:"));
    for (String line : translation.notes().left()) {
      assertThat(translation.text()).contains("#   " + line + "\n");
    }
    // What is translated is not named.
    assertThat(translation.text()).doesNotContain("batch_size", "hidden_units", "null");
  }

  @ParameterizedTest
  @CsvSource({
    "LR, lr",
    "FM, fm",
    "FwFM, fwfm",
    "FFM, ffm",
    "AFM, afm",
    "WideDeep, wdl",
    "NFM, nfm",
    "PNN, pnn",
    "DCN, dcn",
    "DCNv2, dcnv2",
    "DeepCrossing, deepcrossing",
    "AutoInt, autoint",
    "xDeepFM, xdeepfm",
    "FiBiNET, fibinet",
    "GDCNP, gdcn",
    "MaskNet, masknet",
    "FinalMLP, finalmlp",
    "WuKong, wukong",
    "DLRM, dlrm",
    "DIN, din",
    "BST, bst",
    "MMoE, mmoe",
    "PLE, ple",
    "SharedBottom, sharedbottom",
    "DNN, wdl",
    "DIEN, dien",
    "EulerNet, eulernet",
    "FINAL, finalnet",
    "FinalNet, finalnet",
    "xDeepInt, wdl"
  })
  void everyModelIsOneThatTernLoads(String model, String type) throws IOException {
    String sizes =
        """
            attention_dim: 16
            num_heads: 2
            attention_layers: 2
            cin_hidden_units: [10, 10]
            bilinear_type: field_each
            reduction_ratio: 2
            num_cross_layers: 2
            residual_blocks: [16]
            bottom_mlp_units: [32]
            top_mlp_units: [32, 16]
            num_experts: 3
            num_shared_experts: 3
            expert_hidden_units: [16]
            tower_hidden_units: [8]
            gate_hidden_units: [8]
            bottom_hidden_units: [16]
            mlp1_hidden_units: [16]
            mlp2_hidden_units: [16]
            din_target_field: item
            din_sequence_field: seen
        """;
    String models = MODELS.replace("model: DeepFM", "model: " + model) + sizes;
    Translation translation = translate(models, DATA);
    assertThat(config(translation).modelName()).isEqualTo(type);
    boolean isKnown = FuxiModels.of(model).isPresent();
    assertThat(translation.text().contains("Tern has no such model; wdl takes its place"))
        .isEqualTo(!isKnown);
  }

  /** An experiment of one model, with settings of its own. */
  private static String model(String name, String... settings) {
    String own = "    " + String.join("\n    ", settings) + "\n";
    return MODELS.replace("model: DeepFM", "model: " + name) + own;
  }

  @Test
  void sequencesAreOneOnlyWhereATupleSaysSo() throws IOException {
    String data =
        DATA.replace("name: [user, item]", "name: [user, item, kind]")
            .replace(
                "name: seen, active: True, dtype: str, type: sequence, splitter: \"^\", max_len: 5,"
                    + " share_embedding: item",
                "name: [seen, kinds, bought, left], active: True, dtype: str, type: sequence,"
                    + " max_len: 5");
    String flat =
        model(
            "DIN",
            "din_target_field: [item, kind, item]",
            "din_sequence_field: [seen, kinds, bought]");
    assertThat(config(translate(flat, data)).data().columnsOfSequences())
        .containsExactly(List.of("bought"), List.of("kinds"), List.of("left"), List.of("seen"));
    String tuples =
        model(
            "DIN",
            "din_target_field: [!!python/tuple [item, kind], item]",
            "din_sequence_field: [[seen, kinds], bought]");
    Config config = config(translate(tuples, data));
    assertThat(config.data().columnsOfSequences())
        .containsExactly(List.of("bought"), List.of("left"), List.of("kinds", "seen"));
    assertThat(config.values())
        .containsEntry("data.sparse[1].columns", "[seen]")
        .containsEntry("data.sparse[1].table", "item")
        .containsEntry("data.sparse[2].columns", "[kinds]")
        .containsEntry("data.sparse[2].table", "kind")
        .containsEntry("data.sparse[2].sequence.name", "seen");
  }

  @Test
  void aTupleOfColumnsAloneIsOneSequence() throws IOException {
    String data =
        DATA.replace("name: [user, item]", "name: [user, item, kind]")
            .replace(
                "name: seen, active: True, dtype: str, type: sequence, splitter: \"^\", max_len: 5,"
                    + " share_embedding: item",
                "name: [seen, kinds], active: True, dtype: str, type: sequence, max_len: 5");
    String tuple =
        model(
            "DIN",
            "din_target_field: !!python/tuple [item, kind]",
            "din_sequence_field: !!python/tuple [seen, kinds]");
    Config config = config(translate(tuple, data));
    assertThat(config.data().columnsOfSequences()).containsExactly(List.of("kinds", "seen"));
    assertThat(config.values())
        .containsEntry("data.sparse[1].table", "item")
        .containsEntry("data.sparse[2].table", "kind");
  }

  @Test
  void anExperimentMayChooseColumnsAndGiveThemSettings() throws IOException {
    String models =
        model(
            "WideDeep",
            "use_features: [age, user, item, seen]",
            "feature_specs: [{name: [user, seen], embedding_dim: 4, my_width: 2},"
                + " {name: seen, feature_encoder: layers.MaskedSumPooling()}]");
    String data = DATA.replace("type: categorical}", "type: categorical, embedding_dim: 16}");
    Translation translation = translate(models, data);
    assertThat(config(translation).values())
        .containsEntry("data.dense[0].columns", "[age]")
        .containsEntry("data.sparse[0].columns", "[user]")
        .containsEntry("data.sparse[0].embedding", "4")
        .containsEntry("data.sparse[1].columns", "[item]")
        .containsEntry("data.sparse[1].embedding", "16")
        .containsEntry("data.sparse[2].combiner", "model");
    assertThat(translation.notes().left())
        .anyMatch(line -> line.contains("feature_cols.name: price: use_features does not name it"))
        .anyMatch(line -> line.contains("feature_specs.my_width: 2: columns of this type have no"))
        .noneMatch(line -> line.contains("feature_encoder"));
  }

  @Test
  void aColumnMayHaveItsOwnLeastCount() throws IOException {
    String data =
        DATA.replace("min_categr_count: 2", "min_categr_count: 1")
            .replace("type: categorical}", "type: categorical, min_categr_count: 7}");
    Translation translation = translate(MODELS, data);
    assertThat(config(translation).values()).containsEntry("data.sparse[0].min_count", "7");
    assertThat(translation.notes().changed())
        .anyMatch(line -> line.contains("feature_cols.min_categr_count: 7: rarer values read as"))
        .noneMatch(line -> line.contains(" min_categr_count: 1"));
  }

  @Test
  void dienHasItsLossOfStates() throws IOException {
    String models =
        model(
            "DIEN",
            "dien_target_field: item",
            "dien_sequence_field: seen",
            "dien_neg_seq_field: drawn",
            "aux_loss_alpha: 0.5",
            "gru_type: AIGRU",
            "attention_type: bilinear_attention",
            "enable_sum_pooling: True");
    String data = DATA.replace("name: seen", "name: [seen, drawn]");
    Translation translation = translate(models, data);
    assertThat(config(translation).values())
        .containsEntry("model.auxiliary", "0.5")
        .containsEntry("data.sparse[1].columns", "[seen]");
    assertThat(translation.notes().left())
        .anyMatch(line -> line.contains("feature_cols.name: drawn: other elements"))
        .anyMatch(line -> line.contains("gru_type: AIGRU: Tern's model has this form alone: AUGRU"))
        .anyMatch(line -> line.contains("enable_sum_pooling: True"))
        .noneMatch(line -> line.contains("attention_type"));
  }

  @Test
  void theShapeOfEulerNetIsItsLayers() throws IOException {
    String models =
        model("EulerNet", "shape: [7, 5]", "net_ex_dropout: 0.2", "net_im_dropout: 0.3");
    Translation translation = translate(models, DATA);
    assertThat(config(translation).values())
        .containsEntry("model.cross_layers", "2")
        .containsEntry("model.vectors", "7")
        .containsEntry("model.dropout", "0.2");
    assertThat(translation.notes().left()).anyMatch(line -> line.contains("net_im_dropout: 0.3:"));
    assertThat(translation.notes().changed()).anyMatch(line -> line.contains("shape: 5:"));
  }

  @Test
  void finalNetHasOneBlockOrTwo() throws IOException {
    String[] blocks = {"block1_hidden_units: [32, 16]", "block2_hidden_units: [8]"};
    Translation two = translate(model("FinalNet", blocks), DATA);
    assertThat(config(two).values())
        .containsEntry("model.hidden", "[32, 16]")
        .containsEntry("model.second", "[8]");
    assertThat(two.notes().left()).anyMatch(line -> line.contains("batch_norm: True:"));
    assertThat(two.notes().changed())
        .anyMatch(line -> line.contains("model: FinalNet: residual_type: concat is implied"));
    Translation one =
        translate(
            model("FINAL", blocks[0], blocks[1], "block_type: 1B", "residual_type: sum"), DATA);
    assertThat(config(one).model().variant().second()).isEmpty();
    assertThat(one.notes().changed()).noneMatch(line -> line.contains("residual_type"));
  }

  @Test
  void aMixtureOfCrossesHasTheSizesThatFuxiCtrImplies() throws IOException {
    assertThat(config(translate(model("DCNv2", "use_low_rank_mixture: True"), DATA)).values())
        .containsEntry("model.cross_rank", "32")
        .containsEntry("model.cross_experts", "4");
  }

  @Test
  void widthsOfDlrmEndAsTernHasThem() throws IOException {
    String models =
        MODELS.replace("model: DeepFM", "model: DLRM")
            + "    bottom_mlp_units: [32]\n    top_mlp_units: [16]\n";
    assertThat(config(translate(models, DATA)).values())
        .containsEntry("model.bottom", "[32, 8]")
        .containsEntry("model.top", "[16, 1]")
        .containsEntry("data.dense[0].vector", "none");
  }

  @Test
  void severalLabelsAreTasks() throws IOException {
    String models = MODELS.replace("model: DeepFM", "model: MMoE");
    String data =
        DATA.replace(
            "{name: click, dtype: float}",
            "[{name: click, dtype: float}, {name: buy, dtype: float}]");
    assertThat(config(translate(models, data)).data().labels()).containsExactly("click", "buy");
    assertThat(translate(MODELS, data).notes().left())
        .anyMatch(line -> line.contains("label_col: buy: the model has one label"));
  }

  @Test
  void theExperimentIsChosenByName() throws IOException {
    String two = MODELS + "other:\n    model: FM\n    dataset_id: shop\n";
    assertThatThrownBy(() -> translate(two, DATA))
        .hasMessageContaining(
            "--experiment: got none for a file with the experiments [other, shop_deepfm]");
    assertThatThrownBy(() -> translate(two, DATA, "othre"))
        .hasMessageContainingAll("--experiment: got \"othre\"", "did you mean other?");
    assertThat(config(translate(two, DATA, "other")).modelName()).isEqualTo("fm");
    assertThatThrownBy(() -> translate(MODELS, DATA.replace("shop:\n", "shops:\n")))
        .hasMessageContaining("dataset_id: got \"shop\", expected one of [shops]");
  }

  @ParameterizedTest
  @ValueSource(strings = {"h5", "npz"})
  void filesThatTernDoesNotReadAreRefused(String format) {
    assertThatThrownBy(
            () -> translate(MODELS, DATA.replace("data_format: csv", "data_format: " + format)))
        .isInstanceOf(ConfigException.class)
        .hasMessage(
            "dataset_config.yaml line 3: data_format: got %s, expected csv or parquet, which Tern reads; name the data set that these files were made from"
                .formatted(format));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      textBlock =
          """
          batch_size: 128           ~ batch_size: many      ~ line 22: batch_size: got many, expected a number
          batch_size: 128           ~ batch_size: 0         ~ batch_size: got 0, expected a whole number from 1
          batch_size: 128           ~ batch_size: [1, 2]    ~ batch_size: got [1, 2], expected one value
          batch_size: 128           ~ batch_size: {a: 1}    ~ batch_size: got {...}, expected one value
          hidden_units: [64, 32]    ~ hidden_units: [64, x] ~ hidden_units: got x, expected a number
          shuffle: True             ~ shuffle: perhaps      ~ shuffle: got perhaps, expected true or false
          hidden_units: [64, 32]    ~ hidden_units: [64,    ~ got broken YAML
          hidden_units: [64, 32]    ~ hidden_units: *none   ~ got broken YAML
          learning_rate: 1.e-3      ~ learning_rate: 1e999999999 ~ learning_rate: got 1e999999999, expected a number
          """)
  void whatIsDamagedIsRefusedWithItsLine(String good, String bad, String message) {
    assertThat(MODELS).contains(good);
    assertThatThrownBy(() -> translate(MODELS.replace(good, bad), DATA))
        .isInstanceOf(ConfigException.class)
        .hasMessageStartingWith("model_config.yaml line ")
        .hasMessageContaining(message);
  }

  @Test
  void aFileThatEndsAnywhereIsTranslatedOrRefused() throws IOException {
    Files.writeString(folder.resolve("dataset_config.yaml"), DATA);
    int refused = 0;
    for (int end = 0; end < MODELS.length(); end += 7) {
      Files.writeString(folder.resolve("model_config.yaml"), MODELS.substring(0, end));
      try {
        FuxiCtr.translate(List.of(folder), Optional.empty()).requireReadable();
      } catch (ConfigException e) {
        assertThat(e.getMessage()).contains("got ", "expected ");
        refused++;
      }
    }
    assertThat(refused).isBetween(10, MODELS.length() / 7);
  }

  @Test
  void aliasesDoNotGrowWithoutABound() {
    StringBuilder yaml = new StringBuilder("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for (int i = 1; i < 9; i++) {
      yaml.append("a%d: &a%d [".formatted(i, i));
      yaml.append("*a%d, ".formatted(i - 1).repeat(9)).append("*a%d]\n".formatted(i - 1));
    }
    assertThatThrownBy(() -> YamlSettings.read(yaml.toString(), "x.yaml"))
        .isInstanceOf(ConfigException.class)
        .hasMessageStartingWith("x.yaml line ");
    assertThatThrownBy(() -> YamlSettings.read("a: " + "[".repeat(100_000), "x.yaml"))
        .isInstanceOf(ConfigException.class);
    assertThatThrownBy(() -> YamlSettings.read("a: &a [*a]", "x.yaml"))
        .isInstanceOf(ConfigException.class);
  }

  @Test
  void aNameDoesNotLeaveItsComment() throws IOException {
    String models = MODELS + "    \"evil\\ntrain: {batch: 7}\\n#\": \"1\\ndata: x\"\n";
    Translation translation = translate(models, DATA);
    assertThat(config(translation).train().options().batch()).isEqualTo(128);
    assertThat(translation.text().lines().filter(line -> line.startsWith("train:"))).hasSize(1);
  }

  @Test
  void filesMayBeNamedOneByOne() throws IOException {
    Path models = Files.writeString(folder.resolve("a.yaml"), MODELS);
    Path data = Files.writeString(folder.resolve("b.yaml"), DATA);
    Translation translation = FuxiCtr.translate(List.of(data, models), Optional.empty());
    assertThat(config(translation).modelName()).isEqualTo("deepfm");
    assertThatThrownBy(() -> FuxiCtr.translate(List.of(models), Optional.empty()))
        .hasMessageContaining("dataset_id: got \"shop\", expected one of []");
    assertThatThrownBy(() -> FuxiCtr.translate(List.of(folder), Optional.empty()))
        .hasMessageContaining("got a folder without model_config.yaml");
  }
}
