package dev.tern.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What {@code tern publish} and {@code tern serve} refuse about topics before they reach brokers.
 */
final class PublishCommandTest {
  @TempDir Path temp;

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          publish RUN                                              | 2 | '--to=kafka://HOST:PORT/TOPIC'
          publish RUN --to broker:9092/ads                         | 2 | got "broker:9092/ads", expected kafka://HOST:PORT/TOPIC
          publish RUN --to kafka://u:p@broker:9092/ads             | 2 | belong into --kafka-properties
          publish RUN --to kafka://b:1/ads --run a/b               | 2 | run: got "a/b"
          publish RUN --to kafka://b:1/ads --chunk 10              | 2 | chunk: got 10 bytes
          publish RUN --to kafka://b:1/ads --kafka-properties NONE | 1 | NONE: got an error reading it
          publish RUN --to kafka://b:1/ads --kafka-properties ACKS | 2 | got acks=1, expected no such line
          publish RUN/none --to kafka://b:1/ads                    | 1 | got no checkpoint
          serve kafka://b/ads                                      | 2 | expected kafka://HOST:PORT/TOPIC
          serve kafka://b:1/ads --follow best --spool RUN          | 2 | got --follow best with kafka://b:1/ads
          """)
  void whatIsWrongIsSaidBeforeBrokersAreReached(String line, int code, String said)
      throws IOException {
    Path acks = Files.writeString(temp.resolve("acks"), "acks=1\n");
    List<String> words = new ArrayList<>();
    for (String word : line.split(" ")) {
      words.add(
          word.replace("RUN", temp.resolve("run").toString())
              .replace("NONE", temp.resolve("NONE").toString())
              .replace("ACKS", acks.toString()));
    }
    MainTest.Result result = MainTest.tern(words.toArray(String[]::new));
    assertThat(result.err()).contains(said);
    assertThat(result.code()).isEqualTo(code);
  }
}
