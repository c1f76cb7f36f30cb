package dev.tern.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/**
 * What a build of version 0.1 wrote before encoders said how rows were read ({@code old-run.zip}):
 *
 * <ul>
 *   <li>{@code run}: two epochs on {@code rows.csv} by {@code run.yaml}, with {@code best} of the
 *       first; {@code next.sha256} has the files of the checkpoint after a third epoch;
 *   <li>{@code delta}: a full checkpoint and two deltas; {@code shards}: the latest of {@code run},
 *       each table in two files;
 *   <li>{@code best.csv}, {@code latest.csv}, {@code delta.csv}: scores of {@code rows.csv}.
 * </ul>
 */
final class OldRun {
  private OldRun() {}

  /** Unpacks it into {@code folder}, with paths of that folder in the configuration of the run. */
  static Path unpack(Path folder) throws IOException {
    try (InputStream in = OldRun.class.getResourceAsStream("old-run.zip")) {
      ZipInputStream zip = new ZipInputStream(in);
      for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
        Path file = folder.resolve(entry.getName());
        Files.createDirectories(file.getParent());
        Files.write(file, zip.readAllBytes());
      }
    }
    Path config = folder.resolve("run/config.yaml");
    mark(config, Files.readString(config).replace("@ROOT@", folder.toString()));
    return folder;
  }

  /** Writes a configuration under the mark that makes it one of a run. */
  static void mark(Path config, String text) throws IOException {
    int end = text.indexOf('\n');
    String hash = sha256(text.substring(end + 1).getBytes(StandardCharsets.UTF_8));
    Files.writeString(
        config, text.substring(0, end).replaceFirst("[0-9a-f]{64}", hash) + text.substring(end));
  }

  static String sha256(byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Trains {@code run} on to three epochs with {@code run.yaml}. */
  static MainTest.Result resume(Path folder, String... more) {
    List<String> all = new ArrayList<>(List.of("--resume", "--set", "train.epochs=3"));
    all.addAll(List.of(more));
    return train(folder, folder.resolve("run"), all.toArray(String[]::new));
  }

  /** Trains with {@code run.yaml} and the files beside it. */
  static MainTest.Result train(Path folder, Path run, String... more) {
    List<String> all = new ArrayList<>(List.of("train", folder.resolve("run.yaml").toString()));
    all.addAll(List.of("--set", "run.dir=" + run));
    all.addAll(List.of("--set", "data.train=" + folder.resolve("rows.csv")));
    all.addAll(List.of("--set", "data.eval=" + folder.resolve("eval.csv")));
    all.addAll(List.of(more));
    return MainTest.tern(all.toArray(String[]::new));
  }

  /** Compares the checkpoint of the third epoch with what the old build wrote. */
  static void requireNext(Path folder) throws IOException {
    for (String line : Files.readAllLines(folder.resolve("next.sha256"))) {
      String[] parts = line.split(" +", 2);
      Path file = folder.resolve("run/checkpoints").resolve(parts[1]);
      assertThat(sha256(Files.readAllBytes(file))).as(parts[1]).isEqualTo(parts[0]);
    }
  }
}
