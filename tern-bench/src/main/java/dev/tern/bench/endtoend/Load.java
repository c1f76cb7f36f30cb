package dev.tern.bench.endtoend;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Asks all models one after the other, all the time, on a thread of its own, and compares: all
 * answers of one step have one score, whatever brought the step.
 */
final class Load implements AutoCloseable {
  /** Leaves the processors to training and serving. */
  private static final int PAUSE_MILLIS = 2;

  private final Asking asking;
  private final List<String> models;
  private final Thread thread;
  private final List<String> faults = new ArrayList<>();
  private final Map<Long, Float> scores = new TreeMap<>();
  private final Map<String, Long> steps = new TreeMap<>();
  private volatile String server;
  private volatile boolean down;
  private volatile boolean closing;
  private volatile long answers;

  Load(Asking asking, List<String> models, String server) {
    this.asking = asking;
    this.models = models;
    this.server = server;
    thread = Thread.ofPlatform().daemon().name("load").start(this::run);
  }

  private void run() {
    while (!closing) {
      for (String model : models) {
        String asked = server;
        try {
          took(model, asking.one(asked, model));
          Thread.sleep(PAUSE_MILLIS);
        } catch (IOException e) {
          // A server that is killed breaks off.
          if (!down && asked.equals(server)) {
            fault(model + ": " + e);
          }
          pause();
        } catch (InterruptedException _) {
          return;
        } catch (RuntimeException e) {
          fault(model + ": " + e.getMessage());
          pause();
        }
      }
    }
  }

  private static void pause() {
    try {
      Thread.sleep(20);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized void took(String model, Asking.Answer answer) {
    answers++;
    steps.put(model, answer.step());
    Float before = scores.putIfAbsent(answer.step(), answer.score());
    if (before != null && Float.compare(before, answer.score()) != 0) {
      fault(
          "%s step %d: got %s, and %s before"
              .formatted(model, answer.step(), answer.score(), before));
    }
  }

  private synchronized void fault(String text) {
    if (faults.size() < 10) {
      faults.add(text);
    }
  }

  /** The server is killed now. */
  void down() {
    down = true;
  }

  /** Another one is there. */
  void up(String other) {
    server = other;
    down = false;
  }

  /** The step that a model answered by last; -1 before its first answer. */
  synchronized long step(String model) {
    return steps.getOrDefault(model, -1L);
  }

  /** How many steps were seen. */
  synchronized int steps() {
    return scores.size();
  }

  long answers() {
    return answers;
  }

  /** What went wrong. */
  synchronized List<String> faults() {
    return List.copyOf(faults);
  }

  @Override
  public void close() {
    closing = true;
    thread.interrupt();
  }
}
