package dev.tern.internal.runtime;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.EventType;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** For the flight recorder: a step of a computation ran. */
@Name("dev.tern.Step")
@Label("Step")
@Category("Tern")
@Description("A kernel of a computation ran on all threads")
@StackTrace(false)
final class StepEvent extends Event {
  private static final EventType TYPE = EventType.getEventType(StepEvent.class);

  @Label("What")
  String what = "";

  @Label("Computed Again")
  @Description("Its result was dropped for want of memory")
  boolean again;

  /** Whether a recording wants these events. */
  static boolean isRecorded() {
    return TYPE.isEnabled();
  }
}
