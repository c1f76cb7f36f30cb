package dev.tern.serve;

import dev.tern.data.Batch;
import dev.tern.data.Reading;
import dev.tern.data.Schema;
import dev.tern.data.Sequence;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.NumberEncoding;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.encode.TextHash;
import dev.tern.data.readers.Readers;
import dev.tern.model.ModelConfig;
import dev.tern.optim.Optimizer;
import dev.tern.predict.Predictor;
import dev.tern.tensor.Device;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/** Models of few columns for requests that are written by hand. */
public final class SmallModel {
  /** A number, an integer and a text. */
  public static final Schema PLAIN =
      new Schema(List.of("click"), List.of("I1"), List.of(Slot.oneHot("C1"), Slot.oneHot("city")));

  /** Columns of all kinds. */
  public static final Schema ALL =
      new Schema(
          List.of("click"),
          List.of("I1", "I2"),
          List.of(
              Slot.oneHot("C1"),
              Slot.oneHot("city"),
              Slot.ragged("tags"),
              Slot.weighted("words"),
              new Slot("pair", 2),
              Slot.oneHot("t@hour"),
              Slot.ragged("seen"),
              Slot.oneHot("big").withUnsigned(true)));

  private static final Set<String> TEXTS = Set.of("city", "tags", "words");

  private SmallModel() {}

  /** A trained model, saved in a folder. */
  public static Predictor open(Path folder, Schema schema) {
    Batch train = rows(schema, 400);
    List<NumberEncoding> numbers = new ArrayList<>();
    schema.dense().forEach(_ -> numbers.add(NumberEncoding.standardize()));
    List<IdEncoding> slots = new ArrayList<>();
    for (Slot slot : schema.slots()) {
      boolean text = TEXTS.contains(slot.name());
      slots.add(
          slot.name().equals("C1")
              ? new IdEncoding.Hashed(false, 97)
              : text ? new IdEncoding.Vocabulary(true, 1, 1000) : new IdEncoding.Verbatim(false));
    }
    FeatureEncoder encoder =
        FeatureEncoder.fit(
                Readers.inMemory(train), numbers, slots, TextDictionary.none(), read -> {})
            .withReading(new Reading(" ", Map.of("tags", "|"), Set.of("NA"), "{}"));
    if (schema.slotNames().contains("seen")) {
      encoder = encoder.withSequences(Map.of("seen", Sequence.last("seen", 3)));
    }
    Path saved = folder.resolve("saved" + schema.slotCount());
    TrainOptions options = TrainOptions.of(Optimizer.adam(0.05f)).batch(100).epochs(2);
    try (Device device = Device.cpu(1, 1L << 28);
        Trainer trainer =
            Trainer.create(
                device, encoder, ModelConfig.of(ModelConfig.Type.DEEPFM, 4, 8), options)) {
      trainer.fit(Readers.inMemory(train));
      trainer.save(saved);
    }
    return Predictor.open(saved);
  }

  private static Batch rows(Schema schema, int count) {
    Random random = new Random(7);
    String[] texts = {"Oslo", "Rome", "a", "b", "\u00c5lesund"};
    Batch rows = new Batch(schema, count);
    for (int row = 0; row < count; row++) {
      for (int f = 0; f < schema.denseDim(); f++) {
        rows.setDense(f, random.nextFloat(-3, 3));
      }
      for (int s = 0; s < schema.slotCount(); s++) {
        Slot slot = schema.slots().get(s);
        for (int i = slot.hotness() == 0 ? random.nextInt(4) : slot.hotness(); i > 0; i--) {
          boolean text = TEXTS.contains(slot.name());
          rows.addId(s, text ? TextHash.of(texts[random.nextInt(5)]) : random.nextInt(20));
        }
      }
      rows.setLabel(0, random.nextInt(2));
      rows.endRow();
    }
    return rows;
  }
}
