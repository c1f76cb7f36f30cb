package dev.tern.cli.translate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.cli.config.Config;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

final class ConfigFromCommandTest {
  private static final String PIPELINE =
      """
      train_input_path: "train.csv"
      model_dir: "runs/fm"
      data_config { label_fields: "click" with_header: true prefetch_size: 4 input_type: CSVInput }
      feature_config { features { input_names: "item" embedding_dim: 4 hash_bucket_size: 100 } }
      model_config { model_class: "FM" feature_groups { group_name: "all" feature_names: "item" } }
      """;

  @TempDir Path folder;
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private Path pipeline = Path.of("");

  @BeforeEach
  void write() throws IOException {
    pipeline = Files.writeString(folder.resolve("pipeline.config"), PIPELINE);
  }

  private int from(Object... arguments) {
    List<String> all = new ArrayList<>(List.of("from"));
    List.of(arguments).forEach(argument -> all.add(argument.toString()));
    return new CommandLine(new ConfigCommand())
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setOut(new PrintWriter(out, true))
        .setErr(new PrintWriter(err, true))
        .setExecutionExceptionHandler((e, _, _) -> {
          err.write(String.valueOf(e.getMessage()));
          return 2;
        })
        .execute(all.toArray(String[]::new));
  }

  @Test
  void theTranslationGoesToAFileAndWhatItLacksToStandardError() throws IOException {
    Path run = folder.resolve("run.yaml");
    assertThat(from(pipeline, "--out", run)).as(err.toString()).isZero();
    String note =
        "pipeline.config line 3: data_config.prefetch_size: 4: Tern reads ahead by itself";
    assertThat(err.toString()).contains("not translated: " + note);
    assertThat(Files.readString(run)).contains("#   " + note);
    assertThat(Config.load(run, List.of()).modelName()).isEqualTo("fm");

    assertThat(from(pipeline, "--out", run)).isEqualTo(2);
    assertThat(err.toString()).contains("give --overwrite");
    assertThat(from(pipeline, "--out", run, "--overwrite")).isZero();
    assertThat(from(pipeline, "--out", pipeline, "--overwrite")).isEqualTo(2);
    assertThat(Files.readString(pipeline)).isEqualTo(PIPELINE);
  }

  @Test
  void theTranslationAloneGoesToStandardOutput() {
    assertThat(from(pipeline, "--format", "easyrec")).isZero();
    assertThat(out.toString()).startsWith("# Made by tern config from, of the FM of EasyRec");
    assertThat(Config.parse(out.toString(), "out", List.of()).modelName()).isEqualTo("fm");
  }

  @Test
  void wrongArgumentsAreRefused() {
    assertThat(from(pipeline, pipeline)).isEqualTo(2);
    assertThat(err.toString()).contains("got 2 files of EasyRec, expected one");
    assertThat(from(pipeline, "--experiment", "x")).isEqualTo(2);
    assertThat(err.toString()).contains("--experiment: got \"x\" for EasyRec");
    assertThat(from(folder.resolve("none.config"))).isEqualTo(2);
    assertThat(err.toString()).contains("none.config: got no such file");
    assertThat(from(pipeline, "--format", "fuxictr")).isEqualTo(2);
    assertThat(err.toString()).contains("pipeline.config");
  }

  @Test
  void settingsThatTernRefusesTogetherAreSaid() throws IOException {
    Files.writeString(pipeline, PIPELINE.replace("click", "item"));
    assertThat(from(pipeline)).isEqualTo(2);
    assertThat(err.toString())
        .contains(
            "got settings of the FM of EasyRec in pipeline.config that Tern refuses together");
  }
}
