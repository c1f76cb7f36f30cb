package dev.tern.internal.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.internal.json.Json;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.MemorySnapshot;
import dev.tern.internal.memory.OutOfBudgetException;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What PyTorch's {@code _memory_viz.py} needs of a snapshot. */
final class MemoryJsonTest {
  private static final long BUDGET = 4 << 20;

  private static List<Json.Obj> objects(List<Json> all) {
    return all.stream().map(each -> (Json.Obj) each).toList();
  }

  @Tag("unchecked") // Blocks lie elsewhere in checked mode.
  @Test
  void segmentsAreTiledByBlocksWithHoldersAsFrames() {
    try (Allocator allocator = Allocator.of(BUDGET)) {
      long table = allocator.allocate(100_000, "table \"a\"");
      allocator.free(allocator.allocate(50_000, "batch"));
      Json.Obj json =
          Json.parseObject(MemoryJson.of(allocator.snapshot()).toString(), "memory.json");
      assertThat(json.integer("budget")).isEqualTo(BUDGET);
      List<Json.Obj> live = new ArrayList<>();
      for (Json.Obj segment : objects(json.array("segments"))) {
        long at = segment.integer("address");
        for (Json.Obj block : objects(segment.array("blocks"))) {
          assertThat(block.integer("address")).isEqualTo(at);
          at += block.integer("size");
          if (block.text("state").equals("active_allocated")) {
            live.add(block);
          } else {
            assertThat(block.text("state")).isEqualTo("inactive");
          }
        }
        assertThat(at - segment.integer("address")).isEqualTo(segment.integer("total_size"));
      }
      assertThat(live).hasSize(1);
      assertThat(live.get(0).integer("address")).isEqualTo(table);
      assertThat(live.get(0).integer("requested_size")).isEqualTo(100_000);
      Json.Obj frame = objects(live.get(0).array("frames")).get(0);
      assertThat(frame.text("name")).isEqualTo("table \"a\"");
      Json.Obj allocated = (Json.Obj) ((Json.Obj) json.get("statistics")).get("allocated_bytes");
      assertThat(allocated.integer("current")).isEqualTo(100_032);
      assertThat(allocated.integer("peak")).isEqualTo(100_032 + 50_048);
    }
  }

  @Test
  void memoryOfADeviceIsShownAsThatOfItsNumber() {
    try (Allocator allocator = Allocator.of(BUDGET)) {
      allocator.allocate(100, "weights");
      MemorySnapshot host = allocator.snapshot();
      MemorySnapshot second =
          new MemorySnapshot(
              1,
              host.budget(),
              host.statistics(),
              host.segments(),
              host.events(),
              host.eventCount());
      Json.Obj json = Json.parseObject(MemoryJson.of(second).toString(), "memory.json");
      assertThat(objects(json.array("segments")).get(0).integer("device")).isEqualTo(1);
      assertThat(json.array("device_traces")).hasSize(2);
      Json.Obj plain = Json.parseObject(MemoryJson.of(host).toString(), "memory.json");
      assertThat(objects(plain.array("segments")).get(0).integer("device")).isZero();
      assertThat(plain.array("device_traces")).hasSize(1);
    }
  }

  @Tag("unchecked") // Blocks lie elsewhere in checked mode.
  @Test
  void historyIsATraceOfOneDevice() {
    try (Allocator allocator = Allocator.of(BUDGET)) {
      allocator.recordHistory(100);
      long address = allocator.allocate(1000, "x");
      allocator.free(address);
      Assertions.catchThrowableOfType(
          OutOfBudgetException.class, () -> allocator.allocate(2 * BUDGET, "y"));
      Json.Obj json =
          Json.parseObject(MemoryJson.of(allocator.snapshot()).toString(), "memory.json");
      List<Json.Obj> trace =
          objects(((Json.Arr) json.array("device_traces").get(0)).items()).stream()
              .filter(entry -> !entry.text("action").startsWith("segment_"))
              .toList();
      assertThat(trace.stream().map(entry -> entry.text("action")))
          .containsExactly("alloc", "free_requested", "free_completed", "oom");
      assertThat(trace.get(0).integer("addr")).isEqualTo(address);
      assertThat(trace.get(0).integer("size")).isEqualTo(1024);
      assertThat(trace.get(3).integer("device_free")).isEqualTo(BUDGET);
      assertThat(trace.get(3).integer("size")).isEqualTo(2 * BUDGET);
    }
  }
}
