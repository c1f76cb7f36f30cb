package dev.tern.bench;

import dev.tern.base.Shape;
import dev.tern.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * An elementwise expression; {@code peers/ops.py} has each under the same name.
 *
 * @param inputs what it reads
 * @param updated how many inputs, the first, take the first results in place
 * @param build the results as tensors
 * @param check the results for one element, in double precision
 */
record Expression(
    String name,
    List<Input> inputs,
    int updated,
    Function<List<Tensor>, List<Tensor>> build,
    UnaryOperator<double[]> check) {
  private static final float LR = 0.01f;

  /** How an input lies against {@code [rows, columns]}. */
  enum Input {
    FULL,
    /** Of numbers above 0. */
    POSITIVE,
    ROW,
    COLUMN;

    Shape shape(int rows, int columns) {
      return switch (this) {
        case FULL, POSITIVE -> Shape.of(rows, columns);
        case ROW -> Shape.of(1, columns);
        case COLUMN -> Shape.of(rows, 1);
      };
    }

    int index(int element, int columns) {
      return switch (this) {
        case FULL, POSITIVE -> element;
        case ROW -> element % columns;
        case COLUMN -> element / columns;
      };
    }

    double low() {
      return this == POSITIVE ? 0.1 : -2;
    }
  }

  /** Bytes read and written, each once. */
  double bytes(int rows, int columns, int results) {
    double elements = (double) results * rows * columns;
    for (Input input : inputs) {
      elements += input.shape(rows, columns).elements();
    }
    return 4 * elements;
  }

  static final List<Expression> ALL = all();

  private static Expression unary(
      String name, Input input, UnaryOperator<Tensor> build, Function<Double, Double> check) {
    return new Expression(
        name,
        List.of(input),
        0,
        in -> List.of(build.apply(in.get(0))),
        in -> new double[] {check.apply(in[0])});
  }

  private static Expression plain(
      String name,
      List<Input> inputs,
      Function<List<Tensor>, Tensor> build,
      Function<double[], Double> check) {
    return new Expression(
        name, inputs, 0, in -> List.of(build.apply(in)), in -> new double[] {check.apply(in)});
  }

  private static List<Expression> all() {
    List<Expression> all = new ArrayList<>();
    arithmetic(all);
    functions(all);
    gradients(all);
    optimizers(all);
    return all;
  }

  private static void arithmetic(List<Expression> all) {
    Input full = Input.FULL;
    List<Input> two = List.of(full, full);
    List<Input> three = List.of(full, full, full);
    all.add(plain("add", two, in -> in.get(0).add(in.get(1)), in -> in[0] + in[1]));
    all.add(
        plain("triad", two, in -> in.get(0).add(in.get(1).mul(0.5f)), in -> in[0] + 0.5 * in[1]));
    all.add(
        plain(
            "multiply-add",
            three,
            in -> in.get(0).mul(in.get(1)).add(in.get(2)),
            in -> in[0] * in[1] + in[2]));
    all.add(
        plain(
            "divide",
            List.of(full, Input.POSITIVE),
            in -> in.get(0).div(in.get(1)),
            in -> in[0] / in[1]));
    all.add(
        plain(
            "select",
            three,
            in -> in.get(0).gt(Tensor.scalar(0)).select(in.get(1), in.get(2)),
            in -> in[0] > 0 ? in[1] : in[2]));
    all.add(
        unary(
            "clamp",
            full,
            x -> x.max(Tensor.scalar(-1)).min(Tensor.scalar(1)),
            x -> Math.clamp(x, -1.0, 1.0)));
    all.add(
        plain(
            "bias and relu",
            List.of(full, Input.ROW),
            in -> in.get(0).add(in.get(1)).relu(),
            in -> Math.max(0, in[0] + in[1])));
    all.add(
        plain(
            "scale rows",
            List.of(full, Input.COLUMN),
            in -> in.get(0).mul(in.get(1)),
            in -> in[0] * in[1]));
    all.add(
        new Expression(
            "sum and difference",
            two,
            0,
            in -> List.of(in.get(0).add(in.get(1)), in.get(0).sub(in.get(1))),
            in -> new double[] {in[0] + in[1], in[0] - in[1]}));
    all.add(
        plain(
            "dropout",
            two,
            in -> in.get(1).lt(Tensor.scalar(0.8f)).mul(1.25f).mul(in.get(0)),
            in -> in[1] < 0.8f ? in[0] * 1.25 : 0));
  }

  private static void functions(List<Expression> all) {
    Input full = Input.FULL;
    Input positive = Input.POSITIVE;
    all.add(unary("square root", positive, Tensor::sqrt, Math::sqrt));
    all.add(unary("exp", full, Tensor::exp, Math::exp));
    all.add(unary("log", positive, Tensor::log, Math::log));
    all.add(unary("log1p", positive, Tensor::log1p, Math::log1p));
    all.add(unary("tanh", full, Tensor::tanh, Math::tanh));
    all.add(unary("sigmoid", full, Tensor::sigmoid, Expression::sigmoid));
    all.add(unary("softplus", full, Tensor::softplus, x -> Math.log1p(Math.exp(x))));
    all.add(unary("silu", full, x -> x.mul(x.sigmoid()), x -> x * sigmoid(x)));
    all.add(
        unary(
            "gelu by tanh",
            full,
            x -> x.mul(0.5f).mul(x.add(x.mul(x).mul(x).mul(C)).mul(ROOT).tanh().add(1)),
            x -> 0.5 * x * (1 + Math.tanh(ROOT * (x + C * x * x * x)))));
  }

  private static final float C = 0.044715f;
  private static final float ROOT = 0.7978845608f;

  private static double sigmoid(double x) {
    return 1 / (1 + Math.exp(-x));
  }

  private static void gradients(List<Expression> all) {
    List<Input> two = List.of(Input.FULL, Input.FULL);
    all.add(
        plain(
            "gradient of sigmoid",
            two,
            in -> in.get(0).mul(in.get(1)).mul(in.get(1).neg().add(1)),
            in -> in[0] * in[1] * (1 - in[1])));
    all.add(
        plain(
            "gradient of relu",
            two,
            in -> in.get(1).gt(Tensor.scalar(0)).select(in.get(0), Tensor.scalar(0)),
            in -> in[1] > 0 ? in[0] : 0));
    all.add(
        plain(
            "gradient of log loss",
            two,
            in -> in.get(0).sigmoid().sub(in.get(1)),
            in -> sigmoid(in[0]) - in[1]));
  }

  private static void optimizers(List<Expression> all) {
    Input full = Input.FULL;
    Input positive = Input.POSITIVE;
    all.add(
        new Expression(
            "sgd",
            List.of(full, full),
            1,
            in -> List.of(in.get(0).sub(in.get(1).mul(LR))),
            in -> new double[] {in[0] - LR * in[1]}));
    all.add(
        new Expression(
            "momentum",
            List.of(full, full, full),
            2,
            in -> {
              Tensor m = in.get(1).mul(0.9f).sub(in.get(2).mul(LR));
              return List.of(in.get(0).add(m), m);
            },
            in -> {
              double m = 0.9 * in[1] - LR * in[2];
              return new double[] {in[0] + m, m};
            }));
    all.add(
        new Expression(
            "adagrad",
            List.of(full, positive, full),
            2,
            in -> {
              Tensor s = in.get(1).add(in.get(2).square());
              Tensor step = in.get(2).mul(LR).div(s.sqrt().add(1e-7f));
              return List.of(in.get(0).sub(step), s);
            },
            in -> {
              double s = in[1] + in[2] * in[2];
              return new double[] {in[0] - LR * in[2] / (Math.sqrt(s) + 1e-7), s};
            }));
    all.add(
        new Expression(
            "adam",
            List.of(full, full, positive, full),
            3,
            in -> {
              Tensor m = in.get(1).mul(0.9f).add(in.get(3).mul(0.1f));
              Tensor v = in.get(2).mul(0.999f).add(in.get(3).square().mul(0.001f));
              Tensor step = m.mul(LR).div(v.sqrt().add(1e-8f));
              return List.of(in.get(0).sub(step), m, v);
            },
            in -> {
              double m = 0.9 * in[1] + 0.1 * in[3];
              double v = 0.999 * in[2] + 0.001 * in[3] * in[3];
              return new double[] {in[0] - LR * m / (Math.sqrt(v) + 1e-8), m, v};
            }));
  }
}
