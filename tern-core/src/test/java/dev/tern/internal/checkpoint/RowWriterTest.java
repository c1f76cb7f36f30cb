package dev.tern.internal.checkpoint;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DType;
import dev.tern.internal.memory.Memory;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class RowWriterTest {
  @TempDir Path folder;

  private void write(int announced, int written) {
    RowShape shape = new RowShape(DType.F32, 2, 1, 0);
    SafeTensors.Layout layout = RowWriter.layout(shape, announced);
    try (Arena arena = Arena.ofConfined();
        SafeTensors file =
            SafeTensors.create(folder.resolve(announced + "-" + written), layout, Map.of())) {
      RowWriter rows = new RowWriter(shape, file, announced);
      long values = Memory.allocate(arena, shape.packedBytes(), 8, "test").address();
      for (int i = 0; i < written; i++) {
        rows.append(new long[] {i}, values, 1);
      }
      rows.requireAll();
    }
  }

  @Test
  void rowsThatComeOrGoWhileATableIsWrittenAreAnError() {
    assertThatCode(() -> write(3, 3)).doesNotThrowAnyException();
    assertThatThrownBy(() -> write(3, 2))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContainingAll("got 2 rows", "had 3", "let nobody change tables");
    assertThatThrownBy(() -> write(3, 4))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContainingAll("got 4 rows", "had 3");
  }
}
