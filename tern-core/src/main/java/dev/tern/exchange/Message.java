package dev.tern.exchange;

/** Bytes that one rank sends to another as a part of an operation, seen from either side. */
final class Message {
  final MessageOwner owner;
  final int peer;

  /** Which of the operation's steps it belongs to, 0 or 1. */
  final int step;

  Operation operation = Operation.MESSAGE;

  /** What else ranks must agree on: see {@link Operation#detail}. */
  int detail;

  /** Number of the operation among those of its kind of counting: see {@link Collective#begin}. */
  long number;

  long address;

  /** Bytes to send; of what comes, the room. */
  long bytes;

  /** Of what comes: whether it must fill its room. */
  boolean isExact;

  /** Of what comes: whether {@link #address} is two frames of memory that take turns. */
  boolean isWindowed;

  /** Bytes sent or received. */
  long done;

  /** Of what is sent: how many bytes are known so far. */
  long ready;

  Message(MessageOwner owner, int peer, int step) {
    this.owner = owner;
    this.peer = peer;
    this.step = step;
  }

  /** What is about to be moved, for errors. */
  String text() {
    String name =
        operation == Operation.MESSAGE
            ? "message %,d".formatted(number)
            : operation + " %,d".formatted(number);
    return step == 0 ? name : name + ", second step";
  }
}
