package dev.tern.cli.run;

import dev.tern.base.DataException;
import dev.tern.cli.config.Config;
import dev.tern.cli.config.ConfigException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The folder of a run: resolved configuration, metrics, checkpoints and report. Only one run at a
 * time can open it.
 *
 * <p>A run takes a new or empty folder, or the folder of an earlier run, which it knows by the
 * {@link Mark} in the configuration. It removes only files that Tern wrote.
 */
public final class RunFolder implements AutoCloseable {
  private final Config config;
  private final Earlier earlier;
  private final Mark mark;
  private final FileChannel lock;
  private final List<Path> made;
  private boolean begun;
  private boolean fresh;
  private boolean evaluatesAnew;

  /** The configuration with what the training files said. */
  private Config found;

  /** The command that began the run. */
  private Maker first;

  /** The files of the evaluation that the best checkpoint is of. */
  private List<String> evaluation;

  private RunFolder(Config config, Earlier earlier, Mark mark, FileChannel lock, List<Path> made) {
    this.config = config;
    this.earlier = earlier;
    this.mark = mark;
    this.lock = lock;
    this.made = made;
    found = config;
    first = mark.maker();
    evaluation = mark.evaluation();
  }

  /** What to do with an earlier run in the folder. */
  public enum Earlier {
    /** There must be none. */
    REFUSE,
    /** Go on with it, or begin if there is none. */
    RESUME,
    /** Remove it. */
    REPLACE
  }

  /** The command that begins a run. */
  public enum Maker {
    TRAIN,
    QUICKSTART
  }

  /**
   * The files that a run reads.
   *
   * @param evaluation none for no evaluation, or generated rows
   */
  public record Inputs(List<Path> training, List<Path> evaluation) {}

  /**
   * Opens the folder of {@code config} and makes it where it is missing. Nothing in it changes
   * before {@link #begin}; closed before that, what was made is removed.
   *
   * @param inputs the files that the run reads; a run that goes on must train on the same
   * @throws RunException if the folder cannot be written, is in use, holds an earlier run that must
   *     not be there, or files that are not a run's
   * @throws ConfigException if the earlier run to go on with was configured otherwise
   */
  public static RunFolder open(Config config, Earlier earlier, Maker maker, Inputs inputs) {
    Path dir = config.run().dir();
    Mark mark = Mark.of(maker, inputs);
    check(config, earlier, maker, inputs.training());
    List<Path> made = missing(dir);
    FileChannel lock = lock(dir);
    RunFolder folder = new RunFolder(config, earlier, mark, lock, made);
    try {
      check(config, earlier, maker, inputs.training()); // Another run may have ended in between.
      folder.compareEvaluation();
      return folder;
    } catch (RuntimeException | Error e) {
      folder.close();
      throw e;
    }
  }

  private static void check(Config config, Earlier earlier, Maker maker, List<Path> files) {
    Path dir = config.run().dir();
    Path file = dir.resolve(OwnFiles.CONFIG);
    Optional<Mark> mark = Mark.read(file);
    try {
      if (mark.isEmpty()) {
        new OwnFiles(dir)
            .anything()
            .ifPresent(path -> {
              throw notOurs(dir, path);
            });
      } else if (earlier == Earlier.REFUSE) {
        throw new RunException(
            dir
                + ": got a folder with an earlier run, expected a new one; give "
                + (maker == Maker.TRAIN ? "--resume to go on with it, " : "")
                + "--overwrite to replace it, or --set run.dir=OTHER");
      } else if (earlier == Earlier.RESUME) {
        requireSame(Config.loadEarlier(file), config, file);
        requireSame(mark.get(), files, file);
      } else {
        new OwnFiles(dir)
            .strange()
            .ifPresent(path -> {
              throw among(path);
            });
      }
    } catch (IOException e) {
      throw unreadable(dir, e);
    }
  }

  private static RunException notOurs(Path dir, Path found) {
    Path config = dir.resolve(OwnFiles.CONFIG);
    return new RunException(
        Files.exists(config)
            ? config
                + ": got a file that Tern did not write, or that was changed since, expected that"
                + " of a run or none; undo the change and give values by --set, or give --set"
                + " run.dir=OTHER"
            : dir
                + ": got a folder that holds "
                + found.getFileName()
                + " and no run of Tern's, expected a new or an empty one; give --set"
                + " run.dir=OTHER");
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

  private static void requireSame(Mark mark, List<Path> files, Path file) {
    if (!mark.isOf(files)) {
      List<String> before = mark.files();
      List<String> after = files.stream().map(Mark::file).toList();
      throw new ConfigException(
          file
              + ": got other training files for --resume ("
              + only(after, before)
              + ", was "
              + only(before, after)
              + "), expected those the run began with; put them back, or begin anew with"
              + " --overwrite or --set run.dir=OTHER");
    }
  }

  /** The files that {@code others} lacks; all of them if only the order differs. */
  private static String only(List<String> files, List<String> others) {
    List<String> own = files.stream().filter(file -> !others.contains(file)).toList();
    boolean reordered = own.isEmpty() && others.stream().allMatch(files::contains);
    String text = String.join("; ", reordered ? files : own);
    return text.isEmpty() ? "nothing" : text;
  }

  private static List<Path> missing(Path dir) {
    List<Path> missing = new ArrayList<>();
    Path lock = dir.resolve(OwnFiles.LOCK);
    for (Path up = lock; up != null && Files.notExists(up); up = up.getParent()) {
      missing.add(up);
    }
    return missing;
  }

  private static FileChannel lock(Path dir) {
    try {
      Files.createDirectories(dir);
      FileChannel channel =
          FileChannel.open(
              dir.resolve(OwnFiles.LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
      if (tryLock(channel)) {
        return channel;
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

  /**
   * Begins the run: removes the earlier run unless this one resumes it, and writes the
   * configuration before any other file, so that the folder is known as a run's.
   */
  public void begin() {
    begin(config);
  }

  /**
   * As {@link #begin()}.
   *
   * @param found the configuration with what the training files said
   */
  public void begin(Config found) {
    Optional<Mark> before = Mark.read(config(dir()));
    begun = true;
    fresh = earlier != Earlier.RESUME || before.isEmpty();
    try {
      if (fresh && before.isPresent()) {
        new OwnFiles(dir()).delete(before.get().maker());
      }
      first = fresh ? mark.maker() : before.map(Mark::maker).orElse(mark.maker());
      this.found = found;
      writeConfig();
      Files.createDirectories(checkpoints());
    } catch (IOException e) {
      throw unwritable(dir(), e);
    }
  }

  /**
   * Removes the files of this run, if it failed before its first checkpoint. Removes nothing if it
   * had not begun or resumes an earlier run.
   */
  public void abandon() {
    if (!begun || !fresh) {
      return;
    }
    try {
      new OwnFiles(dir()).delete(mark.maker());
      begun = false;
    } catch (IOException e) {
      throw unwritable(dir(), e);
    }
  }

  private void compareEvaluation() {
    Optional<Mark> before = earlier == Earlier.RESUME ? Mark.read(config(dir())) : Optional.empty();
    List<String> evaluated = before.map(this::evaluation).orElse(List.of());
    List<String> others = mark.evaluation();
    evaluatesAnew = !evaluated.isEmpty() && !others.isEmpty() && !evaluated.equals(others);
    if (evaluatesAnew || others.isEmpty()) {
      evaluation = evaluated;
    }
  }

  /** The files that a run was evaluated on. Marks of earlier builds do not name them. */
  private List<String> evaluation(Mark before) {
    return before.evaluation().isEmpty()
        ? Config.loadEarlier(config(dir())).data().eval().stream().map(Mark::earlierFile).toList()
        : before.evaluation();
  }

  /**
   * Says that the run was evaluated, maybe on other files than before. Until then its folder names
   * the files of the best checkpoint: a run that ends in between begins anew the next time.
   */
  public void evaluated() {
    if (!evaluation.equals(mark.evaluation())) {
      evaluation = mark.evaluation();
      writeConfig();
    }
  }

  private void writeConfig() {
    write(config(dir()), new Mark(first, mark.files(), evaluation).over(found.yaml()));
  }

  /**
   * Whether this run goes on with another one and evaluates on other files, so that the best of
   * that one says nothing.
   */
  public boolean evaluatesAnew() {
    return evaluatesAnew;
  }

  /** Whether {@link #begin} was called. */
  public boolean isBegun() {
    return begun;
  }

  /** Opens the metrics, without the lines after {@code step}. */
  public MetricsLog metrics(long step) {
    return MetricsLog.open(dir().resolve(OwnFiles.METRICS), step);
  }

  /** The folder of checkpoints. */
  public Path checkpoints() {
    return dir().resolve(OwnFiles.CHECKPOINTS);
  }

  /** The file of the schedule of a step that does not fit into memory. */
  public Path schedule() {
    return dir().resolve(OwnFiles.SCHEDULE);
  }

  /** The file of the report. */
  public Path report() {
    return dir().resolve(OwnFiles.REPORT);
  }

  /** The folder itself. */
  public Path dir() {
    return config.run().dir();
  }

  /** The configuration that a run wrote into its folder. */
  public static Path config(Path dir) {
    return dir.resolve(OwnFiles.CONFIG);
  }

  /** The configuration of the run in {@code dir}; empty if there is no run of Tern. */
  public static Optional<Path> earlier(Path dir) {
    return Mark.read(config(dir)).map(_ -> config(dir));
  }

  /** The file for a quickstart's predictions. */
  public static Path predictions(Path dir) {
    return dir.resolve(OwnFiles.PREDICTIONS);
  }

  /** The command that began the run in {@code dir}; empty if there is no run of Tern. */
  public static Optional<Maker> maker(Path dir) {
    return Mark.read(config(dir)).map(Mark::maker);
  }

  /**
   * Removes the run in {@code dir}, if there is one: the files that Tern wrote, and the folder if
   * nothing else is in it.
   *
   * @throws RunException if another run is at work there, or files that Tern did not write are
   *     among the checkpoints
   */
  public static void remove(Path dir) {
    Optional<Mark> mark = Mark.read(config(dir));
    if (mark.isEmpty()) {
      return;
    }
    OwnFiles files = new OwnFiles(dir);
    try (FileChannel _ = lock(dir)) {
      Optional<Path> strange = files.strange();
      if (strange.isPresent()) {
        throw among(strange.get());
      }
      files.delete(mark.get().maker());
      Files.deleteIfExists(dir.resolve(OwnFiles.LOCK));
      Files.delete(dir);
    } catch (DirectoryNotEmptyException _) {
      // Somebody put another file there.
    } catch (IOException e) {
      throw unwritable(dir, e);
    }
  }

  private static RunException among(Path strange) {
    return new RunException(
        strange
            + ": got a file that Tern did not write among the checkpoints to be replaced,"
            + " expected none; move it away, or give --set run.dir=OTHER");
  }

  /** Writes the report. */
  public void writeReport(String html) {
    write(report(), html);
  }

  /** Writes a file that appears whole or not at all. */
  static void write(Path file, String text) {
    Path part = OwnFiles.part(file);
    try {
      Files.writeString(part, text);
      Files.move(part, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      try {
        Files.deleteIfExists(part);
      } catch (IOException again) {
        e.addSuppressed(again);
      }
      throw unwritable(file, e);
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

  static RunException unreadable(Path path, IOException e) {
    return new RunException(
        path
            + ": got an error reading it ("
            + DataException.reason(e)
            + "), expected to be let in; check its rights",
        e);
  }

  /** Lets other runs open the folder. */
  @Override
  public void close() {
    try {
      try (lock) {
        // The lock's own file goes first, while no other run can hold it.
        for (Path path : begun ? List.<Path>of() : made) {
          Files.deleteIfExists(path);
        }
      }
    } catch (DirectoryNotEmptyException _) {
      // Somebody put another file there.
    } catch (IOException e) {
      throw unwritable(dir(), e);
    }
  }
}
