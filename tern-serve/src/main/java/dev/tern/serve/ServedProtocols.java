package dev.tern.serve;

/** The protocols that a server speaks. */
final class ServedProtocols {
  private ServedProtocols() {}

  static Answers.Protocols all() {
    throw new IllegalStateException("serve: got no protocols");
  }
}
