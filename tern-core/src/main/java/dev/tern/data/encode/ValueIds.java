package dev.tern.data.encode;

import dev.tern.base.Shown;
import dev.tern.base.SplitMix64;
import dev.tern.data.Batch;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The ids of the values of one column, for who has facts by value, such as vectors:
 *
 * <pre>{@code
 * OptionalLong id = ValueIds.of(trainer.encoder(), "city").id("Oslo");
 * }</pre>
 */
public final class ValueIds {
  private final FeatureEncoder encoder;
  private final int slot;
  private final IdEncoding encoding;
  private final Optional<RawFields> fields;

  private ValueIds(FeatureEncoder encoder, int slot) {
    this.encoder = encoder;
    this.slot = slot;
    encoding = encoder.slots().get(slot);
    // A value stands alone: separators count for nothing.
    fields = RawFields.of(encoder.rawSchema(), encoder.reading());
  }

  /**
   * The ids of the slot {@code column} of {@link FeatureEncoder#rawSchema}.
   *
   * @throws IllegalArgumentException if there is no such slot
   */
  public static ValueIds of(FeatureEncoder encoder, String column) {
    int slot = encoder.rawSchema().slotNames().indexOf(column);
    if (slot < 0) {
      throw new IllegalArgumentException(
          "ids: got the column %s, expected one of values: %s"
              .formatted(column, Shown.list(encoder.rawSchema().slotNames())));
    }
    return new ValueIds(encoder, slot);
  }

  /**
   * The id of a value as a file holds it: what is trimmed in files counts for nothing. Empty for a
   * missing value, and for one outside the column's vocabulary.
   *
   * @throws IllegalArgumentException if the column takes integers and the value is none
   */
  public OptionalLong id(String value) {
    String field = fields.isPresent() ? fields.get().field(value) : value;
    if (field.isEmpty()) {
      return OptionalLong.empty();
    }
    OptionalLong raw =
        encoding.text() ? OptionalLong.of(TextHash.of(field)) : RawFields.integer(field);
    if (raw.isEmpty()) {
      throw RawRow.wrong(
          encoder.rawSchema().slots().get(slot).name(), value, "an integer of 64 bits");
    }
    return switch (encoding) {
      case IdEncoding.Verbatim _ -> raw;
      case IdEncoding.Hashed(_, long buckets) ->
          OptionalLong.of(SplitMix64.bounded(raw.getAsLong(), buckets));
      case IdEncoding.Vocabulary _ -> {
        long id = encoder.vocabulary(slot).indexOf(raw.getAsLong());
        yield id < 1 ? OptionalLong.empty() : OptionalLong.of(id);
      }
    };
  }

  /**
   * What the value of an id is in rows as readers give them: an integer, or the {@link TextHash} of
   * a text.
   *
   * @param id 1 or more, and of a vocabulary at most its size
   * @throws IllegalStateException if ids are no vocabulary's
   */
  public long raw(long id) {
    if (!(encoding instanceof IdEncoding.Vocabulary)) {
      throw new IllegalStateException("ids: got " + encoding + ", expected a vocabulary");
    }
    return encoder.vocabulary(slot).id((int) id);
  }

  /** Whether several values may have one id. */
  public boolean shares() {
    return encoding instanceof IdEncoding.Hashed;
  }

  /** Values of the column's vocabulary; empty where ids are no vocabulary's. */
  public OptionalLong vocabulary() {
    return encoding instanceof IdEncoding.Vocabulary
        ? OptionalLong.of(encoder.vocabularySize(slot))
        : OptionalLong.empty();
  }

  /** As {@link FeatureEncoder#value}, of a slot of the raw schema. */
  static Optional<String> value(FeatureEncoder encoder, int slot, long id) {
    return switch (encoder.slots().get(slot)) {
      case IdEncoding.Verbatim(boolean text) ->
          text ? Optional.empty() : Optional.of(encoder.rawSchema().slots().get(slot).text(id));
      case IdEncoding.Vocabulary vocabulary when vocabulary.text() -> encoder.text(slot, id);
      case IdEncoding.Vocabulary _ -> {
        Vocabulary known = encoder.vocabulary(slot);
        yield id < 1 || id > known.size()
            ? Optional.empty()
            : Optional.of(encoder.rawSchema().slots().get(slot).text(known.id((int) id)));
      }
      case IdEncoding.Hashed _ -> Optional.empty();
    };
  }

  /** Values of a raw batch outside a vocabulary that gives them the id of missing ones. */
  static int unknownWithRow(FeatureEncoder encoder, Batch raw, int slot) {
    if (!(encoder.slots().get(slot) instanceof IdEncoding.Vocabulary encoding)
        || encoding.apart()) {
      return 0;
    }
    int unknown = 0;
    for (int i = 0; i < raw.idCount(slot); i++) {
      long id = raw.ids(slot)[i];
      boolean missing = encoding.text() && id == TextHash.EMPTY;
      unknown += !missing && encoder.vocabulary(slot).indexOf(id) == 0 ? 1 : 0;
    }
    return unknown;
  }
}
