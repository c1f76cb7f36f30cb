package dev.tern.onnx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import dev.tern.base.DataException;
import dev.tern.data.Reading;
import dev.tern.internal.onnx.ElementType;
import dev.tern.model.ModelConfig;
import dev.tern.onnx.layers.LayeredImport;
import dev.tern.train.DrawnRun;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Whatever a file holds, an import ends with a model or a refusal, in little memory. */
final class OnnxDamageTest {
  /** What an import may allocate; whole models take a few megabytes. */
  private static final long MOST_BYTES = 96L << 20;

  /** Fields that hold messages, by the numbers of fields from the model on. */
  private static final Set<String> MESSAGES =
      Set.of("/7", "/8", "/14", "/7/1", "/7/1/5", "/7/5", "/7/5/13", "/7/11", "/7/11/2", "/7/12");

  private static final int VARINT = 0;
  private static final int LENGTH = 2;
  private static final int FIXED32 = 5;

  private static final byte[] HUGE = {-1, -1, -1, -1, -1, -1, -1, -1, 0x7F};

  @TempDir private Path folder;
  private int count;

  /** Models to be damaged. */
  private enum Kind {
    EXPORT {
      @Override
      void write(Path file) {
        Path checkpoint = file.resolveSibling("checkpoint");
        ExportedRun run = ExportedRun.of(DrawnRun.of(ModelConfig.Type.LR, 0), checkpoint);
        OnnxExport.write(run.checkpoint(), file, OnnxOptions.DEFAULT);
      }
    },
    FOREIGN {
      @Override
      void write(Path file) {
        ForeignModel model = new ForeignModel();
        Graph g = model.graph();
        String ids = g.node("Add", model.ids("ids", 4, 2), g.integers(0, 4));
        String flat = g.reshape(model.embedding("e", 8, 3, ids), -1, 6);
        String x = g.concat(1, List.of(flat, g.slice(model.numbers("x", 4), 1, 1, 3)));
        String y = g.node("Sigmoid", model.linear("out", 8, 1, x));
        g.output("y", y, ElementType.FLOAT, new Graph.Dim.Open("batch"));
        model.write(file);
      }
    };

    abstract void write(Path file);
  }

  /** Small files of models that are large. */
  private enum Hungry {
    PLACES(g -> {
      String x = input(g, 1, 1 << 16);
      return g.gather(x, g.longs("places", new long[] {1 << 16}, new long[1 << 16]), 1);
    }),
    COLUMNS(g -> g.concat(1, Collections.nCopies(4000, input(g, 1 << 16)))),
    SIZES(g -> {
      String sizes = g.longs("sizes", new long[] {1 << 14}, new long[1 << 14]);
      return g.node("Reshape", input(g, 2), g.concat(0, Collections.nCopies(1 << 14, sizes)));
    }),
    PARTS(g -> {
      String x = g.node("Relu", input(g, 1 << 14));
      String all = g.concat(1, Collections.nCopies(1 << 12, x));
      return g.slice(all, 1, 1, 1 << 25);
    });

    private final Function<Graph, String> make;

    Hungry(Function<Graph, String> make) {
      this.make = make;
    }

    private static String input(Graph g, long... sizes) {
      List<Graph.Dim> dims = new ArrayList<>(List.of(new Graph.Dim.Open("batch")));
      Arrays.stream(sizes).forEach(size -> dims.add(new Graph.Dim.Fixed(size)));
      return g.input("x", ElementType.FLOAT, dims.toArray(Graph.Dim[]::new));
    }
  }

  @ParameterizedTest
  @EnumSource
  void memoryIsCountedBeforeItIsTaken(Hungry hungry) throws IOException {
    Graph graph = new Graph();
    String y = hungry.make.apply(graph);
    graph.output("y", y, ElementType.FLOAT, new Graph.Dim.Open("batch"));
    Path file = folder.resolve("hungry.onnx");
    new ModelFile(graph, "main_graph", Map.of(), OnnxOptions.DEFAULT.inlineBytes())
        .write(file, () -> {});
    assertThat(isRead(Files.readAllBytes(file))).isFalse();
  }

  private byte[] made(Kind kind) throws IOException {
    Path file = folder.resolve("model.onnx");
    kind.write(file);
    return Files.readAllBytes(file);
  }

  /** Whether a model is read; anything but an import and a refusal fails the test. */
  private boolean isRead(byte[] model) throws IOException {
    Path file = folder.resolve("model.onnx");
    Files.write(file, model);
    Path target = folder.resolve("imported" + count++);
    long before = allocated();
    try {
      if (OnnxImport.isExport(file)) {
        OnnxImport.write(file, target);
      } else {
        LayeredImport.write(file, LayeredImport.Names.DEFAULT, _ -> Reading.PLAIN, target);
      }
      assertThat(target).exists();
      return true;
    } catch (DataException e) {
      assertThat(e).hasMessageContaining("got").hasMessageContaining("expected");
      assertThat(target).doesNotExist();
      return false;
    } finally {
      assertThat(allocated() - before).isLessThan(MOST_BYTES);
    }
  }

  private static long allocated() {
    return ((ThreadMXBean) ManagementFactory.getThreadMXBean()).getCurrentThreadAllocatedBytes();
  }

  private static byte[] with(byte[] model, int at, byte... bytes) {
    byte[] damaged = model.clone();
    System.arraycopy(bytes, 0, damaged, at, Math.min(bytes.length, damaged.length - at));
    return damaged;
  }

  /** Up to {@code most} of some places, evenly. */
  private static List<Integer> some(List<Integer> places, int most) {
    List<Integer> some = new ArrayList<>();
    int step = Math.max(1, places.size() / most);
    for (int i = 0; i < places.size(); i += step) {
      some.add(places.get(i));
    }
    return some;
  }

  /** The places of the tags of all fields, in messages within messages, too. */
  private static List<Integer> tags(byte[] model) {
    List<Integer> tags = new ArrayList<>();
    walk(model, 0, model.length, "", tags);
    return tags;
  }

  private static void walk(byte[] bytes, int from, int to, String path, List<Integer> tags) {
    int at = from;
    while (at < to) {
      tags.add(at);
      long tag = varint(bytes, at);
      at += Message.varintBytes(tag);
      String field = path + "/" + (tag >>> 3);
      long value = (tag & 7) == FIXED32 ? 4 : varint(bytes, at);
      at += (tag & 7) == FIXED32 ? 0 : Message.varintBytes(value);
      if ((tag & 7) == LENGTH && MESSAGES.contains(field)) {
        walk(bytes, at, at + (int) value, field, tags);
      }
      at += (tag & 7) == VARINT ? 0 : (int) value;
    }
  }

  private static long varint(byte[] bytes, int from) {
    long value = 0;
    for (int i = 0; i < 10; i++) {
      value |= (long) (bytes[from + i] & 0x7F) << 7 * i;
      if (bytes[from + i] >= 0) {
        break;
      }
    }
    return value;
  }

  @ParameterizedTest
  @EnumSource
  void aFileThatEndsEarlyIsRefusedOrItsEndIsNotNeeded(Kind kind) throws IOException {
    byte[] model = made(kind);
    assertThat(isRead(model)).isTrue();
    int refused = 0;
    Set<Integer> ends = new HashSet<>(some(tags(model), 60));
    ends.addAll(some(tags(model).stream().map(tag -> tag + 1).toList(), 30));
    ends.remove(model.length);
    for (int end : ends) {
      refused += isRead(Arrays.copyOf(model, end)) ? 0 : 1;
    }
    assertThat(refused).isGreaterThan(ends.size() / 2);
  }

  @ParameterizedTest
  @EnumSource
  void aFieldOfAnyLengthOrNumberIsHeldToItsMessage(Kind kind) throws IOException {
    byte[] model = made(kind);
    int refused = 0;
    List<Integer> places = some(tags(model), 40);
    for (int tag : places) {
      refused += isRead(with(model, tag + 1, HUGE)) ? 0 : 1;
    }
    assertThat(refused).isPositive();
    for (int tag : some(places, 20)) {
      isRead(with(model, tag, (byte) 0));
      isRead(with(model, tag, (byte) (model[tag] ^ 0x18)));
      isRead(with(model, tag + 1, (byte) 0));
    }
  }

  @ParameterizedTest
  @EnumSource
  void bitsThatFlipAnywhereNeverBreakTheReader(Kind kind) throws IOException {
    byte[] model = made(kind);
    Random random = new Random(5);
    int refused = 0;
    for (int round = 0; round < 60; round++) {
      byte[] damaged = model.clone();
      for (int i = 0; i < 1 + round % 4; i++) {
        int at = random.nextInt(damaged.length);
        damaged[at] = (byte) (damaged[at] ^ 1 << random.nextInt(8));
      }
      refused += isRead(damaged) ? 0 : 1;
    }
    assertThat(refused).isPositive();
  }

  private void requireRefused(Message model, String part) throws IOException {
    Path file = folder.resolve("model.onnx");
    Messages.write(file, model);
    assertThatThrownBy(() -> OnnxImport.isExport(file))
        .isInstanceOf(DataException.class)
        .hasMessageContaining(part);
    assertThat(isRead(model.toByteArray())).isFalse();
  }

  @Test
  void sizesAreRefusedBeforeThereAreMany() throws IOException {
    byte[] many = new byte[1 << 22]; // So many sizes, packed, each of one byte.
    Message packed = new Message().message(5, new Message().bytes(1, many));
    requireRefused(new Message().message(7, packed), "got more than 8 sizes at byte");
    Message listed = new Message().message(5, new Message().bytes(7, many));
    requireRefused(new Message().message(7, listed), "got more than 65536 integers at byte");
    Message single = new Message();
    for (int i = 0; i < 9; i++) {
      single.number(1, 1);
    }
    requireRefused(
        new Message().message(7, new Message().message(5, single)), "got more than 8 sizes");
  }

  @Test
  void messagesWithinMessagesAreRefusedHoweverDeep() throws IOException {
    Message deep = new Message();
    for (int i = 0; i < 500; i++) {
      // A node with an attribute whose value is a graph with such a node.
      deep = new Message().message(1, new Message().message(5, new Message().message(6, deep)));
    }
    assertThat(isRead(new Message().message(7, deep).toByteArray())).isFalse();
    Message recipe = new Message().text(1, "tern.recipe").text(2, "[".repeat(100_000));
    Message format = new Message().text(1, "tern.format").text(2, "1");
    assertThat(
            isRead(
                new Message()
                    .message(7, new Message())
                    .message(14, recipe)
                    .message(14, format)
                    .toByteArray()))
        .isFalse();
  }

  @Test
  void manySmallThingsAreRefusedBeforeTheyTakeMuchMemory() throws IOException {
    Message tensors = new Message();
    for (int i = 0; i <= 1 << 16; i++) {
      tensors.message(5, new Message().text(8, Integer.toString(i, 36)));
    }
    requireRefused(new Message().message(7, tensors), "got more than 65536 tensors");
    Message properties = new Message().message(7, new Message());
    for (int i = 0; i <= 1 << 12; i++) {
      properties.message(14, new Message().text(1, Integer.toString(i)));
    }
    requireRefused(properties, "got more than 4096 properties");
  }

  @Test
  void columnsAreRefusedBeforeThereAreTooMany() throws IOException {
    Message size = new Message().message(1, new Message().number(1, 7));
    Message large = new Message().message(1, new Message().number(1, Long.MAX_VALUE));
    Message shape = new Message().all(size).all(large);
    Message type = new Message().message(1, new Message().number(1, 1).message(2, shape));
    Message graph =
        new Message()
            .message(11, new Message().text(1, "x").message(2, type))
            .message(12, new Message().text(1, "x"));
    Message model = new Message().message(8, new Message().number(2, 18)).message(7, graph);
    assertThat(isRead(model.toByteArray())).isFalse();
  }
}
