package dev.tern.cli.config;

import dev.tern.base.Shown;
import dev.tern.data.encode.TimePart;
import dev.tern.model.ModelPart;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Checks that concern several keys at once. */
final class Checks {
  private Checks() {}

  static void run(Settings settings) {
    data(settings);
    features(settings);
    if (ModelKeys.type(settings).has(ModelPart.BOTTOM_TOP)) {
      dlrm(settings);
    }
    experts(settings);
    tasks(settings);
    towers(settings);
    TableChecks.run(settings);
    LaneChecks.run(settings);
    weightDecay(settings);
    from(settings);
  }

  /** Checks of the section {@code data} alone. */
  static void data(Settings settings) {
    columns(settings, true);
    everyColumnOnce(settings, "data.dense");
    everyColumnOnce(settings, "data.sparse");
    NumberChecks.run(settings);
    times(settings);
  }

  /** Rows are evaluated on from a time on where they have times and no other rows are named. */
  private static void times(Settings s) {
    String time = s.get(DataKeys.TIME);
    List<String> known = s.get(DataKeys.COLUMNS);
    if (!time.isEmpty() && !known.isEmpty() && !known.contains(time) && !mayBeInPath(s, time)) {
      throw new ConfigException(
          s.where(DataKeys.TIME.path())
              + ": data.time: got the column "
              + time
              + ", expected one of data.columns; "
              + Names.nearest(time, known)
                  .map(near -> "did you mean " + near + "?")
                  .orElse("data.columns lists " + Shown.list(known)));
    }
    if (s.get(DataKeys.EVAL_FROM).isEmpty()) {
      return;
    }
    String where = s.where(DataKeys.EVAL_FROM.path()) + ": data.eval_from: got a time ";
    if (time.isEmpty()) {
      throw new ConfigException(
          where + "without data.time, expected the column that has the times of rows; name it");
    }
    if (!s.get(DataKeys.EVAL).isEmpty()) {
      throw new ConfigException(
          where + "beside data.eval, expected one of the two; remove the other");
    }
  }

  /** At most one group may leave columns out and take all that no other group names. */
  private static void everyColumnOnce(Settings s, String section) {
    Key<List<String>> key =
        section.endsWith("dense") ? DataKeys.DENSE_COLUMNS : DataKeys.SPARSE_COLUMNS;
    long open = IntStream.range(0, s.groups(section)).filter(i -> s.get(key, i).isEmpty()).count();
    String format = s.get(DataKeys.FORMAT);
    boolean named =
        format.equals("csv")
            || format.equals("libffm")
            || format.equals("libsvm") && section.endsWith("dense");
    if (open > 1 || open == 1 && named) {
      throw new ConfigException(
          s.where("data.format")
              + ": got "
              + (open > 1 ? open + " groups" : "a group")
              + " of "
              + section
              + " without columns, expected "
              + (open > 1 ? "at most one" : "names")
              + "; add columns: [NAME, ...] to it");
    }
  }

  /**
   * Each column has one use, and is among the file's columns if they are listed.
   *
   * @param labelled whether the label must be, which rows to be scored lack
   */
  static void columns(Settings s, boolean labelled) {
    labels(s);
    Map<String, String> uses = new LinkedHashMap<>();
    for (String label : DataConfig.labels(s)) {
      boolean listed = labelled || s.get(DataKeys.COLUMNS).contains(label);
      if (!s.get(DataKeys.FORMAT).equals("criteo-synthetic") && listed) {
        boolean several = s.groups("data.labels") > 0;
        use(s, uses, several ? "data.labels.columns" : "data.label.column", List.of(label));
      }
    }
    if (labelled) {
      DataConfig.weight(s).ifPresent(column -> use(s, uses, "data.weight", List.of(column)));
    }
    IntStream.range(0, s.groups("data.dense"))
        .forEach(
            i -> use(s, uses, "data.dense[" + i + "].columns", s.get(DataKeys.DENSE_COLUMNS, i)));
    IntStream.range(0, s.groups("data.sparse"))
        .forEach(
            i -> use(s, uses, "data.sparse[" + i + "].columns", s.get(DataKeys.SPARSE_COLUMNS, i)));
  }

  private static void features(Settings s) {
    boolean some =
        named(s, "data.dense", DataKeys.DENSE_COLUMNS)
            || named(s, "data.sparse", DataKeys.SPARSE_COLUMNS);
    String format = s.get(DataKeys.FORMAT);
    if (List.of("csv", "libffm").contains(format) && !some) {
      throw new ConfigException(
          s.where("data.format")
              + ": got "
              + format
              + " files but neither data.dense.columns nor data.sparse.columns, expected"
              + " some features; list the columns to learn from");
    }
  }

  private static boolean named(Settings s, String section, Key<List<String>> columns) {
    return IntStream.range(0, s.groups(section)).anyMatch(i -> !s.get(columns, i).isEmpty());
  }

  private static void use(Settings s, Map<String, String> uses, String path, List<String> columns) {
    // LIBSVM features and LIBFFM fields may also be named by number.
    List<String> known = s.get(DataKeys.FORMAT).equals("csv") ? s.get(DataKeys.COLUMNS) : List.of();
    for (String column : columns) {
      String earlier = uses.put(column, path);
      if (earlier != null) {
        throw new ConfigException(
            s.where(path)
                + ": "
                + Keys.plain(path)
                + ": got the column "
                + column
                + ", which "
                + Keys.plain(earlier)
                + " has too, expected each column once; remove it from one");
      }
      boolean listed = known.isEmpty() || known.contains(column) || isPartOf(known, column);
      if (!listed && !mayBeInPath(s, column)) {
        String advice =
            Names.nearest(column, known)
                .map(near -> "did you mean " + near + "?")
                .orElse("data.columns lists " + Shown.list(known));
        throw new ConfigException(
            s.where(path)
                + ": "
                + Keys.plain(path)
                + ": got the column "
                + column
                + ", expected one of data.columns; "
                + advice);
      }
    }
  }

  /** Whether {@code column} is a part of the times in one of {@code known}, as in t@hour. */
  private static boolean isPartOf(List<String> known, String column) {
    return TimePart.of(column).isPresent() && known.contains(TimePart.source(column));
  }

  /** Whether folders of the training files may hold {@code column}, as in {@code day=1}. */
  private static boolean mayBeInPath(Settings s, String column) {
    return s.get(DataKeys.TRAIN).stream()
        .anyMatch(path ->
            Files.isDirectory(path)
                || path.toString().contains("/" + column + "=")
                || path.toString().chars().anyMatch(c -> "*?[{".indexOf(c) >= 0));
  }

  private static void experts(Settings s) {
    long experts = s.get(ModelKeys.CROSS_EXPERTS);
    if (experts > 0 && s.get(ModelKeys.CROSS_RANK) == 0) {
      throw new ConfigException(
          s.where("model.cross_experts")
              + ": model.cross_experts: got "
              + experts
              + " experts without a rank, expected one; add model.cross_rank");
    }
  }

  /** Labels of several tasks are named in one place. */
  private static void labels(Settings s) {
    if (DataConfig.labels(s).isEmpty()) {
      throw new ConfigException(
          s.where(DataKeys.WEIGHT.path())
              + ": data.weight: got the column "
              + s.get(DataKeys.WEIGHT)
              + ", which is the only label, expected another column; name that of the weights");
    }
    if (s.groups("data.labels") == 0) {
      return;
    }
    // A run's own configuration has all keys, this one at its default.
    if (!DataKeys.LABEL.fallback().equals(Optional.of(s.get(DataKeys.LABEL)))) {
      throw new ConfigException(
          s.where(DataKeys.LABEL.path())
              + ": data.label.column: got the column "
              + s.get(DataKeys.LABEL)
              + " beside data.labels, expected one of the two; remove it");
    }
    boolean placed = List.of("norm", "raw").contains(s.get(DataKeys.FORMAT));
    for (Settings.Group group : s.all("data.labels")) {
      String weight = s.get(DataKeys.WEIGHT);
      if (!placed && group.get(DataKeys.LABELS).contains(weight)) {
        throw new ConfigException(
            group.where(DataKeys.LABELS)
                + ": data.labels.columns: got the column "
                + weight
                + ", which data.weight has too, expected each column once; remove it from one");
      }
      if (group.get(DataKeys.LABELS).isEmpty()) {
        throw new ConfigException(
            group.where(DataKeys.LABELS)
                + ": data.labels.columns: got no columns, expected at least one; remove the group");
      }
    }
    if (s.get(DataKeys.FORMAT).equals("criteo-synthetic")) {
      throw new ConfigException(
          s.where("data.format")
              + ": data.labels: got labels for generated rows, which have one, expected none;"
              + " remove them");
    }
  }

  /** The model has as many tasks as there are labels. */
  private static void tasks(Settings s) {
    List<String> labels = DataConfig.labels(s);
    String model = s.get(ModelKeys.MODEL);
    boolean pairs = model.equals("esmm");
    if (labels.size() > 1 && !ModelKeys.TASKED.contains(model) || pairs && labels.size() != 2) {
      throw new ConfigException(
          s.where(s.groups("data.labels") > 0 ? "data.labels[0].columns" : "model.type")
              + ": data.labels: got "
              + labels.size()
              + (labels.size() == 1 ? " label" : " labels")
              + " for the model "
              + model
              + ", expected "
              + (pairs ? "two, the click and what may follow it" : "one")
              + "; change them, or take another model.type: "
              + String.join(" or ", ModelKeys.TASKED));
    }
    if (s.get(TrainKeys.MONITOR).equals("gauc") && s.get(DataKeys.GROUP).isEmpty()) {
      throw new ConfigException(
          s.where(TrainKeys.MONITOR.path())
              + ": train.monitor: got gauc without data.group, expected the column that groups"
              + " rows; give data.group, as in group: user, or monitor auc");
    }
    String monitored = s.get(TrainKeys.MONITOR_TASK);
    if (!monitored.isEmpty() && !labels.contains(monitored)) {
      throw new ConfigException(
          s.where(TrainKeys.MONITOR_TASK.path())
              + ": train.monitor_task: got "
              + monitored
              + ", expected one of the labels "
              + Shown.list(labels)
              + "; name one, or none for the first");
    }
    losses(s);
    for (Settings.Group group : s.all("data.labels")) {
      String within = group.get(DataKeys.WITHIN);
      boolean fits = labels.contains(within) && !group.get(DataKeys.LABELS).contains(within);
      if (!within.isEmpty() && (pairs || !fits)) {
        throw new ConfigException(
            group.where(DataKeys.WITHIN)
                + ": data.labels.within: got "
                + within
                + ", expected "
                + (pairs
                    ? "none, as esmm predicts both labels over all rows; remove it"
                    : "another of the labels " + Shown.list(labels) + "; name one of them"));
      }
    }
  }

  /** Two towers alone find items. */
  private static void noRecall(Settings s) {
    boolean monitors = s.get(TrainKeys.MONITOR).equals("recall");
    if (!monitors && s.get(TrainKeys.RECALL_AT) == 0) {
      return;
    }
    Key<?> key = monitors ? TrainKeys.MONITOR : TrainKeys.RECALL_AT;
    throw new ConfigException(
        s.where(key.path())
            + ": "
            + key.path()
            + ": got "
            + s.get(key)
            + " for the model "
            + s.get(ModelKeys.MODEL)
            + ", which finds no items, expected "
            + (monitors ? "another figure" : "0")
            + "; change it, or take model.type: twotower");
  }

  /** Two towers need columns of items, and give no probabilities. */
  private static void towers(Settings s) {
    if (!s.get(ModelKeys.MODEL).equals("twotower")) {
      noRecall(s);
      return;
    }
    if (s.get(ModelKeys.ITEM_COLUMNS).isEmpty()) {
      throw new ConfigException(
          s.where("model.type")
              + ": model.item_columns: got no columns for twotower, expected those of the item;"
              + " name them, the one with the item's id first, as in [item, category]");
    }
    Long pool = s.get(ModelKeys.POOL);
    if (s.get(ModelKeys.NEGATIVES) == 0 && !Optional.of(pool).equals(ModelKeys.POOL.fallback())) {
      throw new ConfigException(
          s.where("model.pool")
              + ": model.pool: got "
              + pool
              + " without model.negatives, where it has no effect; say how many to draw");
    }
    String monitor = s.get(TrainKeys.MONITOR);
    if (!List.of("auc", "gauc", "recall").contains(monitor)) {
      throw new ConfigException(
          s.where(TrainKeys.MONITOR.path())
              + ": train.monitor: got "
              + monitor
              + " for twotower, whose scores are no probabilities, expected auc, gauc or recall;"
              + " change it");
    }
    for (Settings.Group group : s.all("data.labels")) {
      for (Key<Double> key :
          List.of(DataKeys.NEGATIVE_RATE, DataKeys.POSITIVE_WEIGHT, DataKeys.LABEL_WEIGHT)) {
        if (group.get(key) != 1) {
          throw new ConfigException(
              group.where(key)
                  + ": "
                  + key.path()
                  + ": got "
                  + group.get(key)
                  + " for twotower, where it has no effect, expected none; remove it, or weigh rows"
                  + " with data.weight");
        }
      }
    }
  }

  /** Each loss with what it goes with. */
  private static void losses(Settings s) {
    Set<String> whole = new HashSet<>(DataConfig.labels(s));
    for (Settings.Group group : s.all("data.labels")) {
      String loss = group.get(DataKeys.LOSS);
      if (!List.of("bce", "focal", "bpr").contains(loss)) {
        group.get(DataKeys.LABELS).forEach(whole::remove);
      }
      boolean sampled =
          group.get(DataKeys.POSITIVE_WEIGHT) != 1 || group.get(DataKeys.NEGATIVE_RATE) != 1;
      if (!loss.equals("bce") && sampled) {
        throw wrongLoss(
            group,
            loss + " beside positive_weight or negative_rate, expected bce, which they are for",
            "remove them, or name a column of weights in data.weight");
      }
      if (s.get(ModelKeys.MODEL).equals("esmm") && !loss.endsWith("bce")) {
        throw wrongLoss(
            group,
            loss + " for the model esmm, expected bce, as it multiplies probabilities",
            "change it, or take another model.type");
      }
    }
    for (Settings.Group group : s.all("data.labels")) {
      String within = group.get(DataKeys.WITHIN);
      if (DataConfig.labels(s).contains(within) && !whole.contains(within)) {
        throw wrongLoss(
            group,
            "rows within " + within + ", whose labels are not 0 or 1, expected a label of these",
            "count all rows, or name another");
      }
    }
    comparisons(s);
    missing(s);
    monitor(s);
  }

  /** What stands for a missing label is a number, or nothing. */
  private static void missing(Settings s) {
    for (Settings.Group group : s.all("data.labels")) {
      String missing = group.get(DataKeys.MISSING_LABEL);
      if (!missing.isEmpty() && !missing.equals(DataConfig.EMPTY) && !isFinite(missing)) {
        throw new ConfigException(
            group.where(DataKeys.MISSING_LABEL)
                + ": data.labels.missing: got "
                + missing
                + ", expected empty or a number such as -1; change it");
      }
      if (!missing.isEmpty() && s.get(ModelKeys.MODEL).equals("twotower")) {
        throw new ConfigException(
            group.where(DataKeys.MISSING_LABEL)
                + ": data.labels.missing: got "
                + missing
                + " for twotower, which learns rows labelled 1 alone, expected none; remove it");
      }
    }
  }

  private static boolean isFinite(String number) {
    try {
      return Float.isFinite(Float.parseFloat(number));
    } catch (NumberFormatException _) {
      return false;
    }
  }

  /** A loss of pairs has groups, and stands for all labels. */
  private static void comparisons(Settings s) {
    List<Settings.Group> groups = s.all("data.labels");
    for (Settings.Group group : groups) {
      boolean pairs = group.get(DataKeys.LOSS).equals("bpr");
      if (pairs && s.get(DataKeys.GROUP).isEmpty()) {
        throw wrongLoss(
            group,
            "bpr without data.group, expected the column whose rows are compared with each other",
            "name it, as in data.group: user");
      }
      for (Settings.Group other : pairs ? groups : List.<Settings.Group>of()) {
        if (!other.get(DataKeys.LOSS).equals("bpr") && hasTask(s, other)) {
          throw wrongLoss(
              other,
              other.get(DataKeys.LOSS)
                  + " beside bpr, whose scores are no probabilities, expected bpr for all labels",
              "train two models");
        }
      }
    }
  }

  /** Whether a group of labels has more than the place of the weights. */
  private static boolean hasTask(Settings s, Settings.Group group) {
    return group.get(DataKeys.LABELS).stream().anyMatch(DataConfig.labels(s)::contains);
  }

  private static ConfigException wrongLoss(Settings.Group group, String got, String cure) {
    return new ConfigException(
        group.where(DataKeys.LABELS) + ": data.labels.loss: got " + got + "; " + cure);
  }

  /** The figure that decides is one of its task. */
  private static void monitor(Settings s) {
    String figure = s.get(TrainKeys.MONITOR);
    String task = s.get(TrainKeys.MONITOR_TASK);
    String label = task.isEmpty() ? DataConfig.labels(s).getFirst() : task;
    Optional<String> loss =
        s.all("data.labels").stream()
            .filter(group -> group.get(DataKeys.LABELS).contains(label))
            .map(group -> group.get(DataKeys.LOSS))
            .findFirst();
    boolean probability =
        loss.map(name -> name.endsWith("bce") || name.equals("focal")).orElse(true);
    if (loss.equals(Optional.of("bpr")) && !List.of("auc", "gauc").contains(figure)) {
      throw new ConfigException(
          s.where(TrainKeys.MONITOR.path())
              + ": train.monitor: got "
              + figure
              + " for the label "
              + label
              + ", whose scores are no probabilities by bpr, expected auc or gauc; change it");
    }
    probability |= loss.equals(Optional.of("bpr"));
    boolean ofValues = List.of("mse", "mae", "r2", "smape").contains(figure);
    if (loss.equals(Optional.of("softmax"))) {
      if (!List.of("auc", "log_loss").contains(figure)) {
        throw new ConfigException(
            s.where(TrainKeys.MONITOR.path())
                + ": train.monitor: got "
                + figure
                + " for the label "
                + label
                + ", which is a class, expected log_loss; change it");
      }
      return;
    }
    if (!figure.equals("auc") && ofValues == probability) {
      throw new ConfigException(
          s.where(TrainKeys.MONITOR.path())
              + ": train.monitor: got "
              + figure
              + " for the label "
              + label
              + ", whose loss is "
              + loss.orElse("bce")
              + ", expected "
              + (probability ? "auc, log_loss or normalized_entropy" : "mse, mae, r2 or smape")
              + "; change it");
    }
  }

  private static void weightDecay(Settings s) {
    double decay = s.get(TrainKeys.WEIGHT_DECAY);
    if (decay > 0 && TrainKeys.OPTIMIZER.is(s.top(), "ftrl")) {
      throw new ConfigException(
          s.where("train.weight_decay")
              + ": train.weight_decay: got "
              + decay
              + " with ftrl, expected 0: FTRL makes each weight anew from its sums; use"
              + " train.optimizer.l2");
    }
  }

  private static void from(Settings s) {
    List<Path> from = s.get(TrainKeys.FROM);
    if (from.size() > 1) {
      throw new ConfigException(
          s.where(TrainKeys.FROM.path())
              + ": train.from: got "
              + from.size()
              + " folders, expected one run or checkpoint; name one");
    }
    Path run = s.get(Keys.DIR);
    if (from.stream().anyMatch(folder -> folder.startsWith(run))) {
      throw new ConfigException(
          s.where(TrainKeys.FROM.path())
              + ": train.from: got "
              + from.getFirst()
              + ", which is in the folder of this run, expected another run; set run.dir to a new"
              + " folder, or go on with --resume");
    }
    if (from.isEmpty() && !s.get(ModelKeys.FROZEN).isEmpty()) {
      throw new ConfigException(
          s.where(ModelKeys.FROZEN.path())
              + ": model.frozen: got "
              + Shown.list(s.get(ModelKeys.FROZEN))
              + " in a run whose weights are random, expected an earlier run that has them; name it"
              + " in train.from, as in --from runs/day1");
    }
    boolean ftrl =
        Stream.of(TrainKeys.OPTIMIZER, TrainKeys.TABLE_OPTIMIZER, TrainKeys.LINEAR_OPTIMIZER)
                .anyMatch(keys -> keys.is(s.top(), "ftrl"))
            || s.all("model.tables").stream().anyMatch(g -> TableKeys.OPTIMIZER.is(g, "ftrl"));
    boolean withState = s.get(TrainKeys.FROM_STATE);
    if (withState && from.isEmpty()) {
      throw new ConfigException(
          s.where(TrainKeys.FROM_STATE.path())
              + ": train.from_state: got true without an earlier run, expected one; name it in"
              + " train.from, as in --from runs/day1");
    }
    if (!from.isEmpty() && ftrl && !withState) {
      throw new ConfigException(
          s.where(TrainKeys.FROM.path())
              + ": train.from: got weights to begin with for ftrl, which makes each weight anew"
              + " from its sums, expected another optimizer or the sums; use adagrad, or set"
              + " train.from_state");
    }
  }

  private static void dlrm(Settings s) {
    last(s, ModelKeys.BOTTOM, s.get(ModelKeys.EMBEDDING).intValue(), "model.embedding");
    last(s, ModelKeys.TOP, 1, "one score");
  }

  private static void last(Settings s, Key<List<Integer>> key, int expected, String why) {
    List<Integer> widths = new ArrayList<>(s.get(key));
    int last = widths.isEmpty() ? 0 : widths.getLast();
    if (last != expected) {
      throw new ConfigException(
          s.where(key.path())
              + ": "
              + key.path()
              + ": got the last width "
              + last
              + ", expected "
              + expected
              + " ("
              + why
              + "); change the last width");
    }
  }
}
