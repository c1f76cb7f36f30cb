package dev.tern.onnx;

import java.util.Objects;

/**
 * How a model is written as ONNX.
 *
 * @param ids who finds the rows of ids
 * @param inlineBytes tensors lie in the model file up to this many bytes in all, 0 or more; else
 *     those of {@value #LEAST_EXTERNAL} bytes or more lie in a file beside it
 */
public record OnnxOptions(Ids ids, long inlineBytes) {
  /** Bytes of the smallest tensors outside the model file. */
  public static final long LEAST_EXTERNAL = 1024;

  /** The graph takes ids; up to 1 GiB lies in the model file, which may not have 2 GiB. */
  public static final OnnxOptions DEFAULT = new OnnxOptions(Ids.GRAPH, 1L << 30);

  private static final long MOST_INLINE = Integer.MAX_VALUE - (64L << 20);

  /** Who finds the rows of ids. */
  public enum Ids {
    /** The graph: its inputs are values of columns. */
    GRAPH,
    /**
     * The caller: inputs are the numbers of rows. Row {@code k} is the {@code k}-th of the table's
     * ids in ascending order, from 0.
     */
    CALLER
  }

  public OnnxOptions {
    Objects.requireNonNull(ids, "ids");
    if (inlineBytes < 0 || inlineBytes > MOST_INLINE) {
      throw new IllegalArgumentException(
          "onnx: got %d bytes in the model file at most, expected 0 to %d; protocol buffers end below 2 GiB"
              .formatted(inlineBytes, MOST_INLINE));
    }
  }

  /** The same with other inputs. */
  public OnnxOptions withIds(Ids other) {
    return new OnnxOptions(other, inlineBytes);
  }

  /** The same with other room in the model file. */
  public OnnxOptions withInlineBytes(long most) {
    return new OnnxOptions(ids, most);
  }
}
