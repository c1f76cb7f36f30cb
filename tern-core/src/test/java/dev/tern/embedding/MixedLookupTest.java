package dev.tern.embedding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.Workers;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.TableOptions;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.optim.Optimizer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tables with rows of unequal widths, looked up together, beside tables that are used alone. */
final class MixedLookupTest {
  private static final int ROWS = 30;
  private static final int ROOM = ROWS * 8;

  /** Widths of the last parts of rows: of a few columns, of several vectors of them, of one. */
  private static final List<Integer> WIDTHS = List.of(4, 37, 1);

  private static final List<Integer> OF_SLOTS = List.of(0, 1, 0, 2, 1);

  /** How the tables are looked up. */
  enum Form {
    WHOLE(List.of(), List.of()),
    PARTS(List.of(1, 2), List.of()),
    SEQUENCES(List.of(), List.of(List.of(2, 4), List.of(3)));

    private final List<Integer> front;
    private final List<List<Integer>> sequences;

    Form(List<Integer> front, List<List<Integer>> sequences) {
      this.front = front;
      this.sequences = sequences;
    }

    private int before() {
      return front.stream().mapToInt(Integer::intValue).sum();
    }

    private int width(int slot) {
      return WIDTHS.get(OF_SLOTS.get(slot));
    }

    private List<Integer> pooled() {
      return IntStream.range(0, OF_SLOTS.size())
          .boxed()
          .filter(slot -> sequences.stream().noneMatch(members -> members.contains(slot)))
          .toList();
    }

    private int sum(List<Integer> slots) {
      return slots.stream().mapToInt(this::width).sum();
    }

    /** Floats of each part, then of each sequence, of the largest batch. */
    private List<Integer> floats() {
      List<Integer> all = new ArrayList<>();
      front.forEach(width -> all.add(ROWS * pooled().size() * width));
      all.add(ROWS * sum(pooled()));
      sequences.forEach(members -> all.add(ROOM * sum(members)));
      return all;
    }

    private List<MemorySegment> segments(MemorySegment memory) {
      List<MemorySegment> all = new ArrayList<>();
      long at = 0;
      for (int floats : floats()) {
        all.add(memory.asSlice(at, 4L * floats));
        at += 4L * floats;
      }
      return all;
    }

    /** Where column {@code j} of the row of a slot lies, by the definition of the lookup. */
    private int index(int slot, int row, int position, int j) {
      int part = 0;
      int column = j;
      while (part < front.size() && column >= front.get(part)) {
        column -= front.get(part++);
      }
      List<Integer> members = pooled();
      int vector = row;
      int segment = part;
      if (!members.contains(slot)) {
        int q = sequences.get(0).contains(slot) ? 0 : 1;
        members = sequences.get(q);
        vector = position;
        segment = front.size() + 1 + q;
      }
      int base = floats().subList(0, segment).stream().mapToInt(Integer::intValue).sum();
      int place = members.indexOf(slot);
      return part < front.size()
          ? base + (row * members.size() + place) * front.get(part) + column
          : base + vector * sum(members) + sum(members.subList(0, place)) + column;
    }
  }

  private final Allocator allocator = Allocator.of(1L << 28);

  @AfterEach
  void closedTablesHoldNoMemory() {
    assertThat(allocator.live()).isZero();
  }

  private List<EmbeddingTable> tables(Form form) {
    TableOptions options = TableOptions.of(Optimizer.adagrad(1)).initRange(0.5f).l2(0.01f);
    List<EmbeddingTable> tables = new ArrayList<>();
    for (int t = 0; t < WIDTHS.size(); t++) {
      int width = form.before() + WIDTHS.get(t);
      tables.add(EmbeddingTable.create(new TableConfig("t" + t, t, width, 42, options), allocator));
    }
    return tables;
  }

  private static Batch batch(SplittableRandom random) {
    List<Slot> slots = IntStream.range(0, 5).mapToObj(s -> Slot.ragged("s" + s)).toList();
    Batch batch = new Batch(new Schema(List.of(), List.of(), slots), ROWS);
    for (int b = 0; b < ROWS; b++) {
      int length = random.nextInt(7); // Slots 2 and 4 are one sequence.
      for (int slot = 0; slot < 5; slot++) {
        int count = slot == 2 || slot == 4 ? length : random.nextInt(4);
        for (int i = 0; i < count; i++) {
          batch.addId(slot, random.nextInt(random.nextBoolean() ? 300 : 10));
        }
      }
      batch.endRow();
    }
    return batch;
  }

  /** The slot, row and place of an id. */
  private record Position(int slot, int row, int place, long id) {
    static List<Position> of(Batch batch, int table) {
      List<Position> all = new ArrayList<>();
      for (int slot = 0; slot < OF_SLOTS.size(); slot++) {
        for (int row = 0; row < ROWS && OF_SLOTS.get(slot) == table; row++) {
          for (int i = batch.offsets(slot)[row]; i < batch.offsets(slot)[row + 1]; i++) {
            all.add(new Position(slot, row, i, batch.ids(slot)[i]));
          }
        }
      }
      return all;
    }

    static Lookup find(List<Position> all, EmbeddingTable table) {
      Lookup lookup = new Lookup();
      long[] ids = all.stream().mapToLong(Position::id).toArray();
      table.find(ids, ids.length, lookup, true);
      return lookup;
    }
  }

  /** What the lookup must write: the sum of the rows of each slot, or each row of a sequence. */
  private static float[] expected(Form form, Batch batch, List<EmbeddingTable> plain) {
    float[] out = new float[form.floats().stream().mapToInt(Integer::intValue).sum()];
    for (int t = 0; t < plain.size(); t++) {
      List<Position> all = Position.of(batch, t);
      int width = plain.get(t).config().width();
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment rows = arena.allocate(4L * all.size() * width, 4);
        plain.get(t).ragged(Position.find(all, plain.get(t)), rows);
        for (int i = 0; i < all.size(); i++) {
          Position at = all.get(i);
          for (int j = 0; j < width; j++) {
            float value = rows.getAtIndex(ValueLayout.JAVA_FLOAT, (long) i * width + j);
            out[form.index(at.slot, at.row, at.place, j)] += value;
          }
        }
      }
    }
    return out;
  }

  /** Gives each position the gradient of its vector, and the plain tables one step of them. */
  private static void apply(
      Form form, Batch batch, List<EmbeddingTable> plain, float[] gradients, int step) {
    for (int t = 0; t < plain.size(); t++) {
      List<Position> all = Position.of(batch, t);
      int width = plain.get(t).config().width();
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment rows = arena.allocate(4L * all.size() * width, 4);
        for (int i = 0; i < all.size(); i++) {
          Position at = all.get(i);
          for (int j = 0; j < width; j++) {
            float value = gradients[form.index(at.slot, at.row, at.place, j)];
            rows.setAtIndex(ValueLayout.JAVA_FLOAT, (long) i * width + j, value);
          }
        }
        Bags single = Bags.single(all.size());
        Lookup lookup = Position.find(all, plain.get(t));
        plain.get(t).apply(lookup, single, rows, width, 0.1f, step);
      }
    }
  }

  private static List<String> rows(EmbeddingTable table) {
    List<String> rows = new ArrayList<>();
    int floats = table.config().rowFloats();
    table.exportTo((ids, segment, count) -> {
      for (int i = 0; i < count; i++) {
        int[] row = new int[floats];
        for (int j = 0; j < floats; j++) {
          row[j] = Memory.getInt(segment.address() + 4L * (i * floats + j));
        }
        rows.add(ids[i] + Arrays.toString(row));
      }
    });
    return rows;
  }

  @ParameterizedTest
  @EnumSource(Form.class)
  void eachSlotHasVectorsOfItsWidthAndEachTableTakesOneStepOfAllGradients(Form form) {
    SplittableRandom random = new SplittableRandom(11);
    List<EmbeddingTable> plain = tables(form);
    int floats = form.floats().stream().mapToInt(Integer::intValue).sum();
    try (Arena arena = Arena.ofShared();
        SlotTables slots = new SlotTables(tables(form), OF_SLOTS, Combiner.SUM);
        Workers workers = Workers.of(2);
        BatchLookup lookup = slots.newMixedLookup(form.front, form.sequences)) {
      MemorySegment vectors = arena.allocate(4L * floats, 64);
      MemorySegment gradients = arena.allocate(4L * floats, 64);
      Batch batch = batch(random);
      for (int step = 1; step <= 25; step++) {
        vectors.fill((byte) 0);
        lookup.find(workers, batch, true, form.segments(vectors));
        assertThat(vectors.toArray(ValueLayout.JAVA_FLOAT)).isEqualTo(expected(form, batch, plain));
        float[] drawn = new float[floats];
        for (int i = 0; i < floats; i++) {
          drawn[i] = (float) random.nextGaussian();
        }
        MemorySegment.copy(drawn, 0, gradients, ValueLayout.JAVA_FLOAT, 0, floats);
        lookup.apply(workers, form.segments(gradients), 0.1f, step);
        apply(form, batch, plain, drawn, step);
        batch = batch(random);
        lookup.lookAhead(batch);
      }
      for (int t = 0; t < WIDTHS.size(); t++) {
        assertThat(rows(slots.tables().get(t))).isEqualTo(rows(plain.get(t))).isNotEmpty();
      }
    } finally {
      plain.forEach(EmbeddingTable::close);
    }
  }

  @Test
  void partsInFrontThatLeaveNoFloatForTheLastAreRefused() {
    try (SlotTables slots = new SlotTables(tables(Form.WHOLE), OF_SLOTS, Combiner.SUM)) {
      assertThatThrownBy(() -> slots.newMixedLookup(List.of(1), List.of()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("table t2: got rows with parts of widths [1] in front");
      assertThatThrownBy(() -> slots.newLookup(List.of(4)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("table t1: got rows in parts of widths [4]");
    }
    try (SlotTables slots = new SlotTables(tables(Form.PARTS), OF_SLOTS, Combiner.SUM)) {
      assertThatThrownBy(() -> slots.newMixedLookup(List.of(1), List.of(List.of(0))))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("and sequences, expected rows of one part");
    }
  }
}
