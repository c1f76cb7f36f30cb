package dev.tern.tensor;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import dev.tern.internal.ir.Gradients;
import dev.tern.internal.ir.Leaves;
import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Nodes;
import dev.tern.internal.ir.Op;
import dev.tern.internal.ir.Recorded;
import dev.tern.internal.ir.ScalarMath;
import dev.tern.internal.runtime.Engine;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * An immutable array of numbers. Methods record a graph and cost almost nothing; {@link #toArray}
 * or a {@link Computation} plans, fuses and runs it. Sizes follow NumPy's broadcasting: dimensions
 * align at the end and are equal or 1. A negative axis counts from the end.
 *
 * <pre>{@code
 * Tensor x = Tensor.of(Shape.of(2, 3), 1, 2, 3, 4, 5, 6);
 * Tensor y = x.mul(2).add(1).sum(1);
 * float[] sums = y.toArray(); // 15, 33
 * }</pre>
 *
 * Errors are IllegalArgumentExceptions that name the op, its arguments and what it expected.
 */
public final class Tensor {
  private final Node node;

  static {
    Recorded.readBy(tensor -> ((Tensor) tensor).node);
  }

  Tensor(Node node) {
    this.node = node;
  }

  Node node() {
    return node;
  }

  /** A tensor of {@code shape} holding {@code values} in row-major order. */
  public static Tensor of(Shape shape, float... values) {
    return new Tensor(Leaves.of(shape, values));
  }

  /** An I64 tensor: an index for {@link #gather} and {@link #scatterAdd}. */
  public static Tensor ofLongs(Shape shape, long... values) {
    return new Tensor(Leaves.of(shape, values));
  }

  /** An I32 tensor: offsets and lengths of sequences, or an index as {@link #ofLongs}. */
  public static Tensor ofInts(Shape shape, int... values) {
    return new Tensor(Leaves.of(shape, values));
  }

  /** A scalar constant. */
  public static Tensor scalar(float value) {
    return new Tensor(Nodes.constant(value));
  }

  /** {@code shape} filled with {@code value}; takes no memory until written. */
  public static Tensor full(Shape shape, float value) {
    return new Tensor(Nodes.full(shape, value));
  }

  /** {@code shape} of zeros. */
  public static Tensor zeros(Shape shape) {
    return full(shape, 0);
  }

  /**
   * Uniform numbers in [0, 1): a function of {@code stream}, of each element's index, and of what
   * {@code seed} (I64, one element) holds when the computation runs.
   */
  public static Tensor uniform(Variable seed, int stream, Shape shape) {
    return new Tensor(Nodes.uniform(seed.tensor().node, stream, shape));
  }

  public Shape shape() {
    return node.shape();
  }

  public DType type() {
    return node.type();
  }

  public Tensor add(Tensor other) {
    return binary(Op.Binary.ADD, other);
  }

  public Tensor add(float other) {
    return add(scalar(other));
  }

  public Tensor sub(Tensor other) {
    return binary(Op.Binary.SUB, other);
  }

  public Tensor sub(float other) {
    return sub(scalar(other));
  }

  public Tensor mul(Tensor other) {
    return binary(Op.Binary.MUL, other);
  }

  public Tensor mul(float other) {
    return mul(scalar(other));
  }

  public Tensor div(Tensor other) {
    return binary(Op.Binary.DIV, other);
  }

  public Tensor div(float other) {
    return div(scalar(other));
  }

  /** The larger of both; NaN if either is. */
  public Tensor max(Tensor other) {
    return binary(Op.Binary.MAX, other);
  }

  /** The smaller of both; NaN if either is. */
  public Tensor min(Tensor other) {
    return binary(Op.Binary.MIN, other);
  }

  /** Where this is below {@code other}, BOOL. */
  public Tensor lt(Tensor other) {
    return binary(Op.Binary.LT, other);
  }

  /** Where this is at most {@code other}, BOOL. */
  public Tensor le(Tensor other) {
    return binary(Op.Binary.LE, other);
  }

  /** Where this is above {@code other}, BOOL. */
  public Tensor gt(Tensor other) {
    return other.lt(this);
  }

  /** Where this is at least {@code other}, BOOL. */
  public Tensor ge(Tensor other) {
    return other.le(this);
  }

  /** Where both are equal, BOOL. */
  public Tensor eq(Tensor other) {
    return binary(Op.Binary.EQ, other);
  }

  /** 1 where this is 0, else 0; BOOL. */
  public Tensor not() {
    return unary(Op.Unary.NOT);
  }

  /** {@code ifTrue} where this is nonzero, {@code ifFalse} elsewhere. */
  public Tensor select(Tensor ifTrue, Tensor ifFalse) {
    return new Tensor(Nodes.select(node, ifTrue.node, ifFalse.node));
  }

  /** The same numbers; no gradient passes through. */
  public Tensor detach() {
    return unary(Op.Unary.DETACH);
  }

  public Tensor neg() {
    return unary(Op.Unary.NEG);
  }

  public Tensor exp() {
    return unary(Op.Unary.EXP);
  }

  /** {@code exp(x) - 1}, exact near 0. */
  public Tensor expm1() {
    return unary(Op.Unary.EXPM1);
  }

  /** Natural logarithm. */
  public Tensor log() {
    return unary(Op.Unary.LOG);
  }

  /** {@code log(1 + x)}, exact near 0. */
  public Tensor log1p() {
    return unary(Op.Unary.LOG1P);
  }

  public Tensor tanh() {
    return unary(Op.Unary.TANH);
  }

  public Tensor sigmoid() {
    return unary(Op.Unary.SIGMOID);
  }

  /** {@code log(1 + exp(x))} without overflow. */
  public Tensor softplus() {
    return unary(Op.Unary.SOFTPLUS);
  }

  /** The error function. */
  public Tensor erf() {
    return unary(Op.Unary.ERF);
  }

  /** {@code sin(pi x)}, exact where that is -1, 0 or 1. */
  public Tensor sinPi() {
    return unary(Op.Unary.SINPI);
  }

  /** {@code cos(pi x)}, exact where that is -1, 0 or 1. */
  public Tensor cosPi() {
    return unary(Op.Unary.COSPI);
  }

  /** The angle from -pi / 2 to pi / 2 whose tangent this is. */
  public Tensor atan() {
    return unary(Op.Unary.ATAN);
  }

  /** The angle of the point {@code (x, y)}, where this is y, from -pi to pi; 0 for the origin. */
  public Tensor atan2(Tensor x) {
    Tensor zero = scalar(0);
    // Not abs, whose slope at 0 is 0.
    Tensor wide = x.lt(zero).select(x.neg(), x);
    Tensor high = lt(zero).select(neg(), this);
    Tensor steep = high.gt(wide);
    Tensor longer = steep.select(high, wide);
    Tensor acute = steep.select(wide, high).div(longer.add(longer.eq(zero))).atan();
    Tensor turned = steep.select(scalar(ScalarMath.HALF).sub(acute), acute);
    Tensor upper = x.lt(zero).select(scalar(ScalarMath.PI).sub(turned), turned);
    return lt(zero).select(upper.neg(), upper);
  }

  public Tensor relu() {
    return unary(Op.Unary.RELU);
  }

  public Tensor sqrt() {
    return unary(Op.Unary.SQRT);
  }

  /** {@code 1 / sqrt(x)}. */
  public Tensor rsqrt() {
    return unary(Op.Unary.RSQRT);
  }

  public Tensor reciprocal() {
    return unary(Op.Unary.RECIPROCAL);
  }

  public Tensor square() {
    return unary(Op.Unary.SQUARE);
  }

  public Tensor abs() {
    return unary(Op.Unary.ABS);
  }

  /** -1, 0 or 1. */
  public Tensor sign() {
    return unary(Op.Unary.SIGN);
  }

  /** Sum of all elements, a scalar. */
  public Tensor sum() {
    return reduceAll(Op.Reduce.Kind.SUM);
  }

  /** Sum over one dimension, which is dropped. */
  public Tensor sum(int axis) {
    return dropAxis(sumKeep(axis), axis);
  }

  /** Sum over one dimension, which stays with size 1. */
  public Tensor sumKeep(int axis) {
    return reduce(Op.Reduce.Kind.SUM, axis);
  }

  /** Mean of all elements, a scalar. */
  public Tensor mean() {
    return sum().mul(1f / Math.max(1, shape().elements()));
  }

  /** Mean over one dimension, which is dropped. */
  public Tensor mean(int axis) {
    return sum(axis).mul(1f / Math.max(1, shape().size(axis)));
  }

  /** Mean over one dimension, which stays with size 1. */
  public Tensor meanKeep(int axis) {
    return sumKeep(axis).mul(1f / Math.max(1, shape().size(axis)));
  }

  /** Largest element, a scalar; negative infinity for no elements. */
  public Tensor max() {
    return reduceAll(Op.Reduce.Kind.MAX);
  }

  /** Largest over one dimension, which is dropped. */
  public Tensor max(int axis) {
    return dropAxis(maxKeep(axis), axis);
  }

  /** Largest over one dimension, which stays with size 1. */
  public Tensor maxKeep(int axis) {
    return reduce(Op.Reduce.Kind.MAX, axis);
  }

  /** {@code exp(x) / sum(exp(x))} along one dimension, without overflow. */
  public Tensor softmax(int axis) {
    Tensor powers = sub(maxKeep(axis).detach()).exp();
    Tensor shares = powers.mul(powers.sumKeep(axis).reciprocal());
    return ruled(Op.Ruled.Rule.SOFTMAX, axis, shares);
  }

  /** {@code log(softmax(x))} along one dimension, without overflow. */
  public Tensor logSoftmax(int axis) {
    Tensor shifted = sub(maxKeep(axis).detach());
    Tensor logs = shifted.sub(shifted.exp().sumKeep(axis).log());
    return ruled(Op.Ruled.Rule.LOG_SOFTMAX, axis, logs);
  }

  /**
   * Layer normalisation over the last dimension: {@code (x - mean) / sqrt(variance + epsilon) *
   * gamma + beta} (Ba, Kiros, Hinton 2016).
   */
  public Tensor layerNorm(Tensor gamma, Tensor beta, float epsilon) {
    Tensor centred = sub(meanKeep(-1));
    Tensor scale = centred.square().meanKeep(-1).add(epsilon).rsqrt();
    return normalized(-1, centred.mul(scale), scale).mul(gamma).add(beta);
  }

  /**
   * The result {@code normal} with a gradient in few passes. The caller has computed it along one
   * dimension as {@code (x - mean(x)) * scale}, where x is this tensor and {@code scale} is 1 / its
   * deviation.
   */
  public Tensor normalized(int axis, Tensor normal, Tensor scale) {
    return ruled(Op.Ruled.Rule.NORMALIZE, axis, normal, scale);
  }

  private Tensor ruled(Op.Ruled.Rule rule, int axis, Tensor result, Tensor... more) {
    List<Node> of = Stream.concat(Stream.of(this), Arrays.stream(more)).map(Tensor::node).toList();
    return new Tensor(Nodes.ruled(new Op.Ruled(rule, shape().axis(axis)), result.node, of));
  }

  /** The same elements in row-major order with other sizes; one size may be -1, for the rest. */
  public Tensor reshape(int... sizes) {
    int[] resolved = sizes.clone();
    int known = 1;
    int open = -1;
    for (int i = 0; i < sizes.length; i++) {
      if (sizes[i] == -1 && open < 0) {
        open = i;
      } else {
        known = Math.multiplyExact(known, sizes[i]);
      }
    }
    if (open >= 0) {
      resolved[open] = known == 0 ? 0 : shape().elements() / known;
    }
    return new Tensor(Nodes.reshape(node, Shape.of(resolved)));
  }

  /** Exchanges two dimensions. */
  public Tensor transpose(int a, int b) {
    return new Tensor(Nodes.transpose(node, a, b));
  }

  /** Repeats dimensions of size 1, or missing in front, up to {@code shape}. */
  public Tensor broadcast(Shape shape) {
    return new Tensor(Nodes.broadcast(node, shape));
  }

  /** Indices {@code from} (inclusive) to {@code to} of one dimension. */
  public Tensor slice(int axis, int from, int to) {
    return new Tensor(Nodes.slice(node, axis, from, to));
  }

  /** Joins tensors along {@code axis}. */
  public static Tensor concat(int axis, List<Tensor> parts) {
    return new Tensor(Nodes.concat(axis, parts.stream().map(Tensor::node).toList()));
  }

  /** Matrix product {@code [m, k] x [k, n]}, or of each pair of {@code [b, m, k] x [b, k, n]}. */
  public Tensor matmul(Tensor other) {
    return new Tensor(Nodes.matmul(node, other.node));
  }

  /** Rows of this ({@code [n, ...]}) picked by an I32 or I64 index of any shape. */
  public Tensor gather(Tensor index) {
    return new Tensor(Nodes.gather(node, index.node));
  }

  /** Adds each row of {@code values} to the one of {@code rows} zero rows that the index names. */
  public static Tensor scatterAdd(Tensor index, Tensor values, int rows) {
    return new Tensor(Nodes.scatterAdd(index.node, values.node, rows));
  }

  /**
   * Dot products of all pairs {@code i > j} of the {@code n} vectors in each row of {@code [b, n,
   * d]}, as {@code [b, n (n - 1) / 2]}, pairs in order (1,0), (2,0), (2,1), (3,0), ... (Naumov et
   * al. 2019, DLRM).
   */
  public Tensor dotInteraction() {
    return new Tensor(Nodes.dotInteraction(node));
  }

  /**
   * Sum of the dot products of all pairs of the {@code n} vectors in each row of {@code [b, n, d]},
   * as {@code [b]}, in linear time: {@code 0.5 * sum((sum v)^2 - sum v^2)} (Rendle 2010).
   */
  public Tensor pairSums() {
    return new Tensor(Nodes.pairSums(node));
  }

  /** Converts to another element type. */
  public Tensor cast(DType type) {
    return new Tensor(Nodes.cast(node, type));
  }

  /**
   * Mean binary cross entropy of these logits against labels of the same shape, in the form {@code
   * softplus(x) - x * label} that neither overflows nor loses digits.
   */
  public Tensor bceWithLogits(Tensor labels) {
    return crossEntropies(labels).mean();
  }

  /**
   * The binary cross entropies of these logits, times {@code weights} of the same shape, in all.
   * With weights of {@code 1 / n} it is the mean of {@code n} numbers.
   */
  public Tensor bceWithLogits(Tensor labels, Tensor weights) {
    return crossEntropies(labels).mul(weights).sum();
  }

  private Tensor crossEntropies(Tensor labels) {
    if (!shape().equals(labels.shape())) {
      throw new IllegalArgumentException(
          "bceWithLogits: got logits %s and labels %s, expected one shape; reshape the logits"
              .formatted(shape(), labels.shape()));
    }
    return softplus().sub(mul(labels));
  }

  /**
   * Gradients of {@code loss}, a scalar, with respect to each of {@code wrt}, in their shapes; F32
   * also for F16 and BF16.
   */
  public static List<Tensor> gradients(Tensor loss, List<Tensor> wrt) {
    List<Node> nodes = Gradients.of(loss.node, wrt.stream().map(Tensor::node).toList());
    return nodes.stream().map(Tensor::new).toList();
  }

  /** Computes this tensor and copies it out, row-major. */
  public float[] toArray() {
    return Engine.shared().get(node);
  }

  /** Computes this tensor, I32 or I64, and copies it out, row-major. */
  public long[] toLongs() {
    if (type() != DType.I32 && type() != DType.I64) {
      throw new IllegalArgumentException(
          "toLongs: got " + this + ", expected I32 or I64; use toArray");
    }
    return Engine.shared().getLongs(node);
  }

  /** The one element of this tensor. */
  public float item() {
    if (shape().elements() != 1) {
      throw new IllegalArgumentException(
          "item: got shape " + shape() + ", expected one element; use toArray");
    }
    return toArray()[0];
  }

  private Tensor unary(Op.Unary op) {
    return new Tensor(Nodes.unary(op, node));
  }

  private Tensor binary(Op.Binary op, Tensor other) {
    return new Tensor(Nodes.binary(op, node, other.node));
  }

  private Tensor reduceAll(Op.Reduce.Kind kind) {
    if (shape().rank() == 0) {
      return this;
    }
    Node all = Nodes.reduce(kind, node, 0, shape().rank());
    return new Tensor(Nodes.reshape(all, Shape.SCALAR));
  }

  private Tensor reduce(Op.Reduce.Kind kind, int axis) {
    int counted = shape().axis(axis);
    return new Tensor(Nodes.reduce(kind, node, counted, counted + 1));
  }

  private Tensor dropAxis(Tensor kept, int axis) {
    int counted = shape().axis(axis);
    IntStream left = IntStream.range(0, shape().rank()).filter(i -> i != counted);
    Shape dropped = Shape.of(left.map(shape()::size).toArray());
    return new Tensor(Nodes.reshape(kept.node, dropped));
  }

  @Override
  public String toString() {
    return "Tensor " + type() + Arrays.toString(shape().toArray());
  }
}
