package dev.tern.internal.remat.search;

import dev.tern.base.DataException;
import dev.tern.internal.json.Json;
import dev.tern.internal.memory.BlockArena;
import dev.tern.internal.remat.Foresight;
import dev.tern.internal.remat.Guide;
import dev.tern.internal.remat.Policy;
import dev.tern.internal.remat.Policy.Neighbourhood;
import dev.tern.internal.remat.Residency;
import dev.tern.internal.remat.Simulation;
import dev.tern.internal.remat.StorageMemory;
import dev.tern.internal.remat.Trace;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * A guide in a file: a JSON object with a version, a digest of itself, a digest of the step that it
 * belongs to, and the guide. A guide only advises a {@link Residency}, which keeps values right
 * whatever the file says. A guide that does not lead to the time that it promises is not used.
 */
final class GuideFile {
  private static final long FORMAT = 1;

  /** A guide for less than this share of the budget is not used: more room may allow a better. */
  private static final double LEAST_SHARE = 15 / 16.0;

  private GuideFile() {}

  /** The guide of a file, or why it is not used; neither where there is no file. */
  record Kept(Optional<Guide> guide, Optional<String> reason) {}

  /** Reads the guide for a step from a file. */
  static Kept read(Path file, Trace trace, long budget) {
    try {
      Json.Obj object = Json.parse(Files.readAllBytes(file), file.toString()).asObject("schedule");
      Json.Obj content = object.object("schedule");
      require(object.integer("format") == FORMAT, "format " + object.integer("format"), "1");
      require(
          object.text("sha256").equals(digest(content.toString())),
          "damaged content",
          "a whole one");
      require(content.text("step").equals(digest(trace)), "the schedule of another step", "this");
      Guide guide = guide(content, trace);
      require(
          guide.budget() >= LEAST_SHARE * budget,
          "a schedule for " + guide.budget() + " bytes",
          "one for about " + budget);
      StorageMemory memory =
          new StorageMemory.Placed(new BlockArena(guide.budget()), guide.foresight());
      double time =
          Simulation.run(trace, memory, guide.policy(), guide.foresight(), guide.time()).time();
      require(time == guide.time(), "a schedule that takes other time", "the time it promises");
      require(
          memory.peakReserved() <= budget,
          "a schedule in " + memory.peakReserved() + " bytes",
          "at most " + budget + ", which are free");
      return new Kept(Optional.of(guide), Optional.empty());
    } catch (NoSuchFileException _) {
      return new Kept(Optional.empty(), Optional.empty());
    } catch (DataException e) {
      return new Kept(Optional.empty(), Optional.of(file + " is not used: " + e.getMessage()));
    } catch (IOException | RuntimeException e) {
      String reason = file + " is not used: got " + e + ", expected a schedule";
      return new Kept(Optional.empty(), Optional.of(reason));
    }
  }

  private static void require(boolean holds, String got, String expected) {
    if (!holds) {
      throw new DataException("got " + got + ", expected " + expected);
    }
  }

  /** Writes the guide of a step, complete or not at all; returns why it could not. */
  static Optional<String> write(Path file, Trace trace, Guide guide) {
    Path target = file.toAbsolutePath();
    Path part = target.resolveSibling("." + target.getFileName() + ".part");
    Json.Obj content = json(trace, guide);
    Json.Obj object =
        Json.object()
            .put("format", FORMAT)
            .put("sha256", digest(content.toString()))
            .put("schedule", content);
    try {
      Files.writeString(part, object + "\n");
      Files.move(part, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      return Optional.empty();
    } catch (IOException e) {
      return Optional.of(DataException.reason(e));
    }
  }

  private static Json.Obj json(Trace trace, Guide guide) {
    Policy policy = guide.policy();
    Json.Obj content =
        Json.object()
            .put("step", digest(trace))
            .put("budget", guide.budget())
            .put("time", guide.time())
            .put(
                "policy",
                Json.object()
                    .put("name", policy.name())
                    .put("neighbourhood", policy.neighbourhood().name())
                    .put("cost_power", policy.costPower())
                    .put("size_power", policy.sizePower())
                    .put("staleness_power", policy.stalenessPower())
                    .put("uses_next", policy.usesNext()));
    return guide.foresight() instanceof PlannedForesight planned
        ? content.put("foresight", json(planned))
        : content;
  }

  private static Json.Obj json(PlannedForesight planned) {
    Function<int[], LongStream> storages = row -> Arrays.stream(row).asLongStream();
    List<Json> weights = Arrays.stream(planned.weights()).<Json>mapToObj(Json.Real::new).toList();
    return Json.object()
        .put("room", planned.room())
        .put("weights", new Json.Arr(weights))
        .put(
            "places",
            rows(planned.places(), row -> row == null ? LongStream.empty() : Arrays.stream(row)))
        .put("drops_before", rows(planned.drops().before(), storages))
        .put("drops_after", rows(planned.drops().after(), storages));
  }

  private static <R> Json rows(R[] rows, Function<R, LongStream> numbers) {
    Stream<Json> arrays =
        Arrays.stream(rows)
            .map(row -> new Json.Arr(numbers.apply(row).<Json>mapToObj(Json.Int::new).toList()));
    return new Json.Arr(arrays.toList());
  }

  private static Guide guide(Json.Obj content, Trace trace) {
    Json.Obj policy = content.object("policy");
    Policy followed =
        new Policy(
            policy.text("name"),
            Neighbourhood.valueOf(policy.text("neighbourhood")),
            policy.number("cost_power"),
            policy.number("size_power"),
            policy.number("staleness_power"),
            policy.flag("uses_next"));
    Foresight foresight =
        content.has("foresight") ? foresight(content.object("foresight"), trace) : Foresight.NONE;
    return new Guide(followed, foresight, content.integer("budget"), content.number("time"));
  }

  private static PlannedForesight foresight(Json.Obj planned, Trace trace) {
    double[] weights =
        planned.array("weights").stream().mapToDouble(item -> item.asNumber("weights")).toArray();
    return new PlannedForesight(
        new TraceUses(trace),
        weights,
        rows(planned, "places"),
        planned.integer("room"),
        new PlannedForesight.Drops(
            storages(planned, "drops_before"), storages(planned, "drops_after")));
  }

  private static long[][] rows(Json.Obj planned, String key) {
    return planned.array(key).stream()
        .map(row -> row.asArray(key).stream().mapToLong(item -> item.asInteger(key)).toArray())
        .toArray(long[][]::new);
  }

  private static int[][] storages(Json.Obj planned, String key) {
    return Arrays.stream(rows(planned, key))
        .map(row -> Arrays.stream(row).mapToInt(Math::toIntExact).toArray())
        .toArray(int[][]::new);
  }

  /** A digest of all events of a step and the names of its ops. */
  private static String digest(Trace trace) {
    StringBuilder text = new StringBuilder(String.join("\n", trace.names()));
    for (Trace.Event event : trace.events()) {
      text.append('\n').append(event.getClass().getSimpleName());
      switch (event) {
        case Trace.Run run ->
            text.append(Double.toHexString(run.cost()))
                .append(run.isRepeatable())
                .append(Arrays.toString(run.reads()))
                .append(Arrays.toString(run.bytes()))
                .append(Arrays.toString(run.viewOf()))
                .append(Arrays.toString(run.over()));
        case Trace.Retain(int value) -> text.append(value);
        case Trace.Release(int value) -> text.append(value);
        case Trace.Free(int value) -> text.append(value);
        case Trace.Pin(int value) -> text.append(value);
        case Trace.Expire(int[] ops) -> text.append(Arrays.toString(ops));
      }
    }
    return digest(text.toString());
  }

  private static String digest(String text) {
    try {
      MessageDigest sha = MessageDigest.getInstance("SHA-256");
      return HexFormat.of().formatHex(sha.digest(text.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("digest: every JVM has SHA-256", e);
    }
  }
}
