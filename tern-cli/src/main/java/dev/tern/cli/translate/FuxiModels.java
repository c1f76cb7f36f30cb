package dev.tern.cli.translate;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The models of FuxiCTR as those of Tern.
 *
 * @param type as in {@code model.type}
 * @param keys of {@code model} that the model of FuxiCTR implies
 * @param sizes settings of FuxiCTR with the key of {@code model} that each becomes
 */
record FuxiModels(String type, Map<String, String> keys, Map<String, String> sizes) {
  /** What takes the place of a model that Tern lacks. */
  static final String STAND_IN = "wdl";

  /** Settings that mean the same in most models. */
  private static final Map<String, String> COMMON =
      pairs(
          "embedding_dim=embedding net_dropout=dropout dropout_rate=dropout batch_norm=batch_norm"
              + " hidden_units=hidden hidden_activations=activation dnn_activations=activation"
              + " dnn_hidden_units=hidden dnn_hidden_activations=activation");

  /** Model, type, keys, sizes. */
  private static final String TABLE =
      """
      LR | lr | |
      FM | fm | pairs=slots |
      FFM | ffm | |
      FFMv2 | ffm | |
      FwFM | fwfm | |
      AFM | afm | | attention_dim=units
      WideDeep | wdl | |
      DeepFM | deepfm | pairs=slots |
      NFM | nfm | |
      PNN | pnn | products=inner |
      DCN | dcn | | num_cross_layers=cross_layers crossing_layers=cross_layers
      DCNv2 | dcnv2 | | num_cross_layers=cross_layers crossing_layers=cross_layers parallel_dnn_hidden_units=hidden
      DeepCrossing | deepcrossing | | residual_blocks=hidden
      AutoInt | autoint | | attention_layers=cross_layers num_heads=heads
      xDeepFM | xdeepfm | |
      FiBiNET | fibinet | | reduction_ratio=reduction
      GDCN | gdcn | structure=stacked | num_cross_layers=cross_layers crossing_layers=cross_layers
      GDCNS | gdcn | structure=stacked | num_cross_layers=cross_layers crossing_layers=cross_layers
      GDCNP | gdcn | structure=parallel | num_cross_layers=cross_layers crossing_layers=cross_layers
      MaskNet | masknet | | parallel_num_blocks=cross_layers parallel_block_dim=units
      FinalMLP | finalmlp | | mlp1_hidden_units=hidden mlp2_hidden_units=second num_heads=heads fs_hidden_units=gates mlp1_hidden_activations=activation mlp1_dropout=dropout mlp1_batch_norm=batch_norm
      WuKong | wukong | | num_layers=cross_layers compression_dim=units fmb_units=second mlp_hidden_units=hidden
      DLRM | dlrm | | top_mlp_activations=activation top_mlp_dropout=dropout
      DIN | din | | attention_hidden_units=attention
      DIEN | dien | |
      EulerNet | eulernet | | net_ex_dropout=dropout
      FINAL | finalnet | | block1_hidden_units=hidden block2_hidden_units=second block1_dropout=dropout
      FinalNet | finalnet | | block1_hidden_units=hidden block2_hidden_units=second block1_dropout=dropout
      BST | bst | | num_heads=heads
      SharedBottom | sharedbottom | | bottom_hidden_units=hidden tower_hidden_units=towers
      ShareBottom | sharedbottom | | bottom_hidden_units=hidden tower_hidden_units=towers
      MMoE | mmoe | | num_experts=experts expert_hidden_units=hidden gate_hidden_units=gates tower_hidden_units=towers
      PLE | ple | | num_layers=levels num_shared_experts=experts expert_hidden_units=hidden gate_hidden_units=gates tower_hidden_units=towers
      ESMM | esmm | | tower_hidden_units=towers
      """;

  private static final Map<String, FuxiModels> ALL = all();

  private static Map<String, FuxiModels> all() {
    return TABLE
        .lines()
        .map(line -> line.split("\\|", -1))
        .collect(
            Collectors.toMap(
                cells -> cells[0].strip(),
                cells -> new FuxiModels(cells[1].strip(), pairs(cells[2]), pairs(cells[3]))));
  }

  private static Map<String, String> pairs(String text) {
    Map<String, String> pairs = new LinkedHashMap<>();
    Arrays.stream(text.strip().split(" +"))
        .filter(pair -> !pair.isEmpty())
        .map(pair -> pair.split("="))
        .forEach(pair -> pairs.put(pair[0], pair[1]));
    return pairs;
  }

  /** The model of a name of FuxiCTR. */
  static Optional<FuxiModels> of(String name) {
    return Optional.ofNullable(ALL.get(name));
  }

  /** Sets the keys of the section {@code model}. */
  void write(Section settings, ModelSizes model, RunYaml run, TranslationNotes notes) {
    keys.forEach((key, value) -> run.set("model." + key, value));
    COMMON.forEach((name, key) -> model.size(settings, name, key));
    sizes.forEach((name, key) -> model.size(settings, name, key));
    FuxiForms forms = new FuxiForms(settings, run, notes);
    switch (type) {
      case "dcnv2" -> forms.crossNetwork();
      case "dlrm" -> forms.bottomAndTop();
      case "autoint" -> forms.attention();
      case "xdeepfm" -> forms.compressed();
      case "fibinet" -> forms.bilinear();
      case "masknet" -> forms.masks();
      case "pnn" -> forms.products();
      case "ple" -> forms.experts();
      case "dien" -> forms.interests();
      case "eulernet" -> forms.complexNumbers();
      case "finalnet" -> forms.blocks();
      case "din", "bst" -> forms.sequences(type);
      default -> {}
    }
    forms.idle(List.of("num_tasks"), "it is the number of labels");
  }
}
