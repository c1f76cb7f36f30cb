package dev.tern.cli.translate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.cli.config.Config;
import dev.tern.cli.config.ConfigException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Small configurations of EasyRec, each read by Tern once it is translated. */
final class EasyRecTest {
  private static final String HEAD =
      """
      train_input_path: "data/train.csv"
      eval_input_path: "data/test.csv"
      model_dir: "experiments/shop"
      train_config {
        log_step_count_steps: 200
        optimizer_config {
          adam_optimizer {
            learning_rate {
              exponential_decay_learning_rate {
                initial_learning_rate: 0.002
                decay_steps: 1000
              }
            }
          }
          use_moving_average: false
        }
        save_checkpoints_steps: 500
        sync_replicas: True
        num_steps: 2500
      }
      eval_config { metrics_set { auc {} } metrics_set { gauc { uid_field: 'user' } } }
      data_config {
        input_fields { input_name: 'clk' input_type: INT32 }
        input_fields { input_name: 'buy' input_type: INT32 }
        input_fields { input_name: 'user' input_type: STRING }
        input_fields { input_name: 'item' input_type: STRING }
        input_fields { input_name: 'tags' input_type: STRING }
        input_fields { input_name: 'seen' input_type: STRING }
        input_fields { input_name: 'age' input_type: DOUBLE default_val: '-1' }
        input_fields { input_name: 'unused' input_type: STRING }
        label_fields: 'clk'
        batch_size: 64
        num_epochs: 2
        prefetch_size: 32
        input_type: CSVInput
        separator: '\\001'
      }
      feature_config {
        features { input_names: 'user' feature_type: IdFeature embedding_dim: 8 hash_bucket_size: 1000 }
        features { input_names: 'item' feature_type: IdFeature embedding_dim: 8 num_buckets: 50 }
        features { input_names: 'tags' feature_type: TagFeature embedding_dim: 8 hash_bucket_size: 100 separator: '|' }
        features { input_names: 'age' feature_type: RawFeature embedding_dim: 8 boundaries: [18, 65] }
        features { input_names: 'unused' feature_type: IdFeature embedding_dim: 8 hash_bucket_size: 10 }
        features { feature_name: 'both' input_names: ['user', 'item'] feature_type: ComboFeature embedding_dim: 8 }
      }
      """;

  private static final String DEEPFM =
      """
      model_config {
        model_class: 'DeepFM'
        feature_groups { group_name: 'wide' feature_names: ['user', 'item', 'both'] wide_deep: WIDE }
        feature_groups { group_name: 'deep' feature_names: ['user', 'item', 'tags', 'age'] wide_deep: DEEP }
        deepfm {
          dnn { hidden_units: [64, 32] dropout_ratio: [0.1, 0.1] }
          final_dnn { hidden_units: [16] }
          l2_regularization: 1e-4
        }
        embedding_regularization: 1e-5
      }
      """;

  @TempDir Path folder;

  private Translation translate(String text) throws IOException {
    Path file = Files.writeString(folder.resolve("pipeline.config"), text);
    Translation translation = EasyRec.translate(file);
    translation.requireReadable();
    return translation;
  }

  private static Config config(Translation translation) {
    return Config.parse(translation.text(), "run.yaml", List.of());
  }

  @Test
  void aPipelineIsARunOfTern() throws IOException {
    Config config = config(translate(HEAD + DEEPFM));
    Map<String, String> values = config.values();
    assertThat(config.modelName()).isEqualTo("deepfm");
    assertThat(config.model().style().batchNorm()).isTrue();
    assertThat(config.data().csv().delimiter()).isEqualTo("\u0001");
    assertThat(config.data().labels()).containsExactly("clk");
    assertThat(values)
        .containsEntry("data.columns", "[clk, buy, user, item, tags, seen, age, unused]")
        .containsEntry("data.sparse[0].columns", "[user]")
        .containsEntry("data.sparse[0].buckets", "1000")
        .containsEntry("data.sparse[1].encode", "id")
        .containsEntry("data.sparse[2].combiner", "mean")
        .containsEntry("data.sparse[2].separator", "|")
        .containsEntry("data.dense[0].columns", "[age]")
        .containsEntry("data.dense[0].boundaries", "[18, 65]")
        .containsEntry("data.group", "user")
        .containsEntry("model.hidden", "[64, 32]")
        .containsEntry("model.dropout", "0.1")
        .containsEntry("model.embedding", "8")
        .containsEntry("model.tables[0].l2", "0.00001")
        .containsEntry("train.l2", "0.0001")
        .containsEntry("train.batch", "64")
        .containsEntry("train.epochs", "2")
        .containsEntry("train.evaluate_every", "500")
        .containsEntry("train.log_every", "200")
        .containsEntry("train.optimizer.lr", "0.002");
  }

  @Test
  void whatIsLeftOutIsNamedWithItsLineAndReason() throws IOException {
    Translation translation = translate(HEAD + DEEPFM);
    assertThat(translation.notes().left())
        .anyMatch(line ->
            line.startsWith(
                "pipeline.config line 11: train_config.optimizer_config.adam_optimizer"))
        .anyMatch(line -> line.startsWith("pipeline.config line 19: train_config.num_steps: 2500:"))
        .contains("pipeline.config line 18: train_config.sync_replicas: True: it changes no model")
        .anyMatch(line -> line.contains("features.input_names: unused: no feature group has it"))
        .anyMatch(line -> line.contains("features of the type ComboFeature"))
        .anyMatch(line -> line.contains("default_val: -1:"))
        .anyMatch(line -> line.contains("model_config.deepfm.final_dnn.hidden_units: [16]:"));
    assertThat(translation.notes().changed())
        .anyMatch(
            line -> line.contains("model_class: DeepFM: the linear part reads age, tags, too"))
        .noneMatch(line -> line.contains("model_class: DeepFM: products and layers read"));
    assertThat(translation.notes().changed())
        .anyMatch(line -> line.contains("features.num_buckets: 50:"));
    translation.notes().left().forEach(line -> assertThat(translation.text()).contains(line));
  }

  @Test
  void passesWithoutAnEndAreOne() throws IOException {
    Translation translation =
        translate(HEAD.replace("num_epochs: 2", "num_epochs: 10000") + DEEPFM);
    assertThat(config(translation).train().options().epochs()).isEqualTo(1);
    assertThat(translation.notes().left())
        .anyMatch(line -> line.contains("data_config.num_epochs: 10000: it sets no end"));
  }

  @Test
  void nothingThatIsNotReadIsLeftUnsaid() throws IOException {
    String odd = "export_config { exporter_type: 'final' deep { deeper { a: 1 } empty {} } }\n";
    assertThat(translate(HEAD + DEEPFM + odd).notes().left())
        .anyMatch(line -> line.contains("export_config.exporter_type: final:"))
        .anyMatch(line -> line.contains("export_config.deep.deeper.a: 1:"))
        .anyMatch(line -> line.contains("export_config.deep.empty: {...}:"));
  }

  private static String model(String name, String body) {
    return """
    model_config {
      model_class: '%s'
      feature_groups { group_name: 'all' feature_names: ['user', 'item', 'tags', 'age'] }
      %s
    }
    """
        .formatted(name, body);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      quoteCharacter = '`',
      textBlock =
          """
          FM          ~ fm           ~ fm { l2_regularization: 1e-5 }
          WideAndDeep ~ wdl          ~ wide_and_deep { dnn { hidden_units: 16 } wide_output_dim: 4 }
          DCN         ~ dcn          ~ dcn { deep_tower { input: 'all' dnn { hidden_units: 16 } } cross_tower { input: 'all' cross_num: 2 } }
          DLRM        ~ dlrm         ~ dlrm { bot_dnn { hidden_units: [16, 8] } top_dnn { hidden_units: [32] } }
          AutoInt     ~ autoint      ~ autoint { multi_head_num: 2 multi_head_size: 8 interacting_layer_num: 2 }
          MultiTower  ~ wdl          ~ multi_tower { towers { input: 'all' dnn { hidden_units: 16 } } }
          """)
  void everyModelIsOneThatTernLoads(String name, String type, String body) throws IOException {
    Translation translation = translate(HEAD + model(name, body));
    assertThat(config(translation).modelName()).isEqualTo(type);
    assertThat(translation.text().contains("Tern has no such model"))
        .isEqualTo(name.equals("MultiTower"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      quoteCharacter = '`',
      textBlock =
          """
          MMoE ~ mmoe ~ mmoe { num_expert: 3 expert_dnn { hidden_units: [32, 16] } TASKS }
          PLE  ~ ple  ~ ple { extraction_networks { network_name: 'l1' expert_num_per_task: 2 share_num: 2 task_expert_net { hidden_units: 16 } share_expert_net { hidden_units: 16 } } TASKS }
          SimpleMultiTask ~ sharedbottom ~ simple_multi_task { TASKS }
          DBMTL ~ sharedbottom ~ dbmtl { TASKS }
          """)
  void tasksAreLabels(String name, String type, String body) throws IOException {
    String tasks =
        "task_towers { tower_name: 'a' label_name: 'clk' dnn { hidden_units: [8] } } task_towers {"
            + " tower_name: 'b' label_name: 'buy' weight: 0.5 dnn { hidden_units: [4] } }";
    String head = HEAD.replace("label_fields: 'clk'", "label_fields: 'clk' label_fields: 'buy'");
    Translation translation = translate(head + model(name, body.replace("TASKS", tasks)));
    Config config = config(translation);
    assertThat(config.modelName()).isEqualTo(type);
    assertThat(config.data().labels()).containsExactly("clk", "buy");
    if (!name.equals("DBMTL")) {
      assertThat(config.values())
          .containsEntry("data.labels[1].weight", "0.5")
          .containsEntry("model.towers", "[8]");
    }
  }

  @Test
  void twoTowersHaveTheColumnsOfTheirGroups() throws IOException {
    String dssm =
        """
        model_config {
          model_class: 'DSSM'
          feature_groups { group_name: 'user' feature_names: ['user', 'tags'] }
          feature_groups { group_name: 'item' feature_names: 'item' }
          dssm { user_tower { id: 'user' dnn { hidden_units: [16, 8] } } item_tower { id: 'item' dnn { hidden_units: [16, 8] } } }
        }
        """;
    assertThat(config(translate(HEAD + dssm)).values())
        .containsEntry("model.type", "twotower")
        .containsEntry("model.item_columns", "[item]")
        .containsEntry("model.temperature", "1")
        .containsEntry("model.hidden", "[16, 8]");
    assertThat(translate(HEAD + dssm).notes().changed())
        .anyMatch(line -> line.contains("model_config.dssm: {...}: without scale_simi: false,"));
    String told = dssm.replace("dssm {", "dssm { temperature: 0.05 scale_simi: false");
    Translation translation = translate(HEAD + told);
    assertThat(config(translation).values()).containsEntry("model.temperature", "0.05");
    assertThat(translation.text()).doesNotContain("scale_simi");
    String named =
        HEAD.replace(
            "features { input_names: 'item'", "features { feature_name: 'it' input_names: 'item'");
    String items =
        dssm.replace("feature_names: 'item'", "feature_names: 'it'")
            .replace("id: 'item'", "id: 'it'");
    assertThat(config(translate(named + items)).values())
        .containsEntry("model.item_columns", "[item]");
  }

  @Test
  void featuresOfAnotherNameAreTheirColumns() throws IOException {
    String head =
        HEAD.replace(
                "features { input_names: 'user'",
                "features { feature_name: 'u' input_names: 'user'")
            .replace(
                "features { input_names: 'item'",
                "features { feature_name: 'i' input_names: 'item'")
            .replace(
                "features { input_names: 'tags'",
                "features { feature_name: 't' input_names: 'tags'");
    String model =
        """
        model_config {
          model_class: 'WideAndDeep'
          feature_groups { group_name: 'wide' feature_names: ['u', 'i', 'both'] wide_deep: WIDE }
          feature_groups { group_name: 'deep' feature_names: ['i', 't', 'age'] wide_deep: DEEP }
          wide_and_deep { dnn { hidden_units: 16 } }
        }
        """;
    assertThat(config(translate(head + model)).values())
        .containsEntry("model.wide_only", "[user]")
        .containsEntry("model.deep_only", "[tags]");
  }

  @Test
  void sequencesOfAGroupAreOneAndAllOthersTheirOwn() throws IOException {
    String form =
        " feature_type: SequenceFeature embedding_dim: 8 hash_bucket_size: 40 max_seq_len: 7 }\n";
    String head =
        HEAD.replace(
                "features { input_names: 'item'",
                "features { feature_name: 's' input_names: 'seen'"
                    + form
                    + "features { feature_name: 'k' input_names: 'kinds'"
                    + form
                    + "features { input_names: 'bought'"
                    + form
                    + "features { input_names: 'left'"
                    + form
                    + "features { feature_name: 'i' input_names: 'item'")
            .replace(
                "label_fields:",
                "input_fields { input_name: 'kinds' } input_fields { input_name: 'bought' }"
                    + " input_fields { input_name: 'left' } label_fields:");
    String model =
        model(
                "DCN",
                "seq_att_groups { group_name: 'a' seq_att_map { key: 'i' hist_seq: ['s', 'k'] } }")
            .replace("'item', 'tags'", "'i', 'bought', 'left'");
    Translation translation = translate(head + model);
    assertThat(translation.yaml())
        .contains("{columns: [seen], encode: id, table: item,")
        .contains("sequence: {name: s, keep: first, max_length: 7}");
    assertThat(config(translation).data().columnsOfSequences())
        .containsExactly(List.of("bought"), List.of("left"), List.of("kinds", "seen"));
  }

  @Test
  void featuresOfOneNameShareATable() throws IOException {
    String head =
        HEAD.replace(
            "features { input_names: 'item' feature_type: IdFeature embedding_dim: 8 num_buckets:"
                + " 50 }",
            """
            features { input_names: 'seen' feature_type: SequenceFeature embedding_dim: 8 hash_bucket_size: 40 embedding_name: 'it' max_seq_len: 7 }
            features { input_names: 'item' feature_type: IdFeature embedding_dim: 8 hash_bucket_size: 40 embedding_name: 'it' }
            """);
    String model = model("DCN", "").replace("'tags'", "'tags', 'seen'");
    assertThat(translate(head + model).yaml())
        .contains("{columns: [seen], encode: hash, buckets: 40, table: item,")
        .contains("sequence: {name: seen, keep: first, max_length: 7}");
  }

  @Test
  void optimizersHaveTheirConstants() throws IOException {
    String adam =
        HEAD.substring(HEAD.indexOf("    adam_optimizer"), HEAD.indexOf("    use_moving"));
    String poly =
        "learning_rate { poly_decay_learning_rate { learning_rate_base: 0.1 total_steps: 900 power:"
            + " 2 } }";
    Map<String, String> values =
        config(
                translate(
                    HEAD.replace(
                            adam,
                            "momentum_optimizer { "
                                + poly
                                + " } embedding_learning_rate_multiplier: 10\n")
                        + DEEPFM))
            .values();
    assertThat(values)
        .containsEntry("train.optimizer.type", "momentum")
        .containsEntry("train.optimizer.momentum", "0.9")
        .containsEntry("train.optimizer.lr", "0.1")
        .containsEntry("train.table_optimizer.lr", "1")
        .containsEntry("train.table_optimizer.type", "momentum")
        .containsEntry("train.table_optimizer.momentum", "0.9")
        .containsEntry("train.schedule.decay_steps", "900");
    assertThat(config(translate(HEAD.replace(adam, "adagrad_optimizer {}\n") + DEEPFM)).values())
        .containsEntry("train.optimizer.initial", "0.1");
    String ftrl = HEAD.replace(adam, "ftrl_optimizer { l1_reg: 0.5 learning_rate {} }\n");
    assertThat(translate(ftrl + DEEPFM).notes().changed())
        .anyMatch(line -> line.contains("ftrl_optimizer: {...}: ftrl begins with sums"));
    ftrl = ftrl.replace("l1_reg: 0.5", "l1_reg: 0.5 initial_accumulator_value: 0.2");
    assertThat(translate(ftrl + DEEPFM).notes().left())
        .anyMatch(
            line -> line.contains("ftrl_optimizer.initial_accumulator_value: 0.2: ftrl begins"));
    String root = HEAD.replace(adam, "sgd_optimizer { " + poly.replace("2 }", "0.5 }") + " }\n");
    assertThat(translate(root + DEEPFM).notes().changed())
        .anyMatch(line -> line.contains("power: 0.5: a power is from 1 to 100; 1 takes its place"));
  }

  @Test
  void aFileThatEndsAnywhereIsTranslatedOrRefused() throws IOException {
    String text = HEAD + DEEPFM;
    int refused = 0;
    for (int end = 0; end < text.length(); end += 31) {
      try {
        translate(text.substring(0, end));
      } catch (ConfigException e) {
        assertThat(e.getMessage()).contains("got ", "expected ");
        refused++;
      }
    }
    // No part is whole: the model ends with the file.
    assertThat(refused).isEqualTo((text.length() + 30) / 31);
  }

  @Test
  void whatIsDamagedIsRefusedWithItsLine() {
    assertThatThrownBy(() -> translate(HEAD.replace("batch_size: 64", "batch_size: 'x'") + DEEPFM))
        .isInstanceOf(ConfigException.class)
        .hasMessage("pipeline.config line 32: batch_size: got x, expected a number; change it");
    assertThatThrownBy(() -> translate(HEAD)).hasMessageContaining("got no model_class");
    assertThatThrownBy(() -> translate(HEAD + "model_config: 1"))
        .hasMessageContaining("model_config: got 1, expected settings in it");
    assertThatThrownBy(() -> translate((HEAD + DEEPFM).substring(0, 900)))
        .hasMessageStartingWith("pipeline.config line ");
  }
}
