package dev.tern.files.records;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.files.DataSplit;
import dev.tern.files.KeyType;
import dev.tern.files.ReadPolicy;
import dev.tern.files.RecordCopy;
import dev.tern.files.Rows;
import dev.tern.files.SkippedRecords;
import dev.tern.files.SparseColumn;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

final class RecordsCopyTest extends NormFiles {
  private static final double[] SHARES = {2, 1};
  private static final Optional<SparseColumn> NO_KEY = Optional.empty();

  /** Opens files to be copied. */
  @FunctionalInterface
  private interface Source {
    RecordCopy open(Optional<SparseColumn> key, List<Path> parts);
  }

  private List<Path> parts(String ending) {
    return List.of(folder.resolve("p1" + ending), folder.resolve("p2" + ending));
  }

  private long[] atRandom(Source source, List<Path> parts) {
    try (RecordCopy records = source.open(NO_KEY, parts)) {
      return DataSplit.atRandom(SHARES, 1).copy(records, done -> {});
    }
  }

  private long[] byKey(Source source, List<Path> parts, String slot) {
    Optional<SparseColumn> key = Optional.of(SparseColumn.id(slot));
    try (RecordCopy records = source.open(key, parts)) {
      return DataSplit.byKey(SHARES, 1, records.schema(), slot).copy(records, done -> {});
    }
  }

  private long[] byTime(Source source, List<Path> parts, String column) {
    Optional<SparseColumn> key = Optional.of(SparseColumn.time(column));
    DataSplit split;
    try (RecordCopy times = source.open(key, List.of())) {
      split = DataSplit.byTime(new double[] {1, 1}, times, done -> {});
    }
    try (RecordCopy records = source.open(key, parts)) {
      return split.copy(records, done -> {});
    }
  }

  private static Source norm(Path... files) {
    return norm(ReadPolicy.STRICT, files);
  }

  private static Source norm(ReadPolicy policy, Path... files) {
    return (key, parts) -> NormReader.copy(List.of(files), NormOptions.DETECT, key, policy, parts);
  }

  @ParameterizedTest
  @MethodSource("variants")
  void recordsKeepTheirFramesKeysAndOrder(NormCheck check, KeyType keys) throws IOException {
    Rows rows = random(500, keys);
    List<Path> parts = parts(".norm");
    Path first = file(tiny(rows, check, keys));
    Path second = file("second.norm", tiny(rows, check, keys));
    long[] counts = atRandom(norm(first, second), parts);
    List<Rows.Row> all = new ArrayList<>(rows.list());
    all.addAll(rows.list());
    requireDealt(parts, counts, all, check, keys);
  }

  @ParameterizedTest
  @EnumSource(NormCheck.class)
  void wordsOfTheHeaderThatNobodyReadsAreCopied(NormCheck check) throws IOException {
    byte[] bytes = tiny(random(20, KeyType.U32), check, KeyType.U32);
    int reserved = check == NormCheck.SUM ? 4 + 40 : 40;
    bytes[reserved] = 7;
    if (check == NormCheck.SUM) {
      bytes[68] += 7;
    }
    List<Path> parts = parts(".norm");
    long[] counts = atRandom(norm(file(bytes)), parts);
    for (int p = 0; p < counts.length; p++) {
      assertThat(Files.readAllBytes(parts.get(p))[reserved]).isEqualTo((byte) 7);
      assertThat(read(parts.get(p), keys(KeyType.U32))).hasSize((int) counts[p]);
    }
  }

  private static void requireDealt(
      List<Path> parts, long[] counts, List<Rows.Row> rows, NormCheck check, KeyType keys)
      throws IOException {
    long bytes = 0;
    List<List<Rows.Row>> dealt = new ArrayList<>();
    for (int p = 0; p < parts.size(); p++) {
      bytes += Files.size(parts.get(p));
      List<Rows.Row> part =
          TinyNorm.read(
              Files.readAllBytes(parts.get(p)), check == NormCheck.SUM, keys == KeyType.I64);
      assertThat(part).hasSize((int) counts[p]).isEqualTo(read(parts.get(p), keys(keys)));
      dealt.add(part);
    }
    int[] at = new int[parts.size()];
    for (Rows.Row row : rows) {
      int part = at[0] < counts[0] && dealt.get(0).get(at[0]).equals(row) ? 0 : 1;
      assertThat(dealt.get(part).get(at[part])).isEqualTo(row);
      at[part]++;
    }
    assertThat(bytes).isGreaterThan(0);
    assertThat(at).containsExactly((int) counts[0], (int) counts[1]);
  }

  @Test
  void valuesThatNoReaderTakesAreCopied() throws IOException {
    byte[] bytes = hex(SUM_U32);
    // An infinite dense number and a label of 7.
    ByteBuffer record = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    record.putFloat(69 + 4, 7).putFloat(69 + 8, Float.POSITIVE_INFINITY);
    byte sum = 0;
    for (int i = 69 + 4; i < bytes.length - 1; i++) {
      sum += bytes[i];
    }
    bytes[bytes.length - 1] = sum;
    Path part = folder.resolve("p.norm");
    try (RecordCopy records =
        NormReader.copy(
            List.of(file(bytes)),
            keys(KeyType.U32)
                .withSchema(
                    new Schema(
                        List.of("y"), List.of("a"), List.of(new Slot("b", 1), new Slot("c", 1)))),
            NO_KEY,
            ReadPolicy.STRICT,
            List.of(part))) {
      DataSplit.atRandom(new double[] {1}, 1).copy(records, done -> {});
    }
    assertThat(part).hasBinaryContent(bytes);
  }

  @ParameterizedTest
  @MethodSource("variants")
  void recordsOfOneKeyOrTimeStayTogether(NormCheck check, KeyType keys) throws IOException {
    Rows drawn = random(300, keys);
    Rows rows =
        new Rows(
            drawn.schema(),
            drawn.list().stream().filter(row -> !row.dense().get(1).isNaN()).toList());
    List<Path> parts = parts(".norm");
    Path file = file(tiny(rows, check, keys));
    byKey(norm(file), parts, "slot0");
    List<List<Long>> first = ids(read(parts.get(0), keys(keys)));
    assertThat(ids(read(parts.get(1), keys(keys)))).isNotEmpty().doesNotContainAnyElementsOf(first);
    long[] counts = byTime(norm(file), parts, "dense1");
    requireDealt(parts, counts, rows.list(), check, keys);
    float last = (float) max(read(parts.get(0), keys(keys)));
    assertThat(read(parts.get(1), keys(keys))).allMatch(row -> row.dense().get(1) > last);
    assertThatThrownBy(() -> byKey(norm(file), parts, "dense1"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "split: got the column dense1, expected one of the slots [slot0, slot1, slot2]");
  }

  private static List<List<Long>> ids(List<Rows.Row> rows) {
    return rows.stream().map(row -> row.ids().getFirst()).toList();
  }

  private static double max(List<Rows.Row> rows) {
    return rows.stream().mapToDouble(row -> row.dense().get(1)).max().orElseThrow();
  }

  @Test
  void aDamagedFrameIsLeftOutAloneAndACutFileLeavesOutTheRest() throws IOException {
    Rows rows = random(100, KeyType.I64);
    byte[] framed = tiny(rows, NormCheck.SUM, KeyType.I64);
    framed[69 + 4] ^= 1;
    SkippedRecords skipped = new SkippedRecords(1000);
    ReadPolicy skipping = ReadPolicy.STRICT.withFaults(skipped);
    List<Path> parts = parts(".norm");
    Path bad = file("bad.norm", framed);
    assertThatThrownBy(() -> atRandom(norm(bad), parts))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("bad.norm: record 1, byte 69: got checksum");
    assertThat(parts).noneMatch(Files::exists);
    long[] counts = atRandom(norm(skipping, bad), parts);
    assertThat(counts[0] + counts[1]).isEqualTo(99);
    byte[] plain = tiny(rows, NormCheck.NONE, KeyType.I64);
    Path cut = file("cut.norm", Arrays.copyOf(plain, plain.length / 2));
    counts = atRandom(norm(skipping, cut), parts);
    assertThat(counts[0] + counts[1] + skipped.count() - 1).isEqualTo(100);
    byte[] longer = Arrays.copyOf(plain, plain.length + 5);
    Path long1 = file("long.norm", longer);
    assertThatThrownBy(() -> atRandom(norm(skipping, long1), parts))
        .hasMessageContaining("got 5 bytes after record 100");
  }

  @Test
  void filesOfOtherFramesOrColumnsAreRefused() {
    Rows rows = random(10, KeyType.U32);
    Path framed = file("framed.norm", tiny(rows, NormCheck.SUM, KeyType.U32));
    Path plain = file("plain.norm", tiny(rows, NormCheck.NONE, KeyType.U32));
    assertThatThrownBy(() -> atRandom(norm(framed, plain), parts(".norm")))
        .hasMessageStartingWith(plain + ": got a file without checksums after files with,");
    Path one = file("one.norm", hex(SUM_U32));
    assertThatThrownBy(() -> atRandom(norm(framed, one), parts(".norm")))
        .hasMessageContaining("one.norm: got a header with label_dim 1, dense_dim 1, slot_num 2");
  }

  @Test
  void damagedNormFilesEndInAnErrorOrKeepAllOtherRecords() {
    byte[] sound = tiny(random(30, KeyType.U32), NormCheck.SUM, KeyType.U32);
    List<Path> parts = parts(".norm");
    for (int at = 0; at < sound.length; at += 3) {
      byte[] bytes = sound.clone();
      bytes[at] ^= (byte) (1 << at % 8);
      SkippedRecords skipped = new SkippedRecords(1 << 20);
      Path file = file(bytes);
      Source source =
          (key, to) ->
              NormReader.copy(
                  List.of(file), keys(KeyType.U32), key, ReadPolicy.STRICT.withFaults(skipped), to);
      try {
        long[] counts = atRandom(source, parts);
        assertThat(counts[0] + counts[1] + skipped.count()).isGreaterThanOrEqualTo(30);
      } catch (DataException e) {
        assertThat(e.getMessage()).contains("in.norm");
      }
    }
  }

  private static RawOptions raw(KeyType keys, RawOptions.Dense dense) {
    Schema schema =
        new Schema(List.of("y"), List.of("t", "x"), List.of(new Slot("u", 1), new Slot("tags", 2)));
    return new RawOptions(schema, true, dense, keys, OptionalLong.empty());
  }

  /** Samples with the label i, the time 874724710 + i and the user i % 5. */
  private Path samples(String name, RawOptions options, int count) {
    ByteBuffer out =
        ByteBuffer.allocate(count * options.sampleBytes()).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < count; i++) {
      int shuffled = (i * 7) % count;
      out.putInt(shuffled);
      if (options.dense() == RawOptions.Dense.FLOAT) {
        out.putFloat(shuffled / 8f).putFloat(Float.NaN);
      } else {
        out.putInt(874_724_710 + shuffled).putInt(-1);
      }
      for (int id : new int[] {shuffled % 5, -1, 1}) {
        if (options.keys() == KeyType.I64) {
          out.putLong(id);
        } else {
          out.putInt(id);
        }
      }
    }
    return file(name, out.array());
  }

  @ParameterizedTest
  @CsvSource({"U32, INT", "I32, INT_LOG", "I64, FLOAT"})
  void rawSamplesAreCopiedAtRandomByKeyAndByTime(KeyType keys, RawOptions.Dense dense)
      throws IOException {
    RawOptions options = raw(keys, dense);
    Path one = samples("1.raw", options, 100);
    Path two = samples("2.raw", options, 3);
    Source source =
        (key, parts) -> RawReader.copy(List.of(one, two), options, key, ReadPolicy.STRICT, parts);
    List<Path> parts = parts(".raw");
    long[] counts = atRandom(source, parts);
    List<Integer> all = new ArrayList<>(labels(one, options));
    all.addAll(labels(two, options));
    assertThat(labels(parts.get(0), options)).hasSize((int) counts[0]);
    assertThat(
            Stream.of(0, 1).flatMap(p -> labels(parts.get(p), options).stream()).sorted().toList())
        .isEqualTo(all.stream().sorted().toList());
    byKey(source, parts, "u");
    for (int user = 0; user < 5; user++) {
      assertThat(hasUser(labels(parts.get(0), options), user))
          .isNotEqualTo(hasUser(labels(parts.get(1), options), user));
    }
    byTime(source, parts, "t");
    int last = labels(parts.get(0), options).stream().mapToInt(i -> i).max().orElseThrow();
    assertThat(last).isBetween(45, 55);
    assertThat(labels(parts.get(1), options)).hasSize(103 - 3 - last - 1).allMatch(i -> i > last);
    assertThatThrownBy(() -> byTime(source, parts, "tags"))
        .hasMessageStartingWith(one + ": row 1, byte 0: got 2 values of column tags,");
    if (dense == RawOptions.Dense.FLOAT) {
      assertThatThrownBy(() -> byTime(source, parts, "x"))
          .hasMessageStartingWith(one + ": row 1, byte 0: got 0 values of column x,");
    }
  }

  private static boolean hasUser(List<Integer> labels, int user) {
    return labels.stream().anyMatch(label -> label % 5 == user);
  }

  private static List<Integer> labels(Path file, RawOptions options) {
    try {
      ByteBuffer in = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
      List<Integer> labels = new ArrayList<>();
      for (int at = 0; at < in.limit(); at += options.sampleBytes()) {
        labels.add(in.getInt(at));
      }
      return labels;
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aPartOfASampleIsAFault() {
    RawOptions options = raw(KeyType.U32, RawOptions.Dense.INT);
    Path file = samples("1.raw", options, 10);
    Path cut = file("cut.raw", Arrays.copyOf(bytes(file), 9 * options.sampleBytes() + 1));
    SkippedRecords skipped = new SkippedRecords(1);
    assertThatThrownBy(
            () -> RawReader.copy(List.of(cut), options, NO_KEY, ReadPolicy.STRICT, parts(".raw")))
        .hasMessageContaining("got 1 bytes after 9 samples");
    long[] counts =
        atRandom(
            (key, parts) ->
                RawReader.copy(
                    List.of(cut), options, key, ReadPolicy.STRICT.withFaults(skipped), parts),
            parts(".raw"));
    assertThat(counts[0] + counts[1]).isEqualTo(9);
    assertThat(skipped.count()).isEqualTo(1);
  }

  private static byte[] bytes(Path file) {
    try {
      return Files.readAllBytes(file);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
