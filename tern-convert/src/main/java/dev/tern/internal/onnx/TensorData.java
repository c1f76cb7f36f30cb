package dev.tern.internal.onnx;

import dev.tern.base.DataException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reads the elements of a model's tensors from its files. */
public final class TensorData implements AutoCloseable {
  private final SavedModel saved;
  private final Map<Path, FileChannel> files = new HashMap<>();

  public TensorData(SavedModel saved) {
    this.saved = saved;
  }

  /** All elements of a tensor of FLOAT. */
  public float[] floats(SavedTensor tensor) {
    if (tensor.length() > Integer.MAX_VALUE - 16) {
      throw saved.fault(
          "%d bytes of %s".formatted(tensor.length(), tensor.name()), "fewer than 2 GiB");
    }
    float[] values = new float[(int) (tensor.length() / 4)];
    ByteBuffer.wrap(read(tensor, 0, (int) tensor.length()))
        .order(ByteOrder.LITTLE_ENDIAN)
        .asFloatBuffer()
        .get(values);
    return values;
  }

  /**
   * All elements of a tensor of INT64, of which there are few.
   *
   * @throws dev.tern.base.DataException if it has not as many as its sizes say
   */
  public List<Long> longs(SavedTensor tensor) {
    long count = tensor.dims().stream().reduce(1L, Math::multiplyExact);
    if (!tensor.listed().isEmpty() && tensor.listed().size() == count) {
      return tensor.listed();
    }
    if (tensor.length() != 8 * count) {
      throw saved.fault(
          "%d bytes of %s with the sizes %s"
              .formatted(tensor.length(), tensor.name(), tensor.dims()),
          "8 bytes for each element");
    }
    ByteBuffer bytes =
        ByteBuffer.wrap(read(tensor, 0, (int) tensor.length())).order(ByteOrder.LITTLE_ENDIAN);
    List<Long> values = new ArrayList<>();
    while (bytes.hasRemaining()) {
      values.add(bytes.getLong());
    }
    return values;
  }

  /** The bytes of {@code count} rows from row {@code from} on. */
  public byte[] bytes(SavedTensor tensor, long from, int count, int rowBytes) {
    return read(tensor, from * rowBytes, Math.multiplyExact(count, rowBytes));
  }

  private byte[] read(SavedTensor tensor, long from, int count) {
    ByteBuffer bytes = ByteBuffer.allocate(count);
    try {
      FileChannel file = open(tensor.file());
      while (bytes.hasRemaining()) {
        if (file.read(bytes, tensor.offset() + from + bytes.position()) < 0) {
          throw saved.fault(
              "the end of %s at byte %d within %s"
                  .formatted(
                      tensor.file(), tensor.offset() + from + bytes.position(), tensor.name()),
              "all of it");
        }
      }
      return bytes.array();
    } catch (IOException e) {
      throw new UncheckedIOException(
          "%s: got an error reading it (%s), expected a tensor; check the disk"
              .formatted(tensor.file(), DataException.reason(e)),
          e);
    }
  }

  private FileChannel open(Path path) throws IOException {
    FileChannel known = files.get(path);
    if (known == null) {
      known = FileChannel.open(path, StandardOpenOption.READ);
      files.put(path, known);
    }
    return known;
  }

  @Override
  public void close() {
    for (FileChannel file : files.values()) {
      try {
        file.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
