package dev.tern.internal.ir;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import dev.tern.internal.memory.Buffer;
import dev.tern.internal.memory.Memory;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * Evaluates programs one element at a time on heap arrays: slow, plain, and what every kernel is
 * compared with. Sums are taken in double, so results differ from kernels by rounding only.
 */
public final class Reference {
  private final Map<Node, double[]> values = new IdentityHashMap<>();

  private Reference() {}

  /** The outputs of {@code program}, each dense row-major; updates are not stored. */
  public static List<double[]> evaluate(Program program) {
    Reference reference = new Reference();
    for (Node node : program.nodes()) {
      reference.values.put(node, reference.compute(node));
    }
    return program.outputs().stream().map(reference::value).toList();
  }

  /** {@link #evaluate} of what the updates would store. */
  public static List<double[]> evaluateUpdates(Program program) {
    List<Node> stored = program.updates().stream().map(Program.Update::value).toList();
    return evaluate(new Program(program.nodes(), stored, List.of()));
  }

  /** The value of one op on {@code inputs}, each dense row-major. */
  public static double[] apply(Node node, List<double[]> inputs) {
    Reference reference = new Reference();
    for (int i = 0; i < inputs.size(); i++) {
      reference.values.put(node.input(i), inputs.get(i));
    }
    return reference.compute(node);
  }

  private double[] value(Node node) {
    double[] value = values.get(node);
    if (value == null) {
      throw new AssertionError("reference: " + node + " is used before it is computed");
    }
    return value;
  }

  private double[] compute(Node node) {
    return switch (node.op()) {
      case Op.Leaf leaf -> read(leaf.buffer(), node.shape(), node.type());
      case Op.Constant constant -> new double[] {constant.value()};
      case Op.Uniform uniform -> uniform(node, uniform.stream());
      case Op.Unary op -> unary(op, node);
      case Op.Binary op -> binary(op, node);
      case Op.Ternary op -> select(node);
      case Op.Cast cast -> cast(node, cast.type());
      case Op.Reduce reduce -> reduce(reduce, node);
      case Op.Reshape reshape -> value(node.input(0));
      case Op.Permute permute -> view(node, permutedStrides(node, permute), 0);
      case Op.Broadcast broadcast -> view(node, broadcastStrides(node), 0);
      case Op.Slice slice -> {
        int[] strides = node.input(0).shape().rowMajorStrides();
        yield view(node, strides, slice.from() * strides[slice.axis()]);
      }
      case Op.Concat concat -> concat(node, concat.axis());
      case Op.MatMul matmul -> matmul(node);
      case Op.Gather gather -> gather(node);
      case Op.ScatterAdd scatter -> scatterAdd(node);
      case Op.SegmentReduce reduce -> segmentReduce(reduce.kind(), node);
      case Op.Index index -> index(index, node);
      case Op.DotInteraction interaction -> dotInteraction(node);
      case Op.DotInteractionGradient gradient -> dotInteractionGradient(node);
      case Op.PairSums sums -> pairSums(node);
      case Op.PairSumsGradient gradient -> pairSumsGradient(node);
      case Op.Ruled ruled -> value(node.input(0));
    };
  }

  private static double[] read(Buffer buffer, Shape shape, DType type) {
    double[] result = new double[shape.elements()];
    for (int i = 0; i < result.length; i++) {
      long address = buffer.address() + (long) i * type.bytes();
      result[i] =
          switch (type) {
            case F32, BOOL -> Memory.getFloat(address);
            case F16 -> Float.float16ToFloat(Memory.getShort(address));
            case BF16 -> Float.intBitsToFloat(Memory.getShort(address) << 16);
            case I32 -> Memory.getInt(address);
            case I64 -> Memory.getLong(address);
          };
    }
    return result;
  }

  private double[] uniform(Node node, int stream) {
    double[] result = new double[node.shape().elements()];
    if (!(node.input(0).op() instanceof Op.Leaf leaf)) {
      throw new IllegalArgumentException("uniform: got a computed seed, expected a resident one");
    }
    long seed = Memory.getLong(leaf.buffer().address());
    for (int i = 0; i < result.length; i++) {
      result[i] = Pointwise.uniform(seed, stream, i);
    }
    return result;
  }

  private double[] unary(Op.Unary op, Node node) {
    double[] x = value(node.input(0));
    double[] result = new double[x.length];
    for (int i = 0; i < x.length; i++) {
      result[i] = Pointwise.apply(op, (float) x[i]);
    }
    return result;
  }

  private double[] binary(Op.Binary op, Node node) {
    double[] a = value(node.input(0));
    double[] b = value(node.input(1));
    double[] result = new double[a.length];
    for (int i = 0; i < a.length; i++) {
      result[i] = Pointwise.apply(op, (float) a[i], (float) b[i]);
    }
    return result;
  }

  private double[] select(Node node) {
    double[] condition = value(node.input(0));
    double[] result = value(node.input(2)).clone();
    for (int i = 0; i < result.length; i++) {
      result[i] = condition[i] != 0 ? value(node.input(1))[i] : result[i];
    }
    return result;
  }

  private double[] cast(Node node, DType type) {
    double[] x = value(node.input(0));
    double[] result = new double[x.length];
    for (int i = 0; i < x.length; i++) {
      result[i] =
          switch (type) {
            case F32 -> (float) x[i];
            case F16 -> Float.float16ToFloat(Float.floatToFloat16((float) x[i]));
            case BF16 -> Pointwise.roundToBf16((float) x[i]);
            case I32 -> (int) x[i];
            case I64 -> (long) x[i];
            case BOOL -> x[i] != 0 ? 1 : 0;
          };
    }
    return result;
  }

  private double[] reduce(Op.Reduce reduce, Node node) {
    double[] x = value(node.input(0));
    int[] strides = node.shape().rowMajorStrides();
    Arrays.fill(strides, reduce.from(), reduce.to(), 0);
    double[] result = new double[node.shape().elements()];
    boolean sum = reduce.kind() == Op.Reduce.Kind.SUM;
    Arrays.fill(result, sum ? 0 : Double.NEGATIVE_INFINITY);
    Index index = new Index(node.input(0).shape());
    for (double element : x) {
      int at = index.offset(strides);
      result[at] = sum ? result[at] + element : Math.max(result[at], element);
      index.next();
    }
    return result;
  }

  private double[] view(Node node, int[] strides, int offset) {
    double[] x = value(node.input(0));
    double[] result = new double[node.shape().elements()];
    Index index = new Index(node.shape());
    for (int i = 0; i < result.length; i++) {
      result[i] = x[offset + index.offset(strides)];
      index.next();
    }
    return result;
  }

  private static int[] permutedStrides(Node node, Op.Permute permute) {
    int[] strides = node.input(0).shape().rowMajorStrides();
    return permute.axes().stream().mapToInt(axis -> strides[axis]).toArray();
  }

  private static int[] broadcastStrides(Node node) {
    int[] strides = node.input(0).shape().rowMajorStrides();
    for (int i = 0; i < strides.length; i++) {
      strides[i] = node.input(0).shape().size(i) == 1 ? 0 : strides[i];
    }
    return strides;
  }

  private double[] concat(Node node, int axis) {
    double[] result = new double[node.shape().elements()];
    int[] strides = node.shape().rowMajorStrides();
    int offset = 0;
    for (Node part : node.inputs()) {
      Index index = new Index(part.shape());
      for (double element : value(part)) {
        result[offset + index.offset(strides)] = element;
        index.next();
      }
      offset += part.shape().size(axis) * strides[axis];
    }
    return result;
  }

  private double[] matmul(Node node) {
    double[] a = value(node.input(0));
    double[] b = value(node.input(1));
    int m = node.shape().size(-2);
    int n = node.shape().size(-1);
    int k = node.input(0).shape().size(-1);
    double[] c = new double[node.shape().elements()];
    for (int i = 0; i < c.length; i++) {
      int batch = i / Math.max(1, m * n);
      int row = i / n % m;
      for (int p = 0; p < k; p++) {
        c[i] += a[(batch * m + row) * k + p] * b[(batch * k + p) * n + i % n];
      }
    }
    return c;
  }

  private double[] gather(Node node) {
    double[] table = value(node.input(0));
    double[] index = value(node.input(1));
    int width = table.length / Math.max(1, node.input(0).shape().size(0));
    double[] result = new double[node.shape().elements()];
    for (int i = 0; i < index.length; i++) {
      if (!isGap(index[i], ((Op.Gather) node.op()).gaps())) {
        System.arraycopy(table, (int) index[i] * width, result, i * width, width);
      }
    }
    return result;
  }

  /** Any other index below 0 fails where it is used. */
  private static boolean isGap(double index, boolean gaps) {
    return gaps && index == -1;
  }

  private double[] scatterAdd(Node node) {
    double[] index = value(node.input(0));
    double[] source = value(node.input(1));
    int width = node.shape().withSize(0, 1).elements();
    double[] result = new double[node.shape().elements()];
    for (int i = 0; i < source.length; i++) {
      if (!isGap(index[i / width], ((Op.ScatterAdd) node.op()).gaps())) {
        result[(int) index[i / width] * width + i % width] += source[i];
      }
    }
    return result;
  }

  private double[] segmentReduce(Op.Reduce.Kind kind, Node node) {
    double[] x = value(node.input(0));
    double[] offsets = value(node.input(1));
    double[] result = new double[node.shape().elements()];
    boolean sum = kind == Op.Reduce.Kind.SUM;
    Arrays.fill(result, sum ? 0 : Double.NEGATIVE_INFINITY);
    int width = x.length / Math.max(1, node.input(0).shape().size(0));
    for (int s = 0; s + 1 < offsets.length; s++) {
      for (int i = (int) offsets[s] * width; i < (int) offsets[s + 1] * width; i++) {
        int at = s * width + i % width;
        result[at] = sum ? result[at] + x[i] : Math.max(result[at], x[i]);
      }
    }
    return result;
  }

  private double[] index(Op.Index op, Node node) {
    List<IndexRules.Operand> operands = node.inputs().stream().map(this::operand).toList();
    int[] result = new int[node.shape().elements()];
    IndexRules.apply(op, operands, MemorySegment.ofArray(result));
    return Arrays.stream(result).asDoubleStream().toArray();
  }

  private IndexRules.Operand operand(Node node) {
    double[] x = value(node);
    MemorySegment data =
        switch (node.type()) {
          case I32 -> MemorySegment.ofArray(Arrays.stream(x).mapToInt(v -> (int) v).toArray());
          case I64 -> MemorySegment.ofArray(Arrays.stream(x).mapToLong(v -> (long) v).toArray());
          case F32, F16, BF16, BOOL -> {
            float[] floats = new float[x.length];
            for (int i = 0; i < x.length; i++) {
              floats[i] = (float) x[i];
            }
            yield MemorySegment.ofArray(floats);
          }
        };
    int width = node.shape().withSize(0, 1).elements();
    return new IndexRules.Operand(data, node.type(), node.shape().size(0), width);
  }

  private double[] dotInteraction(Node node) {
    double[] x = value(node.input(0));
    int n = node.input(0).shape().size(1);
    int d = node.input(0).shape().size(2);
    double[] result = new double[node.shape().elements()];
    int at = 0;
    for (int b = 0; b < node.shape().size(0); b++) {
      for (int i = 1; i < n; i++) {
        for (int j = 0; j < i; j++, at++) {
          for (int p = 0; p < d; p++) {
            result[at] += x[(b * n + i) * d + p] * x[(b * n + j) * d + p];
          }
        }
      }
    }
    return result;
  }

  private double[] dotInteractionGradient(Node node) {
    double[] x = value(node.input(0));
    double[] g = value(node.input(1));
    int n = node.shape().size(1);
    int d = node.shape().size(2);
    double[] result = new double[x.length];
    int at = 0;
    for (int b = 0; b < node.shape().size(0); b++) {
      for (int i = 1; i < n; i++) {
        for (int j = 0; j < i; j++, at++) {
          for (int p = 0; p < d; p++) {
            result[(b * n + i) * d + p] += g[at] * x[(b * n + j) * d + p];
            result[(b * n + j) * d + p] += g[at] * x[(b * n + i) * d + p];
          }
        }
      }
    }
    return result;
  }

  private double[] pairSums(Node node) {
    double[] x = value(node.input(0));
    double[] result = new double[node.shape().elements()];
    for (int b = 0; b < result.length; b++) {
      double[] sums = vectorSum(node.input(0), b);
      int length = x.length / result.length;
      for (int i = b * length; i < (b + 1) * length; i++) {
        result[b] += 0.5 * x[i] * (sums[i % sums.length] - x[i]);
      }
    }
    return result;
  }

  private double[] pairSumsGradient(Node node) {
    double[] x = value(node.input(0));
    double[] g = value(node.input(1));
    double[] result = new double[x.length];
    for (int b = 0; b < g.length; b++) {
      double[] sums = vectorSum(node.input(0), b);
      int length = x.length / g.length;
      for (int i = b * length; i < (b + 1) * length; i++) {
        result[i] = g[b] * (sums[i % sums.length] - x[i]);
      }
    }
    return result;
  }

  /** The sum of the vectors of row {@code b} of {@code [b, n, d]}. */
  private double[] vectorSum(Node node, int b) {
    int n = node.shape().size(1);
    int d = node.shape().size(2);
    double[] sums = new double[d];
    for (int i = 0; i < n * d; i++) {
      sums[i % d] += value(node)[b * n * d + i];
    }
    return sums;
  }

  /** Counts through a shape in row-major order. */
  private static final class Index {
    private final Shape shape;
    private final int[] at;

    Index(Shape shape) {
      this.shape = shape;
      at = new int[shape.rank()];
    }

    int offset(int[] strides) {
      int offset = 0;
      for (int i = 0; i < at.length; i++) {
        offset += at[i] * strides[i];
      }
      return offset;
    }

    void next() {
      for (int i = at.length - 1; i >= 0; i--) {
        if (++at[i] < shape.size(i)) {
          return;
        }
        at[i] = 0;
      }
    }
  }
}
