package dev.tern.data;

import java.util.ArrayDeque;
import java.util.Deque;

/** Batches that come back when they are closed, on whatever thread. */
final class BatchPool {
  private final Schema schema;
  private final int capacity;
  private final Deque<Loan> free = new ArrayDeque<>();

  BatchPool(Schema schema, int capacity) {
    this.schema = schema;
    this.capacity = capacity;
  }

  /** An empty batch, lent until it is closed. */
  Batch take() {
    Loan loan;
    synchronized (free) {
      loan = free.isEmpty() ? new Loan() : free.pop();
      loan.out = true;
    }
    loan.batch.clear();
    return loan.batch;
  }

  private final class Loan implements Runnable {
    private final Batch batch = new Batch(schema, capacity, this);
    private boolean out;

    @Override
    public void run() {
      synchronized (free) {
        if (out) {
          out = false;
          free.push(this);
        }
      }
    }
  }
}
