package dev.tern.cli.files;

import dev.tern.cli.config.ConfigException;
import dev.tern.cli.config.DataConfig;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.NumberEncoding;
import dev.tern.data.encode.TextDictionary;
import java.util.List;
import java.util.Optional;
import java.util.function.LongConsumer;

/**
 * The encodings of columns that a configuration asks for.
 *
 * @param dictionary texts of columns that are kept
 */
record Encodings(DataConfig config, TextDictionary dictionary) {
  /**
   * Fits them on a pass of {@code training}; they grow from the ones of {@code earlier}, if any.
   */
  FeatureEncoder fit(DataReader training, Optional<FeatureEncoder> earlier, LongConsumer progress) {
    Schema schema = training.schema();
    List<NumberEncoding> numbers = schema.dense().stream().map(this::ofNumber).toList();
    List<IdEncoding> ids = schema.slots().stream().map(this::ofSlot).toList();
    try {
      FeatureEncoder fitted =
          earlier.isPresent()
              ? earlier.get().grown(training, numbers, ids, config.tables(), dictionary, progress)
              : FeatureEncoder.fit(training, numbers, ids, config.tables(), dictionary, progress);
      return fitted.withSequences(config.sequences());
    } catch (IllegalArgumentException e) {
      throw new ConfigException("data.sparse: " + e.getMessage(), e);
    }
  }

  private NumberEncoding ofNumber(String column) {
    return config
        .group(column)
        .map(group -> group.encoding(column))
        .orElseGet(NumberEncoding::auto);
  }

  private IdEncoding ofSlot(Slot slot) {
    Optional<DataConfig.Sparse> group =
        config.sparse().stream()
            .filter(g -> g.columns().contains(slot.name()))
            .findFirst()
            .or(() -> config.sparse().stream().filter(g -> g.columns().isEmpty()).findFirst());
    return group.map(DataConfig.Sparse::encoding).orElseGet(IdEncoding::verbatim);
  }
}
