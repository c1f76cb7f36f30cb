package dev.tern.bench.scoring;

import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import dev.tern.data.Batch;
import dev.tern.embedding.BatchLookup;
import dev.tern.model.ModelConfig;
import dev.tern.model.ModelInputs;
import dev.tern.model.Network;
import dev.tern.tensor.Variable;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A model without its tables in ONNX Runtime, all optimizations on. The inputs of a number of rows
 * lie in direct buffers and become tensors once: what is timed is the run and the reading of its
 * result.
 */
final class OrtPeer implements AutoCloseable {
  private final OrtEnvironment environment = OrtEnvironment.getEnvironment();
  private final OrtSession session;
  private final Map<String, OnnxTensor> inputs = new LinkedHashMap<>();
  private float[] logits = {};

  private final Network network;

  OrtPeer(Network network, ModelConfig config, int threads) {
    this.network = network;
    byte[] model = OnnxModel.of(network, config);
    try (OrtSession.SessionOptions options = new OrtSession.SessionOptions()) {
      options.setIntraOpNumThreads(threads);
      options.setInterOpNumThreads(1);
      options.setOptimizationLevel(OrtSession.SessionOptions.OptLevel.ALL_OPT);
      session = environment.createSession(model, options);
    } catch (OrtException e) {
      throw new IllegalStateException("score: ONNX Runtime refused the model", e);
    }
  }

  /** Looks rows up, which are what {@link #run} reads from here on. */
  void set(Batch rows) {
    free();
    int count = rows.size();
    logits = new float[count];
    input("dense", rows.dense(), count, network.schema().denseDim());
    try (ModelInputs all = network.newInputs(count);
        BatchLookup lookup = network.newLookup()) {
      all.find(lookup, rows, false);
      List<Variable> parts = all.pooled();
      for (int p = 0; p < parts.size(); p++) {
        float[] values = parts.get(p).toArray();
        input("part" + p, values, count, values.length / count);
      }
    }
  }

  private void input(String name, float[] values, int rows, int columns) {
    FloatBuffer buffer =
        ByteBuffer.allocateDirect(4 * rows * columns)
            .order(ByteOrder.nativeOrder())
            .asFloatBuffer()
            .put(values, 0, rows * columns)
            .flip();
    try {
      OnnxTensor tensor = OnnxTensor.createTensor(environment, buffer, new long[] {rows, columns});
      inputs.put(name, tensor);
    } catch (OrtException e) {
      throw new IllegalStateException("score: ONNX Runtime refused " + name, e);
    }
  }

  /** Nanoseconds a call, over calls that last {@code millis} or a little longer. */
  double round(double millis) {
    long start = System.nanoTime();
    int calls = 0;
    do {
      run();
      calls++;
    } while (System.nanoTime() - start < millis * 1e6);
    return (System.nanoTime() - start) / (double) calls;
  }

  /** Computes the logits; the same array each time. */
  float[] run() {
    try (OrtSession.Result result = session.run(inputs)) {
      ((OnnxTensor) result.get(0)).getFloatBuffer().get(logits);
      return logits;
    } catch (OrtException e) {
      throw new IllegalStateException("score: ONNX Runtime failed", e);
    }
  }

  private void free() {
    inputs.values().forEach(OnnxTensor::close);
    inputs.clear();
  }

  @Override
  public void close() {
    free();
    try {
      session.close();
    } catch (OrtException e) {
      throw new IllegalStateException("score: ONNX Runtime failed to close", e);
    }
  }
}
