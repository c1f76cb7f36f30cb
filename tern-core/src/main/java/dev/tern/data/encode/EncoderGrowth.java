package dev.tern.data.encode;

import java.util.List;
import java.util.Optional;

/**
 * What an encoder hands on to one that grows from it.
 *
 * @param earlier the encoder grown from
 */
record EncoderGrowth(FeatureEncoder earlier) implements EncoderFit.Learned {
  @Override
  public Optional<NumberFeature> number(String column, NumberEncoding wanted) {
    int f = earlier.rawSchema().dense().indexOf(column);
    if (f < 0) {
      return Optional.empty();
    }
    return number(earlier.dense().get(f), earlier.numbers[f], wanted);
  }

  /** What {@code feature} and its parts know of a wanted encoding that is no {@code Beside}. */
  private static Optional<NumberFeature> number(
      NumberEncoding before, NumberFeature feature, NumberEncoding wanted) {
    if (before instanceof NumberEncoding.Beside(NumberEncoding number, NumberEncoding slot)
        && feature instanceof NumberFeature.Beside(NumberFeature.Scale scale, NumberFeature own)) {
      return number(number, scale, wanted).or(() -> number(slot, own, wanted));
    }
    Optional<NumberEncoding.Scaled> scaled = before.scaled();
    if (scaled.isPresent()) {
      NumberFeature.Scale scale = feature.scaling().orElseThrow();
      return fill(scaled.get(), wanted)
          .map(missing ->
              new NumberFeature.Scale(scale.log1p(), scale.mean(), scale.deviation(), missing));
    }
    return before.equals(wanted) ? Optional.of(feature) : Optional.empty();
  }

  /** What stands for a missing number from now on, if numbers are scaled as before. */
  private static Optional<Float> fill(NumberEncoding.Scaled before, NumberEncoding wanted) {
    return switch (wanted) {
      case NumberEncoding.Auto(float missing) when before.standardize() -> Optional.of(missing);
      case NumberEncoding.Scaled(boolean log1p, boolean standardize, float missing)
          when log1p == before.log1p() && standardize == before.standardize() ->
          Optional.of(missing);
      default -> Optional.empty();
    };
  }

  @Override
  public Vocabulary vocabulary(String table, IdEncoding.Vocabulary wanted) {
    int s = earlier.rawSchema().slotNames().indexOf(table);
    return s >= 0
            && earlier.slots().get(s) instanceof IdEncoding.Vocabulary before
            && isAlike(before, wanted)
        ? earlier.vocabularies[s]
        : Vocabulary.EMPTY;
  }

  private static boolean isAlike(IdEncoding.Vocabulary a, IdEncoding.Vocabulary b) {
    return a.text() == b.text() && a.apart() == b.apart();
  }

  /** {@link FeatureEncoder#rescaled}. */
  Optional<String> rescaled(FeatureEncoder now) {
    List<String> columns = now.rawSchema().dense();
    for (int f = 0; f < columns.size(); f++) {
      int before = earlier.rawSchema().dense().indexOf(columns.get(f));
      Optional<NumberFeature.Scale> then =
          before < 0 ? Optional.empty() : earlier.numbers[before].number();
      Optional<NumberFeature.Scale> own = now.numbers[f].number();
      if (own.isPresent() && then.isPresent() && !own.get().isAs(then.get())) {
        return Optional.of(columns.get(f));
      }
    }
    return Optional.empty();
  }

  /** {@link FeatureEncoder#keepsIds}. */
  boolean keepsIds(FeatureEncoder now, String table) {
    int s = now.rawSchema().slotNames().indexOf(table);
    int before = earlier.rawSchema().slotNames().indexOf(table);
    if (s < 0 || before < 0) {
      return keepsSlot(now, table);
    }
    IdEncoding then = earlier.slots().get(before);
    return switch (now.slots().get(s)) {
      case IdEncoding.Vocabulary own ->
          then instanceof IdEncoding.Vocabulary other
              && isAlike(own, other)
              && now.vocabularies[s].extendsOther(earlier.vocabularies[before]);
      case IdEncoding.Verbatim own -> own.equals(then);
      case IdEncoding.Hashed own -> own.equals(then);
    };
  }

  /** Whether the slot of a dense column has ids of one meaning in both. */
  private boolean keepsSlot(FeatureEncoder now, String column) {
    int f = now.rawSchema().dense().indexOf(column);
    int before = earlier.rawSchema().dense().indexOf(column);
    if (f < 0 || before < 0) {
      return false;
    }
    Optional<NumberFeature> own = now.numbers[f].slot();
    Optional<NumberFeature> then = earlier.numbers[before].slot();
    return own.isPresent() && then.isPresent() && own.get().hasIdsOf(then.get());
  }
}
