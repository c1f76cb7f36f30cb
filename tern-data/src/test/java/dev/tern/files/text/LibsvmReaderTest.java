package dev.tern.files.text;

import static dev.tern.files.Rows.row;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Slot;
import dev.tern.files.Columns;
import dev.tern.files.FileColumn;
import dev.tern.files.ReadPolicy;
import dev.tern.files.Rows;
import dev.tern.files.SparseColumn;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class LibsvmReaderTest {
  private static final LibsvmOptions SVM = LibsvmOptions.libsvm();
  private static final LibsvmOptions FFM = LibsvmOptions.libffm();
  private static final Columns IDS = columns(List.of(), "features");

  @TempDir Path folder;

  private static Columns columns(List<String> dense, String... slots) {
    List<SparseColumn> sparse = Arrays.stream(slots).map(SparseColumn::id).toList();
    return new Columns(List.of("y"), Set.of(), dense, sparse);
  }

  private Path file(String name, byte[] bytes) {
    try {
      return Files.write(folder.resolve(name), bytes);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private Path file(String text) {
    return file("in.svm", text.getBytes(StandardCharsets.UTF_8));
  }

  private static byte[] gzip(String text) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
      gzip.write(text.getBytes(StandardCharsets.UTF_8));
    }
    return out.toByteArray();
  }

  private List<Rows.Row> read(String text, LibsvmOptions options, Columns columns) {
    return read(file(text), options, columns, ReadPolicy.STRICT);
  }

  private static List<Rows.Row> read(
      Path file, LibsvmOptions options, Columns columns, ReadPolicy policy) {
    try (DataReader reader = LibsvmReader.open(List.of(file), options, columns, policy)) {
      return Rows.read(reader);
    }
  }

  private void assertFault(String text, LibsvmOptions options, Columns columns, String... parts) {
    assertThatExceptionOfType(DataException.class)
        .as(text)
        .isThrownBy(() -> read(text, options, columns))
        .satisfies(e -> assertThat(e.getMessage()).contains("in.svm: line").contains(parts));
  }

  private static Rows.Row ids(float label, Long... ids) {
    return row(label, List.of(), List.of(List.of(ids)));
  }

  @Test
  void featuresWithoutColumnsOfTheirOwnAreIdsOfOneSlot() {
    assertThat(read("+1 3:1 17:1\n-1 1:1\n0\n1 0:1.0 9:1e0\n", SVM, IDS))
        .containsExactly(ids(1, 3L, 17L), ids(0, 1L), ids(0), ids(1, 0L, 9L));
    assertThat(IDS.schema().slots()).containsExactly(Slot.ragged("features"));
  }

  @Test
  void listedFeaturesAreNumbersAndZeroWhereALineLacksThem() {
    Columns columns = columns(List.of("2", "10"), "rest");
    assertThat(read("1 2:0.5 3:1 10:-7\n0 10:nan 4:1\n1 5:1 2:-0\n", SVM, columns))
        .containsExactly(
            row(1, List.of(0.5f, -7f), List.of(List.of(3L))),
            row(0, List.of(0f, Float.NaN), List.of(List.of(4L))),
            row(1, List.of(-0f, 0f), List.of(List.of(5L))));
  }

  @Test
  void fieldsAreSlotsAndTheirFeaturesIdsOrNumbers() {
    Columns columns = columns(List.of("0", "3:17"), "1", "3");
    String text = "1 0:0:0.25 1:5:1 1:5:1 3:17:2.5 3:18:1\n0 3:9:1 1:18446744073709551615:1\n";
    assertThat(read(text, FFM, columns))
        .containsExactly(
            row(1, List.of(0.25f, 2.5f), List.of(List.of(5L, 5L), List.of(18L))),
            row(0, List.of(0f, 0f), List.of(List.of(-1L), List.of(9L))));
  }

  @Test
  void namesMayStandForNumbers() {
    LibsvmOptions svm = SVM.withNames(List.of("age", "price"));
    assertThat(read("1 1:39 2:4.5 7:1\n", svm, columns(List.of("price", "age"), "rest")))
        .containsExactly(row(1, List.of(4.5f, 39f), List.of(List.of(7L))));
    LibsvmOptions ffm = FFM.withNames(List.of("age", "city"));
    assertThat(read("1 0:0:39 1:7:1\n", ffm, columns(List.of("age"), "city")))
        .containsExactly(row(1, List.of(39f), List.of(List.of(7L))));
  }

  @Test
  void aQueryIsASlotOfItsOwnOrAFault() {
    Columns columns = columns(List.of(), "features", "qid");
    assertThat(read("1 qid:12 3:1\n0 3:1\n", SVM, columns))
        .containsExactly(
            row(1, List.of(), List.of(List.of(3L), List.of(12L))),
            row(0, List.of(), List.of(List.of(3L), List.of())));
    assertFault("1 qid:12 3:1\n", SVM, IDS, "byte 2: got \"qid:12\"", "name a slot qid");
    assertFault("1 qid:x 3:1\n", SVM, columns, "got \"qid:x\", expected qid:number");
    assertFault("1 3:1 qid:4\n", SVM, columns, "byte 6: got \"qid:4\", expected feature:value");
    assertThat(read("1 qid:12 3:1\n", SVM.skippingUnnamed(), IDS)).containsExactly(ids(1, 3L));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1 2:1 5:1\n0 7:1\n",
        "1 2:1 5:1\n0 7:1",
        "1 2:1 5:1\r\n0 7:1\r\n",
        "1 2:1 5:1\r\n0 7:1\r",
        "1 2:1 5:1 \n0 7:1\t \n\n\n",
        "\uFEFF1 2:1 5:1\n0 7:1\n \r\n",
        "  1\t2:1\t 5:1\n0  7:1\n",
        "# made by hand\n1 2:1 5:1 # 9:1\n#\n  # \n0 7:1#x\n# end",
        "1.0 2:1.0 5:1\n-1 7:01\n",
        "1 5:1 2:1\n0 7:1\n"
      })
  void endsOfLinesSpacesAndCommentsMakeNoDifference(String text) {
    List<Rows.Row> rows =
        read(text, SVM, IDS).stream()
            .map(r ->
                new Rows.Row(
                    r.labels(), r.dense(), List.of(r.ids().getFirst().stream().sorted().toList())))
            .toList();
    assertThat(rows).containsExactly(ids(1, 2L, 5L), ids(0, 7L));
  }

  @Test
  void aValueOfZeroSaysThatARowLacksTheId() {
    assertThat(read("1 2:0 5:1 6:0.0\n", SVM, IDS)).containsExactly(ids(1, 5L));
  }

  @Test
  void valuesOfIdsAreIgnoredWhereAsked() {
    assertFault("1 2:1\n0 2:0.5\n", SVM, IDS, "line 2, byte 8: got \"2:0.5\"", "have no weights");
    assertThat(read("1 2:0.5 3:0\n", SVM.ignoringValues(), IDS)).containsExactly(ids(1, 2L));
    assertFault("1 2:nan\n", SVM.ignoringValues(), IDS, "got \"2:nan\"");
  }

  /** Ids and weights of a text, row after row. */
  private String weighed(String text, LibsvmOptions options, Columns columns) {
    StringBuilder found = new StringBuilder();
    try (DataReader reader = LibsvmReader.open(List.of(file(text)), options, columns);
        Batch batch = reader.next().orElseThrow()) {
      for (int row = 0; row < batch.size(); row++) {
        for (int slot = 0; slot < batch.schema().slotCount(); slot++) {
          boolean weighted = batch.schema().slots().get(slot).weighted();
          for (int i = batch.offsets(slot)[row]; i < batch.offsets(slot)[row + 1]; i++) {
            found.append(batch.ids(slot)[i]);
            found.append(weighted ? ":" + batch.weights(slot)[i] : "").append(' ');
          }
        }
        found.append("/ ");
      }
    }
    return found.toString();
  }

  @Test
  void valuesOfIdsAreTheirWeightsWhereAsked() {
    LibsvmOptions weighing = SVM.weighing();
    assertThat(weighed("1 2:0.5 5:1 7:-3\n0\n1 2:0 3:1e-3\n0 9:2 4:1 1:-0\n", weighing, IDS))
        .isEqualTo("2:0.5 5:1.0 7:-3.0 / / 3:0.001 / 9:2.0 4:1.0 / ");
    Columns query = columns(List.of("1"), "features", "qid");
    assertThat(weighed("1 qid:3 1:5 2:0.5 5:1\n", weighing, query)).isEqualTo("2:0.5 5:1.0 3 / ");
    Columns fields = columns(List.of("3"), "1", "2");
    assertThat(weighed("1 1:7:0.5 1:7:2 2:9:1 3:3:4\n", FFM.weighing(), fields))
        .isEqualTo("7:0.5 7:2.0 9:1.0 / ");
    for (String value : List.of("nan", "inf", "-inf", "1e40")) {
      assertFault("1 2:" + value + "\n", weighing, IDS, "expected a finite value");
    }
    assertFault("1 2:0.5 2:1\n", weighing, IDS, "got \"2:1\", a feature that the line has");
    assertFault("1 2:0.5 1:1 2:0.5\n", weighing, IDS, "got the feature 2 twice");
    assertFault("1 2:\n", weighing, IDS, "got \"2:\"");
    assertFault("1 2:0.5x\n", weighing, IDS, "got \"2:0.5x\"");
  }

  @Test
  void featuresOfNoColumnAreFaultsOrSkipped() {
    Columns dense = columns(List.of("1"));
    assertFault("1 1:2 2:3\n", SVM, dense, "byte 6: got \"2:3\", which belongs to no column");
    assertThat(read("1 1:2 2:3\n", SVM.skippingUnnamed(), dense))
        .containsExactly(row(1, List.of(2f), List.of()));
    Columns field = columns(List.of(), "4");
    assertFault("1 4:2:1 5:3:1\n", FFM, field, "byte 8: got \"5:3:1\", which belongs to no column");
    assertThat(read("1 5:3:0.5 4:2:1\n", FFM.skippingUnnamed(), field)).containsExactly(ids(1, 2L));
    assertFault("1 5:3:x 4:2:1\n", FFM.skippingUnnamed(), field, "got \"5:3:x\"");
    assertFault("1 0:1:2.5\n", FFM, columns(List.of("0")), "got \"0:1:2.5\"");
  }

  @ParameterizedTest
  @CsvSource({
    "3, expected feature:value",
    "3:, expected feature:value",
    ":1, expected a number",
    "x:1, expected a number",
    "3:x, expected feature:value",
    "3:1x, expected feature:value",
    "3::1, expected feature:value",
    "-3:1, expected feature:value",
    "+3:1, expected feature:value",
    "3.5:1, expected feature:value",
    "18446744073709551616:1, expected feature:value",
    "99999999999999999999999999:1, expected feature:value",
    "3:1:1, set data.format to libffm",
    "3:0x1, expected feature:value",
    "3 :1, expected feature:value",
    "3:nan, expected the value 1",
    "3:inf, expected the value 1",
    "3:1e99, expected the value 1",
    "3:2, expected the value 1",
    "2:1 2:1, that the line has already",
    "2:1 3:1 2:1, got the feature 2 twice",
  })
  void whatIsNoFeatureIsAFault(String features, String expected) {
    boolean label = features.startsWith(":") || features.startsWith("x");
    String message = label ? "expected" : expected;
    assertFault("0 1:1\n1 " + features + "\n", SVM, IDS, "line 2, byte ", message);
  }

  /** Files of Vowpal Wabbit, of names, and of commas are no libffm. */
  @ParameterizedTest
  @ValueSource(strings = {"1 |f", "1 user=a:1", "1 3", "1,3:1"})
  void otherNotationsAreNotTakenForLibffm(String line) {
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> read(line + "\n", SVM, IDS))
        .satisfies(e -> assertThat(e.getMessage()).contains("expected").doesNotContain("libffm"));
    assertFault("1,3:1 4:1\n", SVM, IDS, "byte 0: got \"1,3:1\"", "put spaces");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "3:1",
        "3",
        ":",
        "3:4:",
        "3:4",
        "::",
        "3::1",
        "a:4:1",
        "3:a:1",
        "-3:4:1",
        "3:-4:1",
        "3:4:b",
        "3:4:1:1",
        "18446744073709551616:1:1",
        "3:18446744073709551616:1",
        "qid:3"
      })
  void whatIsNoFeatureOfAFieldIsAFault(String feature) {
    assertFault(
        "0 3:1:1\n1 " + feature + "\n",
        FFM,
        columns(List.of(), "3"),
        "line 2, byte 10: got \"" + feature + "\", expected field:feature:value");
  }

  @Test
  void numbersThatAreNoneAreFaults() {
    Columns columns = columns(List.of("7"));
    assertFault("1 7:inf\n", SVM, columns, "byte 2: got \"7:inf\", expected a finite number");
    assertFault("1 7:1e39\n", SVM, columns, "got \"7:1e39\", expected a finite number");
    assertFault("1 7:\n", SVM, columns, "got \"7:\"");
    assertFault("1 7:1 7:2\n", SVM, columns, "byte 6: got \"7:2\"", "each once");
    assertFault("1 7:0 7:0\n", SVM, columns, "byte 6: got \"7:0\"", "each once");
    Columns field = columns(List.of("3:7"));
    assertFault("1 3:7:1 3:7:2\n", FFM, field, "byte 8: got \"3:7:2\"", "each once");
  }

  @ParameterizedTest
  @ValueSource(strings = {"2", "0.5", "nan", "yes", "1,2", "-2"})
  void aLabelOtherThanZeroOneAndMinusOneIsAFault(String label) {
    assertFault(
        label + " 3:1\n", SVM, IDS, "line 1, byte 0: got label \"" + label + "\"", "0 or 1");
  }

  @Test
  void linesWithoutLabelsAreFaultsUnlessLabelsAreNotRead() throws IOException {
    assertFault("3:1 4:1\n", SVM, IDS, "byte 0: got \"3:1\" in place of a label");
    Path file = file("3:1 4:1\n1 5:1\nwhatever 6:1\n-1\n");
    ReadPolicy policy = ReadPolicy.STRICT.withoutLabels();
    assertThat(read(file, SVM, IDS, policy))
        .extracting(r -> r.ids().getFirst())
        .containsExactly(List.of(3L, 4L), List.of(5L), List.of(6L), List.of());
    Files.writeString(file, "qid:5 6:1\n");
    assertThat(read(file, SVM, columns(List.of(), "ids", "qid"), policy))
        .containsExactly(new Rows.Row(List.of(), List.of(), List.of(List.of(6L), List.of(5L))));
  }

  @Test
  void labelsMayBeTextsOrAnyNumbers() {
    Columns texts = new Columns(List.of("y"), Set.of("+1", "3"), List.of(), List.of());
    assertThat(read("+1\n1\n3\n-1\n", SVM, texts))
        .extracting(r -> r.labels().getFirst())
        .containsExactly(1f, 0f, 1f, 0f);
    Columns none = columns(List.of());
    assertThat(read(file("-1\n2.5\n"), SVM, none, ReadPolicy.STRICT.withAnyLabel()))
        .extracting(r -> r.labels().getFirst())
        .containsExactly(-1f, 2.5f);
  }

  @Test
  void aNumberMayStandForAMissingLabel() {
    Columns texts = new Columns(List.of("y"), Set.of("+1", "3"), List.of(), List.of());
    ReadPolicy nine = ReadPolicy.STRICT.withLabel("y", ReadPolicy.Labels.BINARY.optionally(9));
    ReadPolicy negative = ReadPolicy.STRICT.withLabel("y", ReadPolicy.Labels.BINARY.optionally(-1));
    assertThat(read(file("+1\n9\n3\n-1\n"), SVM, texts, nine))
        .extracting(r -> r.labels().getFirst())
        .containsExactly(1f, Float.NaN, 1f, 0f);
    assertThat(read(file("1\n9\n-1\n"), SVM, columns(List.of()), nine))
        .extracting(r -> r.labels().getFirst())
        .containsExactly(1f, Float.NaN, 0f);
    assertThat(read(file("1\n0\n-1\nnan\n"), SVM, columns(List.of()), negative))
        .extracting(r -> r.labels().getFirst())
        .containsExactly(1f, 0f, Float.NaN, Float.NaN);
  }

  @Test
  void emptyLinesBetweenOthersAreFaults() {
    assertFault("1 3:1\n\n0 4:1\n", SVM, IDS, "line 2", "empty line");
    assertFault("\n0 4:1\n", SVM, IDS, "line 1", "empty line");
    assertFault("1\n \t\n# x\n\r\n0 4:1\n", SVM, IDS, "line 4", "empty line");
    assertThat(read("", SVM, IDS)).isEmpty();
    assertThat(read("# nothing\n\n", SVM, IDS)).isEmpty();
  }

  @Test
  void badLinesAreDroppedAloneWhereFaultsAreCollected() throws IOException {
    String text = "1 3:1\n1 3:x\n\n0 4:1\n7 5:1\n3:1\n1 6:1 6:1\n0 8:1 7:1\n1 9:";
    Path first = file("a.svm", text.getBytes(StandardCharsets.UTF_8));
    Path second = file("b.svm", gzip("1 1:1\n0 1:1 1:1 1:1\n0 2:1\n"));
    List<String> faults = new ArrayList<>();
    ReadPolicy policy = ReadPolicy.STRICT.withFaults(fault -> faults.add(fault.getMessage()));
    List<Path> files = List.of(first, folder.resolve("absent"), second);
    List<Rows.Row> rows;
    try (DataReader reader = LibsvmReader.open(files, SVM, IDS, policy)) {
      rows = Rows.read(reader);
    }
    assertThat(rows)
        .containsExactly(ids(1, 3L), ids(0, 4L), ids(0, 8L, 7L), ids(1, 1L), ids(0, 2L));
    assertThat(faults)
        .satisfiesExactly(
            f -> assertThat(f).contains("absent: got no such file"),
            f -> assertThat(f).contains("a.svm: line 2, byte 8"),
            f -> assertThat(f).contains("a.svm: line 3", "empty line"),
            f -> assertThat(f).contains("a.svm: line 5", "label \"7\""),
            f -> assertThat(f).contains("a.svm: line 6", "in place of a label"),
            f -> assertThat(f).contains("a.svm: line 7, byte 35", "each once"),
            f -> assertThat(f).contains("a.svm: line 9", "\"9:\""),
            f -> assertThat(f).contains("b.svm: line 2, byte 12 of the uncompressed text"));
    faults.clear();
    try (DataReader reader = LibsvmReader.open(files, SVM, IDS, policy)) {
      assertThat(reader.skip(2)).isEqualTo(2);
      assertThat(Rows.read(reader)).isEqualTo(rows.subList(2, 5));
    }
    assertThat(faults).hasSize(8);
  }

  /** Lines of all lengths across the ends of buffers, and one far longer than a buffer. */
  @Test
  void readingGoesOnFromAnyRow() throws IOException {
    SplittableRandom random = new SplittableRandom(1);
    StringBuilder text = new StringBuilder();
    List<Rows.Row> expected = new ArrayList<>();
    for (int i = 0; i < 20_000; i++) {
      List<Long> ids = new ArrayList<>();
      long id = 0;
      for (int k = i == 9000 ? 50_000 : random.nextInt(12); k > 0; k--) {
        id += random.nextLong(1, 1L << random.nextInt(1, 40));
        ids.add(id);
      }
      text.append(i % 2);
      ids.forEach(each -> text.append(' ').append(each).append(":1"));
      text.append(i % 5 == 0 ? " # comment\r\n" : "\n").append(i % 7 == 0 ? "#1 1:1\n" : "");
      expected.add(ids(i % 2, ids.toArray(Long[]::new)));
    }
    Path plain = file("in.svm", text.toString().getBytes(StandardCharsets.UTF_8));
    Path compressed = file("in.svm.gz", gzip(text.toString()));
    for (List<Path> files : List.of(List.of(plain), List.of(compressed))) {
      int at = 0;
      try (DataReader all = LibsvmReader.open(files, SVM, IDS);
          DataReader resumed = LibsvmReader.open(files, SVM, IDS)) {
        for (Optional<Batch> next = all.next(); next.isPresent(); next = all.next()) {
          at += next.get().size();
          next.get().close();
          resumed.start(0);
          assertThat(resumed.skip(at)).isEqualTo(at);
          assertThat(Rows.read(resumed)).isEqualTo(expected.subList(at, expected.size()));
        }
      }
      assertThat(at).isEqualTo(expected.size());
    }
    for (int skip : new int[] {0, 1, 8999, 9000, 9001, 19_999, 20_000}) {
      try (DataReader reader = LibsvmReader.open(List.of(plain), SVM, IDS)) {
        assertThat(reader.skip(skip)).isEqualTo(skip);
        assertThat(Rows.read(reader)).isEqualTo(expected.subList(skip, expected.size()));
        assertThat(reader.skip(1)).isZero();
      }
    }
  }

  /** A line alone ends where the file does; among others it lies in the middle of a buffer. */
  @Test
  void aLineReadsAloneAsAmongOthers() {
    SplittableRandom random = new SplittableRandom(3);
    Columns columns = columns(List.of("0", "11"), "rest");
    List<String> alone = new ArrayList<>();
    List<String> together = new ArrayList<>();
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 1000; i++) {
      StringBuilder line = new StringBuilder("1");
      for (int length = random.nextInt(30); length > 0; length--) {
        line.append("  ::01158.-e#\t\r".charAt(random.nextInt(15)));
      }
      alone.add(outcome(line.toString(), columns));
      text.append(line).append('\n');
    }
    List<String> faults = new ArrayList<>();
    ReadPolicy policy = ReadPolicy.STRICT.withFaults(fault -> faults.add(fault.getMessage()));
    read(file(text.toString()), SVM, columns, policy).forEach(r -> together.add(r.toString()));
    assertThat(together)
        .isEqualTo(alone.stream().filter(line -> !line.isEmpty()).toList())
        .hasSizeGreaterThan(30);
    assertThat(faults).hasSize((int) alone.stream().filter(String::isEmpty).count());
  }

  private String outcome(String line, Columns columns) {
    try {
      return read("#\n" + line, SVM, columns).getFirst().toString();
    } catch (DataException e) {
      return "";
    }
  }

  @Test
  void gzipCutShortAnywhereIsAFault() throws IOException {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 60; i++) {
      text.append("1 ").append(i).append(":1 ").append(i * 7 + 400).append(":1\n");
    }
    byte[] bytes = gzip(text.toString());
    for (int length = 3; length < bytes.length; length++) {
      Path file = file("in.svm.gz", Arrays.copyOf(bytes, length));
      assertThatExceptionOfType(DataException.class)
          .as("%d bytes", length)
          .isThrownBy(() -> read(file, SVM, IDS, ReadPolicy.STRICT))
          .withMessageContaining("in.svm.gz");
    }
  }

  @Test
  void aFileCutShortOrChangedAnywhereGivesRowsOrAFault() {
    byte[] good =
        "1 qid:3 2:1 5:1 # x\r\n-1 7:1\n\n+1 2:0.5 1844674407370955161:1"
            .getBytes(StandardCharsets.UTF_8);
    Columns columns = columns(List.of("2"), "rest", "qid");
    for (int at = 0; at < good.length; at++) {
      for (int value : new int[] {-1, 0, ':', '#', '\n', '\r', ' ', 'x', 'q', '9', 0x80, 0xFF}) {
        byte[] bytes = value < 0 ? Arrays.copyOf(good, at) : good.clone();
        if (value >= 0) {
          bytes[at] = (byte) value;
        }
        Path file = file("in.svm", bytes);
        for (LibsvmOptions options :
            List.of(SVM, SVM.skippingUnnamed().ignoringValues(), SVM.weighing())) {
          try {
            assertThat(read(file, options, columns, ReadPolicy.STRICT).size()).isLessThan(6);
          } catch (DataException e) {
            assertThat(e.getMessage()).contains("in.svm");
          }
        }
      }
    }
  }

  @Test
  void columnsThatTheNotationCannotHoldAreRefused() {
    List<Path> files = List.of(file("1 1:1\n"));
    assertRefused(files, SVM, columns(List.of("age")), "got the column age", "as in 7");
    assertRefused(files, SVM, columns(List.of("1:2")), "got the column 1:2");
    assertRefused(files, SVM, columns(List.of("-1")), "got the column -1");
    assertRefused(
        files, SVM, columns(List.of("18446744073709551616")), "column 18446744073709551616");
    assertRefused(files, SVM, columns(List.of("1", "01")), "distinct features");
    assertRefused(files, SVM, columns(List.of(), "a", "b"), "got the slots [a, b]", "libffm");
    assertRefused(files, SVM, columns(List.of(), "3"), "got the slot 3");
    LibsvmOptions named = SVM.withNames(List.of("age"));
    assertRefused(files, named, columns(List.of(), "age"), "got the slot age");
    assertRefused(files, named, columns(List.of("agee")), "or one of [age]");
    assertRefused(files, FFM, columns(List.of(), "city"), "got the column city", "as in 3");
    assertRefused(files, FFM, columns(List.of("3:x")), "got the column 3:x");
    assertRefused(files, FFM, columns(List.of(), "3", "03"), "two slots of field 3");
    assertRefused(files, FFM, columns(List.of("3", "3:3")), "distinct features");
    Columns text = new Columns(List.of("y"), Set.of(), List.of(), List.of(SparseColumn.text("c")));
    assertRefused(files, SVM, text, "got the column c of text");
  }

  private static void assertRefused(
      List<Path> files, LibsvmOptions options, Columns columns, String... parts) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> LibsvmReader.open(files, options, columns).close())
        .withMessageContainingAll(parts);
  }

  @Test
  void fieldsOfAFileComeWithTheirFirstFeatures() {
    Path file = file("# 9:9:9\n1 10:7:1 2:0:0.5 # 8:1:1\n-1 3:4:1 2:1:1\n\n5:5:5\nx : 1:\n");
    assertThat(LibsvmReader.columns(file, FFM))
        .containsExactly(
            new FileColumn("1", ""),
            new FileColumn("2", "0:0.5"),
            new FileColumn("3", "4:1"),
            new FileColumn("5", "5:5"),
            new FileColumn("10", "7:1"));
    assertThat(LibsvmReader.columns(file, SVM)).isEmpty();
  }
}
