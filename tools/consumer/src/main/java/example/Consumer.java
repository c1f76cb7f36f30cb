package example;

import dev.tern.data.DataReader;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.NumberEncoding;
import dev.tern.data.encode.TextDictionary;
import dev.tern.files.Columns;
import dev.tern.files.SparseColumn;
import dev.tern.files.text.CsvOptions;
import dev.tern.files.text.CsvReader;
import dev.tern.model.ModelConfig;
import dev.tern.optim.Optimizer;
import dev.tern.predict.Predictor;
import dev.tern.predict.ScoreOptions;
import dev.tern.serve.http.Listening;
import dev.tern.serve.http.ModelServer;
import dev.tern.serve.http.ModelSource;
import dev.tern.serve.http.ServeOptions;
import dev.tern.tensor.Device;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Trains on a few rows, opens the checkpoint, scores a row in the process and over HTTP, and prints
 * both scores. Ends with 1 where they differ.
 */
public final class Consumer {
  private Consumer() {}

  public static void main(String[] args) throws IOException, InterruptedException {
    Path folder = Path.of(args[0]);
    Path checkpoint = folder.resolve("checkpoint");
    train(folder, checkpoint);
    float score;
    try (Predictor predictor = Predictor.open(checkpoint)) {
      score = predictor.score(Map.of("price", 4.5, "city", "Oslo"));
    }
    String served = serve(checkpoint);
    Module module = Consumer.class.getModule();
    System.out.println(
        (module.isNamed() ? "module path" : "class path") + ", score " + score + ", " + served);
    if (!served.contains("[" + score + "]")) {
      System.exit(1);
    }
  }

  private static void train(Path folder, Path checkpoint) throws IOException {
    StringBuilder rows = new StringBuilder("clicked,price,city\n");
    List<String> cities = List.of("Oslo", "Lima", "Accra", "Hanoi");
    for (int row = 0; row < 2_000; row++) {
      int city = row * 7 % 4;
      rows.append(city < 2 ? 1 : 0).append(',').append(row % 10).append(',');
      rows.append(cities.get(city)).append('\n');
    }
    Path clicks = Files.writeString(folder.resolve("clicks.csv"), rows);
    var columns =
        new Columns(
            List.of("clicked"), Set.of(), List.of("price"), List.of(SparseColumn.text("city")));
    ModelConfig model = ModelConfig.of(ModelConfig.Type.DEEPFM, 4, 8);
    TrainOptions options = TrainOptions.of(Optimizer.adam(0.01f)).batch(100).epochs(2);
    try (Device device = Device.cpu(1, 1L << 28);
        DataReader train = CsvReader.open(List.of(clicks), CsvOptions.csv(), columns)) {
      var encoder =
          FeatureEncoder.fit(
              train,
              List.of(NumberEncoding.standardize()),
              List.of(IdEncoding.vocabulary()),
              TextDictionary.none(),
              read -> {});
      try (Trainer trainer = Trainer.create(device, encoder, model, options)) {
        trainer.fit(train);
        trainer.save(checkpoint);
      }
    }
  }

  private static String serve(Path checkpoint) throws IOException, InterruptedException {
    ModelSource source =
        new ModelSource(
            "clicks",
            ModelSource.STABLE,
            checkpoint,
            ModelSource.Follow.NONE,
            ScoreOptions.DEFAULT);
    ServeOptions options =
        ServeOptions.DEFAULT.withListening(Listening.DEFAULT.withPort(0)).withGrace(Duration.ZERO);
    try (ModelServer server = ModelServer.start(options, List.of(source), System.err::println);
        HttpClient client = HttpClient.newHttpClient()) {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create(server.url() + "/v1/models/clicks:predict"))
              .POST(
                  HttpRequest.BodyPublishers.ofString(
                      "{\"instances\":[{\"price\":4.5,\"city\":\"Oslo\"}]}"))
              .build();
      return client.send(request, HttpResponse.BodyHandlers.ofString()).body();
    }
  }
}
