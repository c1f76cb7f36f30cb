package dev.tern.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tern.base.Shape;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Labels that are classes, beside softmax and its cross entropy in plain Java. */
final class ClassLogitsTest {
  private static double[] softmax(double[] u) {
    double sum = 0;
    double[] p = new double[u.length];
    for (int k = 0; k < u.length; k++) {
      sum += p[k] = Math.exp(u[k]);
    }
    for (int k = 0; k < u.length; k++) {
      p[k] /= sum;
    }
    return p;
  }

  private static float[] drawn(int rows, int tasks, double scale) {
    SplittableRandom random = new SplittableRandom(3);
    float[] u = new float[rows * tasks];
    for (int i = 0; i < u.length; i++) {
      u[i] = (float) (scale * random.nextGaussian());
    }
    return u;
  }

  private static TaskLabels labels(List<Task> tasks, String... columns) {
    return TaskLabels.of(new Schema(List.of(columns), List.of(), List.of()), tasks);
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 10, 100})
  void predictionsAreTheSoftmaxAndGradientsTheirDistanceFromTheLabel(int classes) {
    int rows = 7;
    TaskLabels tasks = labels(Task.ofClasses("kind", classes), "kind");
    float[] u = drawn(rows, classes, 3);
    float[] y = new float[rows * classes];
    for (int row = 0; row < rows; row++) {
      y[row * classes + row % classes] = 1;
    }
    Tensor logits = Tensor.of(Shape.of(rows, classes), u);
    Tensor odds = tasks.classLogits().against(logits);
    Tensor losses = tasks.losses(odds, Tensor.of(Shape.of(rows, classes), y));
    float[] gradients = Tensor.gradients(losses.sum(), List.of(logits)).getFirst().toArray();
    float[] predicted = odds.toArray();
    tasks.predict(predicted, rows);
    float[] loss = losses.sum(1).toArray();
    for (int row = 0; row < rows; row++) {
      double[] own = new double[classes];
      for (int k = 0; k < classes; k++) {
        own[k] = u[row * classes + k];
      }
      double[] p = softmax(own);
      assertThat((double) loss[row]).isCloseTo(-Math.log(p[row % classes]), within(2e-5));
      for (int k = 0; k < classes; k++) {
        int at = row * classes + k;
        assertThat((double) predicted[at]).isCloseTo(p[k], within(1e-6));
        assertThat((double) gradients[at]).isCloseTo(p[k] - y[at], within(2e-6));
      }
    }
  }

  @Test
  void theExampleOfTheDocumentationHolds() {
    TaskLabels tasks = labels(Task.ofClasses("kind", 3), "kind");
    Tensor logits = Tensor.of(Shape.of(1, 3), 0, 0, (float) Math.log(2));
    float[] odds = tasks.classLogits().against(logits).toArray();
    assertThat(new Loss.OfClass(2, 3).value(odds[2], 1)).isCloseTo(0.693, within(5e-4));
    tasks.predict(odds, 1);
    assertThat(odds).containsExactly(new float[] {0.25f, 0.25f, 0.5f}, within(1e-7f));
  }

  @Test
  void farLogitsKeepTheirDigits() {
    TaskLabels tasks = labels(Task.ofClasses("kind", 3), "kind");
    Tensor logits = Tensor.of(Shape.of(2, 3), 60, -60, 0, -500, 800, 3);
    Tensor odds = tasks.classLogits().against(logits);
    assertThat(odds.toArray())
        .containsExactly(new float[] {60, -120, -60, -1300, 797, -797}, within(1e-3f));
    Tensor ones = Tensor.full(Shape.of(2, 3), 1);
    Tensor loss = tasks.losses(odds, ones).sum();
    for (float value : Tensor.gradients(loss, List.of(logits)).getFirst().toArray()) {
      assertThat(value).isFinite();
    }
  }

  @Test
  void otherTasksStayAsTheyAre() {
    List<Task> tasks = new ArrayList<>(List.of(Task.of("click")));
    tasks.addAll(Task.ofClasses("kind", 2));
    tasks.add(Task.of("price").withLoss(Loss.SQUARED_ERROR));
    tasks.addAll(Task.ofClasses("size", 3));
    TaskLabels all = labels(tasks, "click", "kind", "price", "size");
    float[] u = drawn(5, 7, 1);
    float[] odds = all.classLogits().against(Tensor.of(Shape.of(5, 7), u)).toArray();
    for (int row = 0; row < 5; row++) {
      int at = row * 7;
      assertThat(odds[at]).isEqualTo(u[at]);
      assertThat(odds[at + 3]).isEqualTo(u[at + 3]);
      assertThat(odds[at + 1]).isCloseTo(u[at + 1] - u[at + 2], within(1e-5f));
      assertThat(odds[at + 2]).isEqualTo(-odds[at + 1], within(1e-5f));
    }
    assertThat(all.classLogits().groups())
        .containsExactly(new ClassLogits.Group("kind", 1, 2), new ClassLogits.Group("size", 4, 3));
  }

  @ParameterizedTest
  @CsvSource({"0, 1, 0", "1, 0, 1", "2, 2, 2", "-1, -1, -1", "0.5, 0.5, 0.5", "NaN, NaN, NaN"})
  void aLabelThatIsNoClassStaysWhatItIsAndIsRefused(float label, Float first, Float second) {
    Schema schema = new Schema(List.of("kind"), List.of(), List.of());
    List<Task> classes = Task.ofClasses("kind", 2);
    TaskLabels tasks = TaskLabels.of(schema, classes);
    Batch batch = new Batch(schema, 1);
    batch.setLabel(0, label);
    batch.endRow();
    assertThat(tasks.label(batch, 0, 0)).isEqualTo(first);
    assertThat(tasks.label(batch, 0, 1)).isEqualTo(second);
    assertThat(classes.getFirst().loss().accepts(first)).isEqualTo(label == 0 || label == 1);
  }

  @Test
  void classesThatAreNotAllThereInOrderAreRefused() {
    List<Task> three = Task.ofClasses("kind", 3);
    for (List<Task> wrong :
        List.of(
            three.subList(0, 2),
            three.subList(1, 3),
            List.of(three.get(1), three.get(0), three.get(2)),
            List.of(three.get(0), three.get(1).withWeight(2), three.get(2)),
            List.of(three.get(0), three.get(1), Task.of("click"), three.get(2)))) {
      assertThatThrownBy(() -> labels(wrong, "kind", "click"))
          .as("%s", wrong)
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("of kind side by side");
    }
  }

  @Test
  void aClassIsNoConditionOfOtherTasks() {
    List<Task> tasks = new ArrayList<>(Task.ofClasses("kind", 2));
    tasks.add(Task.of("click").within("kind"));
    assertThatThrownBy(() -> labels(tasks, "kind", "click"))
        .hasMessageContaining("task click: got rows within kind, whose loss is softmax");
  }

  @Test
  void namesAndNumbersOfClassesAreChecked() {
    assertThat(Task.ofClasses("a=b", 2).getLast().column()).isEqualTo("a=b");
    assertThat(Task.of("kind=1").column()).isEqualTo("kind=1");
    assertThatThrownBy(() -> Task.of("kind").withLoss(new Loss.OfClass(1, 2)))
        .hasMessageContaining("expected a name that ends with =1");
    assertThatThrownBy(() -> new Loss.OfClass(3, 3)).hasMessageContaining("got the class 3");
    assertThatThrownBy(() -> new Loss.OfClass(0, 1)).hasMessageContaining("got the classes 1");
    assertThatThrownBy(() -> new Loss.OfClass(0, 101)).hasMessageContaining("from 2 to 100");
  }
}
