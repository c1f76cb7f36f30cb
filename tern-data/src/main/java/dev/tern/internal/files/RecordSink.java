package dev.tern.internal.files;

/** A file in the making that takes records of others as they are. */
public interface RecordSink extends AutoCloseable {
  /** Appends the record {@code bytes[from, to)}. */
  void put(byte[] bytes, int from, int to);

  /** Forces everything to disk; nothing may be put afterwards. */
  void complete();

  /** Makes the completed file appear under its name. */
  void finish();

  /** Lets go of the file; unless finished, deletes it. */
  @Override
  void close();
}
