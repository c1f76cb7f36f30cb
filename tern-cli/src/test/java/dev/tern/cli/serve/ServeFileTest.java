package dev.tern.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.tern.cli.config.ConfigException;
import dev.tern.embedding.config.RowFormat;
import dev.tern.predict.ScoreOptions;
import dev.tern.serve.http.ModelSource;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** Files of options and models for {@code tern serve}. */
final class ServeFileTest {
  private static final String WHOLE =
      """
      port: 8123
      max-body: 2m
      queue-time: 50ms
      admin: false
      tables: int8
      memory: 3g
      models:
        - {path: runs/clicks/checkpoints}
        - {name: ads, label: canary, path: runs/b, follow: none, tables: stored, memory: 64m}
        - {name: shop, path: runs/shop, candidates: [a.csv, b.csv]}
        - {path: runs/one, candidates: c.csv}
      """;

  @TempDir Path folder;

  /** A command that was given {@code arguments} and this file. */
  private CommandLine command(String yaml, String... arguments) throws Exception {
    Path file = Files.writeString(folder.resolve("serve.yaml"), yaml);
    CommandLine command =
        new CommandLine(new ServeCommand((model, files) -> checkpoint -> null))
            .setCaseInsensitiveEnumValuesAllowed(true);
    command.parseArgs(arguments);
    FileChoice choice = new FileChoice(command.getCommandSpec());
    choice.apply(ServeFile.read(file, choice.names()));
    return command;
  }

  private static Object value(CommandLine command, String option) {
    return command.getCommandSpec().findOption(option).getValue();
  }

  @Test
  void optionsAreThoseOfTheFileUnlessTheCommandLineSaysOthers() throws Exception {
    CommandLine command = command(WHOLE, "--max-body", "3m");
    assertThat((Integer) value(command, "--port")).isEqualTo(8123);
    assertThat((Long) value(command, "--max-body")).isEqualTo(3L << 20);
    assertThat(value(command, "--queue-time")).hasToString("PT0.05S");
    assertThat((Boolean) value(command, "--admin")).isFalse();
    assertThat(value(command, "--tables")).hasToString("INT8");
    assertThat(value(command, "--host")).isEqualTo("127.0.0.1");
    Amounts.Limit ofAll = new Amounts.Limit("", 3L << 30);
    assertThat(value(command, "--memory")).isEqualTo(List.of(ofAll));
    assertThat(value(command(WHOLE, "--memory", "ads=1k"), "--memory"))
        .isEqualTo(List.of(ofAll, new Amounts.Limit("ads", 1024)));
  }

  @Test
  void aLimitOfMemoryIsThatOfAllModelsOrOfTheOneThatItNames() {
    List<ServedName> names =
        List.of(
            ServedName.of("ads=runs/a"),
            ServedName.of("ads@canary=runs/b"),
            ServedName.of("shop=runs/c"));
    assertThat(memory(names, "4g")).containsExactly(0L, 0L, 0L);
    assertThat(memory(names, "4g", "ads=2g")).containsExactly(2L << 30, 2L << 30, 0L);
    assertThat(memory(names, "ads=2g", "ads@canary=1k")).containsExactly(2L << 30, 1024L, 0L);
    assertThat(memory(names, "ads@canary=1k", "ads=2g")).containsExactly(2L << 30, 1024L, 0L);
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(() -> memory(names, "shp=1g"))
        .withMessageContaining("--memory: got shp, expected the name of a model that is served")
        .withMessageContaining("shop");
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(() -> memory(names, "shop=0"))
        .withMessageContaining("memory: got 0, expected a number of bytes");
  }

  /** The limits that models have for themselves; 0 for none. */
  private static List<Long> memory(List<ServedName> names, String... limits) {
    List<Amounts.Limit> all =
        Stream.of(limits).map(text -> new Amounts.Limits().convert(text)).toList();
    return ServedModels.limited(names, all).stream()
        .map(name -> name.source(ModelSource.Follow.LATEST, ScoreOptions.DEFAULT))
        .map(source -> source.memory().orElse(0))
        .toList();
  }

  @Test
  void modelsHaveTheirOwnKeys() {
    ServeFile file = ServeFile.parse(WHOLE, "serve.yaml", options());
    ServedModels models =
        new ServedModels((model, files) ->
            checkpoint -> {
              throw new IllegalStateException(model + " " + files);
            });
    List<ModelSource> sources =
        file.models().stream()
            .map(models::of)
            .map(name ->
                name.source(
                    ModelSource.Follow.BEST, ScoreOptions.DEFAULT.withTables(RowFormat.INT8)))
            .toList();
    assertThat(sources).hasSize(4);
    ModelSource first = sources.getFirst();
    assertThat(first.name() + "@" + first.label()).isEqualTo("clicks@stable");
    assertThat(first.follow()).isEqualTo(ModelSource.Follow.BEST);
    assertThat(first.scoring().tables()).hasToString("INT8");
    assertThat(first.candidates()).isEmpty();
    ModelSource second = sources.get(1);
    assertThat(second.name() + "@" + second.label() + " " + second.path())
        .isEqualTo("ads@canary runs/b");
    assertThat(second.follow()).isEqualTo(ModelSource.Follow.NONE);
    assertThat(second.scoring().tables()).hasToString("STORED");
    assertThat(first.memory()).isEmpty();
    assertThat(second.memory()).hasValue(64 << 20);
    assertThat(sources.get(2).candidates()).isPresent();
    assertThat(sources.get(3).candidates()).isPresent();
  }

  @Test
  void candidatesOfTheCommandLineNameTheirModelWhereThereAreSeveral() {
    ServedModels models =
        new ServedModels((model, files) -> {
          assertThat(model + " " + files).isIn("runs/a [x.csv, y.csv]", "runs/b=c [z.csv]");
          return checkpoint -> {
            throw new IllegalStateException();
          };
        });
    assertThat(sources(models, List.of("runs/a"), "x.csv,y.csv").getFirst().candidates())
        .isPresent();
    List<ModelSource> two = sources(models, List.of("runs/a", "b=runs/b=c"), "b=z.csv");
    assertThat(two.getFirst().candidates()).isEmpty();
    assertThat(two.getLast().candidates()).isPresent();
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(() -> models.of(List.of("runs/a", "runs/b"), List.of("x.csv")))
        .withMessageContaining("--candidates: got x.csv for 2 models, expected the name of one");
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(() -> models.of(List.of("runs/a"), List.of("-")))
        .withMessageContaining("got the standard input, expected files");
  }

  private static List<ModelSource> sources(
      ServedModels models, List<String> names, String candidates) {
    return models.of(names, List.of(candidates)).stream()
        .map(name -> name.source(ModelSource.Follow.LATEST, ScoreOptions.DEFAULT))
        .toList();
  }

  private static Set<String> options() {
    return new FileChoice(
            new CommandLine(new ServeCommand((model, files) -> checkpoint -> null))
                .getCommandSpec())
        .names();
  }

  @Test
  void everyOptionOfAServerIsAKey() {
    assertThat(options())
        .contains("port", "host", "token-file", "admin", "tls-cert", "grace", "follow", "tables")
        .doesNotContain("config", "check", "help", "candidates", "models");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '#',
      quoteCharacter = '`',
      value = {
        "`prt: 1`#serve.yaml line 1: got the unknown key prt; did you mean port?",
        "`max_body: 1m`#got the unknown key max_body; did you mean max-body?",
        "`model: []`#got the unknown key model; did you mean models?",
        "`check: true`#got the unknown key check;",
        "`zzzzzzzzz: true`#got the unknown key zzzzzzzzz; expected one of",
        "`models: [{path: a, lable: b}]`#got the unknown key lable; did you mean label?",
        "`models: [{name: a}]`#models: got a model without path",
        "`models: [runs/a]`#models: got runs/a, expected keys and values",
        "`port: 1\nport: 2`#serve.yaml line 2: got port a second time",
        "`port: {a: 1}`#port: got keys and values, expected a value",
        "`models: [{path: [[a]]}]`#path: got a list in a list, expected values",
        "`[1, 2]`#the file: got a list, expected keys and values",
        "`port: \"1`#got broken YAML",
        "``#got an empty file"
      })
  void whatAFileMayNotHoldIsRefusedByItsLine(String yaml, String message) {
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(() -> ServeFile.parse(yaml == null ? "" : yaml, "serve.yaml", options()))
        .withMessageContaining(message);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '#',
      value = {
        "port: x#serve.yaml line 1: port: got x, expected a whole number",
        "admin: yes#admin: got yes, expected true or false",
        "memory: 8q#memory: got 8q, expected bytes, as in 512k or 8m",
        "max-body: 8q#max-body: got 8q, expected bytes, as in 512k or 8m",
        "follow: newest#follow: got newest, expected one of latest, best, none",
        "host: [a, b]#host: got 2 values, expected one"
      })
  void aValueThatAnOptionDoesNotTakeIsRefusedByItsLine(String yaml, String message) {
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(() -> command(yaml))
        .withMessageContaining(message);
  }

  @Test
  void damagedFilesAreRefusedOrRead() {
    Random random = new Random(4);
    for (int round = 0; round < 2_000; round++) {
      StringBuilder damaged = new StringBuilder(WHOLE);
      for (int i = 1 + random.nextInt(3); i > 0 && !damaged.isEmpty(); i--) {
        int at = random.nextInt(damaged.length());
        switch (random.nextInt(3)) {
          case 0 -> damaged.deleteCharAt(at);
          case 1 -> damaged.setCharAt(at, (char) random.nextInt(0x250));
          default -> damaged.setLength(Math.max(1, at));
        }
      }
      try {
        assertThat(ServeFile.parse(damaged.toString(), "serve.yaml", options())).isNotNull();
      } catch (ConfigException e) {
        assertThat(e.getMessage()).startsWith("serve.yaml");
      }
    }
  }
}
