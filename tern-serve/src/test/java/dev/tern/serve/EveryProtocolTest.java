package dev.tern.serve;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.data.Batch;
import dev.tern.data.readers.Readers;
import dev.tern.model.ModelConfig;
import dev.tern.predict.Predictor;
import dev.tern.tensor.Device;
import dev.tern.train.DrawnRun;
import dev.tern.train.Trainer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Scores over each protocol beside the predictor's, for each model, bit by bit. {@code
 * -Dtern.rows=20000} has them score so many more rows.
 */
final class EveryProtocolTest {
  private static final int MORE_ROWS = Integer.getInteger("tern.rows", 0);
  private static final int LARGEST = 1_000;
  private static final Pattern NUMBERS = Pattern.compile("-?\\d+\\.\\d+(E-?\\d+)?|null");

  @TempDir Path folder;

  private Predictor predictor(DrawnRun run) {
    Path saved = folder.resolve("saved");
    try (Device device = Device.cpu(1, 1L << 28);
        Trainer trainer = Trainer.create(device, run.encoder(), run.model(), run.options())) {
      trainer.fit(Readers.inMemory(run.train()));
      trainer.save(saved);
    }
    return Predictor.open(saved);
  }

  private static List<Batch> requests(DrawnRun run) {
    List<Batch> requests = new ArrayList<>();
    for (int size : new int[] {1, 2, 17, run.held().size()}) {
      Batch first = new Batch(run.held().schema(), size);
      first.appendRows(run.held(), 0, size);
      requests.add(first);
    }
    for (int from = 0; from < MORE_ROWS; from += LARGEST) {
      requests.add(run.held(Math.min(LARGEST, MORE_ROWS - from), from));
    }
    return requests;
  }

  /** All numbers with a point in a text, in order. */
  private static List<Float> numbers(byte[] body) {
    List<Float> numbers = new ArrayList<>();
    Matcher matcher = NUMBERS.matcher(new String(body, StandardCharsets.UTF_8));
    while (matcher.find()) {
      numbers.add(matcher.group().equals("null") ? Float.NaN : Float.valueOf(matcher.group()));
    }
    return numbers;
  }

  private static List<Float> byRow(float[] scores) {
    List<Float> list = new ArrayList<>();
    for (float score : scores) {
      list.add(Float.isFinite(score) ? score : Float.NaN);
    }
    return list;
  }

  private static List<Float> byTask(float[] scores, int tasks) {
    List<Float> list = new ArrayList<>();
    for (int task = 0; task < tasks; task++) {
      for (int i = task; i < scores.length; i += tasks) {
        list.add(Float.isFinite(scores[i]) ? scores[i] : Float.NaN);
      }
    }
    return list;
  }

  @ParameterizedTest
  @EnumSource(ModelConfig.Type.class)
  void scoresAreThePredictorsToTheBit(ModelConfig.Type type) {
    DrawnRun run = DrawnRun.of(type, 3);
    RequestContexts contexts = new RequestContexts();
    InferProtocol infer = new InferProtocol(contexts);
    PredictProtocol predict = new PredictProtocol(contexts);
    GrpcProtocol grpc = new GrpcProtocol(contexts);
    try (Predictor predictor = predictor(run)) {
      ServedVersion version = new ServedVersion("m", 30, predictor);
      int tasks = predictor.tasks().size();
      for (Batch rows : requests(run)) {
        float[] scores = predictor.score(rows);
        byte[] body = RequestBodies.instances(rows, "instances");
        assertThat(numbers(predict.predict(version, body, body.length).body()))
            .as("rows of %s", run)
            .isEqualTo(byRow(scores));
        assertThat(numbers(predict.invocations(version, body, body.length).body()))
            .isEqualTo(byRow(scores));
        body = RequestBodies.instances(rows, "dataframe_records");
        assertThat(numbers(predict.invocations(version, body, body.length).body()))
            .isEqualTo(byRow(scores));
        body = RequestBodies.split(rows);
        assertThat(numbers(predict.invocations(version, body, body.length).body()))
            .isEqualTo(byRow(scores));
        body = RequestBodies.inputs(rows);
        assertThat(numbers(predict.predict(version, body, body.length).body()))
            .as("columns of %s", run)
            .isEqualTo(byTask(scores, tasks));
        for (boolean binary : new boolean[] {false, true}) {
          RequestBodies.Body tensors = RequestBodies.tensors(rows, binary, "");
          Reply reply =
              infer.infer(version, tensors.bytes(), tensors.bytes().length, tensors.jsonLength());
          assertThat(numbers(reply.body()))
              .as("tensors of %s, binary %s", run, binary)
              .isEqualTo(byTask(scores, tasks));
          RequestBodies.Body out =
              RequestBodies.tensors(rows, binary, ",\"parameters\":{\"binary_data_output\":true}");
          reply = infer.infer(version, out.bytes(), out.bytes().length, out.jsonLength());
          assertThat(floats(reply)).isEqualTo(byTask(scores, tasks));
          byte[] message = new ProtoBodies("m", binary).rows(rows).bytes();
          assertThat(ProtoBodies.numbers(grpc.infer(version, message, 0, message.length).body()))
              .as("messages of %s, raw %s", run, binary)
              .isEqualTo(byTask(scores, tasks));
        }
      }
    }
  }

  private static List<Float> floats(Reply reply) {
    List<Float> numbers = new ArrayList<>();
    OptionalInt json = reply.jsonLength();
    ByteBuffer bytes = ByteBuffer.wrap(reply.body()).order(ByteOrder.LITTLE_ENDIAN);
    bytes.position(json.orElseThrow());
    while (bytes.hasRemaining()) {
      float value = bytes.getFloat();
      numbers.add(Float.isFinite(value) ? value : Float.NaN);
    }
    return numbers;
  }
}
