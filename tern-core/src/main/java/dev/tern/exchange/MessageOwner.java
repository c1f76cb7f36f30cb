package dev.tern.exchange;

/** Whose messages they are: hears what came and went. */
interface MessageOwner {
  /** Whether the next frame of {@code message} has a place to go to. */
  boolean hasRoom(Message message);

  /** A frame of {@code bytes} bytes of {@code message} came and is whole. */
  void arrived(Message message, int bytes);

  /** All of {@code message} was sent or received. */
  void finished(Message message);
}
