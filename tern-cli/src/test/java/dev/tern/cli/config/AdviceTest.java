package dev.tern.cli.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Advice on keys: what messages name exists, and unknown keys get the one that was meant. */
final class AdviceTest {
  /** A text block, a string, a character or a comment. */
  private static final Pattern TOKEN =
      Pattern.compile(
          "\"\"\"(?<block>(?:[^\"\\\\]++|\"(?!\"\")|\\\\.)*)\"\"\"|\"(?<text>(?:[^\"\\\\\n"
              + "]++|\\\\.)*)\"|'(?:[^'\\\\]|\\\\.)+'|//[^\n"
              + "]*|/\\*.*?\\*/",
          Pattern.DOTALL);

  private static final Pattern KEY =
      Pattern.compile("(?<![\\w./-])(data|model|train|run)\\.[a-z][a-z0-9_]*(\\.[a-z][a-z0-9_]*)*");

  private static final Pattern FILE =
      Pattern.compile(".*\\.(csv|yaml|yml|json|norm|parquet|txt|html|bin)");

  @Test
  void adviceNamesKeysThatExist() throws IOException {
    Map<String, String> wrong = new TreeMap<>();
    int found = 0;
    for (String module :
        List.of(
            "tern-core", "tern-data", "tern-serve", "tern-stream", "tern-convert", "tern-cli")) {
      for (Path source : sources(Path.of("..", module, "src", "main", "java"))) {
        for (String key : keys(Files.readString(source))) {
          found++;
          if (Keys.find(key).isEmpty() && !Keys.isSection(key)) {
            wrong.put(key, source.getFileName().toString());
          }
        }
      }
    }
    assertThat(found).isGreaterThan(150);
    assertThat(wrong).isEmpty();
  }

  private static List<Path> sources(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(file -> file.toString().endsWith(".java")).sorted().toList();
    }
  }

  /** The keys in the texts of {@code source}, of which those that follow each other are one. */
  private static List<String> keys(String source) {
    StringBuilder texts = new StringBuilder();
    int end = 0;
    for (MatchResult token : TOKEN.matcher(source).results().toList()) {
      String text = token.group("block") == null ? token.group("text") : token.group("block");
      boolean joined = source.substring(end, token.start()).matches("\\s*\\+\\s*");
      texts.append(joined ? "" : "\n").append(text == null ? "" : text);
      end = token.end();
    }
    List<String> keys = new ArrayList<>();
    KEY.matcher(texts)
        .results()
        .map(MatchResult::group)
        .filter(key -> !FILE.matcher(key).matches())
        .forEach(keys::add);
    return keys;
  }

  @ParameterizedTest
  @CsvSource({
    "train.lr, train.optimizer.lr",
    "lr, train.optimizer.lr",
    "model.lr, train.optimizer.lr",
    "optimizer.lr, train.optimizer.lr",
    "train.learning_rate, train.optimizer.lr",
    "learningRate, train.optimizer.lr",
    "train.optimizer.learning-rate, train.optimizer.lr",
    "train.batch_size, train.batch",
    "batchSize, train.batch",
    "train.bacth, train.batch",
    "train.gradient_accumulation_steps, train.lanes",
    "epochs, train.epochs",
    "train.epoch, train.epochs",
    "n_epochs, train.epochs",
    "model.embedding_dim, model.embedding",
    "train.dim, model.embedding",
    "model.hidden_units, model.hidden",
    "train.dropout, model.dropout",
    "train.l3, train.l2",
    "train.l2_reg, train.l2",
    "train.beta1, train.optimizer.beta1",
    "train.early_stopping, train.early_stop",
    "train.patience, train.early_stop",
    "random_state, train.seed",
    "data.sep, data.delimiter",
    "sep, data.delimiter",
    "data.header, data.columns",
    "data.target, data.label.column",
    "target, data.label.column",
    "data.positive, data.label.positive",
    "data.na_values, data.missing_values",
    "data.skiprows, data.skip_lines",
    "data.min_count, data.sparse.min_count",
    "data.encode, data.sparse.encode",
    "data.transform, data.dense.transform",
    "data.separator, data.sparse.separator",
    "data.validation, data.eval",
    "data.test, data.eval",
    "data.num_workers, data.threads",
    "run.output_dir, run.dir",
    "dir, run.dir",
  })
  void anUnknownKeyGetsTheOneThatWasMeant(String path, String meant) {
    assertThat(Keys.advice(path)).isEqualTo("did you mean " + meant + "?");
  }

  @Test
  void aKeyWithASlipGetsItself() {
    for (String key : Keys.ALL.stream().map(Key::path).toList()) {
      int from = key.lastIndexOf('.') + 1;
      for (int at = from; key.length() - from > 5 && at < key.length(); at++) {
        String slip = key.substring(0, at) + key.substring(at + 1);
        if (!Keys.names().contains(slip)) {
          assertThat(Keys.advice(slip)).isEqualTo("did you mean " + key + "?");
        }
      }
    }
  }

  @Test
  void habitsLeadToKeysAndAreNone() {
    assertThat(NearKeys.habits().values())
        .allMatch(key -> Keys.find(key).isPresent() || Keys.isSection(key));
    assertThat(NearKeys.habits().keySet()).allMatch(name -> name.matches("[a-z0-9]+"));
  }

  @Test
  void aNameThatIsNearNoneGetsTheMembersOfItsSection() {
    assertThat(Keys.advice("train.qqqqqqqqq")).startsWith("use one of activation_memory, batch");
    assertThat(Keys.advice("qqqqqqqqq")).isEqualTo("use one of data, model, run, train");
  }
}
