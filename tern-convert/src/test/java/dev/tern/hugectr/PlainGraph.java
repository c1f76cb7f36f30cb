package dev.tern.hugectr;

import dev.tern.internal.json.Json;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.function.DoubleBinaryOperator;
import java.util.function.DoubleUnaryOperator;

/**
 * A graph file of HugeCTR, evaluated in plain loops and double precision from what its layers are
 * said to do. It shares nothing with the importer but the reader of JSON.
 */
final class PlainGraph {
  /** Gives the numbers of a file of dense weights, in order. */
  interface Weights {
    double next();
  }

  /** Gives the mean and variance of each batch normalization, in order. */
  interface Statistics {
    double[] next(int layer, boolean variance, int width);
  }

  /**
   * Rows.
   *
   * @param dense numbers of each row
   * @param keys for each row and slot its keys, with what the reader adds
   */
  record Rows(double[][] dense, long[][][] keys) {}

  /** A tensor: its sizes and its elements, row by row. */
  record T(int[] sizes, double[] values) {
    int size(int axis) {
      return sizes[axis < 0 ? axis + sizes.length : axis];
    }

    T map(DoubleUnaryOperator each) {
      return new T(sizes, Arrays.stream(values).map(each).toArray());
    }

    T with(T other, DoubleBinaryOperator each) {
      double[] made = new double[values.length];
      for (int i = 0; i < made.length; i++) {
        made[i] = each.applyAsDouble(values[i], other.values[i]);
      }
      return new T(sizes, made);
    }
  }

  static T of(double[] values, int... sizes) {
    return new T(sizes, values);
  }

  private final Json.Obj graph;
  private final Rows rows;
  private final List<Map<Long, float[]>> tables;
  private final Weights weights;
  private final Statistics statistics;
  private final int projection;
  private final Map<String, T> tensors = new HashMap<>();
  private final Map<String, Integer> firstLabel = new HashMap<>();
  private final Map<Integer, double[][]> logits = new TreeMap<>();
  private int norms;

  PlainGraph(
      Json.Obj graph,
      Rows rows,
      List<Map<Long, float[]>> tables,
      Weights weights,
      Statistics statistics,
      int projection) {
    this.graph = graph;
    this.rows = rows;
    this.tables = tables;
    this.weights = weights;
    this.statistics = statistics;
    this.projection = projection;
  }

  /** The logits of each row, those of the first labels first. */
  double[][] logits() {
    int embeddings = 0;
    Map<String, int[]> slots = new HashMap<>();
    for (Json json : graph.array("layers")) {
      Json.Obj layer = json.asObject("layer");
      String type = layer.text("type");
      if (type.equals("Data")) {
        data(layer, slots);
      } else if (type.contains("SparseEmbedding")) {
        int[] range = slots.get(layer.text("bottom"));
        tensors.put(layer.text("top"), embedding(layer, range, tables.get(embeddings++)));
      } else if (type.endsWith("Loss")) {
        List<String> bottoms = names(layer, "bottom");
        T logit = tensors.get(bottoms.get(0));
        double[][] own = new double[rows.dense.length][];
        int width = logit.values.length / own.length;
        for (int b = 0; b < own.length; b++) {
          own[b] = Arrays.copyOfRange(logit.values, b * width, (b + 1) * width);
        }
        logits.put(firstLabel.get(bottoms.get(1)), own);
      } else if (firstLabel.containsKey(names(layer, "bottom").get(0))) {
        int base = firstLabel.get(names(layer, "bottom").get(0));
        for (int i = 0; i < names(layer, "top").size(); i++) {
          int from = (int) layer.array("ranges").get(i).asArray("r").get(0).asInteger("r");
          firstLabel.put(names(layer, "top").get(i), base + from);
        }
      } else {
        List<T> made = layer(type, layer);
        for (int i = 0; i < made.size(); i++) {
          tensors.put(names(layer, "top").get(i), made.get(i));
        }
      }
    }
    double[][] all = new double[rows.dense.length][];
    for (int b = 0; b < all.length; b++) {
      List<Double> row = new ArrayList<>();
      for (double[][] own : logits.values()) {
        for (double value : own[b]) {
          row.add(value);
        }
      }
      all[b] = row.stream().mapToDouble(Double::doubleValue).toArray();
    }
    return all;
  }

  private void data(Json.Obj layer, Map<String, int[]> slots) {
    List<String> labels = names(layer.object("label"), "top");
    List<Integer> dims = wholes(layer.object("label"), "label_dim");
    int at = 0;
    for (String label : labels.stream().sorted().toList()) {
      firstLabel.put(label, at);
      at += dims.get(labels.indexOf(label));
    }
    int width = (int) layer.object("dense").integer("dense_dim");
    double[] dense = new double[rows.dense.length * width];
    for (int b = 0; b < rows.dense.length; b++) {
      System.arraycopy(rows.dense[b], 0, dense, b * width, width);
    }
    tensors.put(layer.object("dense").text("top"), of(dense, rows.dense.length, width));
    int slot = 0;
    for (Json each : layer.array("sparse")) {
      int count = (int) each.asObject("s").integer("slot_num");
      slots.put(each.asObject("s").text("top"), new int[] {slot, slot + count});
      slot += count;
    }
  }

  private T embedding(Json.Obj layer, int[] range, Map<Long, float[]> table) {
    Json.Obj sizes = layer.object("sparse_embedding_hparam");
    int width = (int) sizes.integer("embedding_vec_size");
    boolean mean = sizes.text("combiner").equals("mean");
    int slots = range[1] - range[0];
    double[] made = new double[rows.keys.length * slots * width];
    for (int b = 0; b < rows.keys.length; b++) {
      for (int s = 0; s < slots; s++) {
        long[] keys = rows.keys[b][range[0] + s];
        for (long key : keys) {
          float[] row = table.get(key);
          for (int d = 0; row != null && d < width; d++) {
            made[(b * slots + s) * width + d] += mean ? row[d] / (double) keys.length : row[d];
          }
        }
      }
    }
    return of(made, rows.keys.length, slots, width);
  }

  private static List<String> names(Json.Obj json, String key) {
    return json.get(key) instanceof Json.Str(String one)
        ? List.of(one)
        : json.array(key).stream().map(name -> name.asText(key)).toList();
  }

  private static List<Integer> wholes(Json.Obj json, String key) {
    return json.get(key) instanceof Json.Int(long one)
        ? List.of((int) one)
        : json.array(key).stream().map(number -> (int) number.asInteger(key)).toList();
  }

  static int whole(Json.Obj json, String key, int otherwise) {
    return json.has(key) ? (int) json.integer(key) : otherwise;
  }

  private List<T> layer(String type, Json.Obj layer) {
    List<T> in = names(layer, "bottom").stream().map(tensors::get).toList();
    T x = in.get(0);
    return switch (type) {
      case "InnerProduct" ->
          List.of(linear(x, (int) layer.object("fc_param").integer("num_output"), true));
      case "FusedInnerProduct" ->
          List.of(
              linear(x, (int) layer.object("fc_param").integer("num_output"), true)
                  .map(v -> Math.max(v, 0)));
      case "MLP" -> List.of(mlp(x, layer.object("mlp_param")));
      case "MultiCross" -> List.of(cross(x, (int) layer.object("mc_param").integer("num_layers")));
      case "BatchNorm" -> List.of(batchNorm(x, layer.object("bn_param").number("eps")));
      case "LayerNorm" -> List.of(layerNorm(x, layer.object("ln_param").number("eps")));
      case "WeightMultiply" -> List.of(weightMultiply(x, wholes(layer, "weight_dims")));
      case "ReLU" -> List.of(x.map(v -> Math.max(v, 0)));
      case "ELU" -> {
        double alpha = layer.object("elu_param").number("alpha");
        yield List.of(x.map(v -> v > 0 ? v : alpha * Math.expm1(v)));
      }
      case "PReLU_Dice" -> List.of(dice(x, layer.object("prelu_dice_param")));
      case "Sigmoid" -> List.of(x.map(v -> 1 / (1 + Math.exp(-v))));
      case "Dropout", "Cast" -> List.of(x);
      case "Add" -> List.of(in.stream().reduce((a, b) -> a.with(b, Double::sum)).orElseThrow());
      case "Sub" -> List.of(x.with(in.get(1), (a, b) -> a - b));
      case "ElementwiseMultiply" ->
          List.of(in.stream().reduce((a, b) -> a.with(b, (p, q) -> p * q)).orElseThrow());
      case "MatrixMultiply" -> List.of(product(x, in.get(1)));
      case "Concat" -> List.of(concat(in, whole(layer, "axis", 1)));
      case "Slice" -> slice(x, layer.array("ranges"));
      case "Reshape" -> List.of(reshape(x, layer));
      case "ReduceSum" -> List.of(reduce(x, whole(layer, "axis", 1), false));
      case "ReduceMean" -> List.of(reduce(x, whole(layer, "axis", 1), true));
      case "Scale" -> List.of(scale(x, layer.object("scale_param")));
      case "Softmax" ->
          List.of(PlainAttention.softmax(in, layer.has("factor") ? layer.number("factor") : 1));
      case "SequenceMask" -> List.of(PlainAttention.mask(in, layer));
      case "MultiHeadAttention" ->
          List.of(PlainAttention.attention(in, whole(layer, "num_attention_heads", 1)));
      case "FmOrder2" -> List.of(fm(x, (int) layer.integer("out_dim")));
      case "Interaction" -> List.of(interaction(x, in.get(1)));
      case "FusedReshapeConcat" -> joined(in, false);
      case "FusedReshapeConcatGeneral" -> joined(in, true);
      default -> throw new AssertionError(type);
    };
  }

  private double[] take(int count) {
    double[] values = new double[count];
    for (int i = 0; i < count; i++) {
      values[i] = weights.next();
    }
    return values;
  }

  private T linear(T x, int outputs, boolean bias) {
    int inputs = x.size(-1);
    double[] w = take(inputs * outputs);
    double[] b = take(outputs);
    int rowCount = x.values.length / inputs;
    double[] y = new double[rowCount * outputs];
    for (int r = 0; r < rowCount; r++) {
      for (int o = 0; o < outputs; o++) {
        double sum = bias ? b[o] : 0;
        for (int i = 0; i < inputs; i++) {
          sum += x.values[r * inputs + i] * w[i * outputs + o];
        }
        y[r * outputs + o] = sum;
      }
    }
    int[] sizes = x.sizes.clone();
    sizes[sizes.length - 1] = outputs;
    return new T(sizes, y);
  }

  private T mlp(T x, Json.Obj sizes) {
    List<Integer> outputs = wholes(sizes, "num_outputs");
    T y = x;
    for (int i = 0; i < outputs.size(); i++) {
      boolean bias = sizes.has("biases") ? sizes.array("biases").get(i).asFlag("b") : true;
      boolean relu =
          !sizes.has("activations") || sizes.array("activations").get(i).asText("a").equals("Relu");
      y = linear(y, outputs.get(i), bias);
      y = relu ? y.map(v -> Math.max(v, 0)) : y;
    }
    return y;
  }

  private T cross(T x, int layers) {
    int n = x.size(1);
    T c = x;
    for (int l = 0; l < layers; l++) {
      double[] u = take(projection == 0 ? n : n * projection);
      double[] v = projection == 0 ? new double[0] : take(projection * n);
      double[] b = take(n);
      double[] y = new double[c.values.length];
      for (int r = 0; r < x.size(0); r++) {
        for (int j = 0; j < n; j++) {
          double factor = 0;
          if (projection == 0) {
            for (int i = 0; i < n; i++) {
              factor += c.values[r * n + i] * u[i];
            }
          } else {
            factor = b[j];
            for (int p = 0; p < projection; p++) {
              double inner = 0;
              for (int i = 0; i < n; i++) {
                inner += c.values[r * n + i] * u[i * projection + p];
              }
              factor += inner * v[p * n + j];
            }
          }
          y[r * n + j] =
              x.values[r * n + j] * factor + c.values[r * n + j] + (projection == 0 ? b[j] : 0);
        }
      }
      c = new T(x.sizes, y);
    }
    return c;
  }

  private T batchNorm(T x, double epsilon) {
    int n = x.size(1);
    double[] gamma = take(n);
    double[] beta = take(n);
    double[] mean = statistics.next(norms, false, n);
    double[] variance = statistics.next(norms++, true, n);
    double[] y = new double[x.values.length];
    for (int i = 0; i < y.length; i++) {
      int j = i % n;
      y[i] = gamma[j] * (x.values[i] - mean[j]) / Math.sqrt(variance[j] + epsilon) + beta[j];
    }
    return new T(x.sizes, y);
  }

  /** By the mean and variance of the rows that are here together. */
  private static T dice(T x, Json.Obj numbers) {
    int n = x.size(1);
    int count = x.values.length / n;
    double alpha = numbers.number(numbers.has("alpha") ? "alpha" : "elu_alpha");
    double[] y = new double[x.values.length];
    for (int j = 0; j < n; j++) {
      double mean = 0;
      double squares = 0;
      for (int r = 0; r < count; r++) {
        double v = x.values[r * n + j];
        mean += v / count;
        squares += v * v / count;
      }
      double deviation = Math.sqrt(squares - mean * mean + numbers.number("eps"));
      for (int r = 0; r < count; r++) {
        double v = x.values[r * n + j];
        double share = 1 / (1 + Math.exp(-(v - mean) / deviation));
        y[r * n + j] = share * v + (1 - share) * alpha * v;
      }
    }
    return new T(x.sizes, y);
  }

  private T layerNorm(T x, double epsilon) {
    int n = x.size(-1);
    double[] gamma = take(n);
    double[] beta = take(n);
    double[] y = new double[x.values.length];
    for (int r = 0; r < y.length / n; r++) {
      double mean = 0;
      double variance = 0;
      for (int j = 0; j < n; j++) {
        mean += x.values[r * n + j] / n;
      }
      for (int j = 0; j < n; j++) {
        variance += Math.pow(x.values[r * n + j] - mean, 2) / n;
      }
      for (int j = 0; j < n; j++) {
        y[r * n + j] =
            gamma[j] * (x.values[r * n + j] - mean) / Math.sqrt(variance + epsilon) + beta[j];
      }
    }
    return new T(x.sizes, y);
  }

  private T weightMultiply(T x, List<Integer> dims) {
    int slots = dims.get(0);
    int width = dims.get(1);
    double[] w = take(slots * width);
    double[] y = new double[x.values.length * width];
    for (int i = 0; i < x.values.length; i++) {
      for (int j = 0; j < width; j++) {
        y[i * width + j] = x.values[i] * w[i % slots * width + j];
      }
    }
    return of(y, x.size(0), slots * width);
  }

  /** Of three or four dimensions. */
  private static T product(T a, T b) {
    int m = a.size(-2);
    int k = a.size(-1);
    int n = b.size(-1);
    int count = a.values.length / (m * k);
    double[] y = new double[count * m * n];
    for (int c = 0; c < count; c++) {
      for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) {
          for (int p = 0; p < k; p++) {
            y[(c * m + i) * n + j] += a.values[(c * m + i) * k + p] * b.values[(c * k + p) * n + j];
          }
        }
      }
    }
    int[] sizes = a.sizes.clone();
    sizes[sizes.length - 1] = n;
    return new T(sizes, y);
  }

  private static T concat(List<T> in, int axis) {
    int outer = 1;
    for (int a = 0; a < axis; a++) {
      outer *= in.get(0).size(a);
    }
    int total = 0;
    for (T each : in) {
      total += each.values.length / outer;
    }
    double[] y = new double[outer * total];
    int[] sizes = in.get(0).sizes.clone();
    sizes[axis] = 0;
    int at = 0;
    for (T each : in) {
      int block = each.values.length / outer;
      for (int o = 0; o < outer; o++) {
        System.arraycopy(each.values, o * block, y, o * total + at, block);
      }
      at += block;
      sizes[axis] += each.size(axis);
    }
    return new T(sizes, y);
  }

  private static List<T> slice(T x, List<Json> ranges) {
    int n = x.size(-1);
    List<T> pieces = new ArrayList<>();
    for (Json range : ranges) {
      int from = (int) range.asArray("r").get(0).asInteger("r");
      int to = (int) range.asArray("r").get(1).asInteger("r"); // Not in the piece.
      double[] y = new double[x.values.length / n * (to - from)];
      for (int r = 0; r < x.values.length / n; r++) {
        System.arraycopy(x.values, r * n + from, y, r * (to - from), to - from);
      }
      int[] sizes = x.sizes.clone();
      sizes[sizes.length - 1] = to - from;
      pieces.add(new T(sizes, y));
    }
    return pieces;
  }

  private static T reshape(T x, Json.Obj layer) {
    if (layer.has("selected")) {
      List<Integer> selected = wholes(layer, "selected");
      int width = x.size(2);
      double[] y = new double[x.size(0) * selected.size() * width];
      for (int b = 0; b < x.size(0); b++) {
        for (int s = 0; s < selected.size(); s++) {
          System.arraycopy(
              x.values,
              (b * x.size(1) + selected.get(s)) * width,
              y,
              (b * selected.size() + s) * width,
              width);
        }
      }
      return of(y, x.size(0), selected.size() * width);
    }
    int width = (int) layer.integer("leading_dim");
    int steps = whole(layer, "time_step", 0);
    return steps == 0
        ? of(x.values, x.values.length / width, width)
        : of(x.values, x.values.length / width / steps, steps, width);
  }

  private static T reduce(T x, int axis, boolean mean) {
    int inner = 1;
    for (int a = axis + 1; a < x.sizes.length; a++) {
      inner *= x.size(a);
    }
    int n = x.size(axis);
    double[] y = new double[x.values.length / n];
    for (int i = 0; i < x.values.length; i++) {
      int outer = i / (inner * n);
      y[outer * inner + i % inner] += mean ? x.values[i] / n : x.values[i];
    }
    int[] sizes = x.sizes.clone();
    sizes[axis] = 1;
    return new T(sizes, y);
  }

  private static T scale(T x, Json.Obj sizes) {
    int factor = (int) sizes.number("factor");
    int n = x.size(1);
    double[] y = new double[x.values.length * factor];
    for (int b = 0; b < x.size(0); b++) {
      for (int i = 0; i < n * factor; i++) {
        int from = sizes.integer("axis") == 0 ? i / factor : i % n;
        y[b * n * factor + i] = x.values[b * n + from];
      }
    }
    return of(y, x.size(0), n * factor);
  }

  private static T fm(T x, int width) {
    int slots = x.size(1) / width;
    double[] y = new double[x.size(0) * width];
    for (int b = 0; b < x.size(0); b++) {
      for (int d = 0; d < width; d++) {
        double sum = 0;
        double squares = 0;
        for (int s = 0; s < slots; s++) {
          double v = x.values[b * x.size(1) + s * width + d];
          sum += v;
          squares += v * v;
        }
        y[b * width + d] = 0.5 * (sum * sum - squares);
      }
    }
    return of(y, x.size(0), width);
  }

  private static T interaction(T x, T others) {
    int width = x.size(1);
    int slots = others.size(1);
    int outputs = width + slots * (slots + 1) / 2 + 1;
    double[] y = new double[x.size(0) * outputs];
    for (int b = 0; b < x.size(0); b++) {
      System.arraycopy(x.values, b * width, y, b * outputs, width);
      int at = b * outputs + width;
      for (int i = 1; i <= slots; i++) {
        for (int j = 0; j < i; j++) {
          double sum = 0;
          for (int d = 0; d < width; d++) {
            double a = others.values[(b * slots + i - 1) * width + d];
            double c =
                j == 0 ? x.values[b * width + d] : others.values[(b * slots + j - 1) * width + d];
            sum += a * c;
          }
          y[at++] = sum;
        }
      }
    }
    return of(y, x.size(0), outputs);
  }

  private static List<T> joined(List<T> in, boolean all) {
    T joined = concat(in, 2);
    int batch = joined.size(0);
    int slots = joined.size(1);
    int width = joined.size(2);
    if (all) {
      return List.of(of(joined.values, batch * slots, width));
    }
    double[] front = new double[batch * (slots - 1) * width];
    double[] last = new double[batch * width];
    for (int b = 0; b < batch; b++) {
      int row = (slots - 1) * width;
      System.arraycopy(joined.values, b * slots * width, front, b * row, row);
      System.arraycopy(joined.values, b * slots * width + row, last, b * width, width);
    }
    return List.of(of(front, batch * (slots - 1), width), of(last, batch, width));
  }

  /** The rank that a graph's cross layers have in Tern's own field, if any. */
  static OptionalInt rank(Json.Obj graph) {
    return graph.array("layers").stream()
        .map(layer -> layer.asObject("layer"))
        .filter(layer -> layer.has("mc_param") && layer.object("mc_param").has("projection_dim"))
        .mapToInt(layer -> (int) layer.object("mc_param").integer("projection_dim"))
        .findFirst();
  }
}
