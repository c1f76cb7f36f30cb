package dev.tern.hugectr;

import dev.tern.base.DType;
import dev.tern.base.DataException;
import dev.tern.base.Shape;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.readers.Readers;
import dev.tern.model.ModelConfig;
import dev.tern.model.ModelInputs;
import dev.tern.model.Network;
import dev.tern.model.graph.Graph;
import dev.tern.model.graph.GraphLayer;
import dev.tern.model.graph.GraphOp;
import dev.tern.nn.Pass;
import dev.tern.tensor.Computation;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The mean and variance of reference rows for layers whose statistics HugeCTR takes from whatever
 * rows it scores together, and does not save. Then scores depend on their row alone, and those of
 * the reference rows are what HugeCTR gives them in one batch.
 */
final class Calibration {
  /** Reference rows that are read at most. */
  static final int MOST_ROWS = 1 << 14;

  private Calibration() {}

  /** Whether a model has such layers. */
  static boolean isNeeded(ModelConfig model) {
    return layers(model).stream().anyMatch(layer -> layer.op() == GraphOp.DICE);
  }

  private static List<GraphLayer> layers(ModelConfig model) {
    return model.variant().graph().orElseThrow().layers();
  }

  /**
   * Sets the statistics of a network that has its weights.
   *
   * @param rows raw reference rows; closed at the end
   * @return how many were read
   */
  static int run(Network network, ModelConfig model, FeatureEncoder encoder, DataReader rows) {
    if (layers(model).stream().anyMatch(layer -> layer.op() == GraphOp.BATCH_NORM)) {
      rows.close();
      throw new DataException(
          "import: got PReLU_Dice beside BatchNorm, expected one of them, as reference rows would"
              + " set the averages of both");
    }
    ModelConfig once = model.withVariant(model.variant().withGraph(ofOneBatch(model)));
    try (DataReader encoded = Readers.encoded(Readers.batched(rows, MOST_ROWS, false), encoder)) {
      Optional<Batch> batch = encoded.next();
      if (batch.isEmpty() || batch.get().size() < 2) {
        throw new DataException(
            "import: got %d reference rows, expected two or more, whose mean and variance PReLU_Dice takes"
                .formatted(batch.map(Batch::size).orElse(0)));
      }
      try (Batch reference = batch.get()) {
        Network twin = network.beside(once, network.tables());
        try {
          measure(network, twin, reference);
        } finally {
          twin.variables().forEach(Variable::close); // Its tables are the network's.
        }
        return reference.size();
      }
    }
  }

  /** The layers, without dropout, whose averages are those of the last batch. */
  private static Graph ofOneBatch(ModelConfig model) {
    Graph graph = model.variant().graph().orElseThrow();
    List<GraphLayer> layers =
        graph.layers().stream()
            .map(layer ->
                switch (layer.op()) {
                  case DICE -> with(layer, "share", 1);
                  case DROPOUT -> with(layer, "rate", 0);
                  default -> layer;
                })
            .toList();
    return new Graph(graph.inputs(), layers, graph.logits());
  }

  private static GraphLayer with(GraphLayer layer, String number, double value) {
    Map<String, List<Double>> numbers = new TreeMap<>(layer.numbers());
    numbers.put(number, List.of(value));
    return new GraphLayer(layer.name(), layer.op(), layer.inputs(), layer.outputs(), numbers);
  }

  private static void measure(Network network, Network twin, Batch rows) {
    for (int v = 0; v < twin.variables().size(); v++) {
      twin.variables().get(v).set(network.variables().get(v).toArray());
    }
    try (ModelInputs inputs = twin.newInputs(rows.size());
        Variable seed = Variable.of(twin.device(), "seed", Shape.of(1), DType.I64)) {
      inputs.copyDense(rows);
      inputs.find(twin.newLookup(), rows, false);
      Pass pass = Pass.training(seed);
      Tensor logits = twin.logits(inputs.features(pass));
      try (Computation step = Computation.of(twin.device(), List.of(logits), pass.updates())) {
        step.run();
      }
    }
    for (int v = 0; v < twin.variables().size(); v++) {
      Variable measured = twin.variables().get(v);
      float[] values = measured.toArray();
      if (measured.name().endsWith(".variance")) {
        for (int i = 0; i < values.length; i++) {
          // Averages are of the variance of all rows; HugeCTR takes that of the rows themselves.
          values[i] *= (rows.size() - 1f) / rows.size();
        }
      }
      network.variables().get(v).set(values);
    }
  }
}
