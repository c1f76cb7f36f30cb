package dev.tern.stream;

import dev.tern.checkpoint.CheckpointFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;

/** A record of a topic. */
record Sent(List<Header> headers, byte[] value) {
  /**
   * The records of a checkpoint.
   *
   * @param start the offset of the first
   */
  static List<Sent> of(CheckpointFiles files, String run, long number, long start) {
    return of(files, run, number, start, Optional.empty());
  }

  static List<Sent> of(
      CheckpointFiles files, String run, long number, long start, Optional<String> takesOver) {
    try (PackedFiles packed = new PackedFiles(files.folder(), files.names())) {
      int size = (int) (packed.bytes() / 4);
      int chunks = (int) ((packed.bytes() + size - 1) / size);
      var kind = files.isFull() ? Announcement.Kind.FULL : Announcement.Kind.DELTA;
      Announcement of =
          new Announcement(
              run,
              number,
              kind,
              files.step(),
              files.hash(),
              files.previousHash(),
              new Announcement.Content(packed.bytes(), chunks),
              takesOver);
      MessageDigest sum = Incoming.sha256();
      List<Sent> all = new ArrayList<>();
      for (int index = 0; index < chunks; index++) {
        byte[] value = new byte[(int) Math.min(size, packed.bytes() - (long) index * size)];
        packed.read(ByteBuffer.wrap(value));
        sum.update(value);
        Optional<String> end =
            index == chunks - 1
                ? Optional.of(HexFormat.of().formatHex(sum.digest()))
                : Optional.empty();
        all.add(of(new Chunk(-1, of, index, start, -1, end, ByteBuffer.wrap(value))));
      }
      return all;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static Sent of(Chunk chunk) {
    return new Sent(Heads.write(chunk), chunk.content().array());
  }

  /** The same with another header, or without it. */
  Sent with(String name, Optional<String> text) {
    List<Header> changed = new ArrayList<>(headers);
    changed.removeIf(header -> header.key().equals(name));
    text.ifPresent(value -> changed.add(new RecordHeader(name, value.getBytes())));
    return new Sent(changed, value);
  }

  /** The same with a bit turned. */
  Sent damaged(int at) {
    byte[] other = value.clone();
    other[at] ^= 4;
    return new Sent(headers, other);
  }

  /** The same with a bit turned and a checksum that fits. */
  Sent forged(int at) {
    Sent other = damaged(at);
    return other.with("tern-crc32c", Optional.of(Heads.crc(ByteBuffer.wrap(other.value()))));
  }
}
