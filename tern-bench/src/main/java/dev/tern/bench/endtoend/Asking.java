package dev.tern.bench.endtoend;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A client of a server. */
final class Asking implements AutoCloseable {
  private static final Pattern ANSWER =
      Pattern.compile(".*\"model_version\":\"(\\d+)\".*\"data\":\\[([^]]+)\\].*");

  /** The step that an answer names, and its score. */
  record Answer(long step, float score) {}

  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final AskedRows rows;

  Asking(AskedRows rows) {
    this.rows = rows;
  }

  private String ask(String url, String body) throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(url)).timeout(Duration.ofSeconds(10));
    if (!body.isEmpty()) {
      request.POST(HttpRequest.BodyPublishers.ofString(body));
    }
    HttpResponse<String> response =
        client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    if (response.statusCode() != 200) {
      throw new IllegalStateException(url + ": " + response.statusCode() + " " + response.body());
    }
    return response.body();
  }

  /** The score of the first row. */
  Answer one(String server, String model) throws IOException, InterruptedException {
    String body = ask(server + "/v2/models/" + model + "/infer", rows.one());
    Matcher match = ANSWER.matcher(body);
    if (!match.matches()) {
      throw new IllegalStateException("got the answer " + body);
    }
    return new Answer(Long.parseLong(match.group(1)), Float.parseFloat(match.group(2)));
  }

  /** The scores of all rows. */
  List<Float> all(String server, String model) throws IOException, InterruptedException {
    String body = ask(server + "/v1/models/" + model + ":predict", rows.instances());
    String list = body.replaceAll("[^\\[]*\\[([^]]*)\\].*", "$1");
    List<Float> scores = new ArrayList<>();
    for (String each : list.split(",", -1)) {
      scores.add(Float.parseFloat(each));
    }
    return scores;
  }

  /** The sum of all samples of a metric, which the server must know. */
  double metric(String server, String name) throws IOException, InterruptedException {
    String page = ask(server + "/metrics", "");
    if (!page.contains("# TYPE " + name + " ")) {
      throw new IllegalStateException("end-to-end: got metrics without " + name + ": " + page);
    }
    return page.lines()
        .filter(line -> line.startsWith(name + " ") || line.startsWith(name + "{"))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }

  @Override
  public void close() {
    client.shutdownNow();
  }
}
