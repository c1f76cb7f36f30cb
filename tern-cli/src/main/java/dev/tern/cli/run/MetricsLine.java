package dev.tern.cli.run;

import dev.tern.internal.json.Json;

/**
 * One line of {@code metrics.jsonl}. A number that is not known is NaN here and {@code null} in the
 * file.
 *
 * @param step steps done
 * @param epoch pass over the training data, from 0
 * @param split what the numbers were taken on
 * @param loss mean log loss a row, in nats: over the rows since the last line in training, over all
 *     rows in evaluation
 * @param auc area under the ROC curve over the same rows, 0 to 1
 * @param calibration mean prediction over mean label of the same rows; 1 is right
 * @param samplesPerSecond rows a second over the same rows
 * @param memoryBytes bytes of the memory budget in use
 * @param seconds time spent on training and evaluation so far, earlier parts of a resumed run
 *     included
 */
public record MetricsLine(
    long step,
    long epoch,
    Split split,
    double loss,
    double auc,
    double calibration,
    double samplesPerSecond,
    long memoryBytes,
    double seconds) {
  /** What the numbers of a line were taken on. */
  public enum Split {
    TRAIN,
    EVAL;

    /** As it is written in the file. */
    public String text() {
      return this == TRAIN ? "train" : "eval";
    }
  }

  /** The line without its end. */
  public String toJson() {
    Json.Obj line = Json.object().put("step", step).put("epoch", epoch).put("split", split.text());
    put(line, "loss", loss);
    put(line, "auc", auc);
    put(line, "calibration", calibration);
    put(line, "samples_per_second", samplesPerSecond);
    line.put("memory_bytes", memoryBytes);
    put(line, "seconds", seconds);
    return line.toString();
  }

  /**
   * Reads a line.
   *
   * @param source what errors call it
   * @throws dev.tern.data.DataException if it is none
   */
  public static MetricsLine parse(String json, String source) {
    Json.Obj line = Json.parseObject(json, source);
    return new MetricsLine(
        line.integer("step"),
        line.integer("epoch"),
        line.text("split").equals("eval") ? Split.EVAL : Split.TRAIN,
        number(line, "loss"),
        number(line, "auc"),
        number(line, "calibration"),
        number(line, "samples_per_second"),
        line.integer("memory_bytes"),
        number(line, "seconds"));
  }

  private static void put(Json.Obj line, String key, double value) {
    if (Double.isFinite(value)) {
      line.put(key, value);
    } else {
      line.put(key, Json.Null.NULL);
    }
  }

  private static double number(Json.Obj line, String key) {
    return !line.has(key) || line.get(key) == Json.Null.NULL ? Double.NaN : line.number(key);
  }
}
