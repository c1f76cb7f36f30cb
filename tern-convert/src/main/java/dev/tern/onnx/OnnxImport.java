package dev.tern.onnx;

import dev.tern.base.DataException;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.checkpoint.ModelRecipe;
import dev.tern.embedding.EmbeddingTable;
import dev.tern.embedding.config.RowBlock;
import dev.tern.embedding.config.TableConfig;
import dev.tern.internal.checkpoint.AtomicFolder;
import dev.tern.internal.checkpoint.RowShape;
import dev.tern.internal.checkpoint.SavedTable;
import dev.tern.internal.checkpoint.TableFile;
import dev.tern.internal.json.Json;
import dev.tern.internal.memory.OutOfBudgetException;
import dev.tern.internal.onnx.ElementType;
import dev.tern.internal.onnx.SavedModel;
import dev.tern.internal.onnx.TensorData;
import dev.tern.model.Network;
import dev.tern.tensor.Device;
import dev.tern.tensor.Variable;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

/**
 * Makes a checkpoint of a model that {@link OnnxExport} wrote. Its scores are the same, to the bit.
 * Optimizers begin anew, and so do policies that give and take rows: every id may get one.
 *
 * <p>The model says by itself what it is made of, so models of other tools are refused: {@code
 * LayeredImport} takes these.
 */
public final class OnnxImport {
  /** The property that all exports of Tern have. */
  private static final String FORMAT = "tern.format";

  private OnnxImport() {}

  /**
   * What was read.
   *
   * @param parameters numbers of the dense part
   * @param tableRows rows of all tables
   */
  public record Summary(long parameters, long tableRows) {}

  /**
   * Whether a model is an export of Tern; {@code LayeredImport} takes others.
   *
   * @throws DataException if the file is damaged
   */
  public static boolean isExport(Path model) {
    return SavedModel.read(model).properties().containsKey(FORMAT);
  }

  /**
   * Writes a checkpoint with the weights of {@code model}.
   *
   * @param target a new folder, which appears whole or not at all
   * @throws DataException if the file is damaged, or no export of Tern with {@link
   *     OnnxOptions.Ids#GRAPH}, or something is at {@code target}
   */
  public static Summary write(Path model, Path target) {
    SavedModel saved = SavedModel.read(model);
    String recipe = saved.properties().get(OnnxExport.RECIPE);
    if (recipe == null) {
      throw saved.fault(
          saved.properties().containsKey(FORMAT)
              ? "a model whose caller finds the rows of ids"
              : "a model without the property " + OnnxExport.RECIPE,
          "an export of Tern whose graph finds them");
    }
    try {
      return write(saved, ModelRecipe.fromJson(recipe, model.toString()), target);
    } catch (IllegalArgumentException | OutOfBudgetException e) {
      throw new DataException(
          "%s: got a model that cannot be made (%s), expected sizes and columns that fit its tensors; the file is damaged"
              .formatted(model, e.getMessage()),
          e);
    }
  }

  private static Summary write(SavedModel saved, ModelRecipe recipe, Path target) {
    Path beside = target.toAbsolutePath();
    // Several imports may have one target: the first to end succeeds.
    Path empty =
        beside.resolveSibling(
            ".%s.%s.importing".formatted(beside.getFileName(), UUID.randomUUID()));
    try {
      Summary summary;
      try (TensorData data = new TensorData(saved);
          Device device = Device.cpu(1, saved.memory())) {
        long parameters = writeLayers(saved, recipe, data, device, empty);
        summary = new Summary(parameters, writeTables(saved, recipe, data, empty, target));
      }
      AtomicFolder.delete(empty);
      return summary;
    } catch (IOException e) {
      throw AtomicFolder.unwritten(target, e);
    } catch (RuntimeException | Error e) {
      discard(empty, e);
      throw e;
    }
  }

  private static void discard(Path folder, Throwable because) {
    try {
      AtomicFolder.delete(folder);
    } catch (IOException e) {
      because.addSuppressed(e);
    }
  }

  /** Writes a checkpoint with the weights of layers, and tables without rows of ids. */
  private static long writeLayers(
      SavedModel saved, ModelRecipe recipe, TensorData data, Device device, Path empty) {
    TrainOptions options =
        TrainOptions.of(recipe.optimizer()).tables(_ -> recipe.tables()).seed(recipe.seed());
    try (Trainer trainer = Trainer.create(device, recipe.encoder(), recipe.model(), options)) {
      Network network = trainer.network();
      Set<String> unread = unread(saved);
      long parameters = 0;
      for (Variable variable : network.variables()) {
        long[] dims = Arrays.stream(variable.shape().toArray()).asLongStream().toArray();
        if (unread.contains(variable.name())) {
          continue;
        }
        variable.set(data.floats(saved.require(variable.name(), ElementType.FLOAT, dims)));
        parameters += variable.shape().elements();
      }
      for (EmbeddingTable table : network.tables().tables()) {
        if (table.config().unknown().buckets() > 0) {
          table.restoreBuckets(buckets(saved, table.config(), data));
        }
      }
      trainer.save(empty);
      return parameters;
    }
  }

  /** Parameters that scoring does not read: they begin anew. */
  private static Set<String> unread(SavedModel saved) {
    String names = saved.properties().getOrDefault(OnnxExport.UNREAD, "[]");
    return Json.parse(names, saved.path().toString()).asArray(OnnxExport.UNREAD).stream()
        .map(name -> name.asText(OnnxExport.UNREAD))
        .collect(Collectors.toSet());
  }

  private static RowBlock.Source buckets(SavedModel saved, TableConfig config, TensorData data) {
    ImportedTable table = ImportedTable.of(saved, config);
    int[] at = {0};
    return block -> {
      int count = Math.min(block.room(), config.unknown().buckets() - at[0]);
      block.setCount(count);
      byte[] weights = data.bytes(table.rows(), table.count() + at[0], count, table.rowBytes());
      MemorySegment.copy(weights, 0, block.weights(), ValueLayout.JAVA_BYTE, 0, weights.length);
      float[] state = config.rule().initialState(config.width());
      for (int i = 0; i < count; i++) {
        block.ids()[i] = at[0] + i;
        MemorySegment.copy(
            state, 0, block.state(), ValueLayout.JAVA_FLOAT, 4L * i * state.length, state.length);
      }
      at[0] += count;
      return count > 0;
    };
  }

  private static long writeTables(
      SavedModel saved, ModelRecipe recipe, TensorData data, Path empty, Path target) {
    Checkpoint layers = Checkpoint.open(empty);
    Map<Integer, Long> rows = new HashMap<>();
    layers.rewrite(
        target,
        1,
        (number, _, file) -> {
          String name = layers.tables().get(number);
          List<Path> files = layers.tableFiles(number);
          RowShape shape = RowShape.of(files.getLast());
          ImportedTable table =
              ImportedTable.of(saved, name, shape.storage(), shape.width(), buckets(recipe));
          try (SavedTable skeleton = SavedTable.open(files, shape)) {
            float[] state = layers.initialState(number, shape.width(), shape.state());
            TableFile.write(file, name, table.source(saved, data, state), table.count(), skeleton);
          }
          rows.put(number, table.count());
        });
    return rows.values().stream().mapToLong(Long::longValue).sum();
  }

  private static int buckets(ModelRecipe recipe) {
    return recipe.tables().unknown().buckets();
  }
}
