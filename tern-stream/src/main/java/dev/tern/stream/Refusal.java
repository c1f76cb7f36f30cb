package dev.tern.stream;

import java.util.Locale;

/** Why something of a topic is not served. */
public enum Refusal {
  /** Its bytes are not what was sent, or it is no record of a checkpoint. */
  DAMAGED,
  /** Changes to a checkpoint that is not there. */
  GAP,
  /** It is not newer than what is there: sent twice, or out of order. */
  ORDER,
  /** Of a run that does not say that it takes over. */
  FOREIGN,
  /** More bytes than allowed, or than the disk has room for. */
  OVERSIZE,
  /** Its last records did not come. */
  HALF;

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
