package dev.tern.internal.ir;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The nodes of tensors, for who translates what they record: the type of tensors is exported and
 * names no node.
 */
public final class Recorded {
  private static volatile @Nullable Function<Object, Node> reader;

  private Recorded() {}

  /** The class of tensors tells how to read one. */
  public static void readBy(Function<Object, Node> nodeOf) {
    reader = nodeOf;
  }

  /** The node of {@code tensor}. */
  public static Node node(Object tensor) {
    Function<Object, Node> known = reader;
    if (known == null) {
      throw new IllegalStateException("recorded: got " + tensor + " before any tensor was made");
    }
    return known.apply(tensor);
  }
}
