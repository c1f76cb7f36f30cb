package dev.tern.cli.board;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.tern.internal.json.Json;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class MlflowLogTest {
  private static final String EXPERIMENT = "{\"experiment\":{\"experiment_id\":\"7\"}}";
  private static final String RUN = "{\"run\":{\"info\":{\"run_id\":\"abc\"}}}";

  @TempDir Path temp;
  private Path run;
  private HttpServer stub;

  /** Method, path and body of each call. */
  private final List<String> calls = new CopyOnWriteArrayList<>();

  private final List<String> notes = new CopyOnWriteArrayList<>();

  /** Answers by the end of a path, the first ones once; the last one stays. */
  private final Map<String, List<Answer>> answers = new TreeMap<>();

  private final CountDownLatch ended = new CountDownLatch(1);

  private record Answer(int status, String body) {}

  @BeforeEach
  void listen() throws IOException {
    run = Files.createDirectories(temp.resolve("run"));
    answer("get-by-name", 200, EXPERIMENT);
    answer("runs/create", 200, RUN);
    answer("log-batch", 200, "{}");
    answer("runs/update", 200, "{}");
    stub = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    stub.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    stub.createContext("/", this::handle);
    stub.start();
  }

  @AfterEach
  void stop() {
    ended.countDown();
    stub.stop(0);
  }

  private void answer(String end, int status, String body) {
    answers.computeIfAbsent(end, key -> new CopyOnWriteArrayList<>()).add(new Answer(status, body));
  }

  private void first(String end, int status, String body) {
    answers.get(end).addFirst(new Answer(status, body));
  }

  private void handle(HttpExchange exchange) throws IOException {
    String path = exchange.getRequestURI().toString();
    String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    calls.add(exchange.getRequestMethod() + " " + path + " " + body);
    List<Answer> own =
        answers.entrySet().stream()
            .filter(each -> path.split("\\?", 2)[0].endsWith(each.getKey()))
            .findFirst()
            .orElseThrow()
            .getValue();
    Answer now = own.size() == 1 ? own.getFirst() : own.removeFirst();
    if (now.status() == 0) {
      try {
        ended.await();
      } catch (InterruptedException _) {
        Thread.currentThread().interrupt();
      }
    }
    byte[] bytes = now.body().getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(Math.max(200, now.status()), bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }

  private URI server() {
    return URI.create("http://127.0.0.1:" + stub.getAddress().getPort());
  }

  private MlflowLog follow(URI server, Map<String, String> configuration) throws IOException {
    return follow(server, configuration, Duration.ofSeconds(20));
  }

  /** The run begins its metrics behind it, as it does in a training. */
  private MlflowLog follow(URI server, Map<String, String> configuration, Duration patience)
      throws IOException {
    String lines = Files.readString(run.resolve("metrics.jsonl"));
    Files.delete(run.resolve("metrics.jsonl"));
    MlflowLog.Target target =
        new MlflowLog.Target(server, "clicks of today", "run", Map.of("tern.folder", "f"));
    MlflowLog log = MlflowLog.follow(target, run, configuration, notes::add, patience);
    metrics(lines);
    return log;
  }

  private static String line(long step, String split, String more) {
    return "{\"step\":%d,\"split\":\"%s\",\"seconds\":%d,\"loss\":0.5%s}\n"
        .formatted(step, split, step, more);
  }

  private void metrics(String lines) throws IOException {
    Files.writeString(run.resolve("metrics.jsonl"), lines);
  }

  /** All metrics logged, as {@code step key value}. */
  private List<String> logged() {
    List<String> all = new ArrayList<>();
    for (Json.Obj body : bodies("log-batch")) {
      for (Json each : body.array("metrics")) {
        Json.Obj metric = each.asObject("metric");
        all.add(metric.integer("step") + " " + metric.text("key") + " " + metric.number("value"));
      }
    }
    return all;
  }

  private List<Json.Obj> bodies(String end) {
    return calls.stream()
        .filter(call -> call.split(" ")[1].endsWith(end))
        .map(call -> Json.parseObject(call.split(" ", 3)[2], "body"))
        .toList();
  }

  @Test
  void theServerHasAllParametersAndMetricsWhenTheRunEnds() throws IOException {
    metrics(
        line(1, "train", ",\"samples_per_second\":1000,\"auc\":null")
            + line(300, "eval", ",\"tasks\":{\"click\":{\"auc\":0.5},\"ü/..\":{\"auc\":0.75}}")
            + "{\"step\":");
    Map<String, String> configuration = new TreeMap<>(Map.of("data.dense[0].columns", "[a]"));
    configuration.put("model.type", "lr");
    configuration.put("data.eval", "");
    configuration.put("data.train", "x".repeat(1_000));
    MlflowLog log = follow(server(), configuration);
    log.ends(MlflowLog.End.FINISHED);
    log.close();
    assertThat(log.failure()).isEmpty();
    assertThat(notes).isEmpty();
    assertThat(calls.getFirst())
        .isEqualTo("GET /api/2.0/mlflow/experiments/get-by-name?experiment_name=clicks+of+today ");
    Json.Obj made = bodies("runs/create").getFirst();
    assertThat(made.text("experiment_id")).isEqualTo("7");
    assertThat(made.text("run_name")).isEqualTo("run");
    assertThat(made.array("tags")).hasToString("[{\"key\":\"tern.folder\",\"value\":\"f\"}]");
    assertThat(bodies("log-batch").getFirst().array("params"))
        .hasToString(
            "[{\"key\":\"data.dense.0.columns\",\"value\":\"[a]\"}, "
                + "{\"key\":\"data.train\",\"value\":\""
                + "x".repeat(247)
                + "...\"}, {\"key\":\"model.type\",\"value\":\"lr\"}]");
    assertThat(logged())
        .containsExactly(
            "1 train/loss 0.5",
            "1 train/samples_per_second 1000.0",
            "300 eval/auc/click 0.5",
            "300 eval/auc/__..-2 0.75");
    assertThat(bodies("log-batch")).allMatch(body -> body.text("run_id").equals("abc"));
    assertThat(bodies("runs/update"))
        .singleElement()
        .satisfies(body -> assertThat(body.text("status")).isEqualTo("FINISHED"));
  }

  @Test
  void timesOfMetricsAreAsFarApartAsTheirSeconds() throws IOException {
    metrics(line(1, "train", "") + line(4, "train", ""));
    follow(server(), Map.of()).close();
    List<Json> sent = bodies("log-batch").getFirst().array("metrics");
    long first = sent.get(0).asObject("").integer("timestamp");
    assertThat(sent.get(1).asObject("").integer("timestamp") - first).isEqualTo(3_000);
    assertThat(bodies("runs/update").getFirst().text("status")).isEqualTo("FAILED");
  }

  @Test
  void requestsStayWithinTheServersBounds() throws IOException {
    StringBuilder many = new StringBuilder();
    for (int step = 1; step <= 1_234; step++) {
      many.append(line(step, "train", ",\"waiting\":0.25"));
    }
    metrics(many.toString());
    Map<String, String> configuration = new TreeMap<>();
    for (int key = 0; key < 250; key++) {
      configuration.put("k" + key, "v");
    }
    follow(server(), configuration).close();
    assertThat(logged()).hasSize(2 * 1_234).doesNotHaveDuplicates();
    assertThat(bodies("log-batch").stream().mapToInt(body -> body.array("params").size()).sum())
        .isEqualTo(250);
    assertThat(bodies("log-batch"))
        .allMatch(
            body -> body.array("metrics").size() <= 501 && body.array("params").size() <= 100);
  }

  @Test
  void anExperimentThatIsMissingIsMade() throws IOException {
    answers.get("get-by-name").clear();
    answer("get-by-name", 404, "{\"error_code\":\"RESOURCE_DOES_NOT_EXIST\",\"message\":\"no\"}");
    answer("experiments/create", 200, "{\"experiment_id\":\"8\"}");
    metrics(line(1, "train", ""));
    follow(server(), Map.of()).close();
    assertThat(bodies("experiments/create"))
        .singleElement()
        .hasToString("{\"name\":\"clicks of today\"}");
    assertThat(bodies("runs/create").getFirst().text("experiment_id")).isEqualTo("8");
  }

  @Test
  void aServerInTroubleIsAskedAgainAndToldOfOnce() throws Exception {
    first("log-batch", 429, "{\"message\":\"slow down\"}");
    metrics(line(1, "train", "") + line(2, "train", ""));
    MlflowLog log = follow(server(), Map.of());
    while (logged().size() < 4) { // Refused, then taken.
      Thread.sleep(10);
    }
    log.close();
    assertThat(log.failure()).isEmpty();
    assertThat(notes)
        .singleElement()
        .asString()
        .contains("--mlflow " + server(), "status 429", "slow down", "training goes on");
    assertThat(logged().subList(2, 4)).containsExactly("1 train/loss 0.5", "2 train/loss 0.5");
  }

  @Test
  void aServerThatIsGoneIsToldOfWhenTheRunEnds() throws IOException {
    metrics(line(1, "train", ""));
    stub.stop(0);
    MlflowLog log = follow(server(), Map.of());
    log.close();
    assertThat(log.failure().orElseThrow())
        .contains("--mlflow " + server() + ": got no connection", "nothing is logged")
        .contains(run.resolve("metrics.jsonl") + " has all");
  }

  @Test
  void aServerThatNeverAnswersDoesNotHoldTheEndUp() throws IOException {
    answers.get("log-batch").clear();
    answer("log-batch", 0, "{}");
    metrics(line(1, "train", ""));
    MlflowLog log = follow(server(), Map.of(), Duration.ofMillis(500));
    log.close(); // Ends before the server does, which waits for the end of the test.
    assertThat(log.failure().orElseThrow()).contains("no answer in time", "steps up to 0");
  }

  @Test
  void aRefusalForGoodIsNotRepeated() throws IOException {
    answers.get("runs/create").clear();
    answer("runs/create", 403, "{\"message\":\"" + "no ".repeat(500) + "\"}");
    metrics(line(1, "train", ""));
    MlflowLog log = follow(server(), Map.of());
    log.close();
    assertThat(bodies("runs/create")).hasSize(1);
    assertThat(log.failure().orElseThrow())
        .contains("status 403 for /api/2.0/mlflow/runs/create: no no")
        .hasSizeLessThan(600);
  }

  @Test
  void answersThatAreNoneAreRefused() throws IOException {
    List<String> wrong =
        List.of("", "[]", "{", "{\"run\":{}}", "{\"run\":{\"info\":{\"run_id\":1}}}", "\u0000");
    for (String body : wrong) {
      answers.get("runs/create").clear();
      answer("runs/create", 200, body);
      metrics(line(1, "train", ""));
      MlflowLog log = follow(server(), Map.of());
      log.close();
      assertThat(log.failure()).as(body).isPresent();
    }
  }

  @Test
  void anAnswerWithoutEndIsCutOff() throws IOException {
    answers.get("runs/create").clear();
    answer("runs/create", 200, " ".repeat(2 << 20) + RUN);
    metrics(line(1, "train", ""));
    MlflowLog log = follow(server(), Map.of());
    log.close();
    assertThat(log.failure()).isPresent();
  }

  @Test
  void linesOfAnEarlierRunWaitForThatWhichGoesOn() throws IOException {
    metrics(line(1, "train", ""));
    MlflowLog.Target target = new MlflowLog.Target(server(), "e", "r", Map.of());
    MlflowLog log = MlflowLog.follow(target, run, Map.of(), notes::add);
    log.close();
    assertThat(calls).isEmpty();
    assertThat(log.failure()).isEmpty();
  }

  @Test
  void addressesThatAreNoneAreRefused() {
    for (String wrong : List.of("127.0.0.1:5000", "ftp://a", "http:/x", "http://a/?b", "mlruns")) {
      assertThatThrownBy(() -> MlflowLog.Target.address(wrong))
          .hasMessageContaining("--mlflow: got " + wrong + ", expected the address");
    }
    assertThatThrownBy(() -> MlflowLog.Target.address("http://me:pass@a"))
        .hasMessageContaining("MLFLOW_TRACKING_TOKEN")
        .hasMessageNotContaining("pass@");
  }

  @Test
  void keysOfTasksAreDistinct() {
    List<String> names = List.of("a", "_-3", "ü", "é", "", "..", "x".repeat(400));
    assertThat(names)
        .extracting(name -> MlflowKeys.task(name, names.indexOf(name)))
        .doesNotHaveDuplicates()
        .allMatch(key -> key.matches("[A-Za-z0-9_. -]{1,250}") && !key.startsWith("."));
  }
}
