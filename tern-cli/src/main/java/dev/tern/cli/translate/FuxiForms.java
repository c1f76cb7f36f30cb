package dev.tern.cli.translate;

import java.util.List;
import java.util.Optional;

/** Settings of single models of FuxiCTR that are not one size of Tern's. */
record FuxiForms(Section settings, RunYaml run, TranslationNotes notes) {
  private static final long MOST = 1 << 20;
  private static final String FIXED = "Tern's model has this form alone: ";

  /** Settings that say nothing more. */
  void idle(List<String> names, String reason) {
    names.forEach(name -> settings.leave(reason, name));
  }

  /** Leaves a setting with one usual value, which is Tern's form. */
  private void only(String name, String usual) {
    settings
        .any(name)
        .filter(value -> !value.shown().equalsIgnoreCase(usual))
        .ifPresent(value -> notes.left(name, value, FIXED + usual));
  }

  /** Leaves shares of dropout, which are all 0 or have no key. */
  private void undropped(String name) {
    for (Setting.Text share : settings.texts(name)) {
      if (share.real() != 0) {
        notes.left(name, share, "model.dropout, from net_dropout, holds for all layers");
      }
    }
  }

  void crossNetwork() {
    only("model_structure", "parallel");
    idle(List.of("stacked_dnn_hidden_units"), "Tern's dcnv2 has its layers beside the crosses");
    boolean mixture = settings.text("use_low_rank_mixture").map(Setting.Text::flag).orElse(false);
    if (mixture) {
      whole("low_rank", "cross_rank", 32);
      whole("num_experts", "cross_experts", 4);
    } else {
      idle(List.of("low_rank", "num_experts"), "use_low_rank_mixture is false, so it says nothing");
    }
  }

  private void whole(String name, String key, long usual) {
    long value = settings.text(name).map(text -> text.whole(1, MOST)).orElse(usual);
    run.set("model." + key, value);
  }

  /** FuxiCTR adds the last layers, which Tern has in its lists. */
  void bottomAndTop() {
    long width = run.get("model.embedding").map(Long::parseLong).orElse(16L);
    run.set("model.bottom", ModelSizes.widths(settings.texts("bottom_mlp_units"), width));
    run.set("model.top", ModelSizes.widths(settings.texts("top_mlp_units"), 1));
    only("interaction_op", "dot");
    String both = "bottom and top have one of model, that of top";
    idle(List.of("bottom_mlp_activations", "bottom_mlp_dropout"), both);
  }

  /** FuxiCTR gives the width of all heads together. */
  void attention() {
    long heads = settings.text("num_heads").map(text -> text.whole(1, 256)).orElse(1L);
    run.set("model.heads", heads);
    settings
        .text("attention_dim")
        .ifPresent(width -> {
          long all = width.whole(1, MOST);
          run.set("model.units", Math.max(1, all / heads));
          if (all % heads != 0) {
            notes.changed("attention_dim", width, "heads have equally many units, rounded down");
          }
        });
    only("use_residual", "True");
    only("layer_norm", "False");
    only("use_scale", "False");
    only("use_wide", "False");
  }

  void compressed() {
    List<Setting.Text> maps = settings.texts("cin_hidden_units");
    layers(
        maps.isEmpty() ? settings.texts("cin_layer_units") : maps,
        "each layer has as many maps as the first");
  }

  /** Layers that each make a number of vectors. */
  private void layers(List<Setting.Text> all, String reason) {
    if (all.isEmpty()) {
      return;
    }
    run.set("model.cross_layers", all.size());
    run.set("model.vectors", all.getFirst().whole(1, MOST));
    all.stream()
        .filter(each -> !each.text().equals(all.getFirst().text()))
        .findFirst()
        .ifPresent(other -> notes.changed(other.name(), other, reason));
  }

  void bilinear() {
    for (Setting.Text form : settings.text("bilinear_type").stream().toList()) {
      switch (form.text()) {
        case "field_all" -> run.set("model.bilinear", "one");
        case "field_each" -> run.set("model.bilinear", "field");
        case "field_interaction" -> run.set("model.bilinear", "pair");
        default -> notes.left("bilinear_type", form, "Tern has one, field and pair");
      }
    }
  }

  void masks() {
    boolean parallel =
        settings.text("model_type").map(form -> form.text().startsWith("Parallel")).orElse(false);
    run.set("model.structure", parallel ? "parallel" : "stacked");
    List<Setting.Text> layers = settings.texts("dnn_hidden_units");
    if (!parallel && !layers.isEmpty()) {
      run.set("model.cross_layers", layers.size());
      run.set("model.units", layers.getFirst().whole(1, MOST));
      notes.changed(
          "dnn_hidden_units",
          layers.getFirst(),
          "blocks have the first width, layers behind them all");
      idle(List.of("parallel_num_blocks", "parallel_block_dim"), "blocks are not parallel");
    }
    idle(List.of("reduction_ratio"), "model.gates has the widths of the layers of a mask");
    only("emb_layernorm", "True");
    only("net_layernorm", "True");
  }

  void products() {
    for (Setting.Text form : settings.text("product_type").stream().toList()) {
      if (List.of("inner", "outer", "both").contains(form.text())) {
        run.set("model.products", form.text());
      } else {
        notes.left("product_type", form, "Tern has inner, outer and both");
      }
    }
  }

  void complexNumbers() {
    layers(settings.texts("shape"), "each layer makes as many vectors as the first");
    sameDropout("net_im_dropout");
    only("layer_norm", "False");
  }

  void blocks() {
    if (settings.text("block_type").filter(form -> form.text().equals("1B")).isPresent()) {
      run.set("model.second", "[]");
      idle(List.of("block2_dropout"), "block_type says that there is no second block");
    } else {
      sameDropout("block2_dropout");
      only("block2_hidden_activations", "ReLU");
    }
    onlyTold("block1_hidden_activations", "ReLU", "none");
    onlyTold("batch_norm", "False", "True");
    onlyTold("residual_type", "sum", "concat");
    only("use_feature_gating", "False");
    only("use_field_gate", "False");
  }

  /** As {@link #only}, of a setting that has another value in FuxiCTR where nothing is said. */
  private void onlyTold(String name, String usual, String unsaid) {
    only(name, usual);
    if (!settings.has(name)) {
      settings
          .text("model")
          .ifPresent(model ->
              notes.changed(
                  "model", model, name + ": " + unsaid + " is implied; " + FIXED + usual));
    }
  }

  /** Leaves a share of dropout that is not the one of all layers. */
  private void sameDropout(String name) {
    double all = run.get("model.dropout").map(Double::parseDouble).orElse(0.0);
    settings.texts(name).stream()
        .filter(share -> share.real() != all)
        .forEach(share -> notes.left(name, share, "all layers have one model.dropout: " + all));
  }

  void interests() {
    settings
        .text("aux_loss_alpha")
        .map(Setting.Text::real)
        .ifPresent(factor -> run.set("model.auxiliary", Math.clamp(factor, 0.0, 1e6)));
    idle(
        List.of("aux_hidden_units", "aux_activation"),
        "products of states and elements tell which element follows");
    only("gru_type", "AUGRU");
    only("attention_type", "bilinear_attention");
    only("use_attention_softmax", "True");
    only("enable_sum_pooling", "False");
    undropped("attention_dropout");
    idle(
        List.of("attention_hidden_units", "attention_activation"),
        "attention is bilinear, without layers");
  }

  void experts() {
    Optional<Setting.Text> own = settings.text("num_specific_experts");
    Optional<String> shared = run.get("model.experts");
    if (own.isPresent() && !shared.equals(own.map(count -> Long.toString(count.whole(1, MOST))))) {
      notes.changed(
          "num_specific_experts", own.get(), "a task has as many experts of its own as are shared");
    }
  }

  void sequences(String type) {
    only("attention_output_activation", "null");
    only("din_use_softmax", "False");
    undropped("attention_dropout");
    idle(
        List.of("attention_hidden_activations"),
        "layers of attention have what model.activation says");
    if (type.equals("bst")) {
      idle(
          List.of("stacked_transformer_layers"),
          "model.feed_forward has a width for each block of the transformer; give as many");
      only("layer_norm", "True");
      only("use_residual", "True");
      only("use_position_emb", "True");
      only("use_causal_mask", "False");
      only("seq_pooling_type", "mean");
    }
  }
}
