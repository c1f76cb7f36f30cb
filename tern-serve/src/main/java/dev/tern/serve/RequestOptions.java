package dev.tern.serve;

/** What a request asks of its answer beside scores. Of one request. */
final class RequestOptions {
  /** The most rows that are answered, the best first; 0 for all in their order. */
  int top;

  /** Whether the share of each column in the logit is asked for. */
  boolean explain;

  /** Whether all outputs are to be binary tensors. */
  boolean binary;

  void clear() {
    top = 0;
    explain = false;
    binary = false;
  }
}
