package dev.tern.serve.http;

import java.time.Duration;

/**
 * What a {@link ModelServer} refuses.
 *
 * @param body the most bytes of a request's body, as sent and inflated
 * @param inFlight requests that are computed at once
 * @param queue requests that wait for their turn
 * @param queueTime how long one waits at most
 * @param connections the most connections; further ones wait to be accepted
 * @param headerTime how long a caller may take to send the head of a request
 * @param idle how long a connection may say nothing
 */
public record ServeLimits(
    long body,
    int inFlight,
    int queue,
    Duration queueTime,
    int connections,
    Duration headerTime,
    Duration idle) {
  /** The most bytes of the head of a request. */
  static final int HEAD_BYTES = 8 << 10;

  /** The most fields of the head of a request. */
  static final int HEAD_FIELDS = 100;

  /** Fewest bytes a second of a body that takes longer than {@link #headerTime}. */
  static final int BODY_RATE = 1 << 10;

  /** 8 MiB a body, four requests a core at once, 1,024 waiting for 100 ms, 1,000 connections. */
  public static final ServeLimits DEFAULT =
      new ServeLimits(
          8 << 20,
          4 * Runtime.getRuntime().availableProcessors(),
          1_024,
          Duration.ofMillis(100),
          1_000,
          Duration.ofSeconds(10),
          Duration.ofSeconds(30));

  /** Checks the ranges. */
  public ServeLimits {
    require(body >= 1 && body <= 1 << 30, "max-body", body, "1 byte to 1 GiB");
    require(inFlight >= 1 && inFlight <= 4_096, "max-inflight", inFlight, "1 to 4096");
    require(queue >= 0 && queue <= 1_000_000, "queue", queue, "0 to 1000000");
    require(connections >= 1 && connections <= 1_000_000, "connections", connections, "1 and more");
    require(queueTime.isPositive(), "queue-time", queueTime, "a time above 0");
    require(headerTime.isPositive(), "header-time", headerTime, "a time above 0");
    require(idle.isPositive(), "idle", idle, "a time above 0");
  }

  private static void require(boolean holds, String name, Object got, String expected) {
    if (!holds) {
      throw new IllegalArgumentException(name + ": got " + got + ", expected " + expected);
    }
  }

  /** The same with another bound of bodies. */
  public ServeLimits withBody(long bytes) {
    return new ServeLimits(bytes, inFlight, queue, queueTime, connections, headerTime, idle);
  }

  /** The same with other bounds of what runs and what waits. */
  public ServeLimits withInFlight(int running, int waiting, Duration time) {
    return new ServeLimits(body, running, waiting, time, connections, headerTime, idle);
  }

  /** The same with another number of connections. */
  public ServeLimits withConnections(int most) {
    return new ServeLimits(body, inFlight, queue, queueTime, most, headerTime, idle);
  }

  /** The same with other times for the head of a request and for silence. */
  public ServeLimits withTimes(Duration head, Duration silence) {
    return new ServeLimits(body, inFlight, queue, queueTime, connections, head, silence);
  }
}
