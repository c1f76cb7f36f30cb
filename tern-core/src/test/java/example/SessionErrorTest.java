package example;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.Shape;
import dev.tern.tensor.Device;
import dev.tern.tensor.Session;
import dev.tern.tensor.Tensor;
import org.junit.jupiter.api.Test;

/** Outside of Tern's packages, as users are. */
final class SessionErrorTest {
  @Test
  void anErrorNamesTheOpAndTheLineOfTheUserThatHadItRun() {
    Tensor x = Tensor.of(Shape.of(2, 2), 1, 2, 3, 4);
    Tensor bad = x.gather(Tensor.ofLongs(Shape.of(1), 9)).exp();
    Tensor poisoned = bad.sum();
    try (Device device = Device.cpu(1, 1 << 20);
        Session session = device.session(1 << 16)) {
      askFor(session, bad);
      session.run(poisoned);
      assertThatThrownBy(() -> session.get(poisoned))
          .hasMessageContaining("Gather[gaps=false] F32[1, 2]")
          .hasMessageContaining("example.SessionErrorTest.askFor(SessionErrorTest.java:")
          .hasMessageContaining("expected 0 to 1");
    }
  }

  private static void askFor(Session session, Tensor tensor) {
    session.run(tensor);
  }
}
