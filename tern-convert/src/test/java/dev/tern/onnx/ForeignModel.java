package dev.tern.onnx;

import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.internal.onnx.ElementType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.LongBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * A model as PyTorch exports it, in the making, with weights and rows at random, and what ONNX
 * Runtime computes of it.
 */
final class ForeignModel {
  static final int ROWS = 7;

  private final Graph graph = new Graph();
  private final Random random = new Random(11);
  private final Map<String, long[]> sizes = new LinkedHashMap<>();
  private final Map<String, double[]> drawn = new LinkedHashMap<>();
  private final Map<String, Boolean> whole = new HashMap<>();
  private final Map<String, double[]> columns = new HashMap<>();

  Graph graph() {
    return graph;
  }

  private String input(String name, ElementType type, double[] values, long... dims) {
    Graph.Dim[] all = new Graph.Dim[dims.length + 1];
    all[0] = new Graph.Dim.Open("batch");
    for (int i = 0; i < dims.length; i++) {
      all[i + 1] = new Graph.Dim.Fixed(dims[i]);
    }
    int width = values.length / ROWS;
    long[] shape = new long[dims.length + 1];
    shape[0] = ROWS;
    System.arraycopy(dims, 0, shape, 1, dims.length);
    sizes.put(name, shape);
    drawn.put(name, values);
    whole.put(name, type == ElementType.INT64);
    for (int c = 0; c < width; c++) {
      double[] column = new double[ROWS];
      for (int row = 0; row < ROWS; row++) {
        column[row] = values[row * width + c];
      }
      columns.put(width == 1 ? name : name + c, column);
    }
    return graph.input(name, type, all);
  }

  private static int width(long... dims) {
    return (int) Arrays.stream(dims).reduce(1, (a, b) -> a * b);
  }

  /** An input of whole numbers from 0 to before {@code most}, and of so many columns. */
  String ids(String name, int most, long... dims) {
    return input(name, ElementType.INT64, drawnIds(most, width(dims)), dims);
  }

  private double[] drawnIds(int most, int width) {
    return random.ints((long) ROWS * width, 0, most).asDoubleStream().toArray();
  }

  /** An input of floats, of which the last {@code ids} columns are whole. */
  String mixed(String name, int ids, int most, int columns) {
    return drawn(name, ids, most, columns);
  }

  private String drawn(String name, int ids, int most, long... dims) {
    int width = width(dims);
    double[] values = new double[ROWS * width];
    for (int i = 0; i < values.length; i++) {
      boolean id = i % width >= width - ids;
      values[i] = id ? random.nextInt(most) : (float) random.nextGaussian();
    }
    return input(name, ElementType.FLOAT, values, dims);
  }

  /** An input of floats. */
  String numbers(String name, long... dims) {
    return drawn(name, 0, 1, dims);
  }

  /** Weights from -0.5 to 0.5. */
  String weights(String name, long... dims) {
    float[] values = new float[width(dims)];
    for (int i = 0; i < values.length; i++) {
      values[i] = random.nextFloat(-0.5f, 0.5f);
    }
    return graph.floats(name, dims, values);
  }

  String scalar(float value) {
    return graph.floats("scalar", new long[0], value);
  }

  /** {@code nn.Embedding}. */
  String embedding(String name, int rows, int width, String ids) {
    return graph.gather(weights(name + ".weight", rows, width), ids, 0);
  }

  /** {@code nn.Linear} of two dimensions. */
  String linear(String name, int in, int out, String x) {
    return graph.node(
        "Gemm",
        List.of(x, weights(name + ".weight", out, in), weights(name + ".bias", out)),
        Attribute.integer("transB", 1));
  }

  Path write(Path file) {
    new ModelFile(graph, "main_graph", Map.of(), OnnxOptions.DEFAULT.inlineBytes())
        .write(file, () -> {});
    return file;
  }

  /** The rows for a model of Tern, whose columns have the names of inputs. */
  Batch rows(Schema schema) {
    Batch batch = new Batch(new Schema(List.of(), schema.dense(), schema.slots()), ROWS);
    for (int row = 0; row < ROWS; row++) {
      for (int f = 0; f < schema.denseDim(); f++) {
        batch.setDense(f, (float) columns.get(schema.dense().get(f))[row]);
      }
      for (int s = 0; s < schema.slotCount(); s++) {
        batch.addId(s, (long) columns.get(schema.slots().get(s).name())[row]);
      }
      batch.endRow();
    }
    return batch;
  }

  /** What ONNX Runtime computes: an output's numbers by its name. */
  Map<String, float[]> outputs(Path file) {
    OrtEnvironment environment = OrtEnvironment.getEnvironment();
    Map<String, OnnxTensor> inputs = new HashMap<>();
    try (OrtSession session = environment.createSession(file.toString())) {
      for (Map.Entry<String, long[]> input : sizes.entrySet()) {
        inputs.put(input.getKey(), tensor(environment, input.getKey(), input.getValue()));
      }
      Map<String, float[]> outputs = new LinkedHashMap<>();
      try (OrtSession.Result result = session.run(inputs)) {
        result.forEach(output -> {
          FloatBuffer values = ((OnnxTensor) output.getValue()).getFloatBuffer();
          float[] all = new float[values.remaining()];
          values.get(all);
          outputs.put(output.getKey(), all);
        });
      }
      return outputs;
    } catch (OrtException e) {
      throw new IllegalStateException("refused by ONNX Runtime", e);
    } finally {
      inputs.values().forEach(OnnxTensor::close);
    }
  }

  private OnnxTensor tensor(OrtEnvironment environment, String name, long[] shape)
      throws OrtException {
    double[] values = drawn.get(name);
    ByteBuffer room = ByteBuffer.allocateDirect(8 * values.length).order(ByteOrder.nativeOrder());
    if (whole.get(name)) {
      LongBuffer longs = room.asLongBuffer();
      Arrays.stream(values).forEach(value -> longs.put((long) value));
      return OnnxTensor.createTensor(environment, longs.flip(), shape);
    }
    FloatBuffer floats = room.asFloatBuffer();
    Arrays.stream(values).forEach(value -> floats.put((float) value));
    return OnnxTensor.createTensor(environment, floats.flip(), shape);
  }
}
