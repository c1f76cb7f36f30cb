package dev.tern.internal.kernel.warmup;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class VectorFormTest {
  /** Counts its runs in memory of the caller. */
  interface Counter {
    void count(int[] runs);
  }

  /** The scalar form. */
  static final class Slow implements Counter {
    @Override
    public void count(int[] runs) {
      runs[0]++;
    }
  }

  /** The vector form. */
  static final class Fast implements Counter {
    @Override
    public void count(int[] runs) {
      runs[0]++;
    }
  }

  private static final VectorForm.Code<Counter> CODE =
      new VectorForm.Code<>(
          Counter.class,
          Fast.class,
          arena -> {
            int[] runs = new int[1];
            return new VectorForm.Driver<>(kernel -> {}, kernel -> kernel.count(runs));
          });

  private final Slow slow = new Slow();
  private final List<Counter> used = new ArrayList<>();

  private VectorForm<Counter> form() {
    List<VectorForm<Counter>> form = new ArrayList<>();
    form.add(new VectorForm<>(CODE, slow, () -> used.add(form.getFirst().active())));
    return form.getFirst();
  }

  /** As the warm-up thread does with code that comes to box in use. */
  private void replace(Warmup.Candidate trial) {
    trial.withdraw();
    trial.renew();
    trial.adopt();
  }

  @Test
  void theScalarFormServesUntilTheVectorFormIsCompiled() {
    VectorForm<Counter> form = form();
    assertThat(form.active()).isSameAs(slow);
    form.new Trial().adopt();
    assertThat(form.active()).isNotSameAs(slow);
    assertThat(form.isVector()).isTrue();
  }

  @Test
  void codeThatIsWithdrawnIsOutOfUseUntilACopyIs() {
    Warmup.Candidate trial = form().new Trial();
    trial.adopt();
    trial.round(Warmup.Round.LARGE);
    replace(trial);
    assertThat(used).hasSize(3);
    assertThat(used.get(1)).isSameAs(slow);
    assertThat(used.get(2)).isNotSameAs(used.get(0)).isNotSameAs(slow);
  }

  @Test
  void codeIsReplacedAFewTimesAtMost() {
    Warmup.Candidate trial = form().new Trial();
    trial.adopt();
    int replaced = 0;
    while (trial.isWatched()) {
      replace(trial);
      replaced++;
    }
    assertThat(replaced).isBetween(1, 10);
    assertThat(used.getLast()).isNotSameAs(slow);
  }

  @Test
  void codeOfWhichNoCopyServesStaysOutOfUse() {
    VectorForm<Counter> form = form();
    Warmup.Candidate trial = form.new Trial();
    trial.adopt();
    trial.withdraw();
    trial.giveUp();
    assertThat(form.active()).isSameAs(slow);
    assertThat(form.isPending()).isFalse();
  }

  @Test
  void kernelsThatDoNothingAreOfClassesOfTheirOwn() {
    List<Counter> idle = HiddenClasses.idle(Counter.class);
    int[] runs = new int[1];
    idle.forEach(kernel -> kernel.count(runs));
    assertThat(runs[0]).isZero();
    assertThat(idle.stream().map(Object::getClass).distinct()).hasSize(3);
  }
}
