package dev.tern.cli.inspect;

import dev.tern.base.Shown;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.encode.TextHash;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.LongConsumer;

/**
 * The distributions of all columns of some rows, in bounded memory: numbers as a sample, ids
 * counted with the labels of their rows.
 */
final class Profile {
  private final Schema schema;
  private final TextDictionary texts;
  private final ThinnedValues[] labels;
  private final ThinnedValues[] numbers;
  private final ValueRates[] slots;
  private boolean binary = true;
  private long rows;

  private Profile(Schema schema, TextDictionary texts) {
    this.schema = schema;
    this.texts = texts;
    labels = new ThinnedValues[schema.labelDim()];
    numbers = new ThinnedValues[schema.denseDim()];
    slots = new ValueRates[schema.slotCount()];
    Arrays.setAll(labels, i -> new ThinnedValues());
    Arrays.setAll(numbers, i -> new ThinnedValues());
    Arrays.setAll(slots, i -> new ValueRates());
  }

  /**
   * The profile of all rows of {@code reader}. Rates are of its first label, if it has one.
   *
   * @param texts the texts of ids that are hashes
   */
  static Profile of(DataReader reader, TextDictionary texts, LongConsumer progress) {
    Profile profile = new Profile(reader.schema(), texts);
    for (Optional<Batch> next = reader.next(); next.isPresent(); next = reader.next()) {
      try (Batch batch = next.get()) {
        profile.add(batch);
      }
      progress.accept(profile.rows);
    }
    return profile;
  }

  private void add(Batch batch) {
    rows += batch.size();
    for (int i = 0; i < batch.size() * labels.length; i++) {
      labels[i % labels.length].add(batch.labels()[i]);
    }
    for (int i = 0; i < batch.size() * labels.length; i += labels.length) {
      float label = batch.labels()[i];
      binary &= Float.isNaN(label) || label == 0 || label == 1;
    }
    for (int i = 0; i < batch.size() * numbers.length; i++) {
      numbers[i % numbers.length].add(batch.dense()[i]);
    }
    for (int s = 0; s < slots.length; s++) {
      slots[s].add(batch, s, labels.length == 0 ? -1 : 0);
    }
  }

  Schema schema() {
    return schema;
  }

  long rows() {
    return rows;
  }

  /** Whether the first label is 0 or 1 in all rows. */
  boolean isBinary() {
    return binary;
  }

  boolean hasLabel() {
    return labels.length > 0;
  }

  ThinnedValues label(int label) {
    return labels[label];
  }

  ThinnedValues number(int number) {
    return numbers[number];
  }

  ValueRates slot(int slot) {
    return slots[slot];
  }

  /** An id as data have it: its text where it is a hash. */
  String text(int slot, long id) {
    Optional<String> text = texts.text(id);
    return id == TextHash.EMPTY && text.filter(known -> !known.isEmpty()).isEmpty()
        ? "(empty)"
        : text.map(Shown::excerpt).orElseGet(() -> schema.slots().get(slot).text(id));
  }
}
