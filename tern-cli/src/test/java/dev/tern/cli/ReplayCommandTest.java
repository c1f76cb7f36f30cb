package dev.tern.cli;

import static dev.tern.cli.MainTest.tern;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ReplayCommandTest {
  /** c reads a after b was made: 64 + 128 + 256 bytes at most, 10 + 20 + 10 ns. */
  private static final String LOG =
      """
      {"INSTRUCTION":"ANNOTATE","ANNOTATION":"START"}
      {"INSTRUCTION":"CONSTANT","NAME":"w"}
      {"INSTRUCTION":"MEMORY","NAME":"w","MEMORY":"64"}
      {"INSTRUCTION":"CALL","NAME":"f","ARGS":["w"],"RESULT":["a"],"TIME":"10"}
      {"INSTRUCTION":"MEMORY","NAME":"a","MEMORY":"128"}
      {"INSTRUCTION":"ALIAS","NAME":"a","ALIAS":"-1"}
      {"INSTRUCTION":"CALL","NAME":"g","ARGS":["w"],"RESULT":["b"],"TIME":"20"}
      {"INSTRUCTION":"MEMORY","NAME":"b","MEMORY":"256"}
      {"INSTRUCTION":"ALIAS","NAME":"b","ALIAS":"-1"}
      {"INSTRUCTION":"RELEASE","NAME":"b"}
      {"INSTRUCTION":"CALL","NAME":"h","ARGS":["a"],"RESULT":["c"],"TIME":"10"}
      {"INSTRUCTION":"MEMORY","NAME":"c","MEMORY":"128"}
      {"INSTRUCTION":"ALIAS","NAME":"c","ALIAS":"-1"}
      {"INSTRUCTION":"RELEASE","NAME":"a"}
      """;

  @TempDir private Path folder;

  private String write(String text) throws IOException {
    Path file = folder.resolve("step.log");
    Files.writeString(file, text);
    return file.toString();
  }

  /** In 358 of 448 bytes a is evicted for b and computed again; in 134 it does not fit. */
  @Test
  void jsonHasALineForEachCase() throws IOException {
    MainTest.Result result =
        tern("replay", write(LOG), "--policy", "lru", "--budget", "1,0.8,0.3", "--json");
    assertThat(result.err()).isEmpty();
    assertThat(result.code()).isZero();
    assertThat(result.out().lines())
        .containsExactly(
            "{\"case\":\"step.log\",\"policy\":\"lru\",\"budget_ratio\":1.0,\"status\":\"ok\","
                + "\"slowdown\":1.0,\"peak_reserved\":448,\"peak_live\":448}",
            "{\"case\":\"step.log\",\"policy\":\"lru\",\"budget_ratio\":0.8,\"status\":\"ok\","
                + "\"slowdown\":1.25,\"peak_reserved\":320,\"peak_live\":320}",
            "{\"case\":\"step.log\",\"policy\":\"lru\",\"budget_ratio\":0.3,\"status\":\"oom\","
                + "\"slowdown\":null,\"peak_reserved\":64,\"peak_live\":64,\"reason\":\"residency:"
                + " got op 1 (f), which reads 64 bytes, makes 128 and lacks a place for 128 of"
                + " them, while 64 of the budget of 128 bytes are held by what must stay, expected"
                + " room; the largest that stay: 64 bytes made by op 0 (constant w) (pinned); raise"
                + " the memory budget by at least 64 bytes, or use a smaller batch or model\"}");
  }

  @Test
  void textIsATable() throws IOException {
    MainTest.Result result =
        tern("replay", write(LOG), "--budget", "320,0.1", "--allocator", "counted", "--bound");
    assertThat(result.code()).isZero();
    assertThat(result.out().lines().map(line -> line.replaceAll(" +", " ").strip()))
        .containsExactly(
            "case policy budget status slowdown peak reserved peak live lower bound",
            "step.log dtr 0.714 ok 1.2500 320 320 1.2500",
            "step.log dtr 0.100 oom - 0 0 -");
  }

  @Test
  void wrongUsageIsSaidBeforeALogIsRead() {
    MainTest.Result policy = tern("replay", "absent.log", "--policy", "best");
    assertThat(policy.code()).isEqualTo(2);
    assertThat(policy.err())
        .contains("got policy best, expected one of [dtr, planned, none, lru, size, h_dtr")
        .hasLineCount(1);
    for (String budget : new String[] {"0", "-0.5", "NaN", "Infinity"}) {
      MainTest.Result result = tern("replay", "absent.log", "--budget=" + budget);
      assertThat(result.code()).isEqualTo(2);
      assertThat(result.err()).contains("--budget: got ").hasLineCount(1);
    }
    assertThat(tern("replay", "absent.log", "--budget", "half").code()).isEqualTo(2);
    assertThat(tern("replay").code()).isEqualTo(2);
  }

  @Test
  void logThatCannotBeReadIsNamed() throws IOException {
    MainTest.Result absent = tern("replay", folder.resolve("absent.log").toString());
    assertThat(absent.code()).isEqualTo(1);
    assertThat(absent.err()).contains("absent.log: got ").hasLineCount(1);
    MainTest.Result cut = tern("replay", write(LOG.substring(0, 150)));
    assertThat(cut.code()).isEqualTo(1);
    assertThat(cut.err()).contains("step.log line 4").hasLineCount(1);
    MainTest.Result other = tern("replay", write("a,b\n1,2\n"));
    assertThat(other.code()).isEqualTo(1);
    assertThat(other.err()).contains("step.log line 1").hasLineCount(1);
  }
}
