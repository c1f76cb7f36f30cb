package dev.tern.internal.kernel;

/** What becomes of the elements of a product as soon as they are final, while a cache has them. */
@FunctionalInterface
public interface Epilogue {
  /** Elements for which it is called at least, but for the last of a piece of work. */
  int ELEMENTS = 1 << 12;

  /** For products that nothing follows at once. */
  Epilogue NONE = (from, to, worker) -> {};

  /**
   * Elements {@code from} to {@code to - 1} of C, counted row by row and product by product, whole
   * rows at least, are final. Called once for each element, by several threads.
   *
   * @param worker which thread calls
   */
  void run(long from, long to, int worker);
}
