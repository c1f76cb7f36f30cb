package dev.tern.onnx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import dev.tern.convert.ImportReport;
import dev.tern.data.Batch;
import dev.tern.data.Reading;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.internal.onnx.ElementType;
import dev.tern.model.graph.GraphLayer;
import dev.tern.model.graph.GraphOp;
import dev.tern.onnx.layers.LayeredImport;
import dev.tern.predict.Predictor;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Models of other tools, imported, beside what ONNX Runtime computes of them. */
final class LayeredImportTest {
  @TempDir private Path folder;

  /** Models as people write them; each makes what the sigmoid of its output is taken of. */
  private enum Written {
    /** A table for each column, chosen from one input; a wide part, pairs and a deep part. */
    DEEPFM(m -> {
      Graph g = m.graph();
      String ids = m.ids("C", 5, 3);
      String dense = m.numbers("I", 2);
      List<String> wide = new ArrayList<>(List.of(m.linear("linear", 2, 1, dense)));
      List<String> deep = new ArrayList<>();
      for (int c = 0; c < 3; c++) {
        String column = g.gather(ids, g.integer(c), 1);
        wide.add(m.embedding("wide." + c, 5, 1, column));
        deep.add(m.embedding("deep." + c, 5, 4, column));
      }
      String flat = g.concat(1, deep);
      String all = g.reshape(flat, -1, 3, 4);
      String sum = g.sum(all, 1);
      String square = g.node("Pow", sum, m.scalar(2));
      String squares = g.sum(g.node("Mul", all, all), 1);
      String pairs = g.node("Mul", g.sum(g.node("Sub", square, squares), 1), m.scalar(0.5f));
      String hidden = g.node("Relu", m.linear("mlp.0", 14, 6, g.concat(1, List.of(flat, dense))));
      String out = m.linear("mlp.2", 6, 1, hidden);
      String wides = g.sum(g.concat(1, wide), 1);
      return g.node("Add", g.node("Add", g.node("Squeeze", out, g.integers(1)), wides), pairs);
    }),
    /** One table for all columns, each from a place of its own on, read by two embeddings. */
    OFFSETS(m -> {
      Graph g = m.graph();
      String ids = g.node("Add", m.ids("x", 4, 3), g.longs("offsets", new long[] {1, 3}, 0, 4, 8));
      String flat = g.reshape(m.embedding("embedding", 12, 2, ids), -1, 6);
      String fc = g.sum(m.embedding("fc", 12, 1, ids), 1);
      String linear = g.node("Add", fc, m.weights("bias", 1));
      return g.node("Add", linear, m.linear("mlp", 6, 1, flat));
    }),
    /** One embedding that two columns read, one of them from its second row on. */
    SHIFTED(m -> {
      Graph g = m.graph();
      String items = m.weights("item.weight", 6, 2);
      String item = g.gather(items, m.ids("item", 6), 0);
      String later = g.node("Add", m.ids("history", 5, 3), g.integers(1));
      String history = g.sum(g.gather(items, later, 0), 1);
      return m.linear("out", 4, 1, g.concat(1, List.of(item, history)));
    }),
    /** All columns in one input of floats, of which some become ids. */
    ONE_INPUT(m -> {
      Graph g = m.graph();
      String x = m.mixed("X", 2, 6, 5);
      List<String> parts = new ArrayList<>();
      for (int c = 3; c < 5; c++) {
        String ids = g.cast(g.slice(x, 1, c, c + 1), ElementType.INT64);
        parts.add(m.embedding("e" + c, 6, 3, ids));
      }
      String vectors = g.node("Flatten", g.concat(1, parts));
      String all = g.concat(1, List.of(vectors, g.slice(x, 1, 0, 3)));
      return m.linear("out", 4, 1, g.node("Sigmoid", m.linear("in", 9, 4, all)));
    }),
    /** Cross layers: a product with a vector, a constant that is added, a row that is repeated. */
    DCN(m -> {
      Graph g = m.graph();
      String user = m.embedding("user", 5, 3, m.ids("user", 5));
      String item = m.embedding("item", 5, 3, m.ids("item", 5));
      String x = g.concat(1, List.of(user, item));
      String c = x;
      for (int i = 0; i < 2; i++) {
        String dot = g.node("MatMul", c, m.weights("cross." + i, 6, 1));
        String product = g.node("Mul", x, dot);
        c = g.node("Add", g.node("Add", product, m.weights("shift." + i, 6)), c);
      }
      return m.linear("out", 6, 1, c);
    }),
    /** Normalizations, other activations, products that get a bias, pieces and means. */
    NORMS(m -> {
      Graph g = m.graph();
      String x = m.numbers("dense", 6);
      String y = g.node("Add", m.weights("b0", 4), g.node("MatMul", x, m.weights("w0", 6, 4)));
      String norm =
          g.node(
              "BatchNormalization",
              List.of(
                  y,
                  m.weights("bn.weight", 4),
                  m.weights("bn.bias", 4),
                  m.weights("bn.mean", 4),
                  g.floats("bn.var", new long[] {4}, 0.5f, 1, 2, 0.25f)));
      String elu = g.node("Elu", norm);
      String ln =
          g.node("LayerNormalization", elu, m.weights("ln.weight", 4), m.weights("ln.bias", 4));
      String shares = g.node("Softmax", ln);
      String halves = g.node("Div", shares, m.scalar(4));
      String first = g.slice(halves, 1, 0, 2);
      String last = g.sliceFrom(halves, 1, 2);
      String mean =
          g.node("ReduceMean", List.of(ln, g.integers(1)), Attribute.integer("keepdims", 1));
      String left = g.node("Sub", g.node("Mul", first, last), mean);
      String picked = g.gather(ln, g.integers(3, 0), 1);
      return m.linear("out", 2, 1, g.node("Sub", g.node("Neg", picked), left));
    }),
    /** The number of rows among sizes that are computed, and a history with attention. */
    ATTENTION(m -> {
      Graph g = m.graph();
      String history = m.ids("history", 9, 4);
      String items = m.weights("item.weight", 9, 3);
      String keys = g.gather(items, history, 0);
      String target = g.gather(items, m.ids("target", 9), 0);
      String query = g.unsqueeze(target, 1);
      String scores = g.sum(g.node("Mul", keys, query), 2);
      String shares = g.unsqueeze(g.node("Softmax", scores), 2);
      String pooled = g.sum(g.node("Mul", keys, shares), 1);
      String rows = g.node("Shape", history);
      String first = g.unsqueeze(g.gather(rows, g.integer(0), 0), 0);
      String shape = g.concat(0, List.of(first, g.integers(-1)));
      String both = g.node("Reshape", g.concat(1, List.of(pooled, target)), shape);
      return g.node("Squeeze", m.linear("out", 6, 1, both), g.integers(-1));
    }),
    /** The products of all pairs, as DLRM takes them: by a matrix of which places are chosen. */
    DOTS(m -> {
      Graph g = m.graph();
      String vectors = m.embedding("e", 5, 2, m.ids("c", 5, 3));
      String turned = g.node("Transpose", List.of(vectors), Attribute.integers("perm", 0, 2, 1));
      String dots = g.node("MatMul", vectors, turned);
      String last = g.node("Transpose", List.of(dots), Attribute.integers("perm", 1, 2, 0));
      String flat = g.node("Flatten", List.of(last), Attribute.integer("axis", 2));
      String pairs = g.gather(flat, g.integers(3, 6, 7), 0);
      String back = g.node("Transpose", List.of(pairs), Attribute.integers("perm", 1, 0));
      String places = g.longs("places", new long[] {2, 2}, 1, 0, 2, -1);
      String named = g.node("Transpose", g.node("GatherND", last, places));
      return m.linear("out", 5, 1, g.concat(1, List.of(back, named)));
    }),
    /** Matrices of a row, and a linear layer over three dimensions. */
    MATRICES(m -> {
      Graph g = m.graph();
      String vectors = m.embedding("e", 5, 2, m.ids("c", 5, 2));
      String product = g.node("MatMul", vectors, vectors);
      String turned = g.node("MatMul", product, m.weights("w", 2, 3));
      String more = g.node("Add", turned, m.weights("b", 3));
      return m.linear("out", 6, 1, g.reshape(more, -1, 6));
    });

    private final Function<ForeignModel, String> logit;

    Written(Function<ForeignModel, String> logit) {
      this.logit = logit;
    }
  }

  private static ImportReport imported(Path model, Path target) {
    return LayeredImport.write(model, LayeredImport.Names.DEFAULT, _ -> Reading.PLAIN, target);
  }

  private static float[] logits(Path checkpoint, ForeignModel model) {
    try (Predictor predictor = Predictor.open(checkpoint)) {
      Schema schema = predictor.encoder().rawSchema();
      float[] logits = new float[ForeignModel.ROWS * predictor.tasks().size()];
      predictor.logits(model.rows(schema), logits);
      return logits;
    }
  }

  @ParameterizedTest
  @EnumSource
  void anImportedModelHasTheLogitsOfTheFile(Written written) {
    ForeignModel model = new ForeignModel();
    String logit = model.graph().reshape(written.logit.apply(model), -1);
    model.graph().output("logit", logit, ElementType.FLOAT, new Graph.Dim.Open("batch"));
    String probability = model.graph().node("Sigmoid", logit);
    model.graph().output("y", probability, ElementType.FLOAT, new Graph.Dim.Open("batch"));
    Path file = model.write(folder.resolve("model.onnx"));
    Path checkpoint = folder.resolve("imported");
    ImportReport report = imported(file, checkpoint);
    assertThat(report.parameters()).isPositive();
    float[] expected = model.outputs(file).get("logit");
    ExportedRun.requireNear(expected, logits(checkpoint, model), written.name());
  }

  /** A model with one output, to be refused or read. */
  private Path written(Function<ForeignModel, String> make) {
    ForeignModel model = new ForeignModel();
    String y = make.apply(model);
    model.graph().output("y", y, ElementType.FLOAT, new Graph.Dim.Open("batch"));
    return model.write(folder.resolve("model.onnx"));
  }

  @Test
  void layersAndColumnsHaveTheNamesThatTheModelGives() {
    Path file =
        written(m -> {
          String user = m.embedding("emb", 5, 2, m.ids("user", 5));
          String all = m.graph().concat(1, List.of(user, m.numbers("age", 1)));
          return m.graph().node("Sigmoid", m.linear("deep.0", 3, 1, all));
        });
    ImportReport report = imported(file, folder.resolve("imported"));
    Schema schema = report.made().schema();
    assertThat(schema.labels()).containsExactly("label");
    assertThat(schema.dense()).containsExactly("age");
    assertThat(schema.slots()).extracting(Slot::name).containsExactly("user");
    List<GraphLayer> layers = report.made().model().variant().graph().orElseThrow().layers();
    assertThat(layers).extracting(GraphLayer::name).last().isEqualTo("deep.0");
    assertThat(layers).extracting(GraphLayer::op).doesNotContain(GraphOp.SIGMOID);
    assertThat(report.rows()).isEqualTo(5);
    assertThat(report.notes()).isEmpty();
  }

  @Test
  void columnsMayBeCalledOtherwise() {
    Path file =
        written(m -> {
          String user = m.embedding("emb", 5, 2, m.ids("user", 5));
          return m.linear("out", 4, 1, m.graph().concat(1, List.of(user, m.numbers("x", 2))));
        });
    LayeredImport.Names names =
        new LayeredImport.Names(List.of("click"), List.of("age", "hour"), List.of("who"));
    ImportReport report =
        LayeredImport.write(file, names, _ -> Reading.PLAIN, folder.resolve("imported"));
    assertThat(report.made().schema())
        .isEqualTo(
            new Schema(List.of("click"), List.of("age", "hour"), List.of(Slot.oneHot("who"))));
    assertThat(report.notes())
        .containsExactly("the output y does not come from a Sigmoid: it is taken as a logit");
    LayeredImport.Names few = new LayeredImport.Names(List.of(), List.of("age"), List.of());
    assertThatThrownBy(
            () -> LayeredImport.write(file, few, _ -> Reading.PLAIN, folder.resolve("other")))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("got 1 names of numbers, expected 2, for [x0, x1]");
  }

  @Test
  void columnsThatReadTheSameRowsShareATable() {
    Path file =
        written(m -> {
          Graph g = m.graph();
          String items = m.weights("item.weight", 6, 2);
          String history = g.sum(g.gather(items, m.ids("history", 6, 3), 0), 1);
          String target = g.gather(items, m.ids("target", 6), 0);
          return m.linear("out", 4, 1, g.concat(1, List.of(history, target)));
        });
    ImportReport report = imported(file, folder.resolve("imported"));
    assertThat(report.rows()).isEqualTo(6);
    assertThat(report.made().schema().slots()).extracting(Slot::table).containsOnly("history0");
  }

  @Test
  void aNumberOfRowsThatIsFixedCountsAsOneThatMayChange() {
    ForeignModel model = new ForeignModel();
    Graph g = model.graph();
    String ids = g.input("ids", ElementType.INT64, new Graph.Dim.Fixed(7), new Graph.Dim.Fixed(2));
    String flat = g.reshape(model.embedding("e", 5, 3, ids), 7, 6);
    g.output("y", model.linear("out", 6, 1, flat), ElementType.FLOAT, new Graph.Dim.Fixed(7));
    Path file = model.write(folder.resolve("model.onnx"));
    ImportReport report = imported(file, folder.resolve("imported"));
    assertThat(report.made().schema().slotNames()).containsExactly("ids0", "ids1");
  }

  @Test
  void severalOutputsAreTasks() {
    ForeignModel model = new ForeignModel();
    Graph g = model.graph();
    String x = model.numbers("x", 3);
    String two = g.node("Sigmoid", model.linear("two", 3, 2, x));
    String one = g.node("Sigmoid", model.linear("one", 3, 1, x));
    Graph.Dim.Open batch = new Graph.Dim.Open("batch");
    g.output("ctr", one, ElementType.FLOAT, batch, new Graph.Dim.Fixed(1));
    g.output("acts", two, ElementType.FLOAT, batch, new Graph.Dim.Fixed(2));
    Path file = model.write(folder.resolve("model.onnx"));
    ImportReport report = imported(file, folder.resolve("imported"));
    assertThat(report.made().schema().labels()).containsExactly("ctr", "acts0", "acts1");
    Map<String, float[]> outputs = model.outputs(file);
    float[] all = new float[3 * ForeignModel.ROWS];
    for (int row = 0; row < ForeignModel.ROWS; row++) {
      all[3 * row] = outputs.get("ctr")[row];
      System.arraycopy(outputs.get("acts"), 2 * row, all, 3 * row + 1, 2);
    }
    requireProbabilities(all, logits(folder.resolve("imported"), model));
  }

  private static void requireProbabilities(float[] expected, float[] logits) {
    float[] probabilities = new float[logits.length];
    for (int i = 0; i < logits.length; i++) {
      probabilities[i] = (float) (1 / (1 + Math.exp(-logits[i])));
    }
    ExportedRun.requireNear(expected, probabilities, "probabilities");
  }

  @Test
  void probabilitiesThatAreOnlyMovedHaveTheirLogits() {
    ForeignModel model = new ForeignModel();
    Graph g = model.graph();
    String x = model.numbers("x", 3);
    String one = g.node("Sigmoid", model.linear("one", 3, 1, x));
    String two = g.node("Sigmoid", model.linear("two", 3, 2, x));
    String all = g.concat(1, List.of(one, two));
    String first = g.node("Squeeze", g.unsqueeze(g.slice(all, 1, 0, 1), 1), g.integers(1));
    String moved = g.concat(1, List.of(g.gather(all, g.integers(2, 1), 1), first));
    Graph.Dim.Open batch = new Graph.Dim.Open("batch");
    g.output("y", moved, ElementType.FLOAT, batch, new Graph.Dim.Fixed(3));
    Path file = model.write(folder.resolve("model.onnx"));
    ImportReport report = imported(file, folder.resolve("imported"));
    assertThat(report.notes()).isEmpty();
    List<GraphLayer> layers = report.made().model().variant().graph().orElseThrow().layers();
    assertThat(layers).extracting(GraphLayer::op).doesNotContain(GraphOp.SIGMOID);
    requireProbabilities(model.outputs(file).get("y"), logits(folder.resolve("imported"), model));
  }

  @Test
  void aSigmoidBehindProductsOfProbabilitiesEndsAModel() {
    ForeignModel model = new ForeignModel();
    Graph g = model.graph();
    String x = model.numbers("x", 3);
    String gate = g.node("Sigmoid", model.linear("gate", 3, 3, x));
    String shares = g.node("Softmax", model.linear("shares", 3, 3, x));
    String y = g.node("Sigmoid", g.sum(g.node("Mul", gate, shares), 1));
    g.output("y", y, ElementType.FLOAT, new Graph.Dim.Open("batch"));
    Path file = model.write(folder.resolve("model.onnx"));
    assertThat(imported(file, folder.resolve("imported")).notes()).isEmpty();
    requireProbabilities(model.outputs(file).get("y"), logits(folder.resolve("imported"), model));
  }

  /** What cannot be made, with a part of what is said. */
  private enum Refused {
    UNKNOWN("node n0 (Tanh): got an operator", m -> m.graph().node("Tanh", m.numbers("x", 2))),
    LOOP(
        "node n0 (Loop): got an operator",
        m -> {
          Message body = new Message().text(1, "body").message(6, new Message());
          return m.graph().node("Loop", List.of(m.numbers("x", 2)), new Attribute("body", body));
        }),
    OTHER_DOMAIN(
        "node n0 (LabelEncoder): got an operator of the domain ai.onnx.ml",
        m -> m.graph().mlNode("LabelEncoder", List.of(m.numbers("x", 2)))),
    MIXED_ROWS("node n0 (ReduceSum): got the axes [0]", m -> m.graph().sum(m.numbers("x", 2), 0)),
    FOLDED_ROWS(
        "node n0 (Reshape): got the sizes [3] for a row of [6]",
        m -> m.graph().reshape(m.numbers("x", 6), -1, 3)),
    IDS_AS_NUMBERS(
        "node n0 (Relu): got whole numbers of the data",
        m -> m.graph().node("Relu", m.ids("x", 5, 2))),
    BOTH(
        "input column x: got it read as a number and as the id",
        m -> {
          String x = m.mixed("x", 1, 5, 1);
          String vector = m.embedding("e", 5, 2, m.graph().cast(x, ElementType.INT64));
          String flat = m.graph().node("Flatten", vector);
          return m.linear("out", 3, 1, m.graph().concat(1, List.of(flat, x)));
        }),
    MISFIT(
        "node n0 (Gemm): got weights of the sizes [1, 4] for a row of [3]",
        m -> m.linear("out", 4, 1, m.numbers("x", 3))),
    BATCHES(
        "node n0 (Add): got values of the sizes [] and [3] for each row",
        m -> m.graph().node("Add", m.numbers("a"), m.numbers("b", 3))),
    SHARES(
        "node n0 (Softmax): got the output y computed of probabilities",
        m -> m.graph().node("Softmax", m.numbers("x", 3))),
    A_SHARE(
        "node n0 (Softmax): got the output y computed of probabilities",
        m -> m.graph().slice(m.graph().node("Softmax", m.numbers("x", 2)), 1, 1, 2)),
    PRODUCT_OF_PROBABILITIES(
        "node n2 (Mul): got the output y computed of probabilities",
        m -> {
          Graph g = m.graph();
          String click = g.node("Sigmoid", m.numbers("click", 1));
          String both = g.node("Mul", click, g.node("Sigmoid", m.numbers("conversion", 1)));
          return g.concat(1, List.of(click, both));
        }),
    PROBABILITY_BESIDE_A_NUMBER(
        "node n1 (Concat): got the output y computed of probabilities",
        m -> {
          String x = m.numbers("x", 1);
          return m.graph().concat(1, List.of(m.graph().node("Sigmoid", x), x));
        }),
    SCALED_PROBABILITY(
        "node n1 (Mul): got the output y computed of probabilities",
        m -> m.graph().node("Mul", m.graph().node("Sigmoid", m.numbers("x", 1)), m.scalar(0.5f))),
    CUT_NUMBERS(
        "node n1 (Cast): got a cast to FLOAT of floats that a cast to whole numbers has cut",
        m -> {
          Graph g = m.graph();
          return g.cast(g.cast(m.numbers("x", 1), ElementType.INT64), ElementType.FLOAT);
        }),
    PLACES_OF_ANOTHER_SIZE(
        "node n0 (Add): got numbers of the sizes [2, 1] for ids of [2, 2] in each row",
        m -> {
          Graph g = m.graph();
          String places = g.longs("places", new long[] {2, 1}, 0, 4);
          String ids = g.node("Add", m.ids("x", 4, 2, 2), places);
          return m.linear("out", 8, 1, g.reshape(m.embedding("e", 9, 2, ids), -1, 8));
        }),
    MATRIX(
        "output y: got values of the sizes [2, 3] for each row",
        m -> m.graph().node("Relu", m.numbers("x", 2, 3))),
    NOTHING("output y: got what is no result of layers", m -> m.numbers("x", 3));

    private final String message;
    private final Function<ForeignModel, String> make;

    Refused(String message, Function<ForeignModel, String> make) {
      this.message = message;
      this.make = make;
    }
  }

  @ParameterizedTest
  @EnumSource
  void whatNoLayerComputesIsRefusedByItsNodeAndOperator(Refused refused) {
    Path file = written(refused.make);
    assertThatThrownBy(() -> imported(file, folder.resolve("imported")))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("model.onnx")
        .hasMessageContaining(refused.message);
    assertThat(folder.resolve("imported")).doesNotExist();
  }

  @Test
  void idsBeyondTheRowsOfAColumnReadAsZeros() {
    Path file =
        written(m -> {
          Graph g = m.graph();
          String ids = g.node("Add", m.ids("x", 4, 2), g.integers(0, 4));
          String rows = g.floats("e", new long[] {9, 1}, 1, 2, 3, 4, 5, 6, 7, 8, 9);
          String flat = g.reshape(g.gather(rows, ids, 0), -1, 2);
          return g.node("MatMul", flat, g.floats("w", new long[] {2, 1}, 1, 100));
        });
    ImportReport report = imported(file, folder.resolve("imported"));
    // Column 0 has the rows up to the place of column 1, which has all others.
    assertThat(report.rows()).isEqualTo(4 + 5);
    long[][] rows = {{0, 0}, {3, 4}, {4, 0}, {0, 5}, {8, 9}};
    float[] logits = new float[rows.length];
    try (Predictor predictor = Predictor.open(folder.resolve("imported"))) {
      Schema schema = predictor.encoder().rawSchema();
      Batch batch = new Batch(new Schema(List.of(), List.of(), schema.slots()), rows.length);
      for (long[] row : rows) {
        batch.addId(0, row[0]);
        batch.addId(1, row[1]);
        batch.endRow();
      }
      predictor.logits(batch, logits);
    }
    assertThat(logits).containsExactly(501, 904, 500, 1, 0);
  }

  @Test
  void aCircleIsRefused() {
    Message graph =
        new Message()
            .message(1, new Message().text(1, "b").text(2, "a").text(4, "Relu"))
            .message(1, new Message().text(1, "a").text(2, "b").text(4, "Relu"))
            .message(12, new Message().text(1, "b"));
    Path file = folder.resolve("model.onnx");
    Messages.write(file, new Message().message(8, new Message().number(2, 18)).message(7, graph));
    assertThatThrownBy(() -> imported(file, folder.resolve("imported")))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("node 0 (Relu): got the input b, which nothing before it makes");
  }

  @Test
  void operatorsOfOtherVersionsAreRefused() {
    Path file = folder.resolve("model.onnx");
    IntStream.of(9, 12, 27)
        .forEach(version -> {
          Message opset = new Message().number(2, version);
          Messages.write(file, new Message().message(8, opset).message(7, new Message()));
          assertThatThrownBy(() -> imported(file, folder.resolve("imported")))
              .isInstanceOf(DataException.class)
              .hasMessageContaining("got operators of version " + version + ", expected 13 to 26");
        });
  }
}
