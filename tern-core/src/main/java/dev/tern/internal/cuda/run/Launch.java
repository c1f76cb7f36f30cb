package dev.tern.internal.cuda.run;

/** Work that a stream is given, the same each time. */
@FunctionalInterface
interface Launch {
  void on(long stream);
}
