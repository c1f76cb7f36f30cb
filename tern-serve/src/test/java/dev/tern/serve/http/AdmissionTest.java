package dev.tern.serve.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

final class AdmissionTest {
  private final AtomicLong clock = new AtomicLong();
  private final ArrayDeque<Runnable> threads = new ArrayDeque<>();
  private final List<String> told = new ArrayList<>();
  private final Admission admission =
      new Admission(
          ServeLimits.DEFAULT.withInFlight(1, 2, Duration.ofMillis(100)), threads::add, clock::get);

  /** A request that says what becomes of it, and does something while it runs. */
  private Admission.Request request(String name, Runnable work) {
    return new Admission.Request() {
      @Override
      public boolean run(boolean brief) {
        told.add(name + " ran");
        work.run();
        return false;
      }

      @Override
      public void refuse(boolean isFull) {
        told.add(name + (isFull ? " found it full" : " waited too long"));
      }
    };
  }

  private Admission.Request request(String name) {
    return request(name, () -> {});
  }

  private void submit(Admission.Request request) {
    admission.submit(request, true);
  }

  @Test
  void aRequestRunsAtOnceWhereThereIsRoom() {
    submit(request("a"));
    submit(request("b"));
    assertThat(told).containsExactly("a ran", "b ran");
    assertThat(admission.running()).isZero();
  }

  @Test
  void aRequestThatIsNotForThisThreadRunsOnAnother() {
    admission.submit(request("a"), false);
    assertThat(told).isEmpty();
    assertThat(admission.running()).isEqualTo(1);
    threads.remove().run();
    assertThat(told).containsExactly("a ran");
    assertThat(admission.running()).isZero();
  }

  @Test
  void aRequestThatTakesLongGoesOnOnAnotherThreadAndKeepsItsPlace() {
    Admission narrow =
        new Admission(
            ServeLimits.DEFAULT.withInFlight(1, 0, Duration.ofMillis(100)),
            threads::add,
            clock::get);
    Admission.Request isLong =
        new Admission.Request() {
          @Override
          public boolean run(boolean brief) {
            told.add(brief ? "brief" : "long");
            return brief;
          }

          @Override
          public void refuse(boolean isFull) {
            told.add("refused");
          }
        };
    narrow.submit(isLong, true);
    assertThat(told).containsExactly("brief");
    assertThat(narrow.running()).isEqualTo(1);
    narrow.submit(request("other"), true);
    assertThat(told).containsExactly("brief", "other found it full");
    threads.remove().run();
    assertThat(told).containsExactly("brief", "other found it full", "long");
    assertThat(narrow.running()).isZero();
    narrow.submit(request("next"), true);
    assertThat(told).endsWith("next ran");
  }

  @Test
  void aRequestGoesToAnotherThreadWhereManyRunThatTakeLong() {
    Admission wide =
        new Admission(
            ServeLimits.DEFAULT.withInFlight(1_000, 2, Duration.ofMillis(100)),
            threads::add,
            clock::get);
    int processors = Runtime.getRuntime().availableProcessors();
    for (int i = 0; i < processors; i++) {
      wide.submit(request("early"), false);
    }
    wide.submit(request("late"), true);
    assertThat(told).isEmpty();
    assertThat(threads).hasSize(processors + 1);
    threads.forEach(Runnable::run);
    threads.clear();
    told.clear();
    wide.submit(request("later"), true);
    assertThat(told).containsExactly("later ran");
    assertThat(wide.running()).isZero();
  }

  @Test
  void aRequestThatNoThreadTakesGivesItsPlaceBack() {
    Admission ended =
        new Admission(
            ServeLimits.DEFAULT,
            work -> {
              throw new RejectedExecutionException();
            },
            clock::get);
    ended.submit(request("a"), false);
    assertThat(told).containsExactly("a waited too long");
    assertThat(ended.running()).isZero();
  }

  @Test
  void requestsWaitInOrderAndTheOneTooManyIsRefused() {
    submit(
        request(
            "a",
            () -> {
              submit(request("b"));
              assertThat(admission.isFull()).isFalse();
              submit(request("c"));
              assertThat(admission.isFull()).isTrue();
              submit(request("d"));
            }));
    while (!threads.isEmpty()) {
      threads.remove().run();
    }
    assertThat(told).containsExactly("a ran", "d found it full", "b ran", "c ran");
    assertThat(admission.running()).isZero();
    assertThat(admission.waiting()).isZero();
  }

  @Test
  void aRequestThatWaitedForTooLongIsRefusedWhetherOrNotAnotherEnds() {
    submit(
        request(
            "a",
            () -> {
              submit(request("b"));
              clock.set(Duration.ofMillis(60).toNanos());
              submit(request("c"));
              clock.set(Duration.ofMillis(101).toNanos());
              admission.expire();
              assertThat(told).containsExactly("a ran", "b waited too long");
              clock.set(Duration.ofMillis(161).toNanos());
            }));
    assertThat(told).containsExactly("a ran", "b waited too long", "c waited too long");
    assertThat(threads).isEmpty();
    assertThat(admission.running()).isZero();
  }

  @Test
  void aRequestThatFailsGivesItsPlaceBack() {
    try {
      submit(
          request(
              "a",
              () -> {
                throw new IllegalStateException("broken");
              }));
    } catch (IllegalStateException e) {
      told.add("thrown");
    }
    submit(request("b"));
    assertThat(told).containsExactly("a ran", "thrown", "b ran");
  }
}
