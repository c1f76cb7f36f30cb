package dev.tern.bench.serve;

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
import dev.tern.tensor.Device;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;

/** A small model with a column of each kind. */
final class ServedColumns {
  private static final int ROWS = 400;
  private static final Set<String> TEXTS = Set.of("city", "tags", "words");
  private static final Schema SCHEMA =
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

  private ServedColumns() {}

  /** Trains it and saves it in {@code folder}. */
  static void save(Path folder) {
    Batch train = rows();
    List<NumberEncoding> numbers = new ArrayList<>();
    SCHEMA.dense().forEach(_ -> numbers.add(NumberEncoding.standardize()));
    List<IdEncoding> slots = new ArrayList<>();
    for (Slot slot : SCHEMA.slots()) {
      slots.add(
          slot.name().equals("C1")
              ? new IdEncoding.Hashed(false, 97)
              : TEXTS.contains(slot.name())
                  ? new IdEncoding.Vocabulary(true, 1, 1000)
                  : new IdEncoding.Verbatim(false));
    }
    FeatureEncoder encoder =
        FeatureEncoder.fit(
                Readers.inMemory(train), numbers, slots, TextDictionary.none(), read -> {})
            .withReading(new Reading(" ", Map.of("tags", "|"), Set.of("NA"), "{}"))
            .withSequences(Map.of("seen", Sequence.last("seen", 3)));
    TrainOptions options = TrainOptions.of(Optimizer.adam(0.05f)).batch(100).epochs(1);
    ModelConfig model = ModelConfig.of(ModelConfig.Type.DEEPFM, 4, 8);
    try (Device device = Device.cpu(1, 1L << 28);
        Trainer trainer = Trainer.create(device, encoder, model, options)) {
      trainer.fit(Readers.inMemory(train));
      trainer.save(folder);
    }
  }

  private static Batch rows() {
    SplittableRandom random = new SplittableRandom(7);
    String[] texts = {"Oslo", "Rome", "a", "b", "\u00c5lesund"};
    Batch rows = new Batch(SCHEMA, ROWS);
    for (int row = 0; row < ROWS; row++) {
      for (int f = 0; f < SCHEMA.denseDim(); f++) {
        rows.setDense(f, (float) random.nextDouble(-3, 3));
      }
      for (int s = 0; s < SCHEMA.slotCount(); s++) {
        Slot slot = SCHEMA.slots().get(s);
        for (int i = slot.hotness() == 0 ? random.nextInt(4) : slot.hotness(); i > 0; i--) {
          boolean isText = TEXTS.contains(slot.name());
          rows.addId(
              s, isText ? TextHash.of(texts[random.nextInt(texts.length)]) : random.nextInt(20));
        }
      }
      rows.setLabel(0, random.nextInt(2));
      rows.endRow();
    }
    return rows;
  }
}
