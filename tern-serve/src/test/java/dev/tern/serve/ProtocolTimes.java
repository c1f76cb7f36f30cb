package dev.tern.serve;

import com.sun.management.ThreadMXBean;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.NumberEncoding;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.readers.Readers;
import dev.tern.model.ModelConfig;
import dev.tern.optim.Optimizer;
import dev.tern.predict.Predictor;
import dev.tern.tensor.Device;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * Time and garbage of requests beside those of the predictor alone: a DeepFM of 13 numbers and 26
 * ids, hidden layers of 128 and 64. A program, no test: {@code main} takes seconds a row.
 */
final class ProtocolTimes {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private ProtocolTimes() {}

  private interface Call {
    void run();
  }

  /** Prints a line for each kind of request. */
  public static void main(String[] args) throws IOException {
    double seconds = args.length > 0 ? Double.parseDouble(args[0]) : 2;
    Path folder = Files.createTempDirectory("times");
    Schema schema = schema();
    Batch train = rows(schema, 3000);
    try (Predictor predictor = predictor(folder, train)) {
      predictor.warmUp();
      ServedVersion version = new ServedVersion("m", 1, predictor);
      RequestContexts contexts = new RequestContexts();
      InferProtocol infer = new InferProtocol(contexts);
      PredictProtocol predict = new PredictProtocol(contexts);
      GrpcProtocol grpc = new GrpcProtocol(contexts);
      for (int size : new int[] {1, 100, 1024}) {
        Batch rows = new Batch(schema, size);
        rows.appendRows(train, 0, size);
        float[] scores = new float[size];
        byte[] instances = RequestBodies.instances(rows, "instances");
        byte[] inputs = RequestBodies.inputs(rows);
        RequestBodies.Body json = RequestBodies.tensors(rows, false, "");
        RequestBodies.Body binary = RequestBodies.tensors(rows, true, "");
        byte[] plain = withoutEmpty(binary);
        String out = ",\"parameters\":{\"binary_data_output\":true}";
        byte[] both = withoutEmpty(RequestBodies.tensors(rows, true, out));
        byte[] typed = new ProtoBodies("m", false).rows(rows, false).bytes();
        byte[] raw = new ProtoBodies("m", true).rows(rows, false).bytes();
        int head = plain.length - (binary.bytes().length - binary.jsonLength().orElseThrow());
        int bothHead = both.length - plain.length + head;
        List<String> names =
            List.of(
                "predictor",
                "rows",
                "columns",
                "tensors json",
                "binary in",
                "binary both",
                "message",
                "message raw");
        List<Call> calls =
            List.of(
                () -> predictor.score(rows, scores),
                () -> predict.predict(version, instances, instances.length),
                () -> predict.predict(version, inputs, inputs.length),
                () -> infer.infer(version, json.bytes(), json.bytes().length, OptionalInt.empty()),
                () -> infer.infer(version, plain, plain.length, OptionalInt.of(head)),
                () -> infer.infer(version, both, both.length, OptionalInt.of(bothHead)),
                () -> grpc.infer(version, typed, 0, typed.length),
                () -> grpc.infer(version, raw, 0, raw.length));
        double[] best = best(calls, seconds);
        for (int i = 0; i < calls.size(); i++) {
          System.out.printf(
              "%5d rows %-14s %10.2f us, %7.3f us a row, %5.2f of the predictor, %7d bytes of"
                  + " garbage%n",
              size,
              names.get(i),
              best[i],
              best[i] / size,
              best[i] / best[0],
              garbage(calls.get(i)));
        }
      }
    }
  }

  /** The least microseconds of thread time of each call, in turns. */
  private static double[] best(List<Call> calls, double seconds) {
    double[] best = new double[calls.size()];
    java.util.Arrays.fill(best, Double.MAX_VALUE);
    long end = System.nanoTime() + (long) (seconds * calls.size() * 1e9);
    while (System.nanoTime() < end) {
      for (int i = 0; i < best.length; i++) {
        int times = 0;
        long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(50);
        long before = THREADS.getCurrentThreadCpuTime();
        while (System.nanoTime() < until) {
          for (int k = 0; k < 20; k++) {
            calls.get(i).run();
            times++;
          }
        }
        best[i] = Math.min(best[i], (THREADS.getCurrentThreadCpuTime() - before) / 1e3 / times);
      }
    }
    return best;
  }

  private static long garbage(Call call) {
    long before = THREADS.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < 200; i++) {
      call.run();
    }
    return (THREADS.getCurrentThreadAllocatedBytes() - before) / 200;
  }

  /** The body without a stated empty value: all rows are whole. */
  private static byte[] withoutEmpty(RequestBodies.Body body) {
    int length = body.jsonLength().orElseThrow();
    String json = new String(body.bytes(), 0, length, java.nio.charset.StandardCharsets.UTF_8);
    byte[] head = RequestBodies.utf8(json.replaceAll("\"empty\":[^,]*,", ""));
    byte[] all = new byte[head.length + body.bytes().length - length];
    System.arraycopy(head, 0, all, 0, head.length);
    System.arraycopy(body.bytes(), length, all, head.length, body.bytes().length - length);
    return all;
  }

  private static Schema schema() {
    List<String> dense = new ArrayList<>();
    List<Slot> slots = new ArrayList<>();
    for (int i = 1; i <= 13; i++) {
      dense.add("I" + i);
    }
    for (int i = 1; i <= 26; i++) {
      slots.add(Slot.oneHot("C" + i));
    }
    return new Schema(List.of("click"), dense, slots);
  }

  private static Batch rows(Schema schema, int count) {
    Random random = new Random(5);
    Batch rows = new Batch(schema, count);
    for (int row = 0; row < count; row++) {
      for (int f = 0; f < schema.denseDim(); f++) {
        rows.setDense(f, random.nextInt(3) == 0 ? random.nextInt(50) : random.nextInt(1000) / 100f);
      }
      for (int s = 0; s < schema.slotCount(); s++) {
        rows.addId(s, random.nextInt(3000));
      }
      rows.setLabel(0, random.nextInt(2));
      rows.endRow();
    }
    return rows;
  }

  private static Predictor predictor(Path folder, Batch train) {
    List<NumberEncoding> numbers = new ArrayList<>();
    train.schema().dense().forEach(_ -> numbers.add(NumberEncoding.log1pStandardize()));
    List<IdEncoding> slots = new ArrayList<>();
    train.schema().slots().forEach(_ -> slots.add(IdEncoding.verbatim()));
    FeatureEncoder encoder =
        FeatureEncoder.fit(
            Readers.inMemory(train), numbers, slots, TextDictionary.none(), read -> {});
    TrainOptions options = TrainOptions.of(Optimizer.adam(0.01f)).batch(500).epochs(1);
    ModelConfig model = ModelConfig.of(ModelConfig.Type.DEEPFM, 16, 128, 64);
    Path saved = folder.resolve("saved");
    try (Device device = Device.cpu(1, 1L << 30);
        Trainer trainer = Trainer.create(device, encoder, model, options)) {
      trainer.fit(Readers.inMemory(train));
      trainer.save(saved);
    }
    return Predictor.open(saved);
  }
}
