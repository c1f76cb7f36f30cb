package dev.tern.internal.table.rows;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.base.DType;
import dev.tern.embedding.Floats;
import dev.tern.embedding.SelectedRows;
import dev.tern.embedding.config.TableConfig;
import dev.tern.internal.kernel.VectorSupport;
import dev.tern.internal.memory.Allocator;
import dev.tern.optim.Optimizer;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which objects of the row arithmetic threads may share, and that nothing outlives its owner. */
final class RowStateTest {
  private static final int WIDTH = 17;
  private static final int ROWS = StepBlock.ROWS;
  private static final int ROUNDS = 300;

  /** Types of fields of objects that threads share. */
  private static final Set<Class<?>> IMMUTABLE =
      Set.of(TableConfig.class, InitialRows.class, RowReads.class, BagPairs.class);

  private final Allocator allocator = Allocator.of(1L << 26);

  @ParameterizedTest
  @ValueSource(classes = {RowReads.class, BagPairs.class, UpdateLoops.class, Pooling.class})
  void whatThreadsShareNeverChanges(Class<?> type) {
    for (Field field : fields(type, false)) {
      boolean plain = field.getType().isPrimitive() || field.getType().isEnum();
      assertThat(Modifier.isFinal(field.getModifiers())).as("%s", field).isTrue();
      assertThat(plain || IMMUTABLE.contains(field.getType())).as("%s", field).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(
      classes = {
        SelectedRows.class,
        RowReads.class,
        UpdateLoops.class,
        ScalarSteps.class,
        RowSteps.class,
        RowUpdates.class,
        RowSlabs.class,
      })
  void nothingIsKeptForTheWholeProcess(Class<?> type) {
    for (Field field : fields(type, true)) {
      assertThat(Modifier.isFinal(field.getModifiers())).as("%s", field).isTrue();
      assertThat(field.getType().isPrimitive()).as("%s", field).isTrue();
    }
  }

  private static List<Field> fields(Class<?> type, boolean ofType) {
    return Stream.of(type.getDeclaredFields())
        .filter(field -> Modifier.isStatic(field.getModifiers()) == ofType)
        .filter(field -> !field.isSynthetic())
        .toList();
  }

  @Test
  void threadsReadAndUpdateThroughTheSameLoopsEachWithABlockOfItsOwn() throws Exception {
    RowReads reads = RowReads.of(VectorSupport.available(), DType.F32);
    UpdateLoops updates = new UpdateLoops(VectorSupport.available());
    float[] expected = work(reads, updates);
    try (ExecutorService threads = Executors.newFixedThreadPool(3)) {
      List<Future<float[]>> results = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        results.add(threads.submit(() -> work(reads, updates)));
      }
      for (Future<float[]> result : results) {
        assertThat(result.get()).isEqualTo(expected);
      }
    }
    assertThat(allocator.live()).isZero();
  }

  /** Updates rows of its own many times, and returns what it reads of them afterwards. */
  private float[] work(RowReads reads, UpdateLoops updates) {
    int stride = WIDTH + 1;
    try (Floats rows = new Floats(allocator, ROWS * stride);
        Floats gradients = new Floats(allocator, ROWS * WIDTH);
        Floats out = new Floats(allocator, ROWS * WIDTH)) {
      for (int i = 0; i < rows.length; i++) {
        rows.set(i, 1f / (1 + i));
      }
      StepBlock block = new StepBlock();
      block.weights =
          IntStream.range(0, ROWS).mapToLong(i -> rows.address + 4L * stride * i).toArray();
      block.states = block.weights;
      block.gradients.at(gradients.address, 4L * WIDTH).rows(0, ROWS).columns(0, WIDTH);
      OptimizerStep step = new OptimizerStep(Optimizer.rowWiseAdagrad(0.1f), WIDTH, 0.01f);
      for (int round = 1; round <= ROUNDS; round++) {
        for (int i = 0; i < gradients.length; i++) {
          gradients.set(i, (i * round) % 13 - 6);
        }
        updates.clip(2, block);
        updates.update(step.at(0.1f, round), block);
      }
      MatrixBlock copy = new MatrixBlock().at(out.address, 4L * WIDTH).rows(0, ROWS);
      int[] order = IntStream.range(0, ROWS).toArray();
      reads.gather(block.weights, order, copy.columns(0, WIDTH));
      return out.toArray();
    }
  }
}
