package dev.tern.bench.fuzz;

import dev.tern.files.ReadPolicy.Labels;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/**
 * What Jazzer calls with each input: a byte that says which file of the corpus the others stand
 * for, one that says how it is read, then the file. Whatever comes out of it is a finding.
 */
public final class ReaderTarget {
  private static final int HEAD = 2;

  /** Ways in which every sound file is read first, all that Jazzer starts from. */
  private static final byte[] WAYS = {0, 1, 2, 4, 8 | 16};

  private static final ReaderCheck CHECK = new ReaderCheck();

  private ReaderTarget() {}

  /**
   * Reads all sound files once: the first reading takes memory for classes, which Jazzer rewrites
   * as they are loaded.
   */
  public static void fuzzerInitialize() {
    for (byte[] seed : seeds().values()) {
      try {
        fuzzerTestOneInput(seed);
      } catch (IllegalStateException e) {
        if (!String.valueOf(e.getMessage()).contains("bytes of heap")) {
          throw e;
        }
      }
    }
  }

  /** Reads one file. */
  public static void fuzzerTestOneInput(byte[] input) {
    if (input.length < HEAD) {
      return;
    }
    ReaderCorpus.Entry entry =
        CHECK.corpus().get(Byte.toUnsignedInt(input[0]) % CHECK.corpus().size());
    byte[] file = Arrays.copyOfRange(input, HEAD, input.length);
    if (entry.framed() && (input[1] & 32) == 0) {
      ReaderCheck.sumFrames(file);
    }
    CHECK.check(entry, file, way(input[1]));
  }

  /** What {@link #fuzzerTearDown} is called for: no file stays behind. */
  public static void fuzzerTearDown() {
    CHECK.close();
  }

  /** An input for every sound file and way, by name. */
  static Map<String, byte[]> seeds() {
    Map<String, byte[]> seeds = new TreeMap<>();
    for (int i = 0; i < CHECK.corpus().size(); i++) {
      byte[] file = CHECK.corpus().get(i).bytes();
      for (byte way : WAYS) {
        byte[] input = new byte[HEAD + file.length];
        input[0] = (byte) i;
        input[1] = way;
        System.arraycopy(file, 0, input, HEAD, file.length);
        seeds.put(i + "-" + way, input);
      }
    }
    return seeds;
  }

  private static ReaderCheck.Way way(byte choice) {
    Labels labels =
        switch (choice & 3) {
          case 0 -> Labels.BINARY;
          case 1 -> Labels.FINITE;
          default -> Labels.NONE;
        };
    boolean strict = (choice & 4) == 0;
    int threads = (choice & (8 | 64 | 128)) == 8 ? 2 : 1;
    return new ReaderCheck.Way(labels, strict, threads, (choice & 16) == 0 ? -1 : 7);
  }
}
