package dev.tern.bench.fuzz;

import dev.tern.files.Columns;
import dev.tern.files.SparseColumn;
import dev.tern.files.text.CsvOptions;
import dev.tern.files.text.CsvReader;
import dev.tern.files.text.LibsvmOptions;
import dev.tern.files.text.LibsvmReader;
import dev.tern.files.text.TextOptions;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.zip.GZIPOutputStream;

/** Small sound files of text in the notations that other programs and people write. */
final class TextCorpus {
  private static final Columns WORDS =
      new Columns(
          List.of("y"),
          Set.of(),
          List.of("a"),
          List.of(
              SparseColumn.text("word"), new SparseColumn("bag", false, SparseColumn.SEPARATOR)));

  private final ReaderCorpus corpus;

  private TextCorpus(ReaderCorpus corpus) {
    this.corpus = corpus;
  }

  /** Adds one file of each notation, in an order that never changes. */
  static void addTo(ReaderCorpus corpus) {
    TextCorpus texts = new TextCorpus(corpus);
    texts.addDelimiter();
    texts.addEscapes();
    texts.addComments();
    texts.addEncodings();
    texts.addMissing();
    texts.addTimes();
    texts.addMembers();
    texts.addFolder();
    texts.addUnsigned();
    texts.addWeights();
  }

  private void add(String name, String text, CsvOptions options, Columns columns) {
    add(name, text.getBytes(StandardCharsets.UTF_8), options, columns);
  }

  private void add(String name, byte[] bytes, CsvOptions options, Columns columns) {
    corpus.write(name, bytes);
    corpus.add(
        name, false, (file, policy) -> CsvReader.open(List.of(file), options, columns, policy));
  }

  private void addDelimiter() {
    String text =
        """
        y||a||word||bag||more
        1||0.5||a|b||1|2||x
        0||||"c||d"||7||
        1|| -3 || e ||||y
        """;
    add("bars.csv", text + text.substring(22), CsvOptions.csv().withDelimiter("||"), WORDS);
  }

  private void addEscapes() {
    String text =
        """
        y,a,word,bag
        1,2,a\\,b,3
        0,4,"c\\"d\\\\e",5
        1,6,f\\
        g,7
        0,,\\N,"8"
        1,9,"h""i\\
        j",10
        """;
    add("escapes.csv", text, CsvOptions.csv().withEscapes(CsvOptions.Escapes.ANYWHERE), WORDS);
    add(
        "plain-escapes.tsv",
        text.replace(',', '\t').replace("\"", ""),
        new CsvOptions(
            "\t", List.of(), false, false, CsvOptions.Escapes.ANYWHERE, TextOptions.DEFAULT),
        WORDS);
  }

  private void addComments() {
    String text =
        """
        exported by a "program
        in two lines
        # names
        y,a,word,bag
        1,2,x,3
        # a "note
        0,4,"y
        # no note",5
        1,6,z,

        # the end
        """;
    TextOptions lines = TextOptions.DEFAULT.withSkippedLines(2).withComment("# ");
    add("comments.csv", text, CsvOptions.csv().withText(lines), WORDS);
  }

  private void addEncodings() {
    String text = "y,a,word,bag\n1,2,caf\u00e9,3\n0,4,\"na\u00efve\n\u00fc\",5|6\n1,7,\u00a0,\n";
    for (Charset encoding : List.of(StandardCharsets.ISO_8859_1, StandardCharsets.UTF_16)) {
      add(
          encoding.name() + ".csv",
          text.getBytes(encoding),
          CsvOptions.csv().withText(TextOptions.DEFAULT.withEncoding(encoding)),
          WORDS);
    }
  }

  private void addMissing() {
    String text =
        """
        y,a,word,bag
        1,NA,NA,1|NA|2
        0,?,"?",NA
        1,\\N,\\N,?
        0,3,none,
        """;
    add("missing.csv", text, CsvOptions.csv(), WORDS.withMissing(Set.of("NA", "?", "\\N")));
  }

  private void addTimes() {
    String text =
        """
        y,t
        1,2026-01-31
        0,2026-01-31T08:30:00.123456789+01:00
        1,20260131 083000Z
        0,1769848200
        1,
        0,1.7698482e12
        """;
    Columns columns =
        new Columns(
            List.of("y"),
            Set.of(),
            List.of("t@days", "t@year"),
            List.of(
                SparseColumn.id("t@hour"),
                SparseColumn.text("t@weekday"),
                SparseColumn.id("t@month")));
    add("times.csv", text, CsvOptions.csv(), columns);
    Columns order = new Columns(List.of("y"), Set.of(), List.of(), List.of(SparseColumn.time("t")));
    add("order.csv", "y,t\n1,2026-01-31\n0,2026-01-31 08:30Z\n1,\n", CsvOptions.csv(), order);
  }

  private void addMembers() {
    byte[] first = zipped("y,a,word,bag\n1,2,x,3\n0,4,y");
    byte[] second = zipped("z,5|6\n1,,,\n");
    byte[] both = new byte[first.length + second.length];
    System.arraycopy(first, 0, both, 0, first.length);
    System.arraycopy(second, 0, both, first.length, second.length);
    add("members.csv.gz", both, CsvOptions.csv(), WORDS);
  }

  private static byte[] zipped(String text) {
    ByteArrayOutputStream zipped = new ByteArrayOutputStream();
    try (GZIPOutputStream out = new GZIPOutputStream(zipped)) {
      out.write(text.getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return zipped.toByteArray();
  }

  /** A table as Hive writes it: columns in the names of folders, the others between bytes 1. */
  private void addFolder() {
    String name = "hive/day=2026-01-31/n=7/part-0.csv";
    Columns columns =
        new Columns(
            List.of("y"),
            Set.of(),
            List.of("a", "n", "day@days"),
            List.of(SparseColumn.text("day"), SparseColumn.id("n"), SparseColumn.text("word")));
    corpus.write(
        name, "1\u00012\u0001x\n0\u0001\\N\u0001y\u0002z\n".getBytes(StandardCharsets.UTF_8));
    CsvOptions options =
        CsvOptions.csv().withDelimiter("\u0001").withHeader(List.of("y", "a", "word"));
    corpus.add(
        name,
        false,
        (file, policy) ->
            CsvReader.open(
                List.of(above(file, 3)), options, columns.withMissing(Set.of("\\N")), policy));
  }

  /** The folder that is {@code levels} above {@code file}. */
  static Path above(Path file, int levels) {
    Path folder = file;
    for (int i = 0; i < levels; i++) {
      folder = Objects.requireNonNull(folder.getParent());
    }
    return folder;
  }

  private void addUnsigned() {
    Columns columns =
        new Columns(
            List.of("y"),
            Set.of(),
            List.of(),
            List.of(
                SparseColumn.unsigned("u"),
                SparseColumn.id("i"),
                new SparseColumn("bag", SparseColumn.Values.UNSIGNED, SparseColumn.SEPARATOR)));
    String text =
        """
        y,u,i,bag
        1,18446744073709551615,-9223372036854775808,0|9223372036854775808
        0,0,9223372036854775807,
        1,+7,-0,007|18446744073709551614
        """;
    add("unsigned.csv", text, CsvOptions.csv(), columns);
  }

  private void addWeights() {
    Columns columns =
        new Columns(
            List.of("y"),
            Set.of(),
            List.of("2"),
            List.of(SparseColumn.id("rest"), SparseColumn.id("qid")));
    LibsvmOptions options =
        LibsvmOptions.libsvm().weighing().withText(TextOptions.DEFAULT.withSkippedLines(1));
    String text = "made by hand\n1 qid:7 2:0.5 17:1.5 31:-2e-3\n-1 2:nan 31:1 5:0 # y\n0\n";
    corpus.write("weights.svm", text.getBytes(StandardCharsets.UTF_8));
    corpus.add(
        "weights.svm",
        false,
        (file, policy) ->
            LibsvmReader.open(List.of(file), options, columns.withMissing(Set.of("nan")), policy));
  }
}
