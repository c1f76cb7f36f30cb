package dev.tern.internal.cuda.text;

/**
 * How a kernel of a fused step is launched. Its arguments are the operands, loads first; for each
 * store the place of its partial results; the scalars; and three 32-bit numbers: the size of the
 * outermost loop, the unit of chunks and their number.
 *
 * @param kernel the name of the function
 * @param form what a thread takes
 * @param inner such shares of the loops inside the outermost one
 * @param isPerIndex whether each index of the outermost loop has these shares
 * @param isPerChunk whether each chunk of the outermost loop has them
 */
public record FusedLaunch(
    String kernel, Form form, long inner, boolean isPerIndex, boolean isPerChunk) {
  /** What a thread takes. */
  public enum Form {
    /** An element, or a result and the loops that are reduced. */
    ELEMENT,
    /** Four elements side by side. */
    FOUR_ELEMENTS,
    /** A sixteenth of a row: every 16th of its elements. */
    LANE
  }

  /** Threads for an outermost loop of {@code size} indices in {@code chunks} chunks. */
  public long threads(int size, int chunks) {
    long shares = inner * (isPerIndex ? size : 1) * (isPerChunk ? chunks : 1);
    return switch (form) {
      case ELEMENT -> shares;
      case FOUR_ELEMENTS -> shares / 4;
      case LANE -> 16 * shares;
    };
  }
}
