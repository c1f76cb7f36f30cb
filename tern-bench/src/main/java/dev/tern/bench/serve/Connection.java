package dev.tern.bench.serve;

import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** One connection that sends requests one after the other, and reads their answers. */
abstract class Connection implements AutoCloseable {
  /** Sends a request and reads its answer; gives the status, as HTTP has it. */
  abstract int call(byte[] request) throws IOException;

  /** The bytes of the body of the last answer. */
  abstract byte[] bytes();

  /** The body of the last answer. */
  String body() {
    return new String(bytes(), StandardCharsets.UTF_8);
  }

  /** Whether the last answer said that none will follow on this connection. */
  boolean isLast() {
    return false;
  }

  @Override
  public abstract void close() throws IOException;
}
