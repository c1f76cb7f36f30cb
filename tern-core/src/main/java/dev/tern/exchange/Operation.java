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

  private final String text;

  Operation(String text) {
    this.text = text;
  }

  /** The name of operation {@code code} of a frame, for errors. */
  static String name(int code) {
    return code >= 0 && code < ALL.length ? ALL[code].text : "operation of code " + code;
  }

  @Override
  public String toString() {
    return text;
  }
}
