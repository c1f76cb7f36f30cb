package dev.tern.stream;

import dev.tern.base.DataException;
import dev.tern.base.Shown;
import dev.tern.checkpoint.CheckpointFiles;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/**
 * Puts the records of a topic together, in their order, and takes whole checkpoints into the spool:
 * a full one, or changes to the last one there. Everything else is refused, and what was there
 * stays. For one thread.
 */
final class Assembly {
  /** Hears what happened. */
  interface Events {
    /**
     * A checkpoint is in the spool.
     *
     * @param last the offset of its last record
     */
    void took(Announcement of, long last);

    /**
     * Something is not served.
     *
     * @param text which record, what is wrong and what happens now; empty if that was said before
     */
    void refused(Refusal why, String text);
  }

  /** More foreign runs than this are counted and no longer told of. */
  private static final int MOST_TOLD = 100;

  /**
   * So often copying from the shared folder may fail, one time after another: some minutes with the
   * pauses of who reads. A record that names what can never be read must not end the reading.
   */
  static final int MOST_COPIES = 20;

  private final Spool spool;
  private final FollowOptions options;
  private final Events events;

  /** What was told of since the last checkpoint came. */
  private final Set<String> told = new HashSet<>();

  private final Set<String> foreign = new HashSet<>();
  private Optional<Incoming> incoming = Optional.empty();

  /** How often copying failed since it succeeded. */
  private int failedCopies;

  /** Whether a record was damaged since the last one that fitted. */
  private boolean lost;

  private String run = "";
  private long number = -1;

  Assembly(Spool spool, FollowOptions options, Events events) {
    this.spool = spool;
    this.options = options;
    this.events = events;
  }

  /** Begins at a place in the topic: behind what is known, or at any full checkpoint. */
  void begin(Optional<Position> known) {
    drop();
    run = known.map(Position::run).orElse("");
    number = known.map(Position::number).orElse(-1L);
  }

  /** Takes the next record. */
  void take(long offset, Iterable<Header> headers, byte @Nullable [] value) {
    Chunk chunk;
    try {
      if (value == null) {
        throw new DataException("got no content, expected a part of a checkpoint");
      }
      chunk = Heads.read(offset, headers, value);
    } catch (DataException e) {
      lost = true;
      refuse(Refusal.DAMAGED, "", offset, e.getMessage() + "; it is left out");
      return;
    }
    if (chunk.index() == 0) {
      first(chunk);
    } else {
      next(chunk);
    }
  }

  private void first(Chunk chunk) {
    Announcement of = chunk.of();
    if (!isAdmitted(chunk)) {
      return;
    }
    if (incoming.isPresent() && !lost) {
      Incoming before = incoming.get();
      String text =
          "got another checkpoint after %d of %d records of %s, expected them all; it is left out"
              .formatted(before.count(), before.of().content().chunks(), before.of().name());
      refuse(Refusal.HALF, before.of().name(), chunk.offset(), text);
    }
    drop();
    boolean isThere =
        of.kind().isFull()
            && !spool.chain().isEmpty()
            && spool.chain().getFirst().hash().equals(of.hash());
    incoming = Optional.of(new Incoming(of, spool, isThere));
    add(incoming.get(), chunk);
  }

  /** Whether what begins may come to be served; else says why not. */
  private boolean isAdmitted(Chunk chunk) {
    Announcement of = chunk.of();
    String name = "%s of run %s".formatted(of.name(), of.run());
    if (!run.isEmpty() && !of.run().equals(run) && !takesOver(of)) {
      refuseForeign(chunk);
    } else if (of.number() <= number) {
      String text =
          "%s: got number %d after %d, expected a larger one, as it was sent twice or out of order; it is left out"
              .formatted(name, of.number(), number);
      refuse(Refusal.ORDER, of.kind() + "", chunk.offset(), text);
    } else if (of.after().isPresent() && !of.after().equals(lastHash())) {
      String text =
          "%s: got changes to a checkpoint that is not there, expected changes to %s; the next full checkpoint will serve"
              .formatted(name, spool.chain().isEmpty() ? "one" : spool.chain().getLast().name());
      refuse(Refusal.GAP, "", chunk.offset(), text);
    } else {
      return fits(of, name, chunk.offset());
    }
    return false;
  }

  private boolean takesOver(Announcement of) {
    return of.kind().isFull() && of.takesOver().filter(run::equals).isPresent();
  }

  private Optional<String> lastHash() {
    boolean any = !run.isEmpty() && !spool.chain().isEmpty();
    return any ? Optional.of(spool.chain().getLast().hash()) : Optional.empty();
  }

  private void refuseForeign(Chunk chunk) {
    boolean isNew = foreign.size() < MOST_TOLD && foreign.add(chunk.of().run());
    String text =
        "offset %d: got %s of run %s, expected run %s; it is left out. If it is to be served, publish it with --take-over"
            .formatted(chunk.offset(), chunk.of().name(), chunk.of().run(), run);
    events.refused(Refusal.FOREIGN, isNew ? text : "");
  }

  private boolean fits(Announcement of, String name, long offset) {
    long bytes = of.kind() == Announcement.Kind.FOLDER ? 0 : of.content().bytes();
    long most = Math.max(0, options.most() - (of.kind().isFull() ? 0 : spool.bytes()));
    long room = spool.room();
    if (bytes <= most && bytes <= room) {
      return true;
    }
    String text =
        "%s: got %,d bytes, expected at most %,d, which %s; the next full checkpoint may fit, or allow more"
            .formatted(
                name,
                bytes,
                Math.min(most, room),
                most < room ? "--spool-limit leaves" : "the disk of the spool has room for");
    refuse(Refusal.OVERSIZE, "", offset, text);
    return false;
  }

  private void next(Chunk chunk) {
    if (incoming.isEmpty() || !incoming.get().of().equals(chunk.of())) {
      return; // Of what was refused, or began before this reads.
    }
    Incoming coming = incoming.get();
    int due = coming.count();
    if (chunk.index() < due) {
      String text =
          "%s: got record %d of %d again, expected record %d; it is left out"
              .formatted(coming.of().name(), chunk.index(), coming.of().content().chunks(), due);
      refuse(Refusal.ORDER, "record", chunk.offset(), text);
    } else if (chunk.index() > due) {
      String text =
          "%s: got record %d of %d, expected record %d; the checkpoint is left out"
              .formatted(coming.of().name(), chunk.index(), coming.of().content().chunks(), due);
      if (!lost) {
        refuse(Refusal.HALF, coming.of().name(), chunk.offset(), text);
      }
      drop();
    } else {
      add(coming, chunk);
    }
  }

  private void add(Incoming coming, Chunk chunk) {
    lost = false;
    try {
      coming.add(chunk);
      if (chunk.isLast()) {
        end(coming, chunk);
      }
    } catch (DataException | InvalidPathException e) {
      refuse(
          Refusal.DAMAGED,
          coming.of().name(),
          chunk.offset(),
          coming.of().name() + ": " + e.getMessage() + "; the checkpoint is left out");
      drop();
    }
  }

  private void end(Incoming coming, Chunk last) {
    Announcement of = coming.of();
    coming.finish(last.sha256().orElse(""));
    if (coming.isThere()) {
      spool.rewind(of.hash());
    } else {
      if (of.kind() == Announcement.Kind.FOLDER) {
        copy(coming, shared(last));
      }
      spool.take(checked(coming));
    }
    run = of.run();
    number = of.number();
    told.clear();
    drop();
    events.took(of, last.offset());
  }

  private void copy(Incoming coming, Path from) {
    try {
      coming.copy(from);
      failedCopies = 0;
    } catch (UncheckedIOException e) {
      failedCopies++;
      if (failedCopies < MOST_COPIES) {
        throw e; // Who reads comes here again.
      }
      failedCopies = 0;
      throw new DataException("%s; it failed %d times".formatted(e.getMessage(), MOST_COPIES), e);
    }
  }

  /** The folder that a record names. */
  private Path shared(Chunk chunk) {
    String name = StandardCharsets.UTF_8.decode(chunk.content().duplicate()).toString();
    Path parent =
        options
            .full()
            .orElseThrow(() ->
                new DataException(
                    "got a full checkpoint that lies in a shared folder, expected to know it; name"
                        + " the folder with --full"));
    if (!SharedFolder.isName(name)) {
      throw new DataException(
          "got the folder %s, expected RUN/NUMBER/step-N".formatted(Shown.quoted(name)));
    }
    return parent.resolve(name);
  }

  private CheckpointFiles checked(Incoming coming) {
    Announcement of = coming.of();
    CheckpointFiles files = incomingFiles();
    List<String> got =
        List.of(files.name(), files.hash(), files.previousHash().orElse("the beginning"));
    List<String> expected = List.of(of.name(), of.hash(), of.after().orElse("the beginning"));
    if (!got.equals(expected)) {
      throw new DataException("got %s, expected %s as announced".formatted(got, expected));
    }
    if (!coming.names().equals(Set.copyOf(files.names()))) {
      throw new DataException(
          "got the files %s, expected %s"
              .formatted(Shown.list(coming.names()), Shown.list(files.names())));
    }
    Optional<String> before = files.previousName();
    if (before.isPresent() && !before.get().equals(spool.chain().getLast().name())) {
      throw new DataException(
          "got changes to %s, expected changes to %s"
              .formatted(Shown.quoted(before.get()), spool.chain().getLast().name()));
    }
    return files;
  }

  private CheckpointFiles incomingFiles() {
    try {
      return spool.incoming();
    } catch (UncheckedIOException e) {
      // They were just written; if these cannot be read, reading the topic again may not help.
      throw new DataException(String.valueOf(e.getMessage()), e);
    }
  }

  private void drop() {
    incoming.ifPresent(Incoming::close);
    incoming = Optional.empty();
    lost = false;
  }

  private void refuse(Refusal why, String what, long offset, String text) {
    boolean isNew = told.size() < MOST_TOLD && told.add(why + " " + what);
    events.refused(why, isNew ? "offset " + offset + ": " + text : "");
  }
}
