package dev.tern.cli.config;

import dev.tern.base.Shown;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.model.Loss;
import dev.tern.model.Matching;
import dev.tern.model.ModelConfig;
import dev.tern.model.ModelPart;
import dev.tern.model.Task;
import dev.tern.model.Towers;
import dev.tern.model.Variant;
import dev.tern.model.WideDeep;
import dev.tern.model.Widths;
import dev.tern.nn.Activation;
import dev.tern.nn.Form;
import dev.tern.nn.Mlp;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The keys of the section {@code model}, and how they become the engine's options of the model;
 * {@link TableKeys} has those of single tables.
 */
final class ModelKeys {
  private static final Key.Section KEYS = new Key.Section();

  /** Models that may have several tasks. */
  static final List<String> TASKED =
      Stream.of(ModelConfig.Type.values())
          .filter(ModelConfig.Type::takesTasks)
          .map(ModelKeys::name)
          .toList();

  static final Key<String> MODEL =
      KEYS.required(
          "model.type",
          Kind.Choice.of(
              Stream.of(ModelConfig.Type.values()).map(ModelKeys::name).toArray(String[]::new)),
          "The model.");
  static final Key<List<Path>> GRAPH =
      KEYS.key(
              "model.graph",
              new Kind.Files("a JSON file with the layers of the model", true),
              List.<Path>of(),
              "JSON file with the layers of the model; none for one hidden layer of 64 over all"
                  + " columns.")
          .when(MODEL, with(ModelPart.GRAPH));
  static final Key<Long> EMBEDDING =
      KEYS.key(
              "model.embedding",
              new Kind.Whole(1, 4096),
              16L,
              "Width of the embedding of an id, where its column has none of its own"
                  + " (data.sparse.embedding); in neumf of both of its vectors.")
          .when(MODEL, with(ModelPart.VECTORS));
  static final Key<List<Integer>> HIDDEN =
      KEYS.key(
              "model.hidden",
              Kind.WIDTHS,
              List.of(400, 400, 400),
              "Widths of the hidden layers; in sharedbottom of those that tasks share, in mmoe and"
                  + " ple of each expert, in twotower of each tower, whose last gives the vectors.")
          .when(MODEL, with(ModelPart.HIDDEN));
  static final Key<List<String>> WIDE_ONLY =
      KEYS.key(
              "model.wide_only",
              Kind.NAMES,
              List.of(),
              "Columns that only the wide part reads: they have linear weights and no embeddings.")
          .when(MODEL, with(ModelPart.WIDE_DEEP));
  static final Key<List<String>> DEEP_ONLY =
      KEYS.key(
              "model.deep_only",
              Kind.NAMES,
              List.of(),
              "Columns that only the deep part reads: they have embeddings and no linear weights.")
          .when(MODEL, with(ModelPart.WIDE_DEEP));
  static final Key<List<String>> ITEM_COLUMNS =
      KEYS.key(
              "model.item_columns",
              new Kind.Columns(),
              List.of(),
              "Columns of the item; the first is the one of ids that names it. All others are the"
                  + " user's.")
          .when(MODEL, with(ModelPart.MATCHING));
  static final Key<Double> TEMPERATURE =
      KEYS.key(
              "model.temperature",
              new Kind.Real(1e-4, 1e4),
              0.05,
              "Divisor of the product of the user's vector and the item's.")
          .when(MODEL, with(ModelPart.MATCHING));
  static final Key<Boolean> NORMALIZED =
      KEYS.key("model.normalized", new Kind.Flag(), true, "Whether these vectors have length 1.")
          .when(MODEL, with(ModelPart.MATCHING));
  static final Key<Boolean> CORRECTED =
      KEYS.key(
              "model.corrected",
              new Kind.Flag(),
              true,
              "Whether the loss allows for items that are negatives often, as they occur often.")
          .when(MODEL, with(ModelPart.MATCHING));
  static final Key<Long> NEGATIVES =
      KEYS.key(
              "model.negatives",
              new Kind.Whole(0, 1 << 20),
              0L,
              "Items drawn for each batch as further negatives, from those that training has met.")
          .when(MODEL, with(ModelPart.MATCHING));
  static final Key<Long> POOL =
      KEYS.key(
              "model.pool",
              new Kind.Whole(1, 1 << 24),
              65_536L,
              "Items to draw negatives from, at most: those that were new last.")
          .when(MODEL, with(ModelPart.MATCHING));
  static final Key<List<Integer>> TOWERS =
      KEYS.key(
              "model.towers",
              Kind.WIDTHS,
              List.of(64),
              "Widths of the hidden layers that each task has for itself.")
          .when(MODEL, with(ModelPart.TOWERS));
  static final Key<Long> EXPERTS =
      KEYS.key(
              "model.experts",
              new Kind.Whole(1, 256),
              4L,
              "Experts that the tasks share; in ple as many of each task besides.")
          .when(MODEL, with(ModelPart.EXPERTS));
  static final Key<List<Integer>> GATES =
      KEYS.key(
              "model.gates",
              Kind.WIDTHS,
              List.of(),
              "Widths of the hidden layers of gates: of each task in mmoe and ple, of each stack in"
                  + " finalmlp, of masks in masknet; none for linear ones, in masknet for one"
                  + " layer.")
          .when(MODEL, with(ModelPart.GATES));
  static final Key<Long> HEADS =
      KEYS.key(
              "model.heads",
              new Kind.Whole(1, 256),
              2L,
              "Heads of attention. In transformer they divide model.embedding, in bst times the"
                  + " columns of a sequence and one for places, in sasrec and hstu times these"
                  + " columns, in finalmlp the last widths of both stacks.")
          .when(MODEL, with(ModelPart.HEADS));
  static final Key<List<Integer>> ATTENTION =
      KEYS.key(
              "model.attention",
              Kind.WIDTHS,
              List.of(80, 40),
              "Widths of the hidden layers that compare an element of a sequence with its target,"
                  + " one or more.")
          .when(MODEL, with(ModelPart.ATTENTION));
  static final Key<List<Integer>> FEED_FORWARD =
      KEYS.key(
              "model.feed_forward",
              Kind.WIDTHS,
              List.of(64),
              "Widths of the feed-forward layers of the transformer, one block each.")
          .when(MODEL, with(ModelPart.BLOCKS));
  static final Key<Long> CROSS_LAYERS =
      KEYS.key(
              "model.cross_layers",
              new Kind.Whole(1, 64),
              3L,
              "Cross layers; in autoint of attention, in masknet its blocks, in hstu its units.")
          .when(MODEL, with(ModelPart.CROSS));
  static final Key<Long> CROSS_RANK =
      KEYS.key(
              "model.cross_rank",
              new Kind.Whole(0, 1 << 20),
              0L,
              "Rank of the cross layers' matrices; 0 for full ones.")
          .when(MODEL, with(ModelPart.CROSS_MATRICES));
  static final Key<Long> CROSS_EXPERTS =
      KEYS.key(
              "model.cross_experts",
              new Kind.Whole(0, 64),
              0L,
              "Experts of that rank in each cross layer; 0 for one matrix without gates.")
          .when(MODEL, with(ModelPart.CROSS_MATRICES));
  static final Key<List<Integer>> BOTTOM =
      KEYS.key(
              "model.bottom",
              Kind.WIDTHS,
              List.of(512, 256, 16),
              "Widths of the layers over dense numbers; the last is model.embedding.")
          .when(MODEL, with(ModelPart.BOTTOM_TOP));
  static final Key<List<Integer>> TOP =
      KEYS.key(
              "model.top",
              Kind.WIDTHS,
              List.of(512, 256, 1),
              "Widths of the layers over the interactions; the last is 1.")
          .when(MODEL, with(ModelPart.BOTTOM_TOP));
  static final Key<List<Integer>> SECOND =
      KEYS.key(
              "model.second",
              Kind.WIDTHS,
              List.of(64),
              "Widths of the hidden layers of a second stack, beside model.hidden; none for one"
                  + " stack.")
          .when(MODEL, with(ModelPart.SECOND));
  static final Key<Long> UNITS =
      KEYS.key(
              "model.units",
              new Kind.Whole(1, 65_536),
              16L,
              "Units: in afm of the attention, in autoint of each head, in masknet of each block;"
                  + " in wukong vectors that products are compressed to.")
          .when(MODEL, with(ModelPart.UNITS));
  static final Key<Long> VECTORS =
      KEYS.key(
              "model.vectors",
              new Kind.Whole(1, 65_536),
              16L,
              "Vectors that each cross layer makes: in xdeepfm feature maps, in wukong of products"
                  + " and again of sums.")
          .when(MODEL, with(ModelPart.VECTORS_OF_LAYER));
  static final Key<Long> REDUCTION =
      KEYS.key(
              "model.reduction",
              new Kind.Whole(1, 65_536),
              3L,
              "Columns for each unit of the layer that weighs them.")
          .when(MODEL, with(ModelPart.REDUCTION));
  static final Key<Long> LEVELS =
      KEYS.key("model.levels", new Kind.Whole(1, 64), 1L, "Levels of experts.")
          .when(MODEL, with(ModelPart.LEVELS));
  static final Key<Double> AUXILIARY =
      KEYS.key(
              "model.auxiliary",
              new Kind.Real(0, 1e6),
              0.0,
              "Factor of the loss by which states learn to tell the element that follows from"
                  + " another one.")
          .when(MODEL, with(ModelPart.AUXILIARY));
  static final Key<String> PRODUCTS =
      form(ModelPart.PRODUCTS, "products", "Products of pairs of vectors.");
  static final Key<String> BILINEAR =
      form(
          ModelPart.BILINEAR,
          "bilinear",
          "What has a matrix of its own: a pair of columns, a" + " column, or all together one.");
  static final Key<String> STRUCTURE =
      form(
          ModelPart.STRUCTURE,
          "structure",
          "Whether hidden layers read what cross layers made, or" + " the features beside them.");
  static final Key<Double> DROPOUT =
      KEYS.key(
              "model.dropout",
              new Kind.Real(0, 0.99),
              0.0,
              "Share of hidden units left out in training.")
          .when(MODEL, with(ModelPart.DROPOUT));
  static final Key<String> ACTIVATION =
      KEYS.key(
              "model.activation",
              Kind.Choice.of("relu", "prelu", "dice"),
              "relu",
              "What follows the linear part of a hidden layer.")
          .when(MODEL, with(ModelPart.STYLE));
  static final Key<Boolean> BATCH_NORM =
      KEYS.key(
              "model.batch_norm",
              new Kind.Flag(),
              false,
              "Batch normalization before each activation.")
          .when(MODEL, with(ModelPart.STYLE));
  static final Key<String> PAIRS =
      KEYS.key(
              "model.pairs",
              Kind.Choice.of("features", "slots"),
              "features",
              "What a factorization machine pairs: all features of a row, or the sums of the"
                  + " features of each column.")
          .when(MODEL, with(ModelPart.PAIRS))
          .before("slots");
  static final Key<String> COMBINER =
      KEYS.key(
          "model.combiner",
          Kind.Choice.of("sum", "mean", "sqrtn"),
          "sum",
          "How the embeddings of several ids in one field become one: their sum, or that by the"
              + " number of ids or its square root.");
  static final Key<String> UNKNOWN =
      KEYS.key(
          "model.unknown",
          Kind.Choice.of("zeros", "initial", "mean", "hash"),
          "zeros",
          "Row of an id that has none, such as one that training has not seen: zeros, the row"
              + " it would start from, the mean row, or one of model.unknown_buckets rows, by"
              + " its hash, which learn from ids that training leaves without a row.");
  static final Key<Long> UNKNOWN_BUCKETS =
      KEYS.key(
              "model.unknown_buckets",
              new Kind.Whole(1, UnknownRow.Hashed.MOST),
              10_000L,
              "Rows of a table that ids without one share.")
          .when(UNKNOWN, "hash");
  static final Key<String> TABLE_STORAGE =
      KEYS.key(
          "model.table_storage",
          Kind.Choice.of("f32", "f16", "bf16"),
          "f32",
          "How embeddings lie in memory and in checkpoints; f16 and bf16 take half the bytes."
              + " They are computed with in f32.");
  static final InitialKeys INITIAL =
      InitialKeys.of(
          KEYS, "model", "uniform", "How the weights of a new row of a table are drawn.");
  static final Key<List<String>> FROZEN =
      KEYS.key(
          "model.frozen",
          new Kind.Texts("a list of names"),
          List.<String>of(),
          "Parameters of layers that stay as they are in train.from, by name; * stands for any"
              + " text, as in deep.*.");
  static final RowKeys ROW_RULES = RowKeys.of(KEYS, "model");

  private ModelKeys() {}

  /** The names of models that have a part. */
  private static String[] with(ModelPart part) {
    return Stream.of(ModelConfig.Type.values())
        .filter(type -> type.has(part))
        .map(ModelKeys::name)
        .toArray(String[]::new);
  }

  private static Key<String> form(ModelPart part, String name, String doc) {
    String[] forms = part.forms().stream().map(ModelKeys::lower).toArray(String[]::new);
    return KEYS.key("model." + name, Kind.Choice.of(forms), forms[0], doc).when(MODEL, with(part));
  }

  private static Variant variant(Settings s, ModelConfig.Type type) {
    Key<String> form =
        type.has(ModelPart.PRODUCTS)
            ? PRODUCTS
            : type.has(ModelPart.BILINEAR) ? BILINEAR : STRUCTURE;
    return new Variant(
        type.forms().size() == 1 ? Form.NONE : Form.valueOf(constant(s.get(form))),
        type.has(ModelPart.SECOND) ? s.get(SECOND) : List.of(),
        new Variant.Counts(
            s.get(UNITS).intValue(),
            s.get(VECTORS).intValue(),
            s.get(REDUCTION).intValue(),
            s.get(LEVELS).intValue()),
        s.get(AUXILIARY).floatValue(),
        type.has(ModelPart.GRAPH) ? Optional.of(GraphFile.read(s.get(GRAPH))) : Optional.empty());
  }

  /** In the order they are read and written. */
  static List<Key<?>> all() {
    return Stream.concat(KEYS.keys().stream(), TableKeys.all().stream()).toList();
  }

  /** The type of model that the section names. */
  static ModelConfig.Type type(Settings s) {
    return ModelConfig.Type.valueOf(constant(s.get(MODEL)));
  }

  /** The model that the section names. */
  static ModelConfig model(Settings s) {
    ModelConfig.Type type = type(s);
    boolean dlrm = type.has(ModelPart.BOTTOM_TOP);
    return new ModelConfig(
        type,
        widths(s),
        dlrm ? withoutLast(s.get(TOP)) : s.get(HIDDEN),
        dlrm ? withoutLast(s.get(BOTTOM)) : s.get(BOTTOM),
        new Mlp.Style(
            Activation.valueOf(constant(s.get(ACTIVATION))),
            s.get(BATCH_NORM),
            s.get(DROPOUT).floatValue()),
        new ModelConfig.Interaction(
            new ModelConfig.Cross(
                s.get(CROSS_LAYERS).intValue(),
                s.get(CROSS_RANK).intValue(),
                s.get(CROSS_EXPERTS).intValue()),
            s.get(HEADS).intValue(),
            pairs(s, type),
            type.has(ModelPart.BLOCKS) ? s.get(FEED_FORWARD) : s.get(ATTENTION),
            new Matching(
                s.get(ITEM_COLUMNS),
                s.get(TEMPERATURE).floatValue(),
                s.get(NORMALIZED),
                s.get(CORRECTED),
                new Matching.Sampled(s.get(NEGATIVES).intValue(), s.get(POOL).intValue())),
            new WideDeep(s.get(WIDE_ONLY), s.get(DEEP_ONLY)),
            variant(s, type)),
        new Towers(
            tasks(s),
            type.hasTowers() ? s.get(TOWERS) : List.of(),
            s.get(EXPERTS).intValue(),
            s.get(GATES)));
  }

  /** Whether embeddings may have unequal widths in a model of this name. */
  static boolean takesWidths(String model) {
    return ModelConfig.Type.valueOf(constant(model)).takesWidths();
  }

  /** The width of embeddings, and those of columns that have their own. */
  private static Widths widths(Settings s) {
    Widths widths = Widths.of(s.get(EMBEDDING).intValue());
    for (TableKeys.Width group : TableKeys.widths(s)) {
      for (String column : group.tables().keySet()) {
        widths = widths.with(column, (int) group.width());
      }
    }
    return widths;
  }

  /** The tasks of data.labels; none where the rows have one label. */
  private static List<Task> tasks(Settings s) {
    List<Task> tasks = new ArrayList<>();
    for (Settings.Group group : s.all("data.labels")) {
      for (String label : group.get(DataKeys.LABELS)) {
        if (label.equals(s.get(DataKeys.WEIGHT))) {
          continue; // Its place among the labels of the files, which is no task.
        }
        String within = group.get(DataKeys.WITHIN);
        for (Task task : tasks(s, label, group)) {
          Task counted =
              group.get(DataKeys.MISSING_LABEL).isEmpty() ? task : task.withOptionalLabel();
          tasks.add(within.isEmpty() ? counted : counted.within(within));
        }
      }
    }
    return tasks;
  }

  /** The tasks of a label: one, or one for each class. */
  private static List<Task> tasks(Settings s, String label, Settings.Group group) {
    float weight = group.get(DataKeys.LABEL_WEIGHT).floatValue();
    if (group.get(DataKeys.LOSS).equals("softmax")) {
      return Task.ofClasses(label, group.get(DataKeys.CLASSES).intValue()).stream()
          .map(task -> task.withWeight(weight))
          .toList();
    }
    return List.of(
        Task.of(label)
            .withLoss(loss(s, group))
            .withWeight(weight)
            .withPositiveWeight(group.get(DataKeys.POSITIVE_WEIGHT).floatValue())
            .withNegativeRate(group.get(DataKeys.NEGATIVE_RATE).floatValue()));
  }

  private static Loss loss(Settings s, Settings.Group group) {
    return switch (group.get(DataKeys.LOSS)) {
      case "soft-bce" -> Loss.SOFT_CROSS_ENTROPY;
      case "mse" -> Loss.SQUARED_ERROR;
      case "mae" -> Loss.ABSOLUTE_ERROR;
      case "huber" -> new Loss.Huber(group.get(DataKeys.DELTA).floatValue());
      case "poisson" -> Loss.POISSON;
      case "focal" ->
          new Loss.Focal(
              group.get(DataKeys.GAMMA).floatValue(), group.get(DataKeys.ALPHA).floatValue());
      case "bpr" -> new Loss.Pairwise(s.get(DataKeys.GROUP));
      default -> Loss.BINARY_CROSS_ENTROPY;
    };
  }

  private static ModelConfig.Pairs pairs(Settings s, ModelConfig.Type type) {
    return type.has(ModelPart.PAIRS)
        ? ModelConfig.Pairs.valueOf(constant(s.get(PAIRS)))
        : ModelConfig.Pairs.SLOTS;
  }

  /** The hidden layers: the engine knows the width of a network's last layer. */
  private static List<Integer> withoutLast(List<Integer> widths) {
    return widths.isEmpty() ? widths : widths.subList(0, widths.size() - 1);
  }

  static UnknownRow unknown(Settings s) {
    String name = s.get(UNKNOWN);
    return name.equals("hash")
        ? new UnknownRow.Hashed(s.get(UNKNOWN_BUCKETS).intValue())
        : UnknownRow.Derived.valueOf(constant(name));
  }

  static String constant(String name) {
    return name.toUpperCase(Locale.ROOT);
  }

  private static String lower(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  /** A type's name, as it is written in a configuration. */
  private static String name(ModelConfig.Type type) {
    return lower(type);
  }

  /** The model's name, as it is written in a configuration. */
  static String name(ModelConfig model) {
    return name(model.type());
  }

  /** The model in one line, with the sizes that matter to its type. */
  static String summary(ModelConfig model) {
    ModelConfig.Type type = model.type();
    StringBuilder out = new StringBuilder(name(type));
    if (type.has(ModelPart.VECTORS)) {
      out.append(", embedding ").append(model.embedding());
    }
    if (!model.widths().own().isEmpty()) {
      List<String> own = new ArrayList<>();
      model.widths().own().forEach((slot, width) -> own.add(slot + " " + width));
      out.append(' ').append(Shown.list(own));
    }
    model
        .variant()
        .graph()
        .ifPresent(graph -> out.append(", ").append(graph.layers().size()).append(" layers"));
    if (type.has(ModelPart.BOTTOM_TOP)) {
      out.append(", bottom ").append(widths(model.bottom(), model.embedding()));
      out.append(", top ").append(widths(model.hidden(), 1));
    }
    if (type.has(ModelPart.CROSS)) {
      out.append(", ").append(model.cross().layers()).append(" cross layers");
    }
    if (model.cross().rank() > 0) {
      out.append(" of rank ").append(model.cross().rank());
    }
    if (model.cross().experts() > 0) {
      out.append(" and ").append(model.cross().experts()).append(" experts");
    }
    if (type.has(ModelPart.HEADS)) {
      out.append(", ").append(model.heads()).append(" heads");
    }
    if (type.has(ModelPart.ATTENTION)) {
      out.append(", attention ").append(widths(model.interaction().attention()));
    }
    if (type.has(ModelPart.BLOCKS)) {
      out.append(", feed-forward ").append(widths(model.interaction().attention()));
    }
    if (type.has(ModelPart.EXPERTS)) {
      out.append(", ").append(model.towers().experts()).append(" experts");
    }
    if (type.has(ModelPart.HIDDEN)) {
      out.append(", hidden ").append(widths(model.hidden()));
    }
    if (type.has(ModelPart.SECOND)) {
      out.append(", second ").append(widths(model.variant().second()));
    }
    if (type.forms().size() > 1) {
      out.append(", ").append(lower(model.variant().form()));
    }
    return out.append(style(model)).toString();
  }

  private static String style(ModelConfig model) {
    ModelConfig.Type type = model.type();
    StringBuilder out = new StringBuilder();
    if (type.hasTowers()) {
      out.append(", towers ").append(widths(model.towers().hidden(), 1));
    }
    if (type.has(ModelPart.DROPOUT)) {
      out.append(", dropout ").append(model.style().dropout());
    }
    if (model.style().activation() != Activation.RELU) {
      out.append(", ").append(lower(model.style().activation()));
    }
    if (model.style().batchNorm()) {
      out.append(", batch norm");
    }
    return out.toString();
  }

  private static String widths(List<Integer> widths, int last) {
    return widths.isEmpty() ? String.valueOf(last) : widths(widths) + "-" + last;
  }

  private static String widths(List<Integer> widths) {
    return widths.stream().map(String::valueOf).collect(Collectors.joining("-"));
  }
}
