package dev.tern.serve.http;

import dev.tern.serve.http.metrics.Exposition;
import dev.tern.serve.http.metrics.ModelFamilies;
import dev.tern.serve.http.metrics.ModelMetrics;
import dev.tern.serve.http.metrics.RequestCounts;
import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What a server counts, as a page for Prometheus. */
final class ServeMetrics {
  /** Why requests are refused before they are computed. */
  static final String QUEUE_FULL = "queue_full";

  static final String QUEUE_TIME = "queue_time";
  static final String BODIES = "bodies";
  static final String SLOW_BODY = "slow_body";
  static final String SLOW_HEADER = "slow_header";
  static final String ABORTED = "aborted";
  static final String TOKEN = "token";
  static final String NOT_READY = "not_ready";

  private static final Path STATUS = Path.of("/proc/self/status");
  private static final Pattern RESIDENT = Pattern.compile("VmRSS:\\s+(\\d{1,15}) kB");

  /** Requests that name no model that is served. */
  final ModelMetrics none = new ModelMetrics("");

  /** Requests of the server to itself, which no page shows. */
  final ModelMetrics warmUp = new ModelMetrics("");

  final RequestCounts.Named rejected =
      new RequestCounts.Named(
          QUEUE_FULL, QUEUE_TIME, SLOW_BODY, SLOW_HEADER, ABORTED, TOKEN, NOT_READY);
  final LongAdder reloadFailures = new LongAdder();

  /** Lines of the access log that its file took too slowly, or not at all. */
  final LongAdder linesDropped = new LongAdder();

  /** A state of the server when a page is written. */
  record State(List<Hosted> models, int queued, int inFlight, int connections, BodyBudget bodies) {}

  byte[] page(State state) {
    Exposition page = new Exposition();
    new ModelFamilies(page, state.models().stream().map(Hosted::metrics).toList()).write(none);
    models(page, state.models());
    updates(page, state.models());
    server(page, state);
    process(page);
    return page.bytes();
  }

  private static void updates(Exposition page, List<Hosted> models) {
    page.family("tern_model_loaded", "gauge", "1 where the model is in memory, 0 if unloaded.");
    models.forEach(model -> model.writePlaces(page, "tern_model_loaded"));
    page.family("tern_deltas_total", "counter", "Updates that were taken as changes.");
    models.forEach(
        model -> model.writeAll(page, "tern_deltas_total", live -> live.facts().deltas()));
    page.family("tern_delta_rows_total", "counter", "Ids of tables that these updates changed.");
    models.forEach(
        model -> model.writeAll(page, "tern_delta_rows_total", live -> live.facts().deltaRows()));
    page.family(
        "tern_checkpoint_age_seconds", "gauge", "Time since the checkpoint served was written.");
    long now = System.currentTimeMillis();
    models.forEach(model ->
        model.write(
            page,
            "tern_checkpoint_age_seconds",
            live -> live.facts().writtenMillis().map(at -> seconds(now - at))));
    page.family("tern_candidates", "gauge", "Items that requests for items compare.");
    models.forEach(model ->
        model.write(
            page,
            "tern_candidates",
            live -> live.facts().candidates().map(c -> (double) c.items())));
    page.family("tern_candidate_bytes", "gauge", "Memory of their vectors, outside the heap.");
    models.forEach(model ->
        model.write(
            page,
            "tern_candidate_bytes",
            live -> live.facts().candidates().map(c -> (double) c.bytes())));
  }

  private void models(Exposition page, List<Hosted> models) {
    page.family("tern_model_step", "gauge", "Step of training that is served.");
    models.forEach(model -> model.writeAll(page, "tern_model_step", live -> (double) live.step()));
    page.family(
        "tern_model_loaded_timestamp_seconds", "gauge", "When the step served was taken into use.");
    models.forEach(model ->
        model.writeAll(
            page, "tern_model_loaded_timestamp_seconds", live -> seconds(live.loadedMillis())));
    page.family("tern_model_age_seconds", "gauge", "Time since the step served was loaded.");
    long now = System.currentTimeMillis();
    models.forEach(model ->
        model.writeAll(page, "tern_model_age_seconds", live -> seconds(now - live.loadedMillis())));
    page.family("tern_model_memory_bytes", "gauge", "Memory outside the heap: tables, weights.");
    models.forEach(
        model -> model.writeAll(page, "tern_model_memory_bytes", LiveModel::memoryBytes));
    page.family("tern_reload_failures_total", "counter", "Checkpoints that could not be served.");
    page.line("tern_reload_failures_total", "", reloadFailures.sum());
    if (models.stream().anyMatch(Hosted::hasFeed)) {
      feeds(page, models);
    }
  }

  private static void feeds(Exposition page, List<Hosted> models) {
    page.family(
        "tern_feed_age_seconds",
        "gauge",
        "Time since the folder served was known to have all that its source has.");
    models.forEach(
        model -> model.writeFeeds(page, "tern_feed_age_seconds", ModelFeed.State::ageSeconds));
    page.family("tern_feed_behind_records", "gauge", "Records of the source not read yet.");
    models.forEach(model ->
        model.writeFeeds(page, "tern_feed_behind_records", state -> (double) state.behind()));
    page.family("tern_feed_checkpoints_total", "counter", "Checkpoints that came.");
    models.forEach(model ->
        model.writeFeeds(page, "tern_feed_checkpoints_total", state -> (double) state.taken()));
    page.family("tern_feed_bytes_total", "counter", "Bytes that came.");
    models.forEach(
        model -> model.writeFeeds(page, "tern_feed_bytes_total", state -> (double) state.bytes()));
    page.family("tern_feed_refused_total", "counter", "What came and is not served.");
    models.forEach(model -> model.writeRefused(page, "tern_feed_refused_total"));
  }

  private void server(Exposition page, State state) {
    page.family("tern_rejected_total", "counter", "Requests refused before they were computed.");
    rejected.write(page, "tern_rejected_total", "reason");
    page.line("tern_rejected_total", Exposition.label("reason", BODIES), state.bodies().refused());
    page.family(
        "tern_access_log_dropped_total", "counter", "Lines of the access log that are left out.");
    page.line("tern_access_log_dropped_total", "", linesDropped.sum());
    page.family("tern_queue_depth", "gauge", "Requests that wait for their turn.");
    page.line("tern_queue_depth", "", state.queued());
    page.family("tern_inflight_requests", "gauge", "Requests that are computed.");
    page.line("tern_inflight_requests", "", state.inFlight());
    page.family("tern_connections", "gauge", "Open connections.");
    page.line("tern_connections", "", state.connections());
    page.family(
        "tern_body_bytes", "gauge", "Bytes of requests in memory: bodies, repeated columns.");
    page.line("tern_body_bytes", "", state.bodies().held());
  }

  private static void process(Exposition page) {
    var runtime = ManagementFactory.getRuntimeMXBean();
    page.family("process_start_time_seconds", "gauge", "When the process began.");
    page.line("process_start_time_seconds", "", seconds(runtime.getStartTime()));
    if (ManagementFactory.getOperatingSystemMXBean()
        instanceof com.sun.management.OperatingSystemMXBean system) {
      page.family("process_cpu_seconds_total", "counter", "CPU time of the process.");
      page.line("process_cpu_seconds_total", "", system.getProcessCpuTime() / 1e9);
      page.family("tern_machine_memory_bytes", "gauge", "Memory of the machine or container.");
      page.line("tern_machine_memory_bytes", "", system.getTotalMemorySize());
    }
    residentBytes()
        .ifPresent(bytes -> {
          page.family("process_resident_memory_bytes", "gauge", "Memory of the process.");
          page.line("process_resident_memory_bytes", "", bytes);
        });
    page.family("jvm_memory_used_bytes", "gauge", "Memory that the JVM uses.");
    var memory = ManagementFactory.getMemoryMXBean();
    page.line("jvm_memory_used_bytes", "area=\"heap\"", memory.getHeapMemoryUsage().getUsed());
    page.line(
        "jvm_memory_used_bytes", "area=\"nonheap\"", memory.getNonHeapMemoryUsage().getUsed());
    page.family("jvm_gc_collections_total", "counter", "Garbage collections.");
    List<GarbageCollectorMXBean> collectors = ManagementFactory.getGarbageCollectorMXBeans();
    for (GarbageCollectorMXBean each : collectors) {
      page.line(
          "jvm_gc_collections_total",
          Exposition.label("gc", each.getName()),
          Math.max(0, each.getCollectionCount()));
    }
    page.family("jvm_gc_seconds_total", "counter", "Time of garbage collections.");
    for (GarbageCollectorMXBean each : collectors) {
      page.line(
          "jvm_gc_seconds_total",
          Exposition.label("gc", each.getName()),
          Math.max(0, each.getCollectionTime()) / 1e3);
    }
    page.family("jvm_threads", "gauge", "Threads of the JVM.");
    page.line("jvm_threads", "", ManagementFactory.getThreadMXBean().getThreadCount());
  }

  /** Memory of the process as Linux tells it; other systems have no such file. */
  private static OptionalLong residentBytes() {
    try {
      for (String line : Files.readAllLines(STATUS, StandardCharsets.ISO_8859_1)) {
        Matcher resident = RESIDENT.matcher(line);
        if (resident.matches()) {
          return OptionalLong.of(Long.parseLong(resident.group(1)) << 10);
        }
      }
    } catch (IOException _) {
      return OptionalLong.empty();
    }
    return OptionalLong.empty();
  }

  private static double seconds(long millis) {
    return millis / 1e3;
  }
}
