package dev.tern.model;

import dev.tern.internal.ir.Pointwise;
import dev.tern.nn.PairwiseLoss;
import dev.tern.tensor.Tensor;
import java.util.Objects;

/**
 * What training minimizes for a task, as a value: a function of a row's logit {@code x} and label
 * {@code y}. It also says what the logit predicts, and which labels there may be.
 *
 * <p>All but {@link Pairwise} are elementwise: with its gradient and the share of each row such a
 * loss is one kernel, and focal loss is two.
 */
public sealed interface Loss {
  /** Cross entropy of labels 0 and 1, the default. */
  Loss BINARY_CROSS_ENTROPY = new BinaryCrossEntropy(false);

  /** Cross entropy of labels in [0, 1], such as a rate of clicks. */
  Loss SOFT_CROSS_ENTROPY = new BinaryCrossEntropy(true);

  /** The square of the error. */
  Loss SQUARED_ERROR = new SquaredError();

  /** The absolute error. */
  Loss ABSOLUTE_ERROR = new AbsoluteError();

  /** That of counts. */
  Loss POISSON = new Poisson();

  /**
   * Binary cross entropy of the probability {@code p = 1 / (1 + exp(-x))}:
   *
   * <pre>
   * -y log(p) - (1 - y) log(1 - p) = log(1 + exp(x)) - x y
   * </pre>
   *
   * The right form neither overflows nor loses digits. For example, the loss of {@code x = 0} is
   * log 2 = 0.693 for every label; of {@code x = 2} and {@code y = 0.25} it is 2.127 - 0.5 = 1.627.
   * It is proper: where the labels of equal rows have the mean {@code m}, the best {@code p} is
   * {@code m}.
   *
   * @param soft whether labels may lie between 0 and 1
   */
  record BinaryCrossEntropy(boolean soft) implements Loss {
    @Override
    public Tensor of(Tensor logits, Tensor labels) {
      return logits.softplus().sub(logits.mul(labels));
    }

    @Override
    public double value(double x, double y) {
      return softplus(x) - x * y;
    }

    @Override
    public boolean accepts(float label) {
      return soft ? label >= 0 && label <= 1 : label == 0 || label == 1;
    }

    @Override
    public String toString() {
      return soft ? "soft-bce" : "bce";
    }
  }

  /**
   * {@code (x - y)^2}; the logit itself is the prediction. For example, the loss of {@code x = 3}
   * and {@code y = 1} is 4. The best prediction of equal rows is the mean of their labels.
   */
  record SquaredError() implements Loss {
    @Override
    public Tensor of(Tensor logits, Tensor labels) {
      return logits.sub(labels).square();
    }

    @Override
    public double value(double x, double y) {
      return (x - y) * (x - y);
    }

    @Override
    public String toString() {
      return "mse";
    }
  }

  /**
   * {@code |x - y|}; the logit itself is the prediction. For example, the loss of {@code x = 3} and
   * {@code y = 1} is 2. The best prediction of equal rows is the median of their labels. Its
   * gradient is 0 at 0.
   */
  record AbsoluteError() implements Loss {
    @Override
    public Tensor of(Tensor logits, Tensor labels) {
      return logits.sub(labels).abs();
    }

    @Override
    public double value(double x, double y) {
      return Math.abs(x - y);
    }

    @Override
    public String toString() {
      return "mae";
    }
  }

  /**
   * The square of small errors and the absolute value of large ones (Huber, "Robust Estimation of a
   * Location Parameter", 1964), with {@code r = |x - y|}:
   *
   * <pre>
   * r^2 / 2                where r is at most delta
   * delta (r - delta / 2)  elsewhere
   * </pre>
   *
   * The logit itself is the prediction. For example, with {@code delta = 1} the loss of an error of
   * 0.5 is 0.125, and that of an error of 3 is 2.5.
   *
   * @param delta the error from which on the loss is linear, above 0
   */
  record Huber(float delta) implements Loss {
    public Huber {
      require(delta > 0 && delta < Float.POSITIVE_INFINITY, "delta", delta, "above 0");
    }

    /** {@code a (r - a / 2)} where {@code a} is the smaller of {@code r} and {@code delta}. */
    @Override
    public Tensor of(Tensor logits, Tensor labels) {
      Tensor error = logits.sub(labels).abs();
      Tensor cut = error.min(Tensor.scalar(delta));
      return cut.mul(error.sub(cut.mul(0.5f)));
    }

    @Override
    public double value(double x, double y) {
      double error = Math.abs(x - y);
      return error <= delta ? error * error / 2 : delta * (error - delta / 2.0);
    }

    @Override
    public String toString() {
      return "huber(delta=" + delta + ")";
    }
  }

  /**
   * Of counts whose mean is {@code exp(x)}, the negative logarithm of their probability by the
   * Poisson distribution, without the term {@code log(y!)}, which no prediction changes (McCullagh
   * and Nelder, "Generalized Linear Models", 1989, chapter 6):
   *
   * <pre>
   * exp(x) - x y
   * </pre>
   *
   * For example, the loss of {@code x = log 3} and {@code y = 2} is 3 - 2.197 = 0.803. Labels are 0
   * or more, and need not be whole. The best prediction of equal rows is the mean of their labels.
   */
  record Poisson() implements Loss {
    @Override
    public Tensor of(Tensor logits, Tensor labels) {
      return logits.exp().sub(logits.mul(labels));
    }

    @Override
    public double value(double x, double y) {
      return Math.exp(x) - x * y;
    }

    @Override
    public float predicted(float logit) {
      return Pointwise.exp(logit);
    }

    @Override
    public boolean accepts(float label) {
      return label >= 0 && label < Float.POSITIVE_INFINITY;
    }

    @Override
    public String toString() {
      return "poisson";
    }
  }

  /**
   * Cross entropy of labels 0 and 1 in which rows that are predicted well count less (Lin et al.,
   * "Focal Loss for Dense Object Detection", 2017). With the probability {@code q} of the row's
   * label and {@code a = alpha} for the label 1, {@code 1 - alpha} for 0:
   *
   * <pre>
   * -a (1 - q)^gamma log(q)
   * </pre>
   *
   * For example, with {@code gamma = 2} and {@code alpha = 0.25} the loss of {@code x = 0} and
   * {@code y = 1} is 0.25 * 0.25 * 0.693 = 0.0433. It is not proper: its probabilities order rows,
   * but are drawn to 1/2 and, unless {@code alpha} is 1/2, to one side. Calibration tells how far.
   *
   * @param gamma how much less they count, 0 or more; 0 is cross entropy times {@code a}
   * @param alpha weight of the label 1, above 0 and below 1
   */
  record Focal(float gamma, float alpha) implements Loss {
    public Focal {
      require(gamma >= 0 && gamma < Float.POSITIVE_INFINITY, "gamma", gamma, "0 or more");
      require(alpha > 0 && alpha < 1, "alpha", alpha, "above 0 and below 1");
    }

    /**
     * With {@code z} the logit of the row's label, {@code 1 - q = exp(-softplus(z))} and {@code
     * -log(q) = softplus(-z)}.
     */
    @Override
    public Tensor of(Tensor logits, Tensor labels) {
      Tensor z = logits.mul(labels.mul(2).sub(1));
      Tensor weight = labels.mul(2 * alpha - 1).add(1 - alpha);
      return z.softplus().mul(-gamma).exp().mul(z.neg().softplus()).mul(weight);
    }

    @Override
    public double value(double x, double y) {
      double q = 1 / (1 + Math.exp(y == 1 ? -x : x));
      double weight = y == 1 ? alpha : 1 - (double) alpha;
      return weight * Math.pow(1 - q, gamma) * softplus(y == 1 ? -x : x);
    }

    @Override
    public boolean accepts(float label) {
      return label == 0 || label == 1;
    }

    @Override
    public String toString() {
      return "focal(gamma=" + gamma + ", alpha=" + alpha + ")";
    }
  }

  /**
   * The part of one class in the cross entropy of a label that is one of {@code K} classes ({@link
   * Task#ofClasses}). The model's {@code K} logits {@code u} of a row become, of each class, the
   * log-odds of that class against all others,
   *
   * <pre>
   * x[k] = u[k] - log(sum of exp(u[j]) over j other than k)
   * </pre>
   *
   * so that {@code 1 / (1 + exp(-x[k]))} is {@code softmax(u)[k]}: the probabilities of the classes
   * sum to 1. With {@code y = 1} for the row's class and 0 for others the loss is
   *
   * <pre>
   * y log(1 + exp(-x)) = -y log(softmax(u)[k])
   * </pre>
   *
   * and that of all classes together is the cross entropy (Bridle, "Probabilistic Interpretation of
   * Feedforward Classification Network Outputs", 1990). For example, with {@code u = (0, 0, log 2)}
   * the probabilities are 1/4, 1/4 and 1/2, and the loss of a row of the last class is log 2 =
   * 0.693.
   *
   * @param number of the class, from 0
   * @param classes how many there are, 2 to {@link #MOST_CLASSES}
   */
  record OfClass(int number, int classes) implements Loss {
    /** Classes at most: a row takes the square of their number of floats in a step. */
    public static final int MOST_CLASSES = 100;

    public OfClass {
      require(classes >= 2 && classes <= MOST_CLASSES, "classes", classes, "from 2 to 100");
      require(number >= 0 && number < classes, "class", number, "from 0 to " + (classes - 1));
    }

    @Override
    public Tensor of(Tensor logits, Tensor labels) {
      return logits.neg().softplus().mul(labels);
    }

    @Override
    public double value(double x, double y) {
      return y * softplus(-x);
    }

    @Override
    public boolean accepts(float label) {
      return label == 0 || label == 1;
    }

    @Override
    public String toString() {
      return "softmax(class=" + number + ", classes=" + classes + ")";
    }
  }

  /**
   * Of pairs of rows with one value of a column, such as a user, one labelled 1 and one labelled 0:
   * how far the second has the higher score ({@link PairwiseLoss}, BPR). Scores order the rows of a
   * group, and are no probabilities. All tasks of a model have this loss, or none has.
   *
   * @param group the column, a slot of the rows trained on; the model need not read it
   */
  record Pairwise(String group) implements Loss {
    public Pairwise {
      Objects.requireNonNull(group, "group");
      if (group.isEmpty()) {
        throw new IllegalArgumentException(
            "loss: got no column of groups for bpr, expected the name of one; name the column whose"
                + " rows are compared");
      }
    }

    /**
     * None: a row alone has no loss.
     *
     * @throws UnsupportedOperationException always
     */
    @Override
    public Tensor of(Tensor logits, Tensor labels) {
      throw ofPairs();
    }

    /**
     * None, as {@link #of}.
     *
     * @throws UnsupportedOperationException always
     */
    @Override
    public double value(double x, double y) {
      throw ofPairs();
    }

    private static UnsupportedOperationException ofPairs() {
      return new UnsupportedOperationException(
          "loss bpr: got single rows, expected pairs of rows; take PairwiseLoss");
    }

    @Override
    public boolean accepts(float label) {
      return label == 0 || label == 1;
    }

    @Override
    public String toString() {
      return "bpr(group=" + group + ")";
    }
  }

  /** The loss of each logit against the label of the same place, in their shape. */
  Tensor of(Tensor logits, Tensor labels);

  /** The loss of one logit, computed plainly in doubles. */
  double value(double x, double y);

  /** What a logit predicts: a probability, or the value itself. */
  default float predicted(float logit) {
    return isOfProbability() ? Pointwise.sigmoid(logit) : logit;
  }

  /** Whether a row may have the label: by default any finite number. */
  default boolean accepts(float label) {
    return Float.isFinite(label);
  }

  /** Which labels there may be, in words. */
  default String accepted() {
    return switch (this) {
      case BinaryCrossEntropy(boolean soft) -> soft ? "0 to 1" : "0 or 1";
      case Focal _, Pairwise _ -> "0 or 1";
      case OfClass(_, int classes) -> "a whole number from 0 to " + (classes - 1);
      case Poisson _ -> "a finite number of 0 or more";
      case SquaredError _, AbsoluteError _, Huber _ -> "a finite number";
    };
  }

  /** Whether the prediction is a probability of the label 1, which may be soft. */
  default boolean isOfProbability() {
    return this instanceof BinaryCrossEntropy || this instanceof Focal || this instanceof OfClass;
  }

  /** Whether labels are 0 and 1, or between, so that scores have an AUC. */
  default boolean hasAuc() {
    return isOfProbability() || this instanceof Pairwise;
  }

  private static double softplus(double x) {
    return Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
  }

  private static void require(boolean holds, String name, float got, String expected) {
    if (!holds) {
      throw new IllegalArgumentException(
          "loss: got the %s %s, expected a number %s; give another".formatted(name, got, expected));
    }
  }
}
