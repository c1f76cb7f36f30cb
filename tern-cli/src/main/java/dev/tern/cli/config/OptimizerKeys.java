package dev.tern.cli.config;

import dev.tern.optim.Optimizer;
import dev.tern.optim.Optimizer.Adam.Untouched;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The keys of a section that names an optimizer and its constants. */
final class OptimizerKeys {
  private static final String SAME = "same";
  private static final List<String> TYPES =
      List.of(
          "sgd", "momentum", "nesterov", "adagrad", "rowwise-adagrad", "rmsprop", "adam", "ftrl");
  private static final Kind<Double> FACTOR = Kind.FACTOR;
  private static final Kind<Double> SHARE = Kind.SHARE;

  private final String section;
  private final Key.Section keys;
  private final Key<String> type;
  private final Key<Double> lr;
  private final Key<Double> momentum;
  private final Key<Double> initial;
  private final Key<Double> rho;
  private final Key<Double> beta1;
  private final Key<Double> beta2;
  private final Key<Double> eps;
  private final Key<String> lazy;
  private final Key<Double> beta;
  private final Key<Double> l1;
  private final Key<Double> l2;

  private OptimizerKeys(Key.Section keys, String section, String fallback, String doc) {
    this.keys = keys;
    this.section = section;
    boolean same = fallback.equals(SAME);
    List<String> types = same ? Stream.concat(Stream.of(SAME), TYPES.stream()).toList() : TYPES;
    type = keys.key(path("type"), Kind.Choice.of(types.toArray(String[]::new)), fallback, doc);
    Key<Double> rate = keys.key(path("lr"), FACTOR, 0.001, "Learning rate.");
    lr = same ? rate.when(type, TYPES.toArray(String[]::new)) : rate;
    momentum =
        add("momentum", SHARE, 0.9, "Share of the last update kept.", "momentum", "nesterov");
    initial =
        add("initial", FACTOR, 0.0, "Start of the sums of squares.", "adagrad", "rowwise-adagrad");
    rho = add("rho", SHARE, 0.99, "Decay of the mean squared gradient.", "rmsprop");
    beta1 = add("beta1", SHARE, 0.9, "Decay of the mean gradient.", "adam");
    beta2 = add("beta2", SHARE, 0.999, "Decay of the mean squared gradient.", "adam");
    eps =
        add(
            "eps",
            new Kind.Real(1e-30, 1),
            1e-8,
            "Added to the root to keep it from 0.",
            "adagrad",
            "rowwise-adagrad",
            "rmsprop",
            "adam");
    lazy =
        add(
            "lazy",
            Kind.Choice.of("false", "true", "global"),
            "false",
            "Leave rows of embeddings that a batch does not touch as they are; global makes up"
                + " for the decay of their mean gradients when a batch touches them; false walks"
                + " the whole tables in each step.",
            "adam");
    beta = add("beta", FACTOR, 0.0, "Beta of FTRL.", "ftrl");
    l1 = add("l1", FACTOR, 0.0, "L1 of FTRL.", "ftrl");
    l2 =
        add(
            "l2",
            FACTOR,
            0.0,
            "L2 of FTRL, as part of its rule; train.l2 adds to the gradient before it.",
            "ftrl");
  }

  /** Of a section with an optimizer always. */
  static OptimizerKeys of(Key.Section keys, String section, String fallback, String doc) {
    return new OptimizerKeys(keys, section, fallback, doc);
  }

  /** Of a section that says, where it says nothing, to do as another one. */
  static OptimizerKeys orSame(Key.Section keys, String section, String doc) {
    return new OptimizerKeys(keys, section, SAME, doc);
  }

  private String path(String name) {
    return section + "." + name;
  }

  private <T> Key<T> add(String name, Kind<T> kind, T fallback, String doc, String... types) {
    return keys.key(path(name), kind, fallback, doc).when(type, types);
  }

  String section() {
    return section;
  }

  /** The key of the optimizer's name. */
  Key<String> type() {
    return type;
  }

  /** Whether the optimizer is of this type. */
  boolean is(Settings.Group s, String name) {
    return s.get(type).equals(name);
  }

  /** Whether it is Adam that updates all rows of tables in each step. */
  boolean walksTables(Settings.Group s) {
    return is(s, "adam") && s.get(lazy).equals("false");
  }

  /** The optimizer; none where the section says to do as another one. */
  Optional<Optimizer> read(Settings.Group s) {
    if (is(s, SAME)) {
      return Optional.empty();
    }
    float rate = s.get(lr).floatValue();
    float start = s.get(initial).floatValue();
    float least = s.get(eps).floatValue();
    return Optional.of(
        switch (s.get(type)) {
          case "momentum" -> new Optimizer.Momentum(rate, s.get(momentum).floatValue());
          case "nesterov" -> new Optimizer.Nesterov(rate, s.get(momentum).floatValue());
          case "adagrad" -> new Optimizer.Adagrad(rate, start, least);
          case "rowwise-adagrad" -> new Optimizer.RowWiseAdagrad(rate, start, least);
          case "rmsprop" -> new Optimizer.RmsProp(rate, s.get(rho).floatValue(), least);
          case "adam" -> adam(s, rate, least);
          case "ftrl" -> ftrl(s, rate);
          case "sgd" -> new Optimizer.Sgd(rate);
          default -> throw new IllegalStateException("no optimizer for " + s.get(type));
        });
  }

  private Optimizer adam(Settings.Group s, float rate, float least) {
    Untouched untouched =
        switch (s.get(lazy)) {
          case "true" -> Untouched.KEPT;
          case "global" -> Untouched.DECAYED;
          default -> Untouched.UPDATED;
        };
    return new Optimizer.Adam(
        rate, s.get(beta1).floatValue(), s.get(beta2).floatValue(), least, untouched);
  }

  private Optimizer ftrl(Settings.Group s, float rate) {
    return new Optimizer.Ftrl(
        rate, s.get(beta).floatValue(), s.get(l1).floatValue(), s.get(l2).floatValue());
  }
}
