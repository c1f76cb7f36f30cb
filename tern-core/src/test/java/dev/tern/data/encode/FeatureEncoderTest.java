package dev.tern.data.encode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tern.base.DataException;
import dev.tern.base.SplitMix64;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.readers.FailingReader;
import dev.tern.data.readers.NumberedRows;
import dev.tern.data.readers.Readers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

final class FeatureEncoderTest {
  private static final float NAN = Float.NaN;

  /** A batch with one dense column x. */
  private static Batch numbers(float... values) {
    Batch batch = new Batch(new Schema(List.of("label"), List.of("x"), List.of()), 4);
    for (float value : values) {
      batch.setLabel(0, 1);
      batch.setDense(0, value);
      batch.endRow();
    }
    return batch;
  }

  /** A batch with one slot of rows of ids. */
  private static Batch ids(Slot slot, long[]... rows) {
    Batch batch = new Batch(new Schema(List.of(), List.of(), List.of(slot)), 4);
    for (long[] row : rows) {
      for (long id : row) {
        batch.addId(0, id);
      }
      batch.endRow();
    }
    return batch;
  }

  private static FeatureEncoder fit(Batch training, NumberEncoding encoding) {
    return FeatureEncoder.fit(
        Readers.inMemory(training),
        List.of(encoding),
        List.of(),
        TextDictionary.none(),
        rows -> {});
  }

  private static FeatureEncoder fit(Batch training, IdEncoding encoding) {
    return FeatureEncoder.fit(
        Readers.inMemory(training),
        List.of(),
        List.of(encoding),
        TextDictionary.none(),
        rows -> {});
  }

  static Batch apply(FeatureEncoder encoder, Batch raw) {
    Batch encoded = new Batch(encoder.schema(), 1);
    encoder.apply(raw, encoded);
    return encoded;
  }

  private static float[] dense(FeatureEncoder encoder, float... values) {
    return Arrays.copyOf(apply(encoder, numbers(values)).dense(), values.length);
  }

  private static long[] ids(FeatureEncoder encoder, Batch raw) {
    Batch encoded = apply(encoder, raw);
    return Arrays.copyOf(encoded.ids(0), encoded.idCount(0));
  }

  @Test
  void plainNumbersStayAndMissingOnesAreFilled() {
    assertThat(dense(fit(numbers(), NumberEncoding.none()), 0, -1.5f, NAN, Float.MAX_VALUE))
        .containsExactly(0, -1.5f, 0, Float.MAX_VALUE);
    assertThat(dense(fit(numbers(), new NumberEncoding.Scaled(true, false, -3)), NAN, 0))
        .containsExactly(-3, 0);
  }

  @Test
  void log1pKeepsTheSign() {
    float[] values = {0, 1, -1, 2.5f, -2.5f, 4095, 4096, 1e-20f, -3e38f};
    float[] got = dense(fit(numbers(), NumberEncoding.log1p()), values);
    for (int i = 0; i < values.length; i++) {
      double expected = Math.signum(values[i]) * StrictMath.log1p(Math.abs((double) values[i]));
      assertThat(got[i]).as("log1p of %s", values[i]).isEqualTo((float) expected);
    }
  }

  @Test
  void standardizedTrainingDataHaveMeanZeroAndDeviationOne() {
    long seed = 3;
    SplittableRandom random = new SplittableRandom(seed);
    float[] values = new float[1000];
    for (int i = 0; i < values.length; i++) {
      values[i] = i % 10 == 0 ? NAN : 1e6f + (float) random.nextGaussian();
    }
    float[] got = dense(fit(numbers(values), NumberEncoding.standardize()), values);
    double sum = 0;
    double squares = 0;
    for (int i = 0; i < got.length; i++) {
      sum += got[i];
      squares += got[i] * (double) got[i];
      if (i % 10 == 0) {
        assertThat(got[i]).isZero();
      }
    }
    assertThat(sum / 900).as("seed %d", seed).isCloseTo(0, within(1e-5));
    assertThat(squares / 900).as("seed %d", seed).isCloseTo(1, within(1e-5));
  }

  @Test
  void log1pIsStandardizedAfterItIsTaken() {
    float[] got = dense(fit(numbers(0, 9), NumberEncoding.log1pStandardize()), 0, 9, NAN);
    assertThat(got).containsExactly(-1, 1, 0);
  }

  @Test
  void constantOrAbsentColumnStandardizesToZero() {
    assertThat(dense(fit(numbers(7, 7, 7), NumberEncoding.standardize()), 7, 8, NAN))
        .containsExactly(0, 1, 0);
    assertThat(dense(fit(numbers(), NumberEncoding.standardize()), 7, NAN)).containsExactly(7, 0);
    assertThat(dense(fit(numbers(NAN), NumberEncoding.standardize()), NAN)).containsExactly(0);
  }

  @Test
  void boundariesPutNumbersIntoASlot() {
    FeatureEncoder encoder = fit(numbers(), NumberEncoding.boundaries(-1, 0, 10));
    assertThat(encoder.schema())
        .isEqualTo(new Schema(List.of("label"), List.of(), List.of(Slot.oneHot("x"))));
    assertThat(ids(encoder, numbers(-2, -1, -0.5f, -0.0f, 0, 9.99f, 10, 1e30f, NAN)))
        .containsExactly(1, 2, 2, 3, 3, 3, 4, 4, 0);
    assertThat(encoder.idBound(0)).hasValue(5);
  }

  @Test
  void quantilesCutTheTrainingDataIntoEqualParts() {
    float[] values = new float[1000];
    for (int i = 0; i < values.length; i++) {
      values[i] = (i * 7919) % 1000 - 300;
    }
    FeatureEncoder encoder = fit(numbers(values), NumberEncoding.quantiles(8));
    int[] counts = new int[9];
    for (long bucket : ids(encoder, numbers(values))) {
      counts[(int) bucket]++;
    }
    assertThat(counts).containsExactly(0, 125, 125, 125, 125, 125, 125, 125, 125);
    assertThat(encoder.idBound(0)).hasValue(9);
  }

  @Test
  void quantilesOfFewDifferentValuesMakeFewerBuckets() {
    float[] values = new float[100];
    Arrays.fill(values, 90, 100, 5);
    values[99] = 6;
    FeatureEncoder encoder = fit(numbers(values), NumberEncoding.quantiles(10));
    assertThat(ids(encoder, numbers(-1, 0, 5, 6, 7, NAN))).containsExactly(1, 1, 2, 2, 2, 0);
    assertThat(ids(fit(numbers(3, 3), NumberEncoding.quantiles(4)), numbers(2, 3, 4)))
        .containsExactly(1, 1, 1);
    assertThat(ids(fit(numbers(), NumberEncoding.quantiles(4)), numbers(2, NAN)))
        .containsExactly(1, 0);
  }

  @Test
  void infiniteNumberIsRefusedWithItsColumnAndRow() {
    float inf = Float.POSITIVE_INFINITY;
    assertThatThrownBy(() -> fit(numbers(1, 2, inf), NumberEncoding.standardize()))
        .isInstanceOf(DataException.class)
        .hasMessageContaining(
            "dense column x: got Infinity in row 3 of all read, expected a finite");
    for (NumberEncoding encoding : List.of(NumberEncoding.none(), NumberEncoding.boundaries(1))) {
      assertThatThrownBy(() -> apply(fit(numbers(), encoding), numbers(1, -inf)))
          .isInstanceOf(DataException.class)
          .hasMessageContaining("dense column x: got -Infinity in row 2 of this batch, expected");
    }
  }

  @Test
  void vocabularyIsOrderedByCountThenByUnsignedId() {
    Slot slot = Slot.ragged("s");
    Batch training =
        ids(slot, new long[] {5, 5, -1, 3, 3, 0}, new long[] {Long.MIN_VALUE, 8, 8, 8});
    FeatureEncoder encoder = fit(training, new IdEncoding.Vocabulary(false, 1, 100));
    long[] asked = {8, 3, 5, 0, Long.MIN_VALUE, -1, 7};
    long[] got = ids(encoder, ids(slot, asked));
    assertThat(got).startsWith(1, 2, 3, 4, 5, 6).hasSize(7);
    assertThat(got[6]).isNegative();
    assertThat(encoder.idBound(0)).hasValue(7);
  }

  @Test
  void vocabularyKeepsWhatIsFrequentEnough() {
    Slot slot = Slot.ragged("s");
    Batch training = ids(slot, new long[] {1, 1, 1, 2, 2, 3, 4, 4});
    long[] asked = {1, 2, 3, 4};
    FeatureEncoder byCount = fit(training, new IdEncoding.Vocabulary(false, 2, 100));
    assertThat(known(byCount, slot, asked)).containsExactly(1, 2, -1, 3);
    FeatureEncoder bySize = fit(training, new IdEncoding.Vocabulary(false, 1, 2));
    assertThat(known(bySize, slot, asked)).containsExactly(1, 2, -1, -1);
    FeatureEncoder none = fit(training, new IdEncoding.Vocabulary(false, 1, 0));
    assertThat(known(none, slot, asked)).containsExactly(-1, -1, -1, -1);
  }

  /** Ids with -1 for each negative one. */
  private static long[] known(FeatureEncoder encoder, Slot slot, long... raw) {
    return Arrays.stream(ids(encoder, ids(slot, raw))).map(id -> Math.max(id, -1)).toArray();
  }

  @Test
  void valuesOutsideAVocabularyHaveNegativeIdsOfTheirOwn() {
    Slot slot = Slot.ragged("s");
    FeatureEncoder encoder = fit(ids(slot, new long[] {7}), new IdEncoding.Vocabulary(false, 1, 9));
    long[] unseen = LongStream.range(-50_000, 50_000).filter(i -> i != 7).toArray();
    long[] got = ids(encoder, ids(slot, unseen));
    assertThat(got).doesNotHaveDuplicates();
    assertThat(LongStream.of(got).max().getAsLong()).isNegative();
    assertThat(ids(encoder, ids(slot, unseen))).isEqualTo(got);
    FeatureEncoder read = FeatureEncoder.fromJson(encoder.toJson(), "encoders.json");
    assertThat(ids(read, ids(slot, unseen))).isEqualTo(got);
    assertThat(read.tablesOfKnown()).containsExactly("s");
  }

  @Test
  void encodersOfOlderCheckpointsGiveUnseenRareAndMissingValuesTheIdZero() {
    String old =
        """
        {"format":"tern-encoder","version":1,"labels":["label"],"dense":[],"slots":[{"name":"s",\
        "hotness":1,"text":true,"encoding":"vocabulary","min_count":2,"max_size":134217728,\
        "values":["a"]}]}\
        """;
    FeatureEncoder encoder = FeatureEncoder.fromJson(old, "encoders.json");
    assertThat(encoder.toJson()).isEqualTo(old);
    assertThat(encoder.tablesOfKnown()).isEmpty();
    assertThat(encoder.leavesIdsWithout()).isFalse();
    Batch rows = new Batch(encoder.rawSchema(), 4);
    for (long id : new long[] {TextHash.of("a"), TextHash.of("b"), TextHash.EMPTY}) {
      rows.setLabel(0, 1);
      rows.addId(0, id);
      rows.endRow();
    }
    assertThat(ids(encoder, rows)).containsExactly(1, 0, 0);
    FeatureEncoder apart =
        FeatureEncoder.fromJson(
            old.replace("\"values\"", "\"unknown\":\"apart\",\"values\""), "encoders.json");
    assertThat(apart.encodesIdsAs(encoder)).isFalse();
    assertThat(ids(apart, rows)).startsWith(1).endsWith(0).doesNotHaveDuplicates();
  }

  @Test
  void anEncoderOfAMeaningToComeIsRefused() {
    String json =
        fit(ids(Slot.oneHot("s"), new long[] {1}), IdEncoding.vocabulary())
            .toJson()
            .replace("\"apart\"", "\"mixed\"");
    assertThatThrownBy(() -> FeatureEncoder.fromJson(json, "encoders.json"))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("encoders.json: slot s: got unknown values \"mixed\", expected");
  }

  @Test
  void vocabularyAgreesWithAPlainMapOnManyIds() {
    long seed = 12;
    SplittableRandom random = new SplittableRandom(seed);
    long[] sightings = new long[200_000];
    for (int i = 0; i < sightings.length; i++) {
      int rank = (int) (Math.pow(random.nextDouble(), 3) * 50_000);
      sightings[i] = rank % 2 == 0 ? rank : SplitMix64.mix(rank);
    }
    Map<Long, Integer> counts = new HashMap<>();
    for (long id : sightings) {
      counts.merge(id, 1, Integer::sum);
    }
    List<Long> expected = new ArrayList<>(counts.keySet());
    expected.sort(
        Comparator.comparing((Long id) -> -counts.getOrDefault(id, 0))
            .thenComparing(Long::compareUnsigned));
    Slot slot = Slot.ragged("s");
    FeatureEncoder encoder =
        fit(ids(slot, sightings), new IdEncoding.Vocabulary(false, 1, 1 << 20));
    long[] got = ids(encoder, ids(slot, expected.stream().mapToLong(id -> id).toArray()));
    for (int i = 0; i < got.length; i++) {
      assertThat(got[i]).as("seed %d", seed).isEqualTo(i + 1);
    }
    assertThat(encoder.idBound(0)).hasValue(expected.size() + 1);
  }

  @Test
  void missingValuesOfAVocabularyHaveTheIdZero() {
    long empty = TextHash.EMPTY;
    long a = TextHash.of("a");
    Slot one = Slot.oneHot("s");
    long[] none = {};
    Batch batch = ids(one, new long[] {empty}, none, new long[] {a}, none, new long[] {empty});
    FeatureEncoder encoder = fit(batch, IdEncoding.vocabulary());
    assertThat(encoder.idBound(0)).hasValue(2);
    Batch encoded = apply(encoder, batch);
    assertThat(Arrays.copyOf(encoded.ids(0), 5)).containsExactly(0, 0, 1, 0, 0);
    assertThat(Arrays.copyOf(encoded.offsets(0), 6)).containsExactly(0, 1, 2, 3, 4, 5);
    Slot many = Slot.ragged("s");
    FeatureEncoder ragged = fit(ids(many, new long[] {a}), IdEncoding.vocabulary());
    Batch kept = apply(ragged, ids(many, none, new long[] {a, empty}));
    assertThat(Arrays.copyOf(kept.offsets(0), 3)).containsExactly(0, 0, 2);
    assertThat(Arrays.copyOf(kept.ids(0), 2)).containsExactly(1, 0);
  }

  @Test
  void idThatEqualsTheHashOfTheEmptyTextIsLegalAmongIntegers() {
    Slot slot = Slot.oneHot("s");
    Batch batch = ids(slot, new long[] {TextHash.EMPTY}, new long[] {});
    FeatureEncoder encoder = fit(batch, new IdEncoding.Vocabulary(false, 1, 10));
    assertThat(ids(encoder, batch)).containsExactly(1, 0);
  }

  @Test
  void verbatimIdsStay() {
    Slot slot = Slot.ragged("s");
    Batch batch = ids(slot, new long[] {-1, Long.MIN_VALUE}, new long[] {}, new long[] {0});
    FeatureEncoder encoder = fit(batch, IdEncoding.verbatim());
    assertThat(NumberedRows.texts(apply(encoder, batch))).isEqualTo(NumberedRows.texts(batch));
    assertThat(encoder.idBound(0)).isEmpty();
  }

  @Test
  void hashedIdsSpreadEvenlyOverBuckets() {
    Slot slot = Slot.ragged("s");
    for (long stride : new long[] {1, 7, 1 << 16, 1L << 40}) {
      long[] values = new long[70_000];
      Arrays.setAll(values, i -> i * stride);
      FeatureEncoder encoder = fit(ids(slot), new IdEncoding.Hashed(false, 7));
      int[] counts = new int[7];
      for (long bucket : ids(encoder, ids(slot, values))) {
        counts[(int) bucket]++;
      }
      // 10000 expected, standard deviation 93.
      for (int count : counts) {
        assertThat(count).as("stride %d", stride).isBetween(9500, 10_500);
      }
    }
  }

  @Test
  void hashedMissingValueOfAOneHotSlotIsTheEmptyText() {
    Slot slot = Slot.oneHot("s");
    FeatureEncoder encoder = fit(ids(slot), IdEncoding.hashed(1000));
    long[] got = ids(encoder, ids(slot, new long[] {}, new long[] {TextHash.EMPTY}));
    assertThat(got).hasSize(2);
    assertThat(got[0]).isEqualTo(got[1]).isBetween(0L, 999L);
  }

  /** All encodings at once. */
  static FeatureEncoder everything(DataReader training, TextDictionary dictionary) {
    return FeatureEncoder.fit(
        training,
        List.of(
            NumberEncoding.log1pStandardize(),
            NumberEncoding.quantiles(5),
            new NumberEncoding.Scaled(false, true, 0.1f),
            NumberEncoding.boundaries(0.1f, 0.3f)),
        List.of(
            IdEncoding.vocabulary(),
            new IdEncoding.Vocabulary(false, 2, 7),
            IdEncoding.hashed(Long.MAX_VALUE),
            IdEncoding.verbatim()),
        dictionary,
        rows -> {});
  }

  static Batch mixed(TextDictionary dictionary) {
    Schema schema =
        new Schema(
            List.of("click", "like"),
            List.of("a", "b", "c", "d"),
            List.of(
                Slot.oneHot("text"),
                Slot.ragged("ids"),
                Slot.oneHot("hashed"),
                Slot.ragged("raw")));
    SplittableRandom random = new SplittableRandom(77);
    Batch batch = new Batch(schema, 8);
    for (int row = 0; row < 300; row++) {
      batch.setLabel(0, row % 2);
      batch.setLabel(1, row % 3 == 0 ? 1 : 0);
      for (int f = 0; f < 4; f++) {
        batch.setDense(f, random.nextInt(9) == 0 ? NAN : (float) random.nextGaussian() * 9);
      }
      byte[] text = ("värde \"" + random.nextInt(20)).getBytes(StandardCharsets.UTF_8);
      long hash = TextHash.of(text, 0, text.length);
      dictionary.saw(hash, text, 0, text.length);
      batch.addId(0, hash);
      for (int i = random.nextInt(4); i > 0; i--) {
        batch.addId(1, random.nextInt(20) - 10);
        batch.addId(3, random.nextLong());
      }
      batch.addId(2, random.nextLong());
      batch.endRow();
    }
    return batch;
  }

  @Test
  void encodedSchemaHasNumbersThenSlotsThenBuckets() {
    FeatureEncoder encoder =
        everything(Readers.inMemory(mixed(TextDictionary.none())), TextDictionary.none());
    assertThat(encoder.schema())
        .isEqualTo(
            new Schema(
                List.of("click", "like"),
                List.of("a", "c"),
                List.of(
                    Slot.oneHot("text"),
                    Slot.ragged("ids"),
                    Slot.oneHot("hashed"),
                    Slot.ragged("raw"),
                    Slot.oneHot("b"),
                    Slot.oneHot("d"))));
    assertThat(encoder.idBound(4)).hasValue(6);
    assertThat(encoder.idBound(5)).hasValue(4);
  }

  @Test
  void fitDoesNotDependOnHowBatchesAreCut() {
    TextDictionary dictionary = new TextDictionary();
    DataReader source = Readers.inMemory(mixed(dictionary));
    String whole = everything(source, dictionary).toJson();
    for (int size : new int[] {1, 7, 64}) {
      assertThat(everything(Readers.batched(source, size, false), dictionary).toJson())
          .isEqualTo(whole);
    }
  }

  @Test
  void dataAreReadOnlyWhereAnEncodingLearns() {
    DataReader unread = new FailingReader(Readers.inMemory(numbers(1)), 0);
    FeatureEncoder.fit(
        unread, List.of(NumberEncoding.log1p()), List.of(), TextDictionary.none(), rows -> {});
    assertThatThrownBy(() ->
            FeatureEncoder.fit(
                unread,
                List.of(NumberEncoding.standardize()),
                List.of(),
                TextDictionary.none(),
                rows -> {}))
        .isInstanceOf(DataException.class);
  }

  @Test
  void progressCountsRows() {
    List<Long> progress = new ArrayList<>();
    FeatureEncoder.fit(
        Readers.batched(Readers.inMemory(numbers(1, 2, 3, 4, 5)), 2, false),
        List.of(NumberEncoding.standardize()),
        List.of(),
        TextDictionary.none(),
        progress::add);
    assertThat(progress).containsExactly(2L, 4L, 5L);
  }

  @Test
  void encodingsMustMatchTheColumns() {
    assertThatThrownBy(() -> fit(numbers(1), IdEncoding.verbatim()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("encoder: got 0 encodings for 1 dense columns, expected one each");
  }

  @Test
  void aSlotOfOneIdTakesRowsOfAnyDeclaredHotnessThatHoldNoMore() {
    FeatureEncoder encoder = fit(ids(Slot.oneHot("s"), new long[] {1}), IdEncoding.verbatim());
    Batch encoded = new Batch(encoder.schema(), 2);
    Batch one = ids(Slot.ragged("s"), new long[] {7}, new long[] {});
    encoder.apply(one, encoded);
    assertThat(encoded.idCount(0)).isEqualTo(1);
    assertThat(encoded.ids(0)[0]).isEqualTo(7);
    Batch two = ids(Slot.ragged("s"), new long[] {7}, new long[] {8, 9});
    assertThatThrownBy(() -> encoder.apply(two, encoded))
        .isInstanceOf(DataException.class)
        .hasMessage("slot s: got 2 ids in row 2 of this batch, expected at most 1 as in training");
  }

  @Test
  void rowsOfAnotherSchemaAreRefused() {
    FeatureEncoder encoder = fit(numbers(1), NumberEncoding.none());
    Batch encoded = new Batch(encoder.schema(), 1);
    Batch other = ids(Slot.oneHot("s"), new long[] {1});
    assertThatThrownBy(() -> encoder.apply(other, encoded))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("expected the columns of training");
    assertThatThrownBy(() -> encoder.apply(numbers(1), other))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("a batch of Schema[labels=[], dense=[], slots=[Slot[name=s");
  }

  @Test
  void rowsWithoutLabelsAreEncodedWithUnknownLabels() {
    FeatureEncoder encoder = fit(numbers(1), NumberEncoding.none());
    Batch raw = new Batch(new Schema(List.of(), List.of("x"), List.of()), 1);
    raw.setDense(0, 5);
    raw.endRow();
    Batch encoded = apply(encoder, raw);
    assertThat(encoded.labels()[0]).isNaN();
    assertThat(encoded.dense()[0]).isEqualTo(5);
  }

  @Test
  void encodedBatchMayBeUsedAgainForMoreOrFewerRows() {
    TextDictionary dictionary = TextDictionary.none();
    Batch raw = mixed(dictionary);
    FeatureEncoder encoder = everything(Readers.inMemory(raw), dictionary);
    List<String> expected = NumberedRows.texts(apply(encoder, raw));
    Batch encoded = new Batch(encoder.schema(), 3);
    for (int rows : new int[] {1, 65, 300, 0, 17, 16}) {
      Batch part = new Batch(raw.schema(), 1);
      part.appendRows(raw, 0, rows);
      encoder.apply(part, encoded);
      assertThat(NumberedRows.texts(encoded)).isEqualTo(expected.subList(0, rows));
    }
  }

  @Test
  void threadsMayShareAnEncoder() throws Exception {
    TextDictionary dictionary = TextDictionary.none();
    Batch raw = mixed(dictionary);
    FeatureEncoder encoder = everything(Readers.inMemory(raw), dictionary);
    List<String> expected = NumberedRows.texts(apply(encoder, raw));
    try (var threads = Executors.newFixedThreadPool(4)) {
      Callable<Boolean> job =
          () -> {
            Batch encoded = new Batch(encoder.schema(), 1);
            for (int i = 0; i < 50; i++) {
              encoder.apply(raw, encoded);
            }
            return NumberedRows.texts(encoded).equals(expected);
          };
      for (Future<Boolean> same : threads.invokeAll(Collections.nCopies(4, job))) {
        assertThat(same.get()).isTrue();
      }
    }
  }

  @Test
  void encodingsOutOfRangeAreRefused() {
    List<Runnable> calls =
        List.of(
            () -> new IdEncoding.Hashed(true, 0),
            () -> new IdEncoding.Vocabulary(true, 0, 1),
            () -> new IdEncoding.Vocabulary(true, 1, -1),
            () -> new IdEncoding.Vocabulary(true, 1, Integer.MAX_VALUE),
            () -> NumberEncoding.quantiles(1),
            () -> NumberEncoding.boundaries(1, 1),
            () -> NumberEncoding.boundaries(NAN),
            () -> new NumberEncoding.Scaled(true, true, NAN));
    for (Runnable call : calls) {
      assertThatThrownBy(call::run)
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("got ")
          .hasMessageContaining("expected ");
    }
  }

  @Test
  void encodersKeepWhetherIdsAreUnsignedAndTakeRowsOfEither() {
    Slot unsigned = Slot.oneHot("s").withUnsigned(true);
    Batch rows = ids(unsigned, new long[] {-1});
    FeatureEncoder encoder =
        FeatureEncoder.fit(
            Readers.inMemory(rows),
            List.of(),
            List.of(new IdEncoding.Verbatim(false)),
            new TextDictionary(),
            n -> {});
    FeatureEncoder read = FeatureEncoder.fromJson(encoder.toJson(), "encoders.json");
    assertThat(read.rawSchema().slots().getFirst().unsigned()).isTrue();
    assertThat(read.value(0, -1)).contains("18446744073709551615");
    Batch signed = ids(Slot.oneHot("s"), new long[] {-1});
    Batch encoded = new Batch(read.schema(), 1);
    read.apply(signed, encoded);
    assertThat(encoded.ids(0)[0]).isEqualTo(-1);
    assertThat(unsigned).isEqualTo(Slot.oneHot("s")).hasSameHashCodeAs(Slot.oneHot("s"));
  }
}
