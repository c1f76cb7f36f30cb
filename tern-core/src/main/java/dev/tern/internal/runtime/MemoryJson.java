package dev.tern.internal.runtime;

import dev.tern.internal.json.Json;
import dev.tern.internal.memory.AllocationHistory.Event;
import dev.tern.internal.memory.MemorySnapshot;
import dev.tern.internal.memory.MemorySnapshot.State;
import dev.tern.internal.memory.MemoryStatistics;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * A snapshot of memory in the format of PyTorch's {@code torch.cuda.memory._snapshot()}, for the
 * viewers of that format. Memory of the host is shown as that of device 0. Each block has one
 * frame, which names its holder. Blocks are free as soon as they are freed, so what PyTorch calls
 * active is what is allocated.
 */
final class MemoryJson {
  private MemoryJson() {}

  static Json.Obj of(MemorySnapshot snapshot) {
    int device = Math.max(0, snapshot.device());
    List<Json> segments = new ArrayList<>();
    snapshot.segments().forEach(segment -> segments.add(segment(segment, device)));
    List<Json> trace = new ArrayList<>();
    snapshot.events().forEach(event -> add(event, trace));
    // The place of a trace in the list is the number of its device.
    List<Json> traces = new ArrayList<>(Collections.nCopies(device, new Json.Arr(List.of())));
    traces.add(new Json.Arr(trace));
    return Json.object()
        .put("budget", snapshot.budget())
        .put("statistics", statistics(snapshot.statistics()))
        .put("segments", new Json.Arr(segments))
        .put("device_traces", new Json.Arr(traces))
        .put("events", snapshot.eventCount());
  }

  private static Json.Obj segment(MemorySnapshot.Segment segment, int device) {
    List<Json> blocks = new ArrayList<>();
    long live = 0;
    long requested = 0;
    for (MemorySnapshot.Block block : segment.blocks()) {
      boolean isLive = block.state() == State.LIVE;
      live += isLive ? block.bytes() : 0;
      requested += block.requested();
      blocks.add(
          Json.object()
              .put("address", block.address())
              .put("size", block.bytes())
              .put("requested_size", block.requested())
              .put("state", isLive ? "active_allocated" : "inactive")
              .put("kept", block.state() == State.KEPT)
              .put("frames", frames(block.holder())));
    }
    return Json.object()
        .put("address", segment.address())
        .put("total_size", segment.bytes())
        .put("allocated_size", live)
        .put("active_size", live)
        .put("requested_size", requested)
        .put("device", (long) device)
        .put("stream", 0L)
        .put("segment_type", "large")
        .put("is_expandable", true)
        .put("blocks", new Json.Arr(blocks));
  }

  private static Json.Arr frames(String holder) {
    return holder.isEmpty()
        ? new Json.Arr(List.of())
        : new Json.Arr(
            List.of(Json.object().put("name", holder).put("filename", "").put("line", 0L)));
  }

  private static void add(Event event, List<Json> trace) {
    switch (event.action()) {
      case ALLOCATE -> trace.add(entry("alloc", event));
      case FREE -> {
        trace.add(entry("free_requested", event));
        trace.add(entry("free_completed", event));
      }
      case GROW -> trace.add(entry("segment_map", event));
      case TRIM -> trace.add(entry("segment_unmap", event));
      case OUT_OF_MEMORY ->
          trace.add(entry("oom", event).put("addr", 0L).put("device_free", event.address()));
    }
  }

  private static Json.Obj entry(String action, Event event) {
    return Json.object()
        .put("action", action)
        .put("addr", event.address())
        .put("size", event.bytes())
        .put("stream", 0L)
        .put("time_us", event.nanos() / 1000)
        .put("frames", frames(event.holder()));
  }

  private static Json.Obj statistics(MemoryStatistics s) {
    return Json.object()
        .put("allocation", quantity(s.allocations()))
        .put("allocated_bytes", quantity(s.allocated()))
        .put("reserved_bytes", quantity(s.reserved()))
        .put("active_bytes", quantity(s.allocated()))
        .put("inactive_split_bytes", quantity(s.inactiveSplit()))
        .put("requested_bytes", quantity(s.requested()))
        .put("num_alloc_retries", s.retries())
        .put("num_ooms", s.outOfMemory())
        .put("num_sync_all_streams", 0L)
        .put("system_calls", s.systemCalls());
  }

  private static Json.Obj quantity(MemoryStatistics.Quantity q) {
    return Json.object()
        .put("current", q.current())
        .put("peak", q.peak())
        .put("allocated", q.totalAllocated())
        .put("freed", q.totalFreed());
  }
}
