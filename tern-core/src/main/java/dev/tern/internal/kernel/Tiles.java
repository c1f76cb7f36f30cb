package dev.tern.internal.kernel;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * The tile kernel in use: each part scalar at first, by vectors once compiled, to the same bits.
 */
final class Tiles {
  private static final int COLUMNS = VectorSupport.available() ? 2 * VectorSupport.lanes() : 16;
  private static final ScalarTile SCALAR = new ScalarTile(COLUMNS);
  private static volatile TileKernel active =
      VectorSupport.available() && Warmup.EAGER ? vectors() : SCALAR.kernel();

  // Of the warm-up thread.
  private static TileLoops loops = SCALAR;
  private static BlockKernel blocks = SCALAR;
  private static RowDots dots = SCALAR;
  private static Optional<PackedTile> packed = Optional.empty();

  /** Parts that may still come into use. */
  private static final AtomicInteger PENDING = new AtomicInteger();

  static {
    if (VectorSupport.available() && !Warmup.EAGER) {
      enqueue(TilePart.LOOPS, each -> loops = each.orElse(SCALAR));
      enqueue(TilePart.PACKED, each -> packed = each);
      enqueue(TilePart.BLOCKS, each -> blocks = each.orElse(SCALAR));
      enqueue(TilePart.DOTS, each -> dots = each.orElse(SCALAR));
    }
  }

  private Tiles() {}

  static TileKernel active() {
    return active;
  }

  /** Whether vector kernels are being made ready. */
  static boolean isPending() {
    return PENDING.get() > 0;
  }

  /** Columns of a tile: the width of a packed panel of B. */
  static int columns() {
    return COLUMNS;
  }

  /** All parts by vectors, compiled or not. */
  static TileKernel vectors() {
    TileLoops all = new TwoTermTile(new VectorTile(), new VectorPackedTile());
    return new TileKernel(all, new VectorBlocks(), new VectorDots());
  }

  private static <K> void enqueue(TilePart.Code<K> code, Consumer<Optional<K>> use) {
    PENDING.incrementAndGet();
    Warmup.enqueue(() ->
        Optional.of(
            new TilePart<>(
                code,
                ready -> {
                  use.accept(ready);
                  publish();
                },
                PENDING::decrementAndGet)));
  }

  /** Takes the parts into use that are ready. */
  private static void publish() {
    TileLoops all =
        packed.isPresent() && loops != SCALAR ? new TwoTermTile(loops, packed.get()) : loops;
    active = new TileKernel(all, blocks, dots);
  }
}
