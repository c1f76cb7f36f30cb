package dev.tern.cli.translate;

import java.util.List;
import java.util.Optional;

/** How a model of EasyRec is trained, as the sections {@code train} and {@code run}. */
record EasyRecTraining(Section root, RunYaml run, TranslationNotes notes) {
  private static final String[] PLACES = {
    "sync_replicas",
    "train_distribute",
    "num_gpus_per_worker",
    "inter_op_parallelism_threads",
    "intra_op_parallelism_threads",
    "protocol",
    "tensor_fuse",
    "is_profiling",
    "write_graph",
    "summary_model_vars",
    "save_summary_steps",
    "sparse_accumulator_type",
    "startup_delay_steps"
  };

  /** More passes than this mean that num_steps ends training. */
  private static final long MOST_PASSES = 100;

  /** What EasyRec has where nothing is said. */
  private static final long USUAL_BATCH = 32;

  void translate() {
    run.text("run.dir", root.text("model_dir").map(Setting.Text::text).orElse("runs/easyrec"));
    Section train = root.section("train_config");
    Section data = root.section("data_config");
    long batch = data.text("batch_size").map(size -> size.whole(1, 1 << 24)).orElse(USUAL_BATCH);
    run.set("train.batch", batch);
    length(train, data, batch);
    data.text("shuffle")
        .filter(shuffle -> !shuffle.flag())
        .ifPresent(_ -> run.set("train.shuffle", 0));
    List<Section> optimizers = train.sections("optimizer_config");
    optimizers.stream()
        .findFirst()
        .ifPresent(first -> new EasyRecOptimizer(run, notes).translate(first));
    optimizers.stream()
        .skip(1)
        .forEach(other ->
            other.leaveRest("train.table_optimizer is a second optimizer; set it for embeddings"));
    steps(train);
    evaluation(root.section("eval_config"));
  }

  /** Training ends after passes over the files, not after steps. */
  private void length(Section train, Section data, long batch) {
    Optional<Setting.Text> steps = train.text("num_steps");
    Optional<Setting.Text> passes = data.text("num_epochs");
    long count = steps.map(text -> text.whole(0, Long.MAX_VALUE)).orElse(0L);
    long epochs = passes.map(text -> text.whole(0, Long.MAX_VALUE)).orElse(0L);
    if (count > 0) {
      notes.left(
          "train_config.num_steps",
          steps.orElseThrow(),
          "Tern counts passes: give train.epochs, as in %s times %d over the rows of the files"
              .formatted(count, batch));
    }
    if (epochs > 0 && epochs <= (count > 0 ? MOST_PASSES : 1 << 20)) {
      run.set("train.epochs", epochs);
    } else {
      passes.ifPresent(text ->
          notes.left("data_config.num_epochs", text, "it sets no end; Tern trains for one pass"));
    }
  }

  private void steps(Section train) {
    train
        .text("log_step_count_steps")
        .ifPresent(steps -> run.set("train.log_every", steps.whole(1, Long.MAX_VALUE)));
    train
        .text("save_checkpoints_steps")
        .ifPresent(steps -> {
          run.set("train.checkpoint_every", steps.whole(1, Long.MAX_VALUE));
          run.set("train.evaluate_every", steps.whole(1, Long.MAX_VALUE));
        });
    train
        .text("gradient_clipping_by_norm")
        .map(Setting.Text::real)
        .filter(norm -> norm > 0)
        .ifPresent(norm -> run.set("train.clip_norm", norm));
    train.leave("checkpoints are written after steps or passes", "save_checkpoints_secs");
    train.leave("Tern keeps the best checkpoint and the last", "keep_checkpoint_max");
    train.leave("tern train --from RUN begins with weights of Tern", "fine_tune_checkpoint");
    train.leave("names are those of Tern's parameters: see model.frozen", "freeze_gradient");
    train.leave("train.delta writes what changed", "incr_save_config");
    train.leave("it changes no model", PLACES);
  }

  private void evaluation(Section eval) {
    for (Section metrics : eval.sections("metrics_set")) {
      metrics.any("auc"); // Tern has it always.
      Section grouped = metrics.section("gauc");
      grouped.text("uid_field").ifPresent(field -> run.text("data.group", field.text()));
      grouped.leave("tern evaluate says the weights of its figures", "reduction");
      metrics.leaveRest("evaluations have their figures, and by group those of data.group");
    }
    eval.leave("evaluations read all rows of data.eval", "num_examples");
    eval.leaveRest("it changes no model");
  }
}
