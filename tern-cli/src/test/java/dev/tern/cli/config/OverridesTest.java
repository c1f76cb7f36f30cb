package dev.tern.cli.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class OverridesTest {
  @Test
  void overridesMayAddAGroup() {
    Config config =
        Config.parse(
            ConfigTest.CENSUS,
            "census.yaml",
            List.of("data.sparse[0].columns=workclass", "data.sparse[1].columns=education"));
    assertThat(config.data().sparse()).hasSize(2);
    assertThat(config.data().sparse().getLast().columns()).containsExactly("education");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          train.batch          | --set train.batch: got no key and value, expected key=value; write it as in --set train.batch=1024
          =3                   | --set =3: got no key and value
          train.bach=3         | --set train.bach=3: got the unknown key train.bach; did you mean train.batch?
          train.batch=x        | --set train.batch=x: train.batch: got x, expected a whole number
          model=lr             | --set model=lr: got the section model, expected one of its keys; use one of activation, admission, attention
          data.sparse[1].encode=id | expected an index from 0 to 0, as the file has 1 in data.sparse; give one of them, none for all, or another group's data.sparse[1].columns first
          data.sparse[2].columns=a | got data.sparse[2].columns, expected an index from 0 to 0
          train[0].batch=3     | got an index, expected none
          model.cross_rank=2   | got model.cross_rank, expected it only where model.type is dcnv2 or dlrm_dcnv2, but that is deepfm
          model.activation=gelu | model.activation: got gelu, expected one of relu, prelu, dice
          train.clip_norm=-1   | train.clip_norm: got -1, expected a number of at least 0
          model.cross_layers=2 | got model.cross_layers, expected it only where model.type is dcn or dcnv2 or autoint or
          data.columns=[a      | got broken YAML
          data.train=          | data.train: got nothing, expected a path or a list of paths
          data.delimiter=5     | data.delimiter: got 5, expected 1 to 16 characters that no number holds, tab, space,
          data.delimiter="     | data.delimiter: got ", expected 1 to 16 characters
          data.unnamed=skip    | got data.unnamed, expected it only where data.format is libsvm or libffm, but that is csv
          data.dense.columns=C5..C1 | data.dense.columns: got the list [C5..C1], expected a list of names
          """)
  void aBrokenOverrideIsRefused(String override, String message) {
    assertThatThrownBy(() -> ConfigTest.census(override))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining(message);
  }
}
