package dev.tern.train;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.base.Shape;
import dev.tern.tensor.Computation;
import dev.tern.tensor.Device;
import dev.tern.tensor.StepProfile;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class FlightRecordingTest {
  private static final int SIZE = 64;
  private static final int LAYERS = 10;

  @TempDir private Path folder;

  /** Layers {@code x = tanh(x w)}, whose gradient reads all of them. */
  private static Computation deep(Device device, Variable x, Variable w) {
    Tensor y = x.tensor();
    for (int i = 0; i < LAYERS; i++) {
      y = y.matmul(w.tensor()).tanh();
    }
    List<Tensor> gradients = Tensor.gradients(y.sum(), List.of(w.tensor()));
    return Computation.of(device, gradients, Map.of());
  }

  private static List<RecordedEvent> named(List<RecordedEvent> all, String name) {
    return all.stream().filter(event -> event.getEventType().getName().equals(name)).toList();
  }

  @Test
  void recordsStepsAllocationsAndWhatIsDroppedAndComputedAgain() throws IOException {
    Path file = folder.resolve("run.jfr");
    StepProfile profile;
    try (Recording recording = new Recording();
        Device device = Device.cpu(1, 1 << 24, 16 * 4 * SIZE * SIZE)) {
      recording.start();
      try (Variable x = Variable.zeros(device, "x", Shape.of(SIZE, SIZE));
          Variable w = Variable.zeros(device, "w", Shape.of(SIZE, SIZE));
          Computation computation = deep(device, x, w)) {
        computation.run();
        profile = computation.profile();
      }
      recording.stop();
      recording.dump(file);
    }
    List<RecordedEvent> all = new ArrayList<>(RecordingFile.readAllEvents(file));
    List<RecordedEvent> steps = named(all, "dev.tern.Step");
    assertThat(steps.stream().map(step -> step.getString("what")))
        .containsExactlyElementsOf(profile.steps().stream().map(StepProfile.Step::what).toList());
    assertThat(steps.stream().map(step -> step.getBoolean("again")))
        .containsExactlyElementsOf(profile.steps().stream().map(StepProfile.Step::isAgain).toList())
        .contains(true);
    List<RecordedEvent> drops = named(all, "dev.tern.Drop");
    assertThat(drops).isNotEmpty();
    assertThat(drops).allMatch(drop -> drop.getLong("bytes") >= 4 * SIZE * SIZE);
    assertThat(named(all, "dev.tern.Allocation").stream().map(event -> event.getString("holder")))
        .contains("x", "w");
  }

  @Test
  void aRecordingThatBeginsInTheMiddleOfARunHasTheStepsBehindIt() throws IOException {
    Path file = folder.resolve("run.jfr");
    try (Recording recording = new Recording();
        Device device = Device.cpu(1, 1 << 24);
        Variable x = Variable.zeros(device, "x", Shape.of(SIZE, SIZE));
        Variable w = Variable.zeros(device, "w", Shape.of(SIZE, SIZE));
        Computation computation = deep(device, x, w)) {
      computation.run();
      recording.start();
      computation.run();
      recording.stop();
      recording.dump(file);
      assertThat(named(RecordingFile.readAllEvents(file), "dev.tern.Step"))
          .hasSize(computation.profile().steps().size());
    }
  }
}
