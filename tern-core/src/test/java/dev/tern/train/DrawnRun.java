package dev.tern.train;

import dev.tern.base.DType;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Sequence;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.NumberEncoding;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.readers.Readers;
import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.InitialWeights;
import dev.tern.embedding.config.OwnOptions;
import dev.tern.embedding.config.TableOptions;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.model.Matching;
import dev.tern.model.ModelConfig;
import dev.tern.model.Towers;
import dev.tern.model.WideDeep;
import dev.tern.nn.Activation;
import dev.tern.optim.Optimizer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/**
 * A model of a type with sizes, columns, encodings and options drawn at random, all that the type
 * takes among them: numbers with and without vectors, slots of one value, of several and of
 * weighted ones, sequences, and slots that share tables.
 *
 * @param schema of raw rows
 * @param train rows that it trains on
 * @param held other rows: half of their ids are unknown, slots and sequences are empty or long,
 *     numbers are missing or huge
 */
public record DrawnRun(
    Schema schema, FeatureEncoder encoder, ModelConfig model, Batch train, Batch held) {
  private static final int TRAINED = 150;
  private static final int HELD = 90;
  private static final int KNOWN = 12;

  /** A run of a type; the same for equal seeds. */
  public static DrawnRun of(ModelConfig.Type type, long seed) {
    Random random = new Random(31 * seed + type.name().hashCode());
    Map<String, String> tables = new HashMap<>();
    Map<String, Sequence> sequences = new HashMap<>();
    List<Slot> slots = slots(type, random, tables, sequences);
    Collections.shuffle(slots, random);
    List<String> dense =
        type == ModelConfig.Type.GMF ? List.of() : names("number", random.nextInt(4));
    Schema schema = new Schema(labels(type, random), dense, slots);
    Batch train = rows(schema, sequences, random, TRAINED, KNOWN);
    List<NumberEncoding> numbers = numbers(dense.size(), random, vectors(type, seed));
    FeatureEncoder encoder = encoder(train, numbers, tables, random).withSequences(sequences);
    ModelConfig model = model(type, random);
    if (type.takesWidths() && seed % 2 == 0) {
      model = widened(model, encoder.schema(), random);
    }
    if (type == ModelConfig.Type.WDL && seed % 2 == 1) {
      model = model.withParts(new WideDeep(List.of("item"), List.of("user")));
    }
    return new DrawnRun(
        schema, encoder, model, train, rows(schema, sequences, random, HELD, 2 * KNOWN));
  }

  private static List<String> labels(ModelConfig.Type type, Random random) {
    boolean two = type == ModelConfig.Type.ESMM || type.hasTowers() && random.nextBoolean();
    return two ? List.of("click", "buy") : List.of("click");
  }

  private static List<String> names(String name, int count) {
    List<String> names = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      names.add(name + i);
    }
    return names;
  }

  private static List<Slot> slots(
      ModelConfig.Type type,
      Random random,
      Map<String, String> tables,
      Map<String, Sequence> sequences) {
    boolean pair = type == ModelConfig.Type.NEUMF || type == ModelConfig.Type.GMF;
    List<Slot> slots = new ArrayList<>();
    slots.add(pair ? any("user", random) : Slot.oneHot("user"));
    slots.add(pair ? any("item", random) : Slot.oneHot("item"));
    if (pair) {
      return slots;
    }
    for (String name : List.of("tags", "words")) {
      if (random.nextBoolean()) {
        slots.add(any(name, random));
      }
    }
    if (random.nextBoolean()) {
      slots.add(any("rival", random));
      tables.put("rival", "item");
    }
    if (type.readsSequences() || random.nextBoolean()) {
      addSequences(random, slots, tables, sequences);
    }
    return slots;
  }

  private static void addSequences(
      Random random,
      List<Slot> slots,
      Map<String, String> tables,
      Map<String, Sequence> sequences) {
    Sequence seen = sequence("seen", random);
    slots.add(Slot.ragged("seen_items"));
    tables.put("seen_items", "item");
    sequences.put("seen_items", seen);
    if (random.nextBoolean()) {
      slots.add(Slot.oneHot("kind"));
      slots.add(Slot.ragged("seen_kinds"));
      tables.put("seen_kinds", "kind");
      sequences.put("seen_kinds", seen);
    }
    if (random.nextBoolean()) {
      slots.add(Slot.ragged("bought_items"));
      tables.put("bought_items", "item");
      sequences.put("bought_items", sequence("bought", random));
    }
  }

  private static Sequence sequence(String name, Random random) {
    Sequence.Keep[] ends = Sequence.Keep.values();
    return new Sequence(name, 1 + random.nextInt(6), ends[random.nextInt(ends.length)]);
  }

  private static Slot any(String name, Random random) {
    return switch (random.nextInt(3)) {
      case 0 -> Slot.oneHot(name);
      case 1 -> Slot.ragged(name);
      default -> Slot.weighted(name);
    };
  }

  /** Whether numbers may have vectors: in every other run, unless slots are a pair. */
  private static Optional<Random> vectors(ModelConfig.Type type, long seed) {
    boolean pair = type == ModelConfig.Type.NEUMF || type == ModelConfig.Type.GMF;
    return pair || seed % 4 > 1 ? Optional.empty() : Optional.of(new Random(17 * seed));
  }

  private static List<NumberEncoding> numbers(int count, Random random, Optional<Random> vectors) {
    List<NumberEncoding> encodings = new ArrayList<>();
    for (int f = 0; f < count; f++) {
      NumberEncoding number =
          random.nextBoolean() ? NumberEncoding.none() : NumberEncoding.standardize();
      encodings.add(vectors.map(own -> withVector(number, own)).orElse(number));
    }
    return encodings;
  }

  private static NumberEncoding withVector(NumberEncoding number, Random random) {
    NumberEncoding slot =
        switch (random.nextInt(3)) {
          case 0 -> new NumberEncoding.Field(number);
          case 1 -> new NumberEncoding.Pieces(1 + random.nextInt(5));
          default -> new NumberEncoding.Quantiles(2 + random.nextInt(5));
        };
    return switch (random.nextInt(3)) {
      case 0 -> number;
      case 1 -> slot;
      default -> new NumberEncoding.Beside(number, slot);
    };
  }

  private static FeatureEncoder encoder(
      Batch train, List<NumberEncoding> dense, Map<String, String> tables, Random random) {
    Map<String, IdEncoding> ofTables = new HashMap<>();
    List<IdEncoding> slots = new ArrayList<>();
    for (String slot : train.schema().slotNames()) {
      String table = tables.getOrDefault(slot, slot);
      slots.add(ofTables.computeIfAbsent(table, _ -> encoding(random)));
    }
    return FeatureEncoder.fit(
        Readers.inMemory(train), dense, slots, tables, TextDictionary.none(), read -> {});
  }

  private static IdEncoding encoding(Random random) {
    return switch (random.nextInt(3)) {
      case 0 -> IdEncoding.verbatim();
      case 1 -> new IdEncoding.Vocabulary(false, 1 + random.nextInt(2), 1 << 20);
      default -> new IdEncoding.Hashed(false, 9);
    };
  }

  private static ModelConfig model(ModelConfig.Type type, Random random) {
    boolean attends = type == ModelConfig.Type.TRANSFORMER || type == ModelConfig.Type.BST;
    int width = attends ? 2 * (1 + random.nextInt(4)) : 1 + random.nextInt(8);
    Integer[] hidden = random.nextBoolean() ? new Integer[] {9} : new Integer[] {17, 6};
    ModelConfig model =
        ModelConfig.of(type, width, hidden)
            .withDropout(random.nextBoolean() ? 0.1f : 0)
            .withBottom(5)
            .withCrossLayers(1 + random.nextInt(3))
            .withMatching(Matching.of("item"))
            .withHeads(attends ? 1 + random.nextInt(2) : 1)
            .withAttention(random.nextBoolean() ? new Integer[] {7} : new Integer[] {12, 5});
    if (type == ModelConfig.Type.DCNV2 && random.nextInt(3) > 0) {
      model = model.withCross(1 + random.nextInt(3), random.nextInt(3));
    }
    if (type.hasTowers()) {
      List<Integer> gate = random.nextBoolean() ? List.of() : List.of(4);
      model = model.withTowers(new Towers(List.of(), List.of(6), 1 + random.nextInt(3), gate));
    }
    return takesActivation(model) ? activated(model, random) : model;
  }

  /** The model with vectors of unequal widths. */
  private static ModelConfig widened(ModelConfig model, Schema schema, Random random) {
    ModelConfig widened = model;
    int unit = model.type() == ModelConfig.Type.BST ? 2 : 1; // Heads divide the sum of widths.
    for (String table : schema.tables()) {
      widened = widened.withEmbedding(table, unit * (1 + random.nextInt(6)));
    }
    int other = widened.widths().own().get("user") + unit;
    return widened.widths().differ() ? widened : widened.withEmbedding("user", other);
  }

  private static ModelConfig activated(ModelConfig model, Random random) {
    Activation[] all = Activation.values();
    return model.withActivation(all[random.nextInt(all.length)], random.nextBoolean());
  }

  private static boolean takesActivation(ModelConfig model) {
    try {
      model.withActivation(Activation.PRELU, true);
      return true;
    } catch (IllegalArgumentException _) {
      return false;
    }
  }

  /** Options of its training, in batches of 60. */
  public TrainOptions options() {
    Random random = new Random(schema.slotCount() + 7L * model.embedding());
    Combiner combiner = Combiner.values()[random.nextInt(3)];
    List<UnknownRow> unknown = List.of(UnknownRow.ZEROS, UnknownRow.INITIAL, UnknownRow.MEAN);
    return TrainOptions.of(Optimizer.adam(0.05f))
        .batch(60)
        .epochs(2)
        .shuffleRows(100)
        .tables(t ->
            withOwn(t.initRange(0.3f).combiner(combiner).unknown(unknown.get(random.nextInt(3)))));
  }

  /** In some runs some tables have options of their own. */
  private TableOptions withOwn(TableOptions options) {
    Random random = new Random(41L * schema.slotCount() + model.embedding());
    List<Optimizer> optimizers =
        List.of(
            Optimizer.sgd(0.1f),
            Optimizer.adagrad(0.02f),
            Optimizer.rowWiseAdagrad(0.02f),
            Optimizer.adam(0.01f),
            new Optimizer.Ftrl(0.1f, 1, 0.001f, 0.1f));
    List<DType> storages = List.of(DType.F32, DType.F16, DType.BF16);
    TableOptions told = options;
    for (String table : encoder.schema().tables()) {
      OwnOptions own = OwnOptions.NONE;
      if (random.nextInt(3) == 0) {
        own = own.optimizer(optimizers.get(random.nextInt(optimizers.size())));
      }
      own = random.nextInt(3) == 0 ? own.storage(storages.get(random.nextInt(3))) : own;
      own = random.nextInt(3) == 0 ? own.l2(0.01f) : own;
      own = random.nextInt(3) == 0 ? own.initial(new InitialWeights.Normal(0.2f)) : own;
      told = own.equals(OwnOptions.NONE) ? told : told.own(table, own);
    }
    return told;
  }

  private static Batch rows(
      Schema schema, Map<String, Sequence> sequences, Random random, int count, int ids) {
    Batch rows = new Batch(schema, count);
    boolean held = ids > KNOWN;
    for (int row = 0; row < count; row++) {
      boolean empty = held && row % 10 == 0;
      int known = held && row % 10 == 1 ? -1 - random.nextInt(1000) : 0;
      for (int f = 0; f < schema.denseDim(); f++) {
        float huge = held && row % 29 == 7 ? 1e37f : 1;
        rows.setDense(f, random.nextInt(6) == 0 ? Float.NaN : random.nextFloat(-2, 2) * huge);
      }
      Map<String, Integer> lengths = new HashMap<>();
      for (int s = 0; s < schema.slotCount(); s++) {
        Slot slot = schema.slots().get(s);
        int most = slot.hotness() == 1 ? 1 : held && row % 7 == 0 ? 40 : 5;
        int drawn = empty ? 0 : random.nextInt(most + 1);
        int length =
            sequences.containsKey(slot.name())
                ? lengths.computeIfAbsent(sequences.get(slot.name()).name(), _ -> drawn)
                : drawn;
        int first = random.nextInt(ids);
        for (int i = 0; i < Math.min(length, ids) && slot.weighted(); i++) {
          // Maps have each id once.
          long id = known - (first + i) % ids + KNOWN / 2;
          rows.addId(s, id, random.nextFloat(-2, 3));
        }
        for (int i = 0; i < length && !slot.weighted(); i++) {
          rows.addId(s, known - random.nextInt(ids) + KNOWN / 2);
        }
      }
      boolean click = random.nextInt(3) > 0;
      for (int label = 0; label < schema.labelDim(); label++) {
        rows.setLabel(label, click && (label == 0 || random.nextBoolean()) ? 1 : 0);
      }
      rows.endRow();
    }
    return rows;
  }

  /** Row {@code row} of {@code rows} as values by column name. */
  public static Map<String, Object> asMap(Batch rows, int row) {
    Map<String, Object> columns = new HashMap<>();
    Schema schema = rows.schema();
    for (int f = 0; f < schema.denseDim(); f++) {
      float number = rows.dense()[row * schema.denseDim() + f];
      if (!Float.isNaN(number)) {
        columns.put(schema.dense().get(f), number);
      }
    }
    for (int s = 0; s < schema.slotCount(); s++) {
      Slot slot = schema.slots().get(s);
      List<Long> ids = new ArrayList<>();
      Map<Long, Float> weights = new LinkedHashMap<>();
      for (int i = rows.offsets(s)[row]; i < rows.offsets(s)[row + 1]; i++) {
        ids.add(rows.ids(s)[i]);
        weights.put(rows.ids(s)[i], slot.weighted() ? rows.weights(s)[i] : 1);
      }
      if (slot.weighted()) {
        columns.put(slot.name(), weights);
      } else if (slot.hotness() != 1) {
        columns.put(slot.name(), ids);
      } else if (!ids.isEmpty()) {
        columns.put(slot.name(), ids.getFirst());
      }
    }
    return columns;
  }
}
