package dev.tern.cli;

import static dev.tern.cli.MainTest.tern;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.cli.MainTest.Result;
import dev.tern.data.Sequence;
import dev.tern.predict.Predictor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Commands on files whose columns hold sequences. */
final class SequenceCommandTest {
  private static final String HEADER = "click,item,kind,items,kinds\n";

  @TempDir Path folder;

  private Path config;

  @BeforeEach
  void write() throws IOException {
    StringBuilder rows = new StringBuilder(HEADER);
    Random random = new Random(1);
    for (int i = 0; i < 900; i++) {
      int shown = random.nextInt(9);
      StringBuilder items = new StringBuilder();
      StringBuilder kinds = new StringBuilder();
      boolean seen = false;
      for (int length = random.nextInt(7), k = 0; k < length; k++) {
        int item = random.nextInt(9);
        seen |= item == shown && k >= length - 5;
        items.append(k == 0 ? "" : "|").append("i").append(item);
        kinds.append(k == 0 ? "" : "|").append(item % 3);
      }
      rows.append(seen ? 1 : 0).append(",i").append(shown).append(',').append(shown % 3);
      rows.append(',').append(items).append(',').append(kinds).append('\n');
    }
    Files.writeString(folder.resolve("rows.csv"), rows);
    config = folder.resolve("din.yaml");
    Files.writeString(
        config,
        """
        data:
          format: csv
          train: %1$s/rows.csv
          eval: %1$s/rows.csv
          label: {column: click}
          sparse:
            - {columns: [item, kind]}
            - {columns: [items], separator: "|", table: item, sequence: {max_length: 5, name: seen}}
            - {columns: [kinds], separator: "|", table: kind, sequence: {max_length: 5, name: seen}}
        model: {type: din, embedding: 4, hidden: [8], attention: [8]}
        run: {dir: %1$s/run}
        train: {batch: 50, epochs: 6, optimizer: {type: adam, lr: 0.02}, memory: 256m, threads: 1}
        """
            .formatted(folder));
  }

  @ParameterizedTest
  @CsvSource({"din, 0.7", "bst, 0.6", "wdl, 0.6"})
  void modelsTrainOnSequencesAndScoreThem(String type, double least) throws IOException {
    String other = type.equals("bst") ? "model.heads=3" : "model.dropout=0";
    Result trained =
        tern("train", config.toString(), "--set", "model.type=" + type, "--set", other);
    assertThat(trained.code()).as(trained.err()).isZero();
    String best = trained.out().replaceAll("(?s).*best AUC ([\\d.]+).*", "$1");
    assertThat(Double.parseDouble(best)).isGreaterThan(least);
    Path run = folder.resolve("run");
    Path out = folder.resolve("scores.csv");
    Result predicted =
        tern(
            "predict",
            run.toString(),
            folder.resolve("rows.csv").toString(),
            "--out",
            out.toString());
    assertThat(predicted.code()).as(predicted.err()).isZero();
    List<String> scores = Files.readAllLines(out);
    assertThat(scores).hasSize(901);
    List<String> rows = Files.readAllLines(folder.resolve("rows.csv"));
    Result evaluated = tern("evaluate", run.toString(), folder.resolve("rows.csv").toString());
    assertThat(evaluated.code()).as(evaluated.err()).isZero();
    try (Predictor predictor = Predictor.open(run)) {
      for (int i = 1; i < 40; i++) {
        String[] fields = rows.get(i).split(",", -1);
        float score =
            predictor.score(
                Map.of(
                    "item", fields[1], "kind", fields[2], "items", fields[3], "kinds", fields[4]));
        assertThat(Float.toString(score)).as(rows.get(i)).isEqualTo(scores.get(i));
      }
      assertThat(predictor.encoder().schema().slots().get(2).sequence())
          .contains(Sequence.last("seen", 5));
    }
  }

  @Test
  void aRunGoesOnWithItsSequences() {
    assertThat(tern("train", config.toString(), "--set", "train.epochs=1").code()).isZero();
    Result resumed = tern("train", config.toString(), "--resume", "--set", "train.epochs=2");
    assertThat(resumed.code()).as(resumed.err()).isZero();
    Result other =
        tern(
            "train",
            config.toString(),
            "--resume",
            "--set",
            "train.epochs=3",
            "--set",
            "data.sparse.sequence.max_length=4");
    assertThat(other.code()).isNotZero();
    assertThat(other.err()).contains("data.sparse");
  }

  @Test
  void mistakesNameTheKeyOrTheRow() throws IOException {
    Files.writeString(folder.resolve("rows.csv"), HEADER + "1,i1,1,i1|i2,1|2\n0,i1,1,i1|i2,1\n");
    Result unequal = tern("train", config.toString());
    assertThat(unequal.code()).isNotZero();
    assertThat(unequal.err())
        .contains("rows.csv: row 2: got 1 values of kinds and 2 of items, which are one sequence");
    Result without =
        tern(
            "train",
            config.toString(),
            "--set",
            "data.sparse.sequence.max_length=0",
            "--set",
            "data.sparse.sequence.name=");
    assertThat(without.code()).isNotZero();
    assertThat(without.err()).contains("got rows without sequences for DIN");
    String text = Files.readString(config);
    Files.writeString(config, text.replace("max_length: 5, name: seen", "name: seen"));
    assertThat(tern("train", config.toString()).err())
        .contains("got a name or an end to keep without max_length for items");
    Files.writeString(config, text.replace("separator: \"|\", ", ""));
    assertThat(tern("train", config.toString()).err()).contains("got no separator for items");
    assertThat(folder.resolve("run")).doesNotExist();
  }

  @Test
  void convertedFilesKeepAllOfASequence() throws IOException {
    Path out = folder.resolve("converted.csv");
    Result converted =
        tern(
            "data",
            "convert",
            folder.resolve("rows.csv").toString(),
            "--config",
            config.toString(),
            "--encode",
            "--out",
            out.toString());
    assertThat(converted.code()).as(converted.err()).isZero();
    List<String> rows = Files.readAllLines(folder.resolve("rows.csv"));
    List<String> written = Files.readAllLines(out);
    assertThat(written).hasSameSizeAs(rows);
    for (int i = 1; i < rows.size(); i++) {
      long values = rows.get(i).chars().filter(c -> c == '|').count();
      assertThat(written.get(i).chars().filter(c -> c == '|').count()).isEqualTo(values);
    }
  }
}
