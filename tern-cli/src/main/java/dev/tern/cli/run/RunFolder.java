package dev.tern.cli.run;

import dev.tern.cli.config.Config;
import dev.tern.cli.config.ConfigException;
import dev.tern.data.DataException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The folder of a run: the resolved configuration, metrics, checkpoints and the report. While it is
 * open no other run can open it.
 */
public final class RunFolder implements AutoCloseable {
  private static final String CONFIG = "config.yaml";
  private static final String LOCK = ".lock";

  private final Path dir;
  private final FileChannel lock;
  private final List<Path> made;
  private boolean begun;

  private RunFolder(Path dir, FileChannel lock, List<Path> made) {
    this.dir = dir;
    this.lock = lock;
    this.made = made;
  }

  /** What to do with an earlier run in the folder. */
  public enum Earlier {
    /** There must be none. */
    REFUSE,
    /** Go on with it; where there is none, begin. */
    RESUME,
    /** Remove it. */
    REPLACE
  }

  /**
   * Opens the folder of {@code config} and makes it where it is missing. Nothing in it changes
   * before {@link #begin}; closed before that, what was made is removed.
   *
   * @throws RunException if the folder cannot be written, is in use, or holds an earlier run that
   *     must not be there
   * @throws ConfigException if the earlier run to go on with was configured otherwise
   */
  public static RunFolder open(Config config, Earlier earlier) {
    Path dir = config.run().dir();
    Path file = dir.resolve(CONFIG);
    if (Files.exists(file) && earlier == Earlier.REFUSE) {
      throw new RunException(
          dir
              + ": got a folder with an earlier run, expected a new one; give --resume to go on"
              + " with it, --overwrite to replace it, or --set run.dir=OTHER");
    }
    if (Files.exists(file) && earlier == Earlier.RESUME) {
      requireSame(Config.load(file, List.of()), config, file);
    }
    return lock(dir);
  }

  /**
   * Makes the folder that of {@code config}'s run: writes the configuration, and unless the earlier
   * run goes on, removes it.
   */
  public void begin(Config config, Earlier earlier) {
    begun = true;
    try {
      if (earlier != Earlier.RESUME) {
        clear();
      }
      Files.createDirectories(checkpoints());
      replace(dir.resolve(CONFIG), config.yaml());
    } catch (IOException e) {
      throw unwritable(dir, e);
    }
  }

  /** Removes what the run wrote: for one that failed before it had anything to go on with. */
  public void abandon() {
    begun = false;
    try {
      clear();
    } catch (IOException e) {
      throw unwritable(dir, e);
    }
  }

  private static RunFolder lock(Path dir) {
    List<Path> made = new ArrayList<>();
    for (Path up = dir; up != null && Files.notExists(up); up = up.getParent()) {
      made.add(up);
    }
    try {
      Files.createDirectories(dir);
      FileChannel channel =
          FileChannel.open(dir.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
      if (tryLock(channel)) {
        return new RunFolder(dir, channel, made);
      }
      channel.close();
    } catch (IOException e) {
      throw unwritable(dir, e);
    }
    throw new RunException(
        dir
            + ": got a folder in which another run is at work, expected a free one; wait for it or"
            + " give --set run.dir=OTHER");
  }

  private static boolean tryLock(FileChannel channel) throws IOException {
    try {
      return channel.tryLock() != null;
    } catch (OverlappingFileLockException _) {
      return false;
    }
  }

  private static void requireSame(Config before, Config after, Path file) {
    List<String> changed = after.changesFrom(before);
    if (!changed.isEmpty()) {
      throw new ConfigException(
          file
              + ": got another configuration for --resume ("
              + String.join("; ", changed)
              + "), expected the one the run began with; change it back, or begin anew with"
              + " --overwrite or --set run.dir=OTHER");
    }
  }

  /** Opens the metrics, without the lines after {@code step}. */
  public MetricsLog metrics(long step) {
    return MetricsLog.open(dir.resolve("metrics.jsonl"), step);
  }

  /** Where checkpoints stand. */
  public Path checkpoints() {
    return dir.resolve("checkpoints");
  }

  /** Where the report stands. */
  public Path report() {
    return dir.resolve("report.html");
  }

  /** The folder itself. */
  public Path dir() {
    return dir;
  }

  /** The configuration that a run wrote into its folder. */
  public static Path config(Path dir) {
    return dir.resolve(CONFIG);
  }

  /** Writes the report. */
  public void writeReport(String html) {
    replace(report(), html);
  }

  private void replace(Path file, String text) {
    try {
      Path beside = file.resolveSibling(file.getFileName() + ".new");
      Files.writeString(beside, text);
      Files.move(beside, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw unwritable(file, e);
    }
  }

  /** Removes what an earlier run wrote, and nothing else. */
  private void clear() throws IOException {
    for (String name : List.of(CONFIG, "metrics.jsonl", "report.html")) {
      Files.deleteIfExists(dir.resolve(name));
    }
    if (Files.exists(checkpoints())) {
      Files.walkFileTree(checkpoints(), new Delete());
    }
  }

  private static final class Delete extends SimpleFileVisitor<Path> {
    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
      Files.delete(file);
      return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult postVisitDirectory(Path dir, @Nullable IOException e)
        throws IOException {
      if (e != null) {
        throw e;
      }
      Files.delete(dir);
      return FileVisitResult.CONTINUE;
    }
  }

  static RunException unwritable(Path path, IOException e) {
    return new RunException(
        path
            + ": got an error writing it ("
            + DataException.reason(e)
            + "), expected a folder that can be written and free space; check the disk, its rights,"
            + " and run.dir",
        e);
  }

  /** Lets other runs in. */
  @Override
  public void close() {
    try {
      lock.close();
      if (!begun && !made.isEmpty()) {
        Files.deleteIfExists(dir.resolve(LOCK));
        for (Path folder : made) {
          Files.deleteIfExists(folder);
        }
      }
    } catch (IOException e) {
      throw unwritable(dir, e);
    }
  }
}
