package dev.tern.cli.board;

import dev.tern.base.DataException;
import dev.tern.internal.json.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * A run on the board: what its folder says, as messages for pages. One thread calls {@link #poll},
 * any thread asks for messages.
 */
final class WatchedRun {
  /** Tables that are listed. */
  private static final int MOST_TABLES = 200;

  /** How much a page has of a run. */
  record Seen(long generation, long points, String facts) {
    static final Seen NOTHING = new Seen(-1, 0, "");
  }

  /** A message, and what a page that gets it has seen then. */
  record Message(String event, String json, Seen seen) {}

  private final int id;
  private final String name;
  private final Path folder;
  private final MetricsTail tail;
  private final FolderFacts facts;
  private final Line line = new Line();

  private Curves curves = new Curves();
  private long generation;
  private long lines;
  private long broken;
  private long firstBroken;
  private long lossUnknownAt = -1;
  private long step;
  private long epoch;
  private double seconds;
  private byte[] withTables = new byte[0];
  private int withTablesLength;
  private boolean tablesChanged;
  private int tablesLeftOut;
  private Json.Arr tables = new Json.Arr(List.of());
  private String error = "";
  private boolean everPresent;
  private String told = "";

  WatchedRun(int id, String name, Path folder) {
    this.id = id;
    this.name = name;
    this.folder = folder;
    tail = new MetricsTail(FolderFacts.metrics(folder));
    facts = new FolderFacts(folder);
  }

  int id() {
    return id;
  }

  String name() {
    return name;
  }

  Path folder() {
    return folder;
  }

  /**
   * Reads what is new.
   *
   * @param all whether to look at the other files too
   * @return whether there is something to tell
   */
  synchronized boolean poll(boolean all) {
    boolean changed;
    try {
      changed = tail.poll(new Reading());
      error = "";
    } catch (IOException e) {
      error = DataException.reason(e);
      changed = false;
    }
    everPresent |= tail.isPresent();
    if (tablesChanged) {
      tablesChanged = false;
      tables = readTables();
    }
    if (all || changed) {
      facts.refresh();
    }
    String now = facts().toString();
    boolean isNew = changed || !now.equals(told);
    told = now;
    return isNew;
  }

  private final class Reading implements MetricsTail.Lines {
    @Override
    public void restart() {
      curves = new Curves();
      generation++;
      lines = 0;
      broken = 0;
      lossUnknownAt = -1;
      step = 0;
      epoch = 0;
      seconds = 0;
      withTablesLength = 0;
      tablesChanged = true;
    }

    @Override
    public void line(byte[] bytes, int from, int length) {
      if (!line.read(bytes, from, length)) {
        tooLong();
        return;
      }
      lines++;
      curves.add(line);
      step = line.step();
      epoch = line.epoch();
      seconds = line.seconds();
      if (line.isLossUnknown() && !line.isEval() && lossUnknownAt < 0) {
        lossUnknownAt = line.step();
      }
      if (line.hasTables()) {
        keep(bytes, from, length);
      }
    }

    @Override
    public void tooLong() {
      lines++;
      broken++;
      firstBroken = broken == 1 ? lines : firstBroken;
    }

    private void keep(byte[] bytes, int from, int length) {
      if (withTables.length < length) {
        withTables = Arrays.copyOf(withTables, Math.max(length, 2 * withTables.length));
      }
      System.arraycopy(bytes, from, withTables, 0, length);
      withTablesLength = length;
      tablesChanged = true;
    }
  }

  private Json.Arr readTables() {
    tablesLeftOut = 0;
    if (withTablesLength == 0) {
      return new Json.Arr(List.of());
    }
    try {
      String text = new String(withTables, 0, withTablesLength, StandardCharsets.UTF_8);
      List<Json> all = Json.parseObject(text, name).array("tables");
      tablesLeftOut = Math.max(0, all.size() - MOST_TABLES);
      return new Json.Arr(new ArrayList<>(all.subList(0, all.size() - tablesLeftOut)));
    } catch (DataException _) {
      return new Json.Arr(List.of());
    }
  }

  private Json.Obj facts() {
    Json.Obj out = Json.object().put("name", name);
    facts.put(out, tail.modified());
    if (!tail.isPresent()) {
      out.put("state", everPresent ? "gone" : "waiting");
    }
    out.put("written", tail.modified().toMillis())
        .put("step", step)
        .put("epoch", epoch)
        .put("seconds", Double.isFinite(seconds) ? seconds : 0)
        .put("lines", lines)
        .put("tables", tables);
    if (broken > 0) {
      out.put("broken", broken).put("first_broken", firstBroken);
    }
    if (tablesLeftOut > 0) {
      out.put("tables_left_out", tablesLeftOut);
    }
    if (curves.hasTasksLeftOut()) {
      out.put("tasks_left_out", true);
    }
    if (lossUnknownAt >= 0) {
      out.put("loss_unknown_at", lossUnknownAt);
    }
    if (!error.isEmpty()) {
      out.put("error", error);
    }
    return out;
  }

  /** What a page that has seen {@code seen} lacks; empty where it lacks nothing. */
  synchronized Optional<Message> since(Seen seen) {
    Seen now = new Seen(generation, curves.count(), told);
    if (told.isEmpty() || now.equals(seen)) { // Empty before the first poll.
      return Optional.empty();
    }
    boolean goesOn = seen.generation() == generation && curves.keepsFrom(seen.points());
    String head = "{\"id\":" + id + ",\"now\":" + System.currentTimeMillis();
    String body = told.equals(seen.facts()) ? "" : ",\"facts\":" + told;
    String points =
        goesOn ? ",\"points\":" + curves.since(seen.points()) : ",\"curves\":" + curves.toJson();
    return Optional.of(new Message(goesOn ? "more" : "run", head + body + points + "}", now));
  }

  /** The facts as they are, for programs. */
  synchronized Json summary() {
    Json.Obj out = Json.object().put("id", id);
    out.fields().putAll(facts().fields());
    return out;
  }
}
