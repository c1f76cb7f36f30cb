package dev.tern.cli.translate;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** How an experiment of FuxiCTR is trained, as the section {@code train}. */
record FuxiTraining(Section settings, RunYaml run, TranslationNotes notes) {
  /** As in {@code l2(1e-5)}; a number alone is one of L2. */
  private static final Pattern REGULARIZER =
      Pattern.compile("(?:(l1|l2|l1_l2)\\s*\\()?([^()]+)\\)?");

  private static final Pattern DEVIATION =
      Pattern.compile(".*normal_.*std\\s*=\\s*([0-9.eE+-]+).*");

  /** Of an expression that is looked at. */
  private static final int MOST_LETTERS = 500;

  /** What FuxiCTR bounds the norm of gradients by where nothing is said. */
  private static final double USUAL_NORM = 10;

  void translate(String experiment) {
    String root = settings.text("model_root").map(Setting.Text::text).orElse("runs");
    run.text("run.dir", root.replaceFirst("/$", "") + "/" + experiment);
    optimizer();
    whole("batch_size", "train.batch", 1, 1 << 24);
    whole("epochs", "train.epochs", 1, 1 << 20);
    whole("seed", "train.seed", 0, Long.MAX_VALUE);
    whole("eval_steps", "train.evaluate_every", 1, Long.MAX_VALUE);
    settings
        .text("num_workers")
        .ifPresent(count -> run.set("data.threads", Math.clamp(count.whole(0, 1 << 20), 1L, 64L)));
    settings
        .text("shuffle")
        .filter(shuffle -> !shuffle.flag())
        .ifPresent(_ -> run.set("train.shuffle", 0));
    double norm = settings.text("max_gradient_norm").map(Setting.Text::real).orElse(USUAL_NORM);
    run.set("train.clip_norm", Math.max(0, norm));
    initial();
    regularization();
    monitor();
    loss();
    nothing();
  }

  private void whole(String name, String path, long least, long most) {
    settings.text(name).ifPresent(value -> run.set(path, value.whole(least, most)));
  }

  private void optimizer() {
    Optional<Setting.Text> name = settings.text("optimizer");
    String type = name.map(text -> text.text().toLowerCase(Locale.ROOT)).orElse("adam");
    switch (type) {
      case "adam", "sgd", "rmsprop" -> run.set("train.optimizer.type", type);
      case "adagrad" -> {
        run.set("train.optimizer.type", type);
        run.set("train.optimizer.eps", 1e-10); // Of PyTorch.
      }
      default -> {
        run.set("train.optimizer.type", "adam");
        notes.left(
            "optimizer", name.orElseThrow(), "Tern has none of this name; adam takes its place");
      }
    }
    settings
        .text("learning_rate")
        .ifPresent(rate -> run.set("train.optimizer.lr", Math.max(0, rate.real())));
  }

  /** Embeddings begin as FuxiCTR draws them: with a deviation of 1e-4 unless it is told. */
  private void initial() {
    Optional<Setting.Text> told = settings.text("embedding_initializer");
    double deviation = 1e-4;
    if (told.isPresent()) {
      Matcher matcher = DEVIATION.matcher(told.get().text());
      if (told.get().text().length() <= MOST_LETTERS && matcher.matches()) {
        deviation = new Setting.Text("std", matcher.group(1), told.get().place()).real();
      } else {
        notes.left(
            "embedding_initializer", told.get(), "Tern draws normal weights of 1e-4 in its place");
      }
    }
    run.set("model.initializer.type", "normal");
    run.set("model.initializer.scale", deviation);
  }

  private void regularization() {
    double both = share("regularizer");
    double rows = Math.max(both, share("embedding_regularizer"));
    double dense = Math.max(both, share("net_regularizer"));
    if (!new Regularization(dense, rows, true).write(run)) {
      settings
          .text("embedding_regularizer")
          .ifPresent(text ->
              notes.left(
                  "embedding_regularizer",
                  text,
                  "columns have no names; give them l2 in model.tables"));
    }
  }

  private double share(String name) {
    Optional<Setting.Text> text = settings.text(name);
    if (text.isEmpty()) {
      return 0;
    }
    Matcher matcher = REGULARIZER.matcher(text.get().text().strip());
    boolean isOther =
        matcher.matches() && matcher.group(1) != null && !matcher.group(1).equals("l2");
    if (!matcher.matches() || isOther) {
      notes.left(name, text.get(), "Tern has L2 of weights alone");
      return 0;
    }
    return Math.max(0, new Setting.Text(name, matcher.group(2), text.get().place()).real());
  }

  private void monitor() {
    String key = settings.any("monitor").map(this::figure).orElse("auc");
    run.set("train.monitor", key);
    String usual = key.equals("log_loss") ? "min" : "max";
    settings
        .text("monitor_mode")
        .filter(mode -> !mode.text().equals(usual))
        .ifPresent(mode -> notes.left("monitor_mode", mode, key + " has the mode " + usual));
    if (run.get("data.eval").isEmpty()) {
      settings.leave("there are no rows to evaluate on", "early_stop_patience");
      return;
    }
    settings
        .text("early_stop_patience")
        .ifPresent(patience -> {
          run.set("train.early_stop", patience.whole(0, Integer.MAX_VALUE));
          notes.changed(
              "early_stop_patience",
              patience,
              "the learning rate does not fall to a tenth at each evaluation that is no better");
        });
  }

  /** The figure that decides; of several the AUC, or the first. */
  private String figure(Setting monitor) {
    String name =
        switch (monitor) {
          case Setting.Text text -> text.text();
          case Setting.Many _ -> "";
          case Section several -> {
            several.names().forEach(several::any);
            yield several.has("AUC") ? "AUC" : several.names().stream().findFirst().orElse("");
          }
        };
    if (monitor instanceof Section) {
      notes.changed("monitor", monitor, name + " alone decides in Tern");
    }
    return switch (name.toLowerCase(Locale.ROOT)) {
      case "auc" -> "auc";
      case "logloss", "binary_crossentropy" -> "log_loss";
      case "gauc", "avgauc" -> run.get("data.group").isPresent() ? "gauc" : "auc";
      default -> {
        notes.left("monitor", monitor, "Tern has auc, log_loss and gauc; auc takes its place");
        yield "auc";
      }
    };
  }

  private void loss() {
    for (String name : List.of("loss", "task")) {
      for (Setting.Text each : settings.texts(name)) {
        if (!List.of("binary_crossentropy", "binary_classification").contains(each.text())) {
          notes.left(name, each, "see data.labels.loss; a binary cross entropy takes its place");
        }
      }
    }
    for (Setting.Text metric : settings.texts("metrics")) {
      if (!List.of("AUC", "logloss").contains(metric.text())) {
        notes.left(
            "metrics", metric, "evaluations have their figures, and by group those of data.group");
      }
    }
  }

  /** Settings that change no model. */
  private void nothing() {
    settings.leave("what is printed changes no model", "verbose");
    settings.leave("Tern keeps the best checkpoint and the last", "save_best_only");
    settings.leave("a checkpoint has its encoder", "pickle_feature_encoder");
    settings.leave("it changes no model", "debug_mode", "gpu");
    settings.leave(
        "early_stop_patience says what becomes of the learning rate", "reduce_lr_on_plateau");
    settings.leave("columns are those of the data set", "feature_config");
  }
}
