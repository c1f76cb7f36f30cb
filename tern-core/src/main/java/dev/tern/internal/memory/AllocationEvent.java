package dev.tern.internal.memory;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.EventType;
import jdk.jfr.Label;
import jdk.jfr.Name;

/**
 * For the flight recorder: a block was allocated anew, not taken from those that a thread keeps.
 */
@Name("dev.tern.Allocation")
@Label("Allocation")
@Category("Tern")
@Description("Off-heap memory was taken that no thread had kept from before")
final class AllocationEvent extends Event {
  private static final EventType TYPE = EventType.getEventType(AllocationEvent.class);

  @Label("Holder")
  String holder = "";

  @Label("Size")
  @DataAmount
  long bytes;

  @Label("Reserved")
  @Description("Memory held from the system after it")
  @DataAmount
  long reserved;

  static void note(String holder, long bytes, Pool pool) {
    if (TYPE.isEnabled()) {
      AllocationEvent event = new AllocationEvent();
      event.holder = holder;
      event.bytes = bytes;
      event.reserved = pool.reserved().current();
      event.commit();
    }
  }
}
