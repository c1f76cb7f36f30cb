package dev.tern.onnx;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Sequence;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.NumberEncoding;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.readers.Readers;
import dev.tern.model.ModelFactory;
import dev.tern.nn.Features;
import dev.tern.nn.Model;
import dev.tern.optim.Optimizer;
import dev.tern.predict.Predictor;
import dev.tern.tensor.Ragged;
import dev.tern.tensor.SequencePooling;
import dev.tern.tensor.Tensor;
import dev.tern.train.TrainOptions;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Ops in models of one's own, exported, beside what the predictor computes of them. */
final class OwnModelTest {
  private static final int WIDTH = 4;
  private static final int LONGEST = 5;
  private static final Schema SCHEMA =
      new Schema(
          Stream.of(Ops.values()).map(Ops::name).toList(),
          List.of("number"),
          List.of(Slot.oneHot("item"), Slot.ragged("seen")));

  @TempDir private Path folder;

  /** Logits of a sequence of rows {@code [n, 4]} and of a number and a vector of each row. */
  private enum Ops {
    ELEMENTWISE((x, f) -> elementwise(f.embedded().reshape(f.batch(), WIDTH)).sum(1)),
    COMPARISONS((x, f) -> comparisons(f.embedded().reshape(f.batch(), WIDTH)).sum(1)),
    ROUNDED((x, f) -> {
      Tensor v = f.embedded().reshape(f.batch(), WIDTH);
      return v.cast(DType.BF16).cast(DType.F32).add(v.cast(DType.F16).cast(DType.F32)).sum(1);
    }),
    POOLED((x, f) -> {
      Tensor sum = Tensor.zeros(Shape.of(f.batch(), WIDTH));
      for (SequencePooling kind : SequencePooling.values()) {
        sum = sum.add(x.pool(kind)).mul(1.5f);
      }
      return sum.sum(1);
    }),
    REVERSED((x, f) -> x.reverse().pool(SequencePooling.LAST).mul(weights()).sum(1)),
    TRUNCATED((x, f) -> x.truncate(2).pool(SequencePooling.MEAN).sum(1)),
    ERASED((x, f) -> x.erase(x.positions(), 0, 3).pool(SequencePooling.MAX).sum(1)),
    ENUMERATED((x, f) -> {
      Tensor pairs = x.enumerate(2, 0.5f).values().reshape(x.rows(), 2 * WIDTH);
      return x.with(pairs).pool(SequencePooling.LAST).sum(1);
    }),
    RESHAPED((x, f) -> x.reshape(2).pool(SequencePooling.MEAN).sum(1)),
    SLICED((x, f) -> {
      Tensor from = Tensor.ofInts(Shape.of(f.batch()), new int[f.batch()]);
      Tensor lengths = x.lengths().cast(DType.F32).min(Tensor.scalar(2)).cast(DType.I32);
      return x.slice(from, lengths).pool(SequencePooling.SUM).sum(1);
    }),
    JOINED((x, f) -> {
      Ragged both = Ragged.concat(List.of(x, x.reverse(), x));
      return both.softmax().pool(SequencePooling.LAST).sum(1);
    }),
    SPLIT((x, f) -> {
      Ragged both = Ragged.merge(List.of(x, x.reverse()));
      Ragged second = both.split(f.batch(), f.batch()).get(1);
      return second.pool(SequencePooling.FIRST).mul(weights()).sum(1);
    }),
    SCATTERED((x, f) -> {
      Tensor columns = x.positions().cast(DType.F32).min(Tensor.scalar(2)).cast(DType.I32);
      Tensor zeros = Tensor.zeros(Shape.of(f.batch(), 3));
      return x.with(x.values().sum(1)).scatter(zeros, columns).square().sum(1);
    }),
    MULTIPLIED((x, f) -> {
      Tensor products = x.products(x.reverse(), LONGEST).reshape(f.batch(), WIDTH * WIDTH);
      Tensor mask = x.mask(LONGEST).cast(DType.F32).mul(0.5f);
      return products.sum(1).add(x.weightedSum(mask).sum(1));
    }),
    LARGEST((x, f) -> x.topMeans(2).reshape(f.batch(), WIDTH).sum(1));

    private final BiFunction<Ragged, Features, Tensor> logits;

    Ops(BiFunction<Ragged, Features, Tensor> logits) {
      this.logits = logits;
    }

    private static Tensor weights() {
      return Tensor.of(Shape.of(1, WIDTH), 1, -2, 3, -4);
    }

    private static Tensor elementwise(Tensor v) {
      Tensor sum = v.neg().add(v.exp()).add(v.tanh()).add(v.sigmoid()).add(v.softplus());
      sum = sum.add(v.erf()).add(v.relu()).add(v.square()).add(v.abs()).add(v.sign());
      Tensor positive = v.abs().add(0.5f);
      sum = sum.add(positive.sqrt()).add(positive.rsqrt()).add(positive.reciprocal());
      return sum.add(positive.log()).add(v.div(positive));
    }

    private static Tensor comparisons(Tensor v) {
      Tensor zero = Tensor.scalar(0);
      Tensor picked = v.gt(zero).select(v, v.mul(3)).add(v.le(zero)).add(v.eq(v));
      return picked.add(v.max(Tensor.scalar(0.1f))).sub(v.min(Tensor.scalar(-0.1f)));
    }
  }

  /** A model with a logit for each of the ops. */
  private static final class AllOps implements Model {
    @Override
    public int embeddingWidth() {
      return WIDTH;
    }

    @Override
    public boolean readsSequences() {
      return true;
    }

    @Override
    public Tensor logits(Features x) {
      List<Tensor> columns = new ArrayList<>();
      for (Ops ops : Ops.values()) {
        Tensor logit = ops.logits.apply(x.sequence("seen"), x).add(x.dense().reshape(-1));
        columns.add(logit.reshape(-1, 1));
      }
      return Tensor.concat(1, columns);
    }
  }

  private static Batch rows(int count) {
    Batch rows = new Batch(SCHEMA, count);
    for (int row = 0; row < count; row++) {
      rows.setDense(0, row % 4 == 0 ? Float.NaN : row * 0.1f);
      if (row % 5 > 0) {
        rows.addId(0, row % 7);
      }
      for (int i = 0; i < row % 8; i++) {
        rows.addId(1, (row + i * i) % 9);
      }
      for (int label = 0; label < SCHEMA.labelDim(); label++) {
        rows.setLabel(label, row % 2);
      }
      rows.endRow();
    }
    return rows;
  }

  private Checkpoint saved(ModelFactory factory) {
    Batch rows = rows(40);
    FeatureEncoder encoder =
        FeatureEncoder.fit(
                Readers.inMemory(rows),
                List.of(NumberEncoding.standardize()),
                List.of(IdEncoding.verbatim(), IdEncoding.verbatim()),
                Map.of("seen", "item"),
                TextDictionary.none(),
                _ -> {})
            .withSequences(Map.of("seen", Sequence.last("seen", LONGEST)));
    TrainOptions options =
        TrainOptions.of(Optimizer.adam(0.01f)).batch(40).tables(t -> t.initRange(0.5f));
    ExportedRun.save(encoder, factory, options, rows, folder.resolve("checkpoint"));
    return Checkpoint.open(folder.resolve("checkpoint"));
  }

  @Test
  void opsComputeTheSame() {
    ModelFactory factory = (_, _) -> new AllOps();
    Checkpoint checkpoint = saved(factory);
    Path model = folder.resolve("model.onnx");
    OnnxExport.write(checkpoint, factory, model, OnnxOptions.DEFAULT);
    Batch rows = rows(33);
    int count = Ops.values().length;
    float[] logits = new float[rows.size() * count];
    try (OrtScores scores = new OrtScores(model);
        Predictor predictor = Predictor.open(folder.resolve("checkpoint"), factory)) {
      predictor.logits(rows, logits);
      Map<String, float[]> outputs =
          scores.run(rows, checkpoint.encoder().rawSchema(), (_, id) -> id);
      for (Ops ops : Ops.values()) {
        float[] expected = new float[rows.size()];
        for (int row = 0; row < expected.length; row++) {
          expected[row] = logits[row * count + ops.ordinal()];
        }
        ExportedRun.requireNear(expected, outputs.get(ops.name() + ".logit"), ops.name());
      }
    }
  }
}
