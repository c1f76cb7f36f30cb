package dev.tern.embedding;

import dev.tern.internal.kernel.HalfVectors;
import dev.tern.internal.memory.Memory;
import dev.tern.optim.Optimizer;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * {@link RowLoops} on {@link #LANES} columns from column {@code j} on: element for element the
 * operations of {@link ScalarRows}. Vectors have 8 lanes at most, so that short rows fill them, and
 * every method is small enough for the first compiler. Loaded only where the module {@code
 * jdk.incubator.vector} is present.
 */
final class VectorRows {
  private static final VectorSpecies<Float> SPECIES = HalfVectors.FLOATS;

  static final int LANES = SPECIES.length();
  private static final ByteOrder ORDER = ByteOrder.nativeOrder();

  private VectorRows() {}

  private static FloatVector load(long address) {
    return HalfVectors.exact(FloatVector.fromMemorySegment(SPECIES, Memory.ALL, address, ORDER));
  }

  private static void store(FloatVector vector, long address) {
    vector.intoMemorySegment(Memory.ALL, address, ORDER);
  }

  private static FloatVector all(float value) {
    return HalfVectors.exact(FloatVector.broadcast(SPECIES, value));
  }

  /** Two vectors of columns. */
  static void gather2(long[] rows, int[] inverse, int from, int to, long out, long stride, int j) {
    for (int i = from; i < to; i++) {
      long row = rows[inverse[i]] + 4L * j;
      long target = out + (i - from) * stride + 4L * j;
      FloatVector first = load(row);
      FloatVector second = load(row + 4L * LANES);
      store(first, target);
      store(second, target + 4L * LANES);
    }
  }

  static void gather(long[] rows, int[] inverse, int from, int to, long out, long stride, int j) {
    for (int i = from; i < to; i++) {
      store(load(rows[inverse[i]] + 4L * j), out + (i - from) * stride + 4L * j);
    }
  }

  /** Two vectors of columns. */
  static void pool2(
      long[] rows,
      int[] inverse,
      int[] offsets,
      int from,
      int to,
      Combiner combiner,
      long out,
      long stride,
      int j) {
    for (int b = from; b < to; b++) {
      int end = offsets[b + 1];
      float scale = combiner.scale(end - offsets[b]);
      FloatVector first = all(0);
      FloatVector second = all(0);
      for (int i = offsets[b]; i < end; i++) {
        long row = rows[inverse[i]] + 4L * j;
        first = all(scale).fma(load(row), first);
        second = all(scale).fma(load(row + 4L * LANES), second);
      }
      store(first, out + b * stride + 4L * j);
      store(second, out + b * stride + 4L * (j + LANES));
    }
  }

  static void pool(
      long[] rows,
      int[] inverse,
      int[] offsets,
      int from,
      int to,
      Combiner combiner,
      long out,
      long stride,
      int j) {
    for (int b = from; b < to; b++) {
      int end = offsets[b + 1];
      float scale = combiner.scale(end - offsets[b]);
      FloatVector sum = all(0);
      for (int i = offsets[b]; i < end; i++) {
        sum = all(scale).fma(load(rows[inverse[i]] + 4L * j), sum);
      }
      store(sum, out + b * stride + 4L * j);
    }
  }

  static void poolWeighted(
      long[] rows,
      int[] inverse,
      int[] offsets,
      int from,
      int to,
      Combiner combiner,
      float[] weights,
      long out,
      long stride,
      int j) {
    for (int b = from; b < to; b++) {
      int begin = offsets[b];
      int end = offsets[b + 1];
      float scale = combiner.scale(weights, begin, end);
      FloatVector sum = all(0);
      for (int i = begin; i < end; i++) {
        sum = all(scale * weights[i]).fma(load(rows[inverse[i]] + 4L * j), sum);
      }
      store(sum, out + b * stride + 4L * j);
    }
  }

  /** Two vectors of columns. */
  static void sumGradients2(
      RowLookup lookup, int from, int to, long grad, long stride, long out, long outStride, int j) {
    int[] starts = lookup.starts;
    int[] bags = lookup.bags;
    float[] scales = lookup.scales;
    for (int u = from; u < to; u++) {
      int end = starts[u + 1];
      FloatVector first = all(0);
      FloatVector second = all(0);
      for (int i = starts[u]; i < end; i++) {
        long at = grad + bags[i] * stride + 4L * j;
        FloatVector scale = all(scales[i]);
        first = scale.fma(load(at), first);
        second = scale.fma(load(at + 4L * LANES), second);
      }
      long target = out + (u - from) * outStride + 4L * j;
      store(first, target);
      store(second, target + 4L * LANES);
    }
  }

  static void sumGradients(
      RowLookup lookup, int from, int to, long grad, long stride, long out, long outStride, int j) {
    int[] starts = lookup.starts;
    int[] bags = lookup.bags;
    float[] scales = lookup.scales;
    for (int u = from; u < to; u++) {
      int end = starts[u + 1];
      FloatVector sum = all(0);
      for (int i = starts[u]; i < end; i++) {
        sum = all(scales[i]).fma(load(grad + bags[i] * stride + 4L * j), sum);
      }
      store(sum, out + (u - from) * outStride + 4L * j);
    }
  }

  static void sgd(Step step, long[] rows, int from, int to, long grad, long stride, int j) {
    float l2 = step.l2();
    float down = -step.lr();
    for (int i = from; i < to; i++) {
      long row = rows[i] + 4L * j;
      FloatVector w = load(row);
      FloatVector g = all(l2).fma(w, load(grad + i * stride + 4L * j));
      store(all(down).fma(g, w), row);
    }
  }

  static void momentum(
      Step step,
      Optimizer.Momentum rule,
      long[] rows,
      long[] states,
      int from,
      int to,
      long grad,
      long stride,
      int j) {
    float l2 = step.l2();
    float down = -step.lr();
    float keep = rule.momentum();
    long state = 4L * step.width();
    for (int i = from; i < to; i++) {
      long row = rows[i] + 4L * j;
      long at = states[i] + 4L * j;
      FloatVector w = load(row);
      FloatVector g = all(l2).fma(w, load(grad + i * stride + 4L * j));
      FloatVector a = all(keep).fma(load(at + state), g.mul(down));
      store(a, at + state);
      store(w.add(a), row);
    }
  }

  static void nesterov(
      Step step,
      Optimizer.Nesterov rule,
      long[] rows,
      long[] states,
      int from,
      int to,
      long grad,
      long stride,
      int j) {
    float l2 = step.l2();
    float down = -step.lr();
    float keep = rule.momentum();
    long state = 4L * step.width();
    for (int i = from; i < to; i++) {
      long row = rows[i] + 4L * j;
      long at = states[i] + 4L * j;
      FloatVector w = load(row);
      FloatVector g = all(l2).fma(w, load(grad + i * stride + 4L * j));
      FloatVector a = all(keep).fma(load(at + state), g);
      store(a, at + state);
      store(all(down).fma(all(keep).fma(a, g), w), row);
    }
  }

  static void adagrad(
      Step step,
      Optimizer.Adagrad rule,
      long[] rows,
      long[] states,
      int from,
      int to,
      long grad,
      long stride,
      int j) {
    float l2 = step.l2();
    float lr = step.lr();
    float eps = rule.eps();
    long state = 4L * step.width();
    for (int i = from; i < to; i++) {
      long row = rows[i] + 4L * j;
      long at = states[i] + 4L * j;
      FloatVector w = load(row);
      FloatVector g = all(l2).fma(w, load(grad + i * stride + 4L * j));
      FloatVector s = g.fma(g, load(at + state));
      store(s, at + state);
      store(w.sub(g.mul(lr).div(s.sqrt().add(eps))), row);
    }
  }

  static void addSquares(
      Step step, float[] parts, long[] rows, int from, int to, long grad, long stride, int j) {
    float l2 = step.l2();
    for (int i = from; i < to; i++) {
      FloatVector g = all(l2).fma(load(rows[i] + 4L * j), load(grad + i * stride + 4L * j));
      int part = 8 * (i - from) + (j & 7);
      g.fma(g, HalfVectors.exact(FloatVector.fromArray(SPECIES, parts, part)))
          .intoArray(parts, part);
    }
  }

  static void addSquares(float[] parts, int count, long grad, long stride, int j) {
    for (int i = 0; i < count; i++) {
      FloatVector g = load(grad + i * stride + 4L * j);
      int part = 8 * i + (j & 7);
      g.fma(g, HalfVectors.exact(FloatVector.fromArray(SPECIES, parts, part)))
          .intoArray(parts, part);
    }
  }

  static void scale(float[] factors, int count, long grad, long stride, int j) {
    for (int i = 0; i < count; i++) {
      long at = grad + i * stride + 4L * j;
      store(load(at).mul(factors[i]), at);
    }
  }

  static void clamp(long[] rows, int from, int to, float low, float high, int j) {
    for (int i = from; i < to; i++) {
      long row = rows[i] + 4L * j;
      store(load(row).max(low).min(high), row);
    }
  }

  static void rowWise(
      Step step, float[] rates, long[] rows, int from, int to, long grad, long stride, int j) {
    float l2 = step.l2();
    for (int i = from; i < to; i++) {
      long row = rows[i] + 4L * j;
      FloatVector w = load(row);
      FloatVector g = all(l2).fma(w, load(grad + i * stride + 4L * j));
      store(all(-rates[i - from]).fma(g, w), row);
    }
  }

  static void rmsProp(
      Step step,
      Optimizer.RmsProp rule,
      long[] rows,
      long[] states,
      int from,
      int to,
      long grad,
      long stride,
      int j) {
    float l2 = step.l2();
    float lr = step.lr();
    float eps = rule.eps();
    float rho = rule.rho();
    float rest = 1 - rho;
    long state = 4L * step.width();
    for (int i = from; i < to; i++) {
      long row = rows[i] + 4L * j;
      long at = states[i] + 4L * j;
      FloatVector w = load(row);
      FloatVector g = all(l2).fma(w, load(grad + i * stride + 4L * j));
      FloatVector s = all(rho).fma(load(at + state), g.mul(rest).mul(g));
      store(s, at + state);
      store(w.sub(g.mul(lr).div(s.sqrt().add(eps))), row);
    }
  }

  static void decay(
      int width, float[] first, float[] second, long[] states, int from, int to, int j) {
    for (int i = from; i < to; i++) {
      long m = states[i] + 4L * (width + j);
      long v = m + 4L * width;
      store(load(m).mul(first[i - from]), m);
      store(load(v).mul(second[i - from]), v);
    }
  }

  static void adam(
      Step step,
      Optimizer.Adam rule,
      long[] rows,
      long[] states,
      int from,
      int to,
      long grad,
      long stride,
      int j) {
    float l2 = step.l2();
    float lr = step.lr();
    float vScale = step.vScale();
    float eps = rule.eps();
    float beta1 = rule.beta1();
    float beta2 = rule.beta2();
    float rest1 = 1 - beta1;
    float rest2 = 1 - beta2;
    long first = 4L * step.width();
    long second = 2 * first;
    for (int i = from; i < to; i++) {
      long row = rows[i] + 4L * j;
      long at = states[i] + 4L * j;
      FloatVector w = load(row);
      FloatVector g = all(l2).fma(w, load(grad + i * stride + 4L * j));
      FloatVector m = all(beta1).fma(load(at + first), g.mul(rest1));
      FloatVector v = all(beta2).fma(load(at + second), g.mul(rest2).mul(g));
      store(m, at + first);
      store(v, at + second);
      store(w.sub(m.mul(lr).div(v.mul(vScale).sqrt().add(eps))), row);
    }
  }

  static void ftrl(
      Step step,
      Optimizer.Ftrl rule,
      long[] rows,
      long[] states,
      int from,
      int to,
      long grad,
      long stride,
      int j) {
    float perRate = 1 / step.lr();
    long linear = 4L * step.width();
    long squares = 2 * linear;
    for (int i = from; i < to; i++) {
      long row = rows[i] + 4L * j;
      long at = states[i] + 4L * j;
      FloatVector w = load(row);
      FloatVector g = all(step.l2()).fma(w, load(grad + i * stride + 4L * j));
      FloatVector before = load(at + squares);
      FloatVector n = g.fma(g, before);
      FloatVector root = n.sqrt();
      FloatVector sigma = root.sub(before.sqrt()).mul(perRate);
      FloatVector z = sigma.neg().fma(w, load(at + linear).add(g));
      store(z, at + linear);
      store(n, at + squares);
      FloatVector size = z.abs().sub(rule.l1()).max(0);
      FloatVector pull = root.add(rule.beta()).fma(all(perRate), all(rule.l2()));
      VectorMask<Float> pulled = pull.compare(VectorOperators.GT, 0);
      FloatVector shrunk = all(0).blend(size.div(pull), pulled);
      store(shrunk.blend(shrunk.neg(), z.compare(VectorOperators.GT, 0)), row);
    }
  }
}
