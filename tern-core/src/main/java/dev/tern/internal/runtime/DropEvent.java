package dev.tern.internal.runtime;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** For the flight recorder: a value was dropped and will be computed again. */
@Name("dev.tern.Drop")
@Label("Drop")
@Category("Tern")
@Description("A value was dropped for want of memory, to be computed again")
@StackTrace(false)
final class DropEvent extends Event {
  @Label("Made By")
  String maker = "";

  @Label("Size")
  @DataAmount
  long bytes;
}
