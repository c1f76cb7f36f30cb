package dev.tern.internal.onnx;

import java.nio.file.Path;
import java.util.List;

/**
 * A tensor of a model file, whose elements lie in some file.
 *
 * @param type its number in the format
 * @param at the byte of the model file where it begins, for messages
 * @param file the model file, or one beside it
 * @param offset of its first byte there
 * @param length bytes of all elements
 * @param listed integers that are listed one by one, which no bytes hold
 */
public record SavedTensor(
    String name,
    List<Long> dims,
    int type,
    long at,
    Path file,
    long offset,
    long length,
    List<Long> listed) {
  public SavedTensor {
    dims = List.copyOf(dims);
    listed = List.copyOf(listed);
  }

  /** The same with elements in another file. */
  public SavedTensor within(Path other, long from, long bytes) {
    return new SavedTensor(name, dims, type, at, other, from, bytes, listed);
  }

  /** Whether it has these sizes and elements of this type. */
  public boolean is(ElementType element, long... sizes) {
    boolean fits = type == element.number() && dims.size() == sizes.length;
    for (int axis = 0; fits && axis < sizes.length; axis++) {
      fits = dims.get(axis) == sizes[axis];
    }
    return fits;
  }
}
