package dev.tern.cli.translate;

import java.util.List;
import java.util.Optional;

/** An optimizer of EasyRec with its learning rate. */
record EasyRecOptimizer(RunYaml run, TranslationNotes notes) {
  private static final String PATH = "train.optimizer.";
  private static final double USUAL_RATE = 0.002;
  private static final List<String> SCHEDULES =
      List.of(
          "exponential_decay_learning_rate",
          "manual_step_learning_rate",
          "cosine_decay_learning_rate",
          "poly_decay_learning_rate",
          "transformer_learning_rate");

  void translate(Section config) {
    config
        .text("use_moving_average")
        .filter(Setting.Text::flag)
        .ifPresent(on ->
            notes.left(
                "optimizer_config.use_moving_average", on, "Tern keeps no averages of weights"));
    config.leave("Tern keeps no averages of weights", "moving_average_decay");
    String name =
        config.names().stream().filter(each -> each.endsWith("_optimizer")).findFirst().orElse("");
    Section optimizer = config.section(name);
    switch (name) {
      case "adam_optimizer", "adam_async_optimizer", "lazy_adam_optimizer" ->
          adam(optimizer, name.startsWith("lazy"));
      case "adamw_optimizer", "adam_asyncw_optimizer" -> {
        adam(optimizer, false);
        real(optimizer, "weight_decay", "train.weight_decay", 1e-6);
      }
      case "momentum_optimizer", "momentumw_optimizer" -> {
        run.set(PATH + "type", "momentum");
        real(optimizer, "momentum_optimizer_value", PATH + "momentum", 0.9);
        if (name.startsWith("momentumw")) {
          real(optimizer, "weight_decay", "train.weight_decay", 1e-6);
        }
      }
      case "adagrad_optimizer" -> {
        run.set(PATH + "type", "adagrad");
        real(optimizer, "initial_accumulator_value", PATH + "initial", 0.1); // Of TensorFlow.
      }
      case "rms_prop_optimizer" -> {
        run.set(PATH + "type", "rmsprop");
        real(optimizer, "decay", PATH + "rho", 0.9);
        real(optimizer, "epsilon", PATH + "eps", 1);
      }
      case "ftrl_optimizer" -> {
        run.set(PATH + "type", "ftrl");
        real(optimizer, "l1_reg", PATH + "l1", 0);
        real(optimizer, "l2_reg", PATH + "l2", 0);
        accumulator(optimizer);
      }
      case "sgd_optimizer" -> run.set(PATH + "type", "sgd");
      default -> run.set(PATH + "type", "adam");
    }
    optimizer.leaveRest("Tern's optimizer has no such constant, or with another name");
    double rate = rate(optimizer.section("learning_rate"));
    run.set(PATH + "lr", rate);
    config
        .text("embedding_learning_rate_multiplier")
        .ifPresent(factor -> {
          run.section("train.optimizer")
              .forEach((key, value) -> run.set("train.table_optimizer." + key, value));
          run.set("train.table_optimizer.lr", Math.max(0, rate * factor.real()));
        });
  }

  private void adam(Section optimizer, boolean lazy) {
    run.set(PATH + "type", "adam");
    real(optimizer, "beta1", PATH + "beta1", 0.9);
    real(optimizer, "beta2", PATH + "beta2", 0.999);
    if (lazy) {
      run.set(PATH + "lazy", "true");
    }
  }

  /** TensorFlow begins FTRL's sums of squares at 0.1 where nothing is said, Tern at 0. */
  private void accumulator(Section optimizer) {
    String name = "initial_accumulator_value";
    Optional<Setting.Text> told = optimizer.text(name);
    if (told.map(Setting.Text::real).orElse(0.1) == 0) {
      return;
    }
    String reason = "ftrl begins with sums of squares of 0";
    String path = "optimizer_config.ftrl_optimizer";
    told.ifPresentOrElse(
        text -> notes.left(path + "." + name, text, reason),
        () -> notes.changed(path, optimizer, reason + ", in EasyRec of 0.1"));
  }

  private void real(Section from, String name, String path, double usual) {
    double value = from.text(name).map(Setting.Text::real).orElse(usual);
    run.set(path, Math.max(0, value));
  }

  /** The learning rate at first; one that falls by a power of the steps has a schedule, too. */
  private double rate(Section rates) {
    Section constant = rates.section("constant_learning_rate");
    Optional<Setting.Text> rate = constant.text("learning_rate");
    for (String name : SCHEDULES) {
      if (!rates.has(name)) {
        continue;
      }
      Section schedule = rates.section(name);
      for (String key : List.of("initial_learning_rate", "learning_rate_base", "learning_rate")) {
        rate = rate.or(() -> schedule.text(key));
      }
      if (name.startsWith("poly")) {
        powers(schedule);
      }
      schedule.leaveRest(
          "train.schedule has a rise, and a fall by a power of the steps left, alone");
    }
    return Math.max(0, rate.map(Setting.Text::real).orElse(USUAL_RATE));
  }

  private void powers(Section schedule) {
    run.set("train.schedule.type", "warmup-decay");
    run.set("train.schedule.decay_start", 1);
    schedule
        .text("total_steps")
        .ifPresent(steps -> run.set("train.schedule.decay_steps", steps.whole(1, Long.MAX_VALUE)));
    Optional<Setting.Text> power = schedule.text("power");
    double told = power.map(Setting.Text::real).orElse(1.0);
    double taken = Math.clamp(told, 1.0, 100.0);
    run.set("train.schedule.decay_power", taken);
    power
        .filter(_ -> taken != told)
        .ifPresent(text ->
            notes.changed(
                "poly_decay_learning_rate.power",
                text,
                "a power is from 1 to 100; %s takes its place".formatted(RunYaml.number(taken))));
    real(schedule, "end_learning_rate", "train.schedule.end_lr", 0);
  }
}
