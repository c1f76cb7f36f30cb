package dev.tern.bench.serve;

import dev.tern.requests.DamagedBytes;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.SplittableRandom;

/**
 * Damages requests at random: bytes and pieces of them, words of JSON for others, fields of
 * messages for others with the lengths around them mended. The same for equal seeds.
 */
final class RequestMutator {
  private static final int MOST = 4;
  private static final byte[][] FIELDS = {
    {0x0a, 0},
    {0x1a, 1, 2},
    {0x12, 4, 'F', 'P', '6', '4'},
    {0x2a, 2, 8, 1},
    {0x3a, 0},
    {0x08, -1, -1, -1, -1, -1, -1, -1, -1, -1, 1},
    {0x0d, 0, 0, -64, 127},
    {0x32, 0},
    {0x42, 1, -1},
    {0x22, 11, 0x0a, 5, 't', 'o', 'p', '_', 'k', 0x12, 2, 0x10, 1},
    {0x0b},
    {-1, 1, 0}
  };

  private final List<RequestCorpus.Entry> corpus;
  private final DamagedBytes bytes;

  RequestMutator(List<RequestCorpus.Entry> corpus) {
    this.corpus = corpus;
    bytes = new DamagedBytes(corpus.stream().map(RequestCorpus.Entry::body).toList());
  }

  /** The request of a seed; a few are whole. */
  RequestCorpus.Entry of(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    RequestCorpus.Entry from = corpus.get(random.nextInt(corpus.size()));
    boolean isMessage = from.target() == RequestCorpus.Target.GRPC;
    byte[] body = from.body();
    for (int i = random.nextInt(MOST + 1); i > 0; i--) {
      body =
          isMessage && random.nextBoolean() ? inField(body, random) : bytes.damaged(body, random);
    }
    OptionalInt json =
        isMessage
            ? OptionalInt.empty()
            : DamagedBytes.jsonLength(from.jsonLength(), from.body(), body, random);
    RequestCorpus.Target[] targets = RequestCorpus.Target.values();
    boolean isAstray = random.nextInt(50) == 0;
    RequestCorpus.Target to = isAstray ? targets[random.nextInt(targets.length)] : from.target();
    return new RequestCorpus.Entry(to, body, json);
  }

  /**
   * Damages the value of a field of a message, or puts a field before it, twice, or away; lengths
   * before it follow. A message that is damaged already is damaged as bytes are.
   */
  private byte[] inField(byte[] message, SplittableRandom random) {
    int at = 0;
    int field = random.nextInt(12);
    while (at < message.length) {
      int tagEnd = afterVarint(message, at);
      if (tagEnd < 0 || (message[at] & 7) != 2) {
        return bytes.damaged(message, random);
      }
      int from = afterVarint(message, tagEnd);
      int length = from < 0 ? -1 : (int) varint(message, tagEnd);
      if (length < 0 || length > message.length - from) {
        return bytes.damaged(message, random);
      }
      if (field-- == 0 || from + length == message.length) {
        return within(message, new int[] {at, tagEnd, from, from + length}, random);
      }
      at = from + length;
    }
    return bytes.damaged(message, random);
  }

  /**
   * @param places where the field begins, its length, its value, and where it ends
   */
  private byte[] within(byte[] message, int[] places, SplittableRandom random) {
    byte[] value = Arrays.copyOfRange(message, places[2], places[3]);
    byte[] whole = Arrays.copyOfRange(message, places[0], places[3]);
    byte[] other = FIELDS[random.nextInt(FIELDS.length)];
    return switch (random.nextInt(6)) {
      case 0 -> DamagedBytes.spliced(message, places[0], places[3], new byte[0]);
      case 1 -> DamagedBytes.spliced(message, places[0], places[0], whole);
      case 2 -> DamagedBytes.spliced(message, places[0], places[0], other);
      default -> {
        byte[] damaged =
            switch (random.nextInt(3)) {
              case 0 -> DamagedBytes.spliced(value, 0, 0, other);
              case 1 -> value.length == 0 ? other : inField(value, random);
              default -> bytes.damaged(value, random);
            };
        byte[] prefix = new ProtoBody().varint(damaged.length).done();
        yield DamagedBytes.spliced(
            message,
            places[1],
            places[3],
            DamagedBytes.spliced(prefix, prefix.length, prefix.length, damaged));
      }
    };
  }

  /** Where a number of variable length ends; -1 where it does not. */
  private static int afterVarint(byte[] bytes, int from) {
    for (int at = from; at < bytes.length && at < from + 5; at++) {
      if (bytes[at] >= 0) {
        return at + 1;
      }
    }
    return -1;
  }

  private static long varint(byte[] bytes, int from) {
    long value = 0;
    for (int at = from; ; at++) {
      value |= (long) (bytes[at] & 0x7F) << 7 * (at - from);
      if (bytes[at] >= 0) {
        return value;
      }
    }
  }
}
