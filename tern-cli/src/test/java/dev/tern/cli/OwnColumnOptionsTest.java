package dev.tern.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.cli.config.Config;
import dev.tern.cli.config.ConfigException;
import dev.tern.embedding.config.Combiner;
import dev.tern.model.Widths;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Options that single columns and tables have of their own. */
final class OwnColumnOptionsTest {
  @Test
  void columnsMayHaveACombinerOfTheirOwn() {
    String yaml =
        """
        data:
          format: csv
          train: rows.csv
          sparse:
            - {columns: [item, user]}
            - {columns: [tags, words], separator: "|", combiner: mean}
            - {columns: [seen], separator: "|", table: item, combiner: sqrtn}
        model: {type: deepfm}
        run: {dir: runs/x}
        """;
    Config config = Config.parse(yaml, "c.yaml", List.of());
    assertThat(TrainRun.options(config, Path.of("checkpoints")).tables().combinersOf())
        .isEqualTo(Map.of("tags", Combiner.MEAN, "words", Combiner.MEAN, "seen", Combiner.SQRTN));
    String unnamed =
        "data: {format: criteo-synthetic, sparse: {combiner: mean}}\n"
            + "model: {type: fm}\n"
            + "run: {dir: x}\n";
    assertThatThrownBy(() -> Config.parse(unnamed, "c.yaml", List.of()))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("data.sparse.combiner: got one for columns without names");
  }

  @Test
  void columnsMayHaveAWidthOfTheirOwn() {
    String yaml =
        """
        data:
          format: csv
          train: rows.csv
          sparse:
            - {columns: [item, user], embedding: 32}
            - {columns: [tags, words], separator: "|", embedding: 4}
            - {columns: [seen], separator: "|", table: item}
            - {columns: [city]}
        model: {type: wdl, embedding: 8}
        run: {dir: runs/x}
        """;
    Widths widths = Config.parse(yaml, "c.yaml", List.of()).model().widths();
    assertThat(widths)
        .isEqualTo(new Widths(8, Map.of("item", 32, "user", 32, "tags", 4, "words", 4)));
  }

  @Test
  void widthsThatDoNotGoTogetherAreRefusedByTheirPlace() {
    String data = "data:\n  format: csv\n  train: rows.csv\n  sparse:\n";
    String rest = "model: {type: %s, embedding: 8}\nrun: {dir: x}\n";
    String tags = data + "    - {columns: [item]}\n    - {columns: [tags], embedding: 4}\n" + rest;
    requireRefused(
        tags.formatted("fm"),
        "c.yaml line 6: data.sparse.embedding: got 4 for tags beside model.embedding 8 with the"
            + " model fm, which multiplies embeddings");
    requireRefused(
        "data: {format: csv, train: r.csv, sparse: {columns: [tags], embedding: 4}}\n"
            + "model: {type: lr}\nrun: {dir: x}\n",
        "with the model lr, which has no embeddings; remove it");
    String shared =
        data
            + "    - {columns: [item], embedding: 16}\n"
            + "    - {columns: [seen], table: item, embedding: 4}\n"
            + rest;
    requireRefused(
        shared.formatted("wdl"),
        "c.yaml line 6: data.sparse.embedding: got 4 for seen, expected 16 as the other columns of"
            + " the table item have");
    requireRefused(
        "data: {format: criteo-synthetic, sparse: {embedding: 4}}\n"
            + "model: {type: wdl}\nrun: {dir: x}\n",
        "data.sparse.embedding: got one for columns without names");
  }

  @Test
  void optionsOfTablesThatDoNotGoTogetherAreRefusedByTheirPlace() {
    String head = "data: {format: criteo-synthetic}\nrun: {dir: x}\nmodel:\n  type: wdl\n";
    requireRefused(
        head + "  max_rows: 9\n  tables: [{columns: [C1], storage: bf16}]\n",
        "c.yaml line 6: model.tables.rules: got other options for C1 without rules for ids");
    requireRefused(
        head + "  tables: [{columns: [C1], rules: same, max_rows: 7}]\n",
        "model.tables.rules: got same beside rules for C1");
    requireRefused(
        head + "  tables: [{columns: [C1], l2: none}]\n",
        "model.tables.l2: got none, expected a number of at least 0, or same");
    requireRefused(
        head + "  tables: [{columns: [C1], initializer: {type: normal, scale: -1}}]\n",
        "model.tables.initializer: initial weights: got -1.0, expected a deviation of 0 or more");
    requireRefused(
        head + "  initializer: {type: zeros, scale: 1}\n",
        "got model.initializer.scale, expected it only where model.initializer.type is uniform or"
            + " normal or constant");
    String adam = "  tables: [{columns: [C1], optimizer: {type: adam}}]\n";
    requireRefused(
        head + adam + "train: {optimizer: {type: sgd}, table_memory: 1m}\n",
        "adam that walks whole tables, expected 0 there; set model.tables.optimizer.lazy: true");
    requireRefused(
        head + adam + "train: {optimizer: {type: sgd}, linear_optimizer: {type: ftrl}}\n",
        "set model.tables.optimizer.lazy: true");
    String ftrl = "  tables: [{columns: [C1], optimizer: {type: ftrl}}]\n";
    requireRefused(
        head + ftrl + "train: {from: runs/y, optimizer: {type: sgd}}\n",
        "train.from: got weights to begin with for ftrl");
  }

  private static void requireRefused(String yaml, String message) {
    assertThatThrownBy(() -> Config.parse(yaml, "c.yaml", List.of()))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining(message);
  }

  /** All that the engine is told. */
}
