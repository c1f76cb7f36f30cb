package dev.tern.exchange;

/** What ranks do together. Frames name it by its place here, so new ones come last. */
enum Operation {
  MESSAGE("message"),
  BARRIER("barrier"),
  BROADCAST("broadcast"),
  GATHER("gather"),
  SCATTER("scatter"),
  REDUCE("reduce"),
  ALL_GATHER("all-gather"),
  REDUCE_SCATTER("reduce-scatter"),
  ALL_REDUCE("all-reduce"),
  ALL_TO_ALL("all-to-all");

  private static final Operation[] ALL = values();
  private static final Reduction[] REDUCTIONS = Reduction.values();

  private final String text;

  Operation(String text) {
    this.text = text;
  }

  /** The name of operation {@code code} of a frame, for errors. */
  static String name(int code) {
    return code >= 0 && code < ALL.length ? ALL[code].text : "operation of code " + code;
  }

  /** What frames say of an operation with this root that combines nothing. */
  static int rooted(int root) {
    return root + 1 << 8;
  }

  /** What frames say of an operation that combines numbers at all ranks. */
  static int reducing(Reduction reduction) {
    return reduction.ordinal() + 1;
  }

  /**
   * What a frame says of its operation beside its name, for errors: the lowest 8 bits are the
   * reduction and the others the root, each plus 1, or 0 if it has none.
   */
  static String detail(int code) {
    int reduction = (code & 0xff) - 1;
    int root = (code >>> 8) - 1;
    String by =
        reduction < REDUCTIONS.length
            ? reduction < 0 ? "" : " with " + REDUCTIONS[reduction]
            : " with a reduction of code " + reduction;
    return root < 0 ? by : by + " at root " + root;
  }

  @Override
  public String toString() {
    return text;
  }
}
