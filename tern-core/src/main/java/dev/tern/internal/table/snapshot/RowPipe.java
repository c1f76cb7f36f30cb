package dev.tern.internal.table.snapshot;

import dev.tern.base.Workers;
import dev.tern.embedding.config.TableConfig;
import dev.tern.internal.table.rows.PlacedBlock;
import java.lang.foreign.Arena;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Moves blocks of rows from a source to a sink, in order. The caller's thread does all of it until
 * a block is full. From then on another thread lets the source fill the next blocks while the sink
 * takes one. So a small table costs neither a thread nor memory that threads share, whose end stops
 * all threads of the process for a moment.
 */
public final class RowPipe {
  private static final int BLOCKS = 3;

  private final Predicate<PlacedBlock> source;
  private final Consumer<PlacedBlock> finish;
  private final BlockingQueue<PlacedBlock> empty = new ArrayBlockingQueue<>(BLOCKS);

  /** Blocks with rows; after the last, or where the source failed, one without. */
  private final BlockingQueue<PlacedBlock> full = new ArrayBlockingQueue<>(BLOCKS);

  private volatile Optional<Throwable> failure = Optional.empty();

  private RowPipe(Predicate<PlacedBlock> source, Consumer<PlacedBlock> finish) {
    this.source = source;
    this.finish = finish;
  }

  /** Gives all blocks of {@code source} to {@code sink}. */
  public static void run(
      TableConfig config, Predicate<PlacedBlock> source, Consumer<PlacedBlock> sink) {
    run(config, source, sink, _ -> {});
  }

  /**
   * Gives all blocks of {@code source} to {@code sink}, on this thread, then to {@code finish}, on
   * this thread or another. If one of them fails, this throws its exception, once the others have
   * stopped.
   */
  public static void run(
      TableConfig config,
      Predicate<PlacedBlock> source,
      Consumer<PlacedBlock> sink,
      Consumer<PlacedBlock> finish) {
    try (PlacedBlock block = new PlacedBlock(config, config.metadata(), Arena.ofConfined())) {
      do {
        if (!source.test(block)) {
          return;
        }
        sink.accept(block);
        finish.accept(block);
      } while (block.count() < block.places().length);
    }
    runFurther(config, source, sink, finish);
  }

  /** Moves the blocks behind the first. */
  private static void runFurther(
      TableConfig config,
      Predicate<PlacedBlock> source,
      Consumer<PlacedBlock> sink,
      Consumer<PlacedBlock> finish) {
    RowPipe pipe = new RowPipe(source, finish);
    PlacedBlock[] blocks = new PlacedBlock[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
      blocks[i] = new PlacedBlock(config, config.metadata(), Arena.ofShared());
      pipe.empty.add(blocks[i]);
    }
    Thread filler = Thread.ofPlatform().daemon().name("tern-rows").start(pipe::fill);
    try {
      pipe.drain(sink);
      Workers.awaitEnd(filler);
      pipe.empty.stream().filter(block -> block.count() > 0).forEach(finish);
    } finally {
      filler.interrupt();
      Workers.awaitEnd(filler);
      for (PlacedBlock block : blocks) {
        block.close();
      }
    }
  }

  private void fill() {
    try {
      boolean more = true;
      while (more) {
        PlacedBlock block = empty.take();
        more = fill(block);
        if (!more) {
          block.rows().setCount(0);
        }
        full.put(block);
      }
    } catch (InterruptedException e) {
      // The sink failed: nobody wants more.
    }
  }

  private boolean fill(PlacedBlock block) {
    try {
      if (block.count() > 0) {
        finish.accept(block);
      }
      return source.test(block);
    } catch (RuntimeException | Error e) {
      failure = Optional.of(e);
      return false;
    }
  }

  private void drain(Consumer<PlacedBlock> sink) {
    try {
      for (PlacedBlock block = full.take(); block.count() > 0; block = full.take()) {
        sink.accept(block);
        empty.put(block);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(
          "rows: got an interrupt while they were moved, expected none; move them again", e);
    }
    switch (failure.orElse(null)) {
      case RuntimeException e -> throw e;
      case Error e -> throw e;
      case null, default -> {}
    }
  }
}
