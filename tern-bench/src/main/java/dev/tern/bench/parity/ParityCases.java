package dev.tern.bench.parity;

import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Sequence;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.NumberEncoding;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.readers.Readers;
import dev.tern.model.Matching;
import dev.tern.model.ModelConfig;
import dev.tern.model.Towers;
import dev.tern.nn.Form;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** A small case of every model: its shape, the columns that it reads, and rows of them. */
final class ParityCases {
  static final int BATCH = 256;
  static final int IDS = 60;
  private static final int WIDTH = 8;
  private static final List<String> NUMBERS = List.of("n1", "n2", "n3");

  private ParityCases() {}

  static ModelConfig model(ModelConfig.Type type) {
    ModelConfig model = ModelConfig.of(type, WIDTH, 24, 16).withBottom(20).withCrossLayers(2);
    return switch (type) {
      case TRANSFORMER -> model.withHeads(2);
      case DIN -> model.withAttention(16, 8);
      case BST -> model.withAttention(20, 12).withHeads(3);
      case SASREC -> model.withAttention(20, 12).withHeads(2);
      case HSTU -> model.withHeads(2);
      case DLRM_DCNV2 -> model.withCross(5, 0);
      case AUTOINT -> sized(model.withHeads(2), 6, 6);
      case AFM, XDEEPFM, MASKNET, EULERNET -> sized(model, 7, 5);
      case FINALMLP -> second(model.withHeads(2).withTowers(gates(5)), 12);
      case FINALNET -> second(model, 20, 9);
      case WUKONG -> second(sized(model, 3, 2), 14);
      case PLE -> leveled(model.withTowers(new Towers(List.of(), List.of(6), 2, List.of())));
      case TWOTOWER -> model.withMatching(Matching.of("item", "category", "n2"));
      default -> model;
    };
  }

  /** The cases of a type: one, or one for each of its forms. */
  static List<ModelConfig> models(ModelConfig.Type type) {
    ModelConfig model = model(type);
    List<ModelConfig> models = new ArrayList<>();
    for (Form form : type.forms()) {
      models.add(model.withVariant(model.variant().withForm(form)));
    }
    if (type == ModelConfig.Type.DIEN) {
      models.add(model.withVariant(model.variant().withAuxiliary(0.5f)));
    }
    if (type == ModelConfig.Type.FINALNET) {
      models.add(model.withVariant(model.variant().withSecond()));
    }
    return models;
  }

  private static ModelConfig sized(ModelConfig model, int units, int vectors) {
    return model.withVariant(model.variant().withSizes(units, vectors, 2, 1));
  }

  private static ModelConfig second(ModelConfig model, Integer... layers) {
    return model.withVariant(model.variant().withSecond(layers));
  }

  private static ModelConfig leveled(ModelConfig model) {
    return model.withVariant(model.variant().withSizes(1, 1, 1, 2));
  }

  private static Towers gates(int width) {
    return new Towers(List.of(), List.of(), 1, List.of(width));
  }

  static Schema schema(ModelConfig.Type type) {
    List<String> labels = type.hasTowers() ? List.of("click", "buy") : List.of("click");
    if (type.isOfPairs()) {
      List<String> numbers = type == ModelConfig.Type.GMF ? List.of() : NUMBERS;
      return new Schema(labels, numbers, List.of(Slot.oneHot("user"), Slot.oneHot("item")));
    }
    List<Slot> slots =
        new ArrayList<>(
            List.of(
                Slot.oneHot("user"),
                Slot.oneHot("item"),
                Slot.oneHot("category"),
                Slot.ragged("tags")));
    if (type.readsSequences()) {
      slots.add(Slot.ragged("items").withTable("item"));
      slots.add(Slot.ragged("categories").withTable("category"));
    }
    return new Schema(labels, NUMBERS, slots);
  }

  /** Whether a model takes numbers with vectors, which are slots more. */
  static boolean takesVectors(ModelConfig.Type type) {
    return !type.isOfPairs();
  }

  /** How numbers have vectors, one in each way; the second one is a number, too. */
  static List<NumberEncoding> vectors() {
    NumberEncoding none = NumberEncoding.none();
    return List.of(
        new NumberEncoding.Field(none),
        new NumberEncoding.Beside(
            none, new NumberEncoding.PiecesBetween(List.of(-0.8f, -0.3f, 0.1f, 0.9f))),
        new NumberEncoding.Boundaries(List.of(-0.4f, 0.2f)));
  }

  static FeatureEncoder encoder(Schema schema) {
    return encoder(schema, Collections.nCopies(schema.denseDim(), NumberEncoding.none()));
  }

  static FeatureEncoder encoder(Schema schema, List<NumberEncoding> numbers) {
    FeatureEncoder plain =
        FeatureEncoder.fit(
            Readers.inMemory(schema, List.of()),
            numbers,
            Collections.nCopies(schema.slotCount(), IdEncoding.verbatim()),
            TextDictionary.none(),
            read -> {});
    Sequence seen = Sequence.last("seen", 9);
    return schema.slotNames().contains("items")
        ? plain.withSequences(Map.of("items", seen, "categories", seen))
        : plain;
  }

  static Batch batch(Schema schema, SplittableRandom random) {
    return batch(schema, random, false);
  }

  /**
   * Rows at random.
   *
   * @param missing whether some numbers are
   */
  static Batch batch(Schema schema, SplittableRandom random, boolean missing) {
    Batch batch = new Batch(schema, BATCH);
    for (int row = 0; row < BATCH; row++) {
      boolean click = random.nextInt(3) == 0;
      for (int label = 0; label < schema.labelDim(); label++) {
        batch.setLabel(label, click && (label == 0 || random.nextBoolean()) ? 1 : 0);
      }
      for (int f = 0; f < schema.denseDim(); f++) {
        float number = (float) random.nextDouble(-1, 1);
        batch.setDense(f, missing && random.nextInt(8) == 0 ? Float.NaN : number);
      }
      int length = random.nextInt(4) == 0 ? 0 : random.nextInt(10);
      for (int slot = 0; slot < schema.slotCount(); slot++) {
        boolean tags = schema.slotNames().get(slot).equals("tags");
        boolean one = schema.slots().get(slot).hotness() == 1;
        for (int k = one ? 1 : tags ? random.nextInt(4) : length; k > 0; k--) {
          batch.addId(slot, random.nextInt(IDS));
        }
      }
      batch.endRow();
    }
    return batch;
  }
}
