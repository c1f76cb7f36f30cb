package dev.tern.files.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.files.Columns;
import dev.tern.files.KeptTexts;
import dev.tern.files.ReadPolicy;
import dev.tern.files.SparseColumn;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Texts kept beside the rows of a reader, and written beside scores. */
final class KeptTextsTest {
  private static final Columns COLUMNS =
      new Columns(List.of(), Set.of(), List.of("x"), List.of(SparseColumn.text("c")));

  @TempDir Path temp;

  private Path write(String name, String text) throws IOException {
    return Files.writeString(temp.resolve(name), text);
  }

  /** Each row's texts, and the rows of all batches written with their numbers as scores. */
  private static List<List<String>> read(
      List<Path> files, CsvOptions options, KeptTexts kept, OutputStream out) {
    List<List<String>> rows = new ArrayList<>();
    try (DataReader reader = CsvReader.open(files, options, COLUMNS, ReadPolicy.STRICT, kept);
        ScoreWriter writer = ScoreWriter.to(out, ',', kept.columns(), List.of(ScoreWriter.SCORE))) {
      for (Optional<Batch> next = reader.next(); next.isPresent(); next = reader.next()) {
        try (Batch batch = next.get()) {
          assertThat(kept.rows()).isEqualTo(batch.size());
          float[] scores = new float[batch.size()];
          for (int row = 0; row < batch.size(); row++) {
            scores[row] = rows.size();
            List<String> texts = new ArrayList<>();
            for (int c = 0; c < kept.columns().size(); c++) {
              texts.add(kept.text(row, c));
            }
            rows.add(texts);
          }
          writer.write(kept, scores);
          kept.clear();
        }
      }
      writer.finish();
    }
    return rows;
  }

  @Test
  void textsStandAsTheyAreInTheFile() throws IOException {
    Path file =
        write(
            "rows.csv",
            """
            id, x,"na,me",c
            1, 0.50 ,"a ""b"", c",d
             007,1e3, plain ,
            "",,"two
            lines"\t,"d"
            \u00e4\u20ac,-0,,x\r
            """);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    KeptTexts kept = new KeptTexts(List.of("na,me", "id", "x"));
    assertThat(read(List.of(file), CsvOptions.csv(), kept, out))
        .containsExactly(
            List.of("a \"b\", c", "1", " 0.50 "),
            List.of(" plain ", " 007", "1e3"),
            List.of("two\nlines", "", ""),
            List.of("", "\u00e4\u20ac", "-0"));
    assertThat(out.toString(StandardCharsets.UTF_8))
        .isEqualTo(
            """
            "na,me",id,x,prediction
            "a ""b"", c",1, 0.50 ,0
             plain , 007,1e3,1
            "two
            lines","",,2
            ,\u00e4\u20ac,-0,3
            """);
  }

  @ParameterizedTest
  @ValueSource(strings = {",", ";", "\t", "||"})
  void anyTextsComeBackFromWhatIsWritten(String delimiter) throws IOException {
    Random random = new Random(5);
    String letters = "ab \"|,;'\t\u00e9\u4e2d\n\ufeff";
    List<List<String>> expected = new ArrayList<>();
    StringBuilder text = new StringBuilder(String.join(delimiter, "p", "x", "q", "c\n"));
    for (int row = 0; row < 3000; row++) {
      List<String> texts = new ArrayList<>();
      for (int c = 0; c < 2; c++) {
        StringBuilder value = new StringBuilder();
        for (int i = random.nextInt(9); i > 0; i--) {
          value.append(letters.charAt(random.nextInt(letters.length())));
        }
        texts.add(value.toString());
      }
      expected.add(texts);
      String[] quoted =
          texts.stream().map(t -> '"' + t.replace("\"", "\"\"") + '"').toArray(String[]::new);
      text.append(String.join(delimiter, quoted[0], "" + row, quoted[1], "c")).append('\n');
    }
    CsvOptions options = CsvOptions.csv().withDelimiter(delimiter);
    KeptTexts kept = new KeptTexts(List.of("p", "q"));
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    assertThat(read(List.of(write("a.csv", text.toString())), options, kept, out))
        .isEqualTo(expected);
    Path written = Files.write(temp.resolve("b.csv"), out.toByteArray());
    KeptTexts again = new KeptTexts(List.of("p", "q"));
    Columns score = new Columns(List.of(), Set.of(), List.of("prediction"), List.of());
    List<List<String>> back = new ArrayList<>();
    try (DataReader reader =
        CsvReader.open(List.of(written), CsvOptions.csv(), score, ReadPolicy.STRICT, again)) {
      for (Optional<Batch> next = reader.next(); next.isPresent(); next = reader.next()) {
        try (Batch batch = next.get()) {
          for (int row = 0; row < batch.size(); row++) {
            assertThat(batch.dense()[row]).isEqualTo(back.size());
            back.add(List.of(again.text(row, 0), again.text(row, 1)));
          }
          again.clear();
        }
      }
    }
    assertThat(back).isEqualTo(expected);
  }

  @Test
  void eachFileHasItsOwnOrderAndManyThreadsChangeNothing() throws IOException {
    List<Path> files = new ArrayList<>();
    StringBuilder first = new StringBuilder("id,x,c\n");
    for (int i = 0; i < 20_000; i++) {
      first.append("k").append(i).append(",1,c\n");
    }
    files.add(write("a.csv", first.toString()));
    files.add(write("b.csv", "c,x,id\nc,2,last\n"));
    KeptTexts kept = new KeptTexts(List.of("id"));
    List<String> ids = new ArrayList<>();
    ReadPolicy policy = ReadPolicy.STRICT.withThreads(4);
    try (DataReader reader = CsvReader.open(files, CsvOptions.csv(), COLUMNS, policy, kept)) {
      for (Optional<Batch> next = reader.next(); next.isPresent(); next = reader.next()) {
        next.get().close();
        for (int row = 0; row < kept.rows(); row++) {
          ids.add(kept.text(row, 0));
        }
        kept.clear();
      }
    }
    assertThat(ids).hasSize(20_001).endsWith("last");
    assertThat(ids.get(19_999)).isEqualTo("k19999");
  }

  @Test
  void columnsThatAreNotThereOrGivenTwiceAreRefused() throws IOException {
    Path file = write("rows.csv", "id,x,c\n1,2,3\n");
    assertThatThrownBy(() ->
            CsvReader.open(
                List.of(file),
                CsvOptions.csv(),
                COLUMNS,
                ReadPolicy.STRICT,
                new KeptTexts(List.of("user"))))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("rows.csv: got no column user, expected it among");
    assertThatThrownBy(() -> new KeptTexts(List.of("a", "a")))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new KeptTexts(List.of())).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() ->
            ScoreWriter.to(
                OutputStream.nullOutputStream(),
                ',',
                List.of("prediction"),
                List.of(ScoreWriter.SCORE)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("the name of the scores");
  }

  @Test
  void aStreamThatFailsEndsTheWriting() {
    OutputStream broken =
        new OutputStream() {
          @Override
          public void write(int b) throws IOException {
            throw new IOException("Broken pipe");
          }
        };
    ScoreWriter writer = ScoreWriter.to(broken, ',', List.of(), List.of(ScoreWriter.SCORE));
    assertThatThrownBy(writer::finish)
        .isInstanceOf(DataException.class)
        .hasMessageContaining("output: got an error writing (Broken pipe)");
    writer.close();
  }
}
