package dev.tern.onnx.layers;

import dev.tern.base.DataException;
import dev.tern.convert.ImportReport;
import dev.tern.convert.ImportedModel;
import dev.tern.data.Reading;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.internal.memory.OutOfBudgetException;
import dev.tern.internal.onnx.SavedModel;
import dev.tern.internal.onnx.TensorData;
import dev.tern.tensor.Device;
import dev.tern.tensor.Variable;
import dev.tern.train.Trainer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Makes a checkpoint of an ONNX model that another tool wrote, such as one of PyTorch with {@code
 * nn.Embedding}: its nodes become the layers of a graph of Tern, embeddings that columns of data
 * choose rows of become tables. The checkpoint scores, trains on and is served as any other.
 *
 * <pre>{@code
 * LayeredImport.write(
 *     Path.of("deepfm.onnx"), LayeredImport.Names.DEFAULT, _ -> Reading.PLAIN, target);
 * }</pre>
 */
public final class LayeredImport {
  private LayeredImport() {}

  /**
   * Names of the columns of data.
   *
   * @param labels of what the outputs predict; empty for the one name "label", or those of several
   *     outputs
   * @param numbers of the inputs' columns that layers compute with, in the order of the inputs;
   *     empty for names of the inputs, with a number behind where they have several columns
   * @param slots of the inputs' columns that choose rows of embeddings; empty likewise
   */
  public record Names(List<String> labels, List<String> numbers, List<String> slots) {
    /** The names that the model gives. */
    public static final Names DEFAULT = new Names(List.of(), List.of(), List.of());

    /** Copies the lists. */
    public Names {
      labels = List.copyOf(labels);
      numbers = List.copyOf(numbers);
      slots = List.copyOf(slots);
    }
  }

  /**
   * Writes a checkpoint.
   *
   * @param reading how files of rows are read
   * @param target a new folder, which appears whole or not at all
   * @throws DataException if the file is damaged, or has nodes that Tern's layers do not compute
   */
  public static ImportReport write(
      Path model, Names names, Function<ImportedModel, Reading> reading, Path target) {
    SavedModel saved = SavedModel.read(model);
    try (TensorData data = new TensorData(saved)) {
      ModelTranslation.Result result = ModelTranslation.of(model, saved, data, names);
      return write(saved, result, data, reading, target);
    } catch (IllegalArgumentException | OutOfBudgetException e) {
      throw new DataException(
          "%s: got a model that cannot be made (%s), expected layers and columns that fit its tensors"
              .formatted(model, e.getMessage()),
          e);
    }
  }

  private static ImportReport write(
      SavedModel saved,
      ModelTranslation.Result result,
      TensorData data,
      Function<ImportedModel, Reading> reading,
      Path target) {
    FeatureEncoder encoder = result.made().encoder(reading.apply(result.made()));
    try (Device device = Device.cpu(1, saved.memory());
        Trainer trainer = result.made().trainer(encoder, device)) {
      long rows = 0;
      for (EmbeddingReads.Table table : result.tables()) {
        trainer.network().begin(table.name(), table.width(), table.vectors());
        rows += table.count();
      }
      long parameters = 0;
      for (Variable variable : trainer.network().variables()) {
        parameters += fill(saved, variable, result.parameters(), data);
      }
      trainer.save(target);
      return new ImportReport(result.made(), parameters, rows, result.notes());
    }
  }

  private static int fill(
      SavedModel saved,
      Variable variable,
      Map<String, GraphBuilder.Weights> weights,
      TensorData data) {
    GraphBuilder.Weights own = weights.get(variable.name());
    if (own == null) {
      throw new AssertionError(variable.name()); // Each layer was made with its weights.
    }
    float[] values = own.read(data);
    for (int i = 0; i < values.length; i++) {
      if (!Float.isFinite(values[i])) {
        throw new DataException(
            "%s: got the weight %s as number %d of %s, expected a finite number; the training diverged, or the file is damaged"
                .formatted(saved.path(), values[i], i, variable.name()));
      }
    }
    variable.set(values);
    return values.length;
  }
}
