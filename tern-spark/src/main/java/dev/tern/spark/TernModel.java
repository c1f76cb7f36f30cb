package dev.tern.spark;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.List;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.fs.Path;
import org.apache.spark.ml.Model;
import org.apache.spark.ml.linalg.SQLDataTypes;
import org.apache.spark.ml.param.Param;
import org.apache.spark.ml.param.ParamMap;
import org.apache.spark.ml.util.DefaultParamsReader$;
import org.apache.spark.ml.util.DefaultParamsWriter$;
import org.apache.spark.ml.util.Identifiable$;
import org.apache.spark.ml.util.MLReader;
import org.apache.spark.ml.util.MLWritable;
import org.apache.spark.ml.util.MLWriter;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.SerializableConfiguration;
import scala.Option;

/**
 * A model that {@link TernClassifier} trained: a checkpoint, which {@code Predictor.open} reads as
 * it is. {@link #transform} adds the columns {@code rawPrediction} and {@code probability}, vectors
 * of both classes, and {@code prediction}, 1 from a probability of 0.5 on. Each executor opens the
 * checkpoint once.
 */
public final class TernModel extends Model<TernModel> implements MLWritable {
  private static final long serialVersionUID = 1L;
  private static final String RAW = "rawPrediction";
  private static final String PROBABILITY = "probability";
  private static final String PREDICTION = "prediction";

  private final String uid;
  private final Param<String> checkpoint;

  TernModel(String uid) {
    this.uid = uid;
    checkpoint = new Param<>(this, "checkpoint", "folder of the checkpoint");
  }

  /** A model of a checkpoint of Tern's, by a path that all executors reach. */
  public static TernModel of(String checkpoint) {
    return new TernModel(Identifiable$.MODULE$.randomUID("tern")).setCheckpoint(checkpoint);
  }

  TernModel setCheckpoint(String path) {
    set(checkpoint, path);
    return this;
  }

  @Override
  public String uid() {
    return uid;
  }

  /** Folder of the checkpoint, such as {@code /mnt/share/run1/checkpoints/step-500}. */
  public Param<String> checkpoint() {
    return checkpoint;
  }

  /** See {@link #checkpoint()}. */
  public String getCheckpoint() {
    return getOrDefault(checkpoint);
  }

  @Override
  public Dataset<Row> transform(Dataset<?> data) {
    StructType scored = transformSchema(data.schema());
    var hadoop =
        new SerializableConfiguration(data.sparkSession().sparkContext().hadoopConfiguration());
    return data.toDF()
        .mapPartitions(new ScoreRows(getCheckpoint(), scored, hadoop), Encoders.row(scored));
  }

  @Override
  public StructType transformSchema(StructType schema) {
    return withScores(schema);
  }

  static StructType withScores(StructType schema) {
    List<String> names = List.of(schema.fieldNames());
    for (String own : List.of(RAW, PROBABILITY, PREDICTION)) {
      if (names.contains(own)) {
        throw new IllegalArgumentException(
            "column %s: got rows that have it, expected none of this name, as the model adds it; drop or rename it"
                .formatted(own));
      }
    }
    return schema
        .add(RAW, SQLDataTypes.VectorType(), false)
        .add(PROBABILITY, SQLDataTypes.VectorType(), false)
        .add(PREDICTION, DataTypes.DoubleType, false);
  }

  @Override
  public TernModel copy(ParamMap extra) {
    return copyValues(new TernModel(uid), extra).setParent(parent());
  }

  /** Writes the parameters and a copy of the checkpoint, to any file system of Hadoop's. */
  @Override
  public MLWriter write() {
    return new Writing(this);
  }

  private static final class Writing extends MLWriter {
    private final TernModel model;

    Writing(TernModel model) {
      this.model = model;
    }

    @Override
    public void saveImpl(String path) {
      DefaultParamsWriter$.MODULE$.saveMetadata(model, path, sparkSession());
      Configuration hadoop = sparkSession().sparkContext().hadoopConfiguration();
      Path target = new Path(path, "checkpoint");
      java.nio.file.Path whole = LocalCheckpoint.whole(model.getCheckpoint(), hadoop);
      try {
        FileSystem local = FileSystem.getLocal(hadoop);
        Path source = new Path(whole.toUri());
        FileUtil.copy(local, source, target.getFileSystem(hadoop), target, false, hadoop);
      } catch (IOException e) {
        throw new UncheckedIOException("model: %s cannot be written".formatted(target), e);
      } finally {
        delete(whole);
      }
    }

    private static void delete(java.nio.file.Path folder) {
      try (Stream<java.nio.file.Path> below = Files.walk(folder)) {
        for (java.nio.file.Path each : below.toList().reversed()) {
          Files.delete(each);
        }
      } catch (IOException e) {
        throw new UncheckedIOException("model: %s cannot be removed".formatted(folder), e);
      }
    }
  }

  /** Reads what {@link #write} wrote. */
  public static MLReader<TernModel> read() {
    return new Reading();
  }

  /** The same, from a path. */
  public static TernModel load(String path) {
    return read().load(path);
  }

  private static final class Reading extends MLReader<TernModel> {
    @Override
    public TernModel load(String path) {
      var metadata =
          DefaultParamsReader$.MODULE$.loadMetadata(
              path, sparkSession(), TernModel.class.getName());
      TernModel model = new TernModel(metadata.uid());
      metadata.getAndSetParams(model, Option.empty());
      Path folder = new Path(path, "checkpoint");
      try {
        FileSystem files =
            folder.getFileSystem(sparkSession().sparkContext().hadoopConfiguration());
        return model.setCheckpoint(files.makeQualified(folder).toString());
      } catch (IOException e) {
        throw new UncheckedIOException("model: %s cannot be read".formatted(folder), e);
      }
    }
  }
}
