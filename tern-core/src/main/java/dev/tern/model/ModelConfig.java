package dev.tern.model;

import static dev.tern.model.ModelBuilder.paper;
import static dev.tern.model.ModelPart.ATTENTION;
import static dev.tern.model.ModelPart.AUXILIARY;
import static dev.tern.model.ModelPart.BILINEAR;
import static dev.tern.model.ModelPart.BLOCKS;
import static dev.tern.model.ModelPart.BOTTOM_TOP;
import static dev.tern.model.ModelPart.CROSS;
import static dev.tern.model.ModelPart.CROSS_MATRICES;
import static dev.tern.model.ModelPart.DROPOUT;
import static dev.tern.model.ModelPart.EXPERTS;
import static dev.tern.model.ModelPart.FIELDS;
import static dev.tern.model.ModelPart.GATES;
import static dev.tern.model.ModelPart.GRAPH;
import static dev.tern.model.ModelPart.HEADS;
import static dev.tern.model.ModelPart.HIDDEN;
import static dev.tern.model.ModelPart.LEVELS;
import static dev.tern.model.ModelPart.LINEAR;
import static dev.tern.model.ModelPart.MATCHING;
import static dev.tern.model.ModelPart.NETWORK;
import static dev.tern.model.ModelPart.OWN_LOSS;
import static dev.tern.model.ModelPart.PAIRS;
import static dev.tern.model.ModelPart.PRODUCTS;
import static dev.tern.model.ModelPart.REDUCTION;
import static dev.tern.model.ModelPart.SECOND;
import static dev.tern.model.ModelPart.SEQUENCES;
import static dev.tern.model.ModelPart.STRUCTURE;
import static dev.tern.model.ModelPart.STYLE;
import static dev.tern.model.ModelPart.TOWERS;
import static dev.tern.model.ModelPart.UNITS;
import static dev.tern.model.ModelPart.USER_ITEM;
import static dev.tern.model.ModelPart.VECTORS;
import static dev.tern.model.ModelPart.VECTORS_OF_LAYER;
import static dev.tern.model.ModelPart.WIDE_DEEP;
import static dev.tern.model.ModelPart.WIDTHS;

import dev.tern.data.Schema;
import dev.tern.model.graph.GraphModel;
import dev.tern.model.papers.AttentionalFm;
import dev.tern.model.papers.AutoInt;
import dev.tern.model.papers.BilinearNetwork;
import dev.tern.model.papers.CompressedInteractions;
import dev.tern.model.papers.CrossedDlrm;
import dev.tern.model.papers.DeepCross;
import dev.tern.model.papers.DeepCrossing;
import dev.tern.model.papers.DeepFm;
import dev.tern.model.papers.Dlrm;
import dev.tern.model.papers.EntireSpace;
import dev.tern.model.papers.EulerNet;
import dev.tern.model.papers.FieldAwareFm;
import dev.tern.model.papers.FieldTransformer;
import dev.tern.model.papers.FieldWeightedFm;
import dev.tern.model.papers.FinalMlp;
import dev.tern.model.papers.FinalNet;
import dev.tern.model.papers.FmModel;
import dev.tern.model.papers.GatedCross;
import dev.tern.model.papers.LayeredExtraction;
import dev.tern.model.papers.LinearModel;
import dev.tern.model.papers.MaskedBlocks;
import dev.tern.model.papers.MatrixFactorization;
import dev.tern.model.papers.MixtureOfExperts;
import dev.tern.model.papers.NeuralFm;
import dev.tern.model.papers.ProductNetwork;
import dev.tern.model.papers.SharedBottom;
import dev.tern.model.papers.Sizes;
import dev.tern.model.papers.SlotWidths;
import dev.tern.model.papers.Wukong;
import dev.tern.model.sequences.Bst;
import dev.tern.model.sequences.Dien;
import dev.tern.model.sequences.Din;
import dev.tern.model.sequences.SelfAttentive;
import dev.tern.nn.Activation;
import dev.tern.nn.Form;
import dev.tern.nn.Mlp;
import dev.tern.nn.Model;
import dev.tern.nn.Parameters;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * One of Tern's models and its sizes. Start from {@link #of}:
 *
 * <pre>{@code
 * ModelConfig.of(ModelConfig.Type.DCNV2, 16, 400, 400).withCrossLayers(2).withDropout(0.1f)
 * }</pre>
 *
 * @param type which model
 * @param widths of embedding vectors; they may differ in a type that {@link Type#takesWidths}
 * @param hidden outputs of the hidden layers of the deep network (in DLRM the top one); in
 *     DEEPCROSSING widths inside the residual units, one unit each; in TRANSFORMER widths of the
 *     feed-forward layers, one block each
 * @param bottom DLRM: hidden layers of the bottom network, before its last layer of width {@code D}
 * @param style what hidden layers have beside their linear part
 * @param interaction how features meet
 * @param towers what models of several tasks have for each of them
 */
public record ModelConfig(
    Type type,
    Widths widths,
    List<Integer> hidden,
    List<Integer> bottom,
    Mlp.Style style,
    Interaction interaction,
    Towers towers)
    implements ModelFactory {
  /**
   * How the features of a row meet in a model.
   *
   * @param cross the cross layers of models that have some
   * @param heads of attention; TRANSFORMER: a divisor of the embedding's width; BST: a divisor of
   *     the width of an element, its columns and its place
   * @param pairs FM and DEEPFM: what the factorization machine pairs; SLOTS in all others
   * @param attention DIN: hidden layers of the attention, one or more; BST: widths of the
   *     feed-forward layers, one block each
   * @param matching TWOTOWER: its columns of items, and how they are matched
   * @param wideDeep WDL: columns of one part alone
   * @param variant sizes of single types
   */
  public record Interaction(
      Cross cross,
      int heads,
      Pairs pairs,
      List<Integer> attention,
      Matching matching,
      WideDeep wideDeep,
      Variant variant) {
    /** The attention where none is named: hidden layers of DIN. */
    public static final List<Integer> ATTENTION = List.of(80, 40);

    /** The attention of BST where none is named: one block. */
    public static final List<Integer> BLOCK = List.of(64);

    /** Copies {@code attention}. */
    public Interaction {
      attention = List.copyOf(attention);
    }
  }

  /**
   * The cross layers of a model.
   *
   * @param layers how many, 0 or more
   * @param rank DCN-V2: rank of their matrices; 0 for full matrices
   * @param experts DCN-V2: experts of this rank in each layer; 0 for one matrix without gates
   */
  public record Cross(int layers, int rank, int experts) {}

  /** Of which vectors a factorization machine takes the dot products. */
  public enum Pairs {
    /**
     * All features of a row, each times its factor in its slot's pooled vector. Where every slot
     * has one id it is the same as {@link #SLOTS}, to the bit.
     */
    FEATURES,
    /** The pooled vectors of slots: features of one slot do not meet. */
    SLOTS
  }

  /**
   * The models, by the names used in configurations: how each is made, and what it has. A new one
   * is a line here.
   */
  public enum Type {
    LR(paper(LinearModel::new)),
    FM(paper(FmModel::new), VECTORS, LINEAR, PAIRS),
    WDL(WideAndDeep::of, NETWORK, WIDTHS, LINEAR, WIDE_DEEP),
    DEEPFM(paper(DeepFm::new), NETWORK, LINEAR, PAIRS),
    DCN(paper(DeepCross::vectors), NETWORK, WIDTHS, CROSS),
    DCNV2(paper(DeepCross::matrices), NETWORK, WIDTHS, CROSS, CROSS_MATRICES),
    DLRM(paper(Dlrm::new), VECTORS, STYLE, BOTTOM_TOP),
    DEEPCROSSING(paper(DeepCrossing::new), VECTORS, WIDTHS, HIDDEN, DROPOUT),
    TRANSFORMER(paper(FieldTransformer::new), VECTORS, HIDDEN, DROPOUT, HEADS),
    SHAREDBOTTOM(paper(SharedBottom::new), NETWORK, WIDTHS, TOWERS),
    MMOE(paper(MixtureOfExperts::new), NETWORK, WIDTHS, TOWERS, EXPERTS, GATES),
    ESMM(ModelConfig::entireSpace, VECTORS, WIDTHS, DROPOUT, STYLE, TOWERS),
    DIN(paper(Din::new), NETWORK, WIDTHS, ATTENTION, SEQUENCES),
    DIEN(paper(Dien::new), NETWORK, WIDTHS, SEQUENCES, AUXILIARY),
    BST(paper(Bst::new), NETWORK, WIDTHS, HEADS, BLOCKS, SEQUENCES),
    NEUMF(paper(MatrixFactorization::neural), NETWORK, USER_ITEM),
    GMF(paper(MatrixFactorization::generalized), VECTORS, USER_ITEM),
    TWOTOWER(TwoTower::new, NETWORK, WIDTHS, MATCHING, OWN_LOSS),
    PNN(paper(ProductNetwork::new), NETWORK, FIELDS, PRODUCTS),
    NFM(paper(NeuralFm::new), NETWORK, LINEAR),
    AFM(paper(AttentionalFm::new), VECTORS, LINEAR, DROPOUT, FIELDS, UNITS),
    FWFM(paper(FieldWeightedFm::new), VECTORS, LINEAR, FIELDS),
    FFM(paper(FieldAwareFm::new), VECTORS, LINEAR, FIELDS),
    AUTOINT(paper(AutoInt::new), NETWORK, CROSS, HEADS, UNITS),
    XDEEPFM(paper(CompressedInteractions::new), NETWORK, LINEAR, CROSS, FIELDS, VECTORS_OF_LAYER),
    FIBINET(paper(BilinearNetwork::new), NETWORK, LINEAR, FIELDS, BILINEAR, REDUCTION),
    GDCN(paper(GatedCross::new), NETWORK, WIDTHS, CROSS, STRUCTURE),
    MASKNET(paper(MaskedBlocks::new), NETWORK, CROSS, STRUCTURE, UNITS, GATES),
    FINALMLP(paper(FinalMlp::new), NETWORK, WIDTHS, SECOND, HEADS, GATES),
    FINALNET(paper(FinalNet::new), VECTORS, WIDTHS, HIDDEN, DROPOUT, SECOND),
    WUKONG(paper(Wukong::new), NETWORK, CROSS, SECOND, UNITS, VECTORS_OF_LAYER),
    EULERNET(paper(EulerNet::new), VECTORS, DROPOUT, CROSS, VECTORS_OF_LAYER),
    PLE(paper(LayeredExtraction::new), NETWORK, WIDTHS, TOWERS, EXPERTS, GATES, LEVELS),
    DLRM_DCNV2(paper(CrossedDlrm::new), VECTORS, WIDTHS, STYLE, BOTTOM_TOP, CROSS, CROSS_MATRICES),
    SASREC(paper(SelfAttentive::sasrec), NETWORK, WIDTHS, HEADS, BLOCKS, SEQUENCES),
    HSTU(paper(SelfAttentive::hstu), NETWORK, WIDTHS, CROSS, HEADS, SEQUENCES),
    GRAPH(ModelConfig::listed, VECTORS, WIDTHS, ModelPart.GRAPH);

    private final ModelBuilder builder;
    private final Set<ModelPart> parts;

    Type(ModelBuilder builder, ModelPart... parts) {
      this.builder = builder;
      Set<ModelPart> all = EnumSet.noneOf(ModelPart.class);
      for (ModelPart part : parts) {
        all.add(part);
        all.addAll(part.others());
      }
      this.parts = Collections.unmodifiableSet(all);
    }

    /** Whether it has a part, and so takes its sizes. */
    public boolean has(ModelPart part) {
      return parts.contains(part);
    }

    /** Whether it has towers of tasks, and so may have several. */
    public boolean hasTowers() {
      return has(TOWERS);
    }

    /** Whether it may have several tasks. */
    public boolean takesTasks() {
      return has(TOWERS) || has(ModelPart.GRAPH);
    }

    /** Whether it is trained by a loss of its own: {@link Model#hasOwnLoss}. */
    public boolean hasOwnLoss() {
      return has(OWN_LOSS);
    }

    /**
     * Whether the vectors of slots may have unequal widths. It reads them side by side; others
     * multiply the vectors of slots with each other, or have none.
     */
    public boolean takesWidths() {
      return has(WIDTHS);
    }

    /** Whether it reads sequences, and needs one. */
    public boolean readsSequences() {
      return has(SEQUENCES);
    }

    /** The forms that it has, the default first: {@link Form#NONE} where there is one. */
    public List<Form> forms() {
      return parts.stream()
          .map(ModelPart::forms)
          .filter(forms -> !forms.isEmpty())
          .findAny()
          .orElse(List.of(Form.NONE));
    }

    /** Whether rows have two slots alone, of users and of items. */
    public boolean isOfPairs() {
      return has(USER_ITEM);
    }
  }

  public ModelConfig {
    hidden = List.copyOf(hidden);
    bottom = List.copyOf(bottom);
    int heads = interaction.heads();
    float dropout = style.dropout();
    requireWidths(type, widths);
    require(dropout >= 0 && dropout < 1, "dropout", dropout, "0 or more and below 1");
    requireCross(type, interaction.cross());
    require(
        heads >= 1 && (type != Type.TRANSFORMER || widths.all() % heads == 0),
        "heads",
        heads,
        "a divisor of the embedding's width, " + widths.all());
    if (!type.has(STYLE) && (style.batchNorm() || style.activation() != Activation.RELU)) {
      throw new IllegalArgumentException(
          "model: got batch normalization or the activation %s for %s, whose layers are fixed; leave them out"
              .formatted(style.activation(), type));
    }
    if (interaction.pairs() == Pairs.FEATURES && !type.has(PAIRS)) {
      throw new IllegalArgumentException(
          "model: got pairs of features for %s, expected FM or DEEPFM; leave them out"
              .formatted(type));
    }
    Form form = interaction.variant().form();
    if (!type.forms().contains(form)) {
      throw new IllegalArgumentException(
          "model: got the form %s for %s, expected one of %s".formatted(form, type, type.forms()));
    }
    if (interaction.variant().graph().isPresent() != type.has(GRAPH)) {
      throw new IllegalArgumentException(
          "model: got %s, expected layers for GRAPH and for no other type; Variant.of(%s) has what it takes"
              .formatted(type, type));
    }
    if (!interaction.wideDeep().equals(WideDeep.BOTH) && !type.has(WIDE_DEEP)) {
      throw new IllegalArgumentException(
          "model: got columns of one part alone for %s, expected WDL; leave them out"
              .formatted(type));
    }
    if (towers.tasks().size() > 1 && !type.takesTasks()) {
      throw new IllegalArgumentException(
          "model: got the tasks %s for %s, which gives one logit a row, expected one of them; or take SHAREDBOTTOM, MMOE, PLE or ESMM"
              .formatted(towers.tasks().stream().map(Task::label).toList(), type));
    }
    requireLosses(type, interaction.variant(), towers.tasks());
    TaskLabels.group(towers.tasks());
    hidden.forEach(size -> require(size >= 1, "hidden", size, "1 or more"));
    bottom.forEach(size -> require(size >= 1, "bottom", size, "1 or more"));
    List<Integer> attention = interaction.attention();
    attention.forEach(size -> require(size >= 1, "attention", size, "1 or more"));
    boolean attends = !(type.has(ATTENTION) || type.has(BLOCKS)) || !attention.isEmpty();
    require(attends, "attention layers", 0, "one hidden layer or more");
    boolean gives = !type.has(MATCHING) || !hidden.isEmpty();
    require(gives, "hidden layers", 0, "one or more; the last gives the vectors");
  }

  private static void requireCross(Type type, Cross cross) {
    int rank = cross.rank();
    int experts = cross.experts();
    require(cross.layers() >= 0, "crossLayers", cross.layers(), "0 or more");
    require(rank >= 0, "crossRank", rank, "0 (full matrices) or more");
    require(experts >= 0, "crossExperts", experts, "0 (no mixture) or more");
    boolean ranked = experts == 0 || rank > 0;
    require(ranked, "crossRank", rank, "1 or more with experts; give their rank");
    boolean fits = rank == 0 || type.has(CROSS_MATRICES);
    require(
        fits, "crossRank", rank, "0 for " + type + "; DCNV2 and DLRM_DCNV2 have cross matrices");
  }

  private static void requireLosses(Type type, Variant variant, List<Task> tasks) {
    for (Task task : type.hasOwnLoss() ? tasks : List.<Task>of()) {
      if (!task.equals(Task.of(task.label()))) {
        throw new IllegalArgumentException(
            "model: got %s for %s, which learns from the labels by a loss of its own, expected a plain task; give Task.of(\"%s\")"
                .formatted(task, type, task.label()));
      }
    }
    boolean isTaught = type == Type.FINALNET && !variant.second().isEmpty();
    for (Task task : isTaught ? tasks : List.<Task>of()) {
      if (!(task.loss() instanceof Loss.BinaryCrossEntropy)) {
        throw new IllegalArgumentException(
            "model: got the loss %s of %s for FINALNET with two blocks, which teach each other a probability, expected a binary cross entropy; leave out the second block"
                .formatted(task.loss(), task.label()));
      }
    }
  }

  private static void requireWidths(Type type, Widths widths) {
    if (widths.differ() && !type.takesWidths()) {
      throw new IllegalArgumentException(
          "model: got embedding %s for the slots %s beside %d for others with %s, %s; leave them out, or take a model that reads vectors side by side, such as WDL or DCNV2"
              .formatted(
                  widths.own().values(),
                  widths.own().keySet(),
                  widths.all(),
                  type,
                  type == Type.LR
                      ? "which has no vectors"
                      : "which multiplies vectors with each other, expected one width"));
    }
  }

  /** Width of the vectors of slots without a width of their own, {@code D}. */
  public int embedding() {
    return widths.all();
  }

  /** DCN and DCN-V2: the cross layers. */
  public Cross cross() {
    return interaction.cross();
  }

  /** TRANSFORMER and BST: heads of attention. */
  public int heads() {
    return interaction.heads();
  }

  /** FM and DEEPFM: what the factorization machine pairs. */
  public Pairs pairs() {
    return interaction.pairs();
  }

  /** TWOTOWER: how users and items are matched. */
  public Matching matching() {
    return interaction.matching();
  }

  /** Sizes that single types have. */
  public Variant variant() {
    return interaction.variant();
  }

  /** Whether a model of rows of {@code schema} pairs features within slots. */
  boolean pairsWithin(Schema schema) {
    return pairs() == Pairs.FEATURES
        && schema.slots().stream().anyMatch(slot -> slot.hotness() != 1 && !slot.number());
  }

  private static void require(boolean holds, String name, Number got, String expected) {
    if (!holds) {
      throw new IllegalArgumentException(
          "model: got %s %s, expected %s".formatted(name, got, expected));
    }
  }

  /**
   * A model with three full cross layers, a bottom network of 512 and 256, ReLU, one head of
   * attention, no dropout and no batch normalization. FM and DEEPFM pair features.
   */
  public static ModelConfig of(Type type, int embedding, Integer... hidden) {
    Cross full = new Cross(3, 0, 0);
    return new ModelConfig(
        type,
        Widths.of(embedding),
        List.of(hidden),
        List.of(512, 256),
        Mlp.Style.relu(0),
        new Interaction(
            full,
            1,
            type.has(PAIRS) ? Pairs.FEATURES : Pairs.SLOTS,
            type.has(BLOCKS) ? Interaction.BLOCK : Interaction.ATTENTION,
            Matching.DEFAULT,
            WideDeep.BOTH,
            Variant.of(type)),
        Towers.DEFAULT);
  }

  private ModelConfig with(Mlp.Style other) {
    return new ModelConfig(type, widths, hidden, bottom, other, interaction, towers);
  }

  private ModelConfig with(Cross cross, int heads, Pairs pairs) {
    return with(
        new Interaction(
            cross,
            heads,
            pairs,
            interaction.attention(),
            matching(),
            interaction.wideDeep(),
            variant()));
  }

  private ModelConfig with(Interaction other) {
    return new ModelConfig(type, widths, hidden, bottom, style, other, towers);
  }

  /** The same model with a share dropped after each hidden layer, 0 or more and below 1. */
  public ModelConfig withDropout(float rate) {
    return with(new Mlp.Style(style.activation(), style.batchNorm(), rate));
  }

  /**
   * The same model with another width for the vectors of one slot, and of those that share its
   * table: {@code of(WDL, 16, 400).withEmbedding("country", 4)}.
   */
  public ModelConfig withEmbedding(String slot, int width) {
    return with(widths.with(slot, width));
  }

  private ModelConfig with(Widths other) {
    return new ModelConfig(type, other, hidden, bottom, style, interaction, towers);
  }

  /** The same model with another bottom network. */
  public ModelConfig withBottom(Integer... layers) {
    return new ModelConfig(type, widths, hidden, List.of(layers), style, interaction, towers);
  }

  /** The same model with another number of cross layers. */
  public ModelConfig withCrossLayers(int layers) {
    return with(new Cross(layers, cross().rank(), cross().experts()), heads(), pairs());
  }

  /** The same model with cross matrices of low rank, or mixtures of {@code experts} of them. */
  public ModelConfig withCross(int rank, int experts) {
    return with(new Cross(cross().layers(), rank, experts), heads(), pairs());
  }

  /** The same model with other hidden layers. */
  public ModelConfig withActivation(Activation function, boolean normalized) {
    return with(new Mlp.Style(function, normalized, style.dropout()));
  }

  /** The same model with another number of heads of attention. */
  public ModelConfig withHeads(int number) {
    return with(cross(), number, pairs());
  }

  private ModelConfig with(
      List<Integer> attention, Matching matching, WideDeep parts, Variant variant) {
    return with(new Interaction(cross(), heads(), pairs(), attention, matching, parts, variant));
  }

  /** The same model with other hidden layers in its attention. */
  public ModelConfig withAttention(Integer... layers) {
    return with(List.of(layers), matching(), interaction.wideDeep(), variant());
  }

  /** The same model with other columns of items, or matched in another way. */
  public ModelConfig withMatching(Matching other) {
    return with(interaction.attention(), other, interaction.wideDeep(), variant());
  }

  /** The same model with columns that only one part of WDL reads. */
  public ModelConfig withParts(WideDeep other) {
    return with(interaction.attention(), matching(), other, variant());
  }

  /** The same model in another form, or with other sizes that only single types have. */
  public ModelConfig withVariant(Variant other) {
    return with(interaction.attention(), matching(), interaction.wideDeep(), other);
  }

  /** The same model with other pairs. */
  public ModelConfig withPairs(Pairs other) {
    return with(cross(), heads(), other);
  }

  /** The same model with other tasks and towers. */
  public ModelConfig withTowers(Towers other) {
    return new ModelConfig(type, widths, hidden, bottom, style, interaction, other);
  }

  /** The column of {@link Loss.Pairwise}, if its tasks have that loss. */
  public Optional<String> group() {
    return TaskLabels.group(towers.tasks());
  }

  /**
   * Whether its scores are logits that order rows, rather than probabilities or values: it has a
   * loss of its own, or learns pairs.
   */
  public boolean ranks() {
    return type.hasOwnLoss() || group().isPresent();
  }

  @Override
  public List<Task> tasks(Schema schema) {
    return towers.tasks().isEmpty() ? Task.ofLabels(schema) : towers.tasks();
  }

  @Override
  public ModelConfig withTasks(Task... tasks) {
    return withTowers(new Towers(List.of(tasks), towers.hidden(), towers.experts(), towers.gate()));
  }

  /** What the model is made of, for rows of {@code schema}. */
  Sizes sizes(Schema schema) {
    return new Sizes(
        SlotWidths.of(widths.all(), widths.own(), schema),
        hidden,
        bottom,
        style,
        new Sizes.Cross(cross().layers(), cross().rank(), cross().experts()),
        interaction.attention(),
        heads(),
        pairsWithin(schema),
        new Sizes.Tasks(
            Math.max(1, tasks(schema).size()), towers.hidden(), towers.experts(), towers.gate()),
        variant().form(),
        variant().second(),
        variant().units(),
        variant().vectors(),
        variant().reduction(),
        variant().levels(),
        variant().auxiliary());
  }

  private Model listed(Schema schema, Parameters parameters) {
    SlotWidths own = SlotWidths.of(widths.all(), widths.own(), schema);
    return new GraphModel(variant().graph().orElseThrow(), own, schema, parameters);
  }

  private Model entireSpace(Schema schema, Parameters parameters) {
    List<Task> tasks = tasks(schema);
    if (tasks.size() != 2 || !tasks.stream().allMatch(Task::isOfAllRowsAndBinary)) {
      throw new IllegalArgumentException(
          "model: got the tasks %s for ESMM, expected two over all rows with cross entropy, the click and what may follow it; name these labels"
              .formatted(tasks));
    }
    return new EntireSpace(sizes(schema), schema, parameters);
  }

  @Override
  public Model create(Schema schema, Parameters parameters) {
    if (type.has(FIELDS) && schema.slotCount() < 2) {
      throw new IllegalArgumentException(
          "model: got the slots %s for %s, which compares slots with each other, expected two or more; take DCNV2 for rows of numbers, or give numbers vectors"
              .formatted(schema.slotNames(), type));
    }
    return type.builder.build(this, schema, parameters);
  }
}
