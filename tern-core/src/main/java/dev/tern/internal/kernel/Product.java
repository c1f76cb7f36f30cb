package dev.tern.internal.kernel;

import dev.tern.base.Workers;
import dev.tern.internal.memory.Memory;

/**
 * One matrix product, cut into blocks. B is packed into panels as wide as a tile, a slab of it at a
 * time (at most {@link #SLAB} numbers) and shared by all threads; then tasks, each a chunk of rows
 * of C, walk over the slab in blocks of {@link #DEPTH} along k, pack their rows of A into strips as
 * high as a tile, and run the tile kernel over strips and panels.
 *
 * <p>Every element of C belongs to one task, and blocks along k are taken in order, each from the
 * sums that the one before left in C: neither the cut nor the number of threads changes a bit.
 *
 * <p>Packing is left out where it does not pay: rows of A are read in place when there are few
 * panels, rows of B when there are few strips or few terms. With few terms, the few rows of C
 * beyond whole strips are combinations of the rows of B, computed by a task of their own.
 */
final class Product {
  private static final int ROWS = TileLoops.ROWS;

  /** Terms per block: a panel of B of this length fills the first-level cache. */
  private static final int DEPTH = 512;

  /** Strips of A packed at a time, half of a second-level cache. */
  private static final int STRIPS = 16;

  /** Numbers of B packed at a time. */
  private static final int SLAB = 1 << 20;

  /** Numbers of B packed at a time while C is small: they stay in a second-level cache. */
  private static final int NEAR_SLAB = 1 << 18;

  /** Numbers in a C that is small enough to be gone over once for each slab. */
  private static final int SMALL_RESULT = 1 << 19;

  /** Columns of B packed at a time. */
  static final int SLAB_COLUMNS = 4096;

  /** Below this many multiplications a second thread costs more than it does. */
  private static final long WORTH_SHARING = 200_000;

  private static final int WORTH_SHARING_PACKING = 1 << 17;

  /** Panels packed by one task: together they read a row of B in longer pieces. */
  private static final int PANELS = 4;

  /** Pieces of work for each thread at least, so that none waits long for another at the end. */
  private static final int CHUNKS_PER_THREAD = 8;

  /** Strips in a chunk at least, which read a panel of B from the first-level cache. */
  static final int CHUNK_STRIPS = 8;

  /** Numbers in packed panels that fit into the first-level cache, beside a strip. */
  private static final int ROW_OF_PANELS = 7168;

  private static final int FEW_STRIPS = 4;
  private static final int FEW_PANELS = 2;

  /** Terms up to which a panel of B in place fits into a few sets of the first-level cache. */
  private static final int FEW_TERMS = 16;

  /** Rows of few terms that cost less one by one than as a strip. */
  private static final int FEW_ROWS = 3;

  private final MatMul.Spec spec;
  private final Epilogue epilogue;
  private final int width = Tiles.columns();
  private final long aRow;
  private final long aStep;
  private final long bStep;
  private final long bColumn;
  private final long cRow;

  /** Rows in strips; {@link #lone} others follow. */
  private final int m;

  private final int lone;
  private final int n;
  private final int k;
  private final long ownBytes;
  private final boolean packB;
  private final boolean packA;

  /** Where C has no more columns, half a tile's do, for twice its rows, of A as it lies. */
  private final boolean isNarrow;

  /** So for the last columns of C. */
  private final boolean endsNarrow;

  private final Workers.Task packing = this::packTask;
  private final Workers.Task computing = this::rows;

  // The product at hand.
  private TileKernel kernel = Tiles.active();
  private long a;
  private long b;
  private long c;
  private long slab;
  private long own;

  // The slab at hand: columns from column to columnEnd, terms from term to termEnd.
  private int column;
  private int columnEnd;
  private int term;
  private int termEnd;
  private int depth;
  private int groups;
  private int chunks;

  Product(MatMul.Spec spec) {
    this(spec, Epilogue.NONE);
  }

  /**
   * A product with an epilogue.
   *
   * @param epilogue run on rows as they become final; C must be dense for any but {@link
   *     Epilogue#NONE}, and {@link #isOneSlab} unless it is on C
   */
  Product(MatMul.Spec spec, Epilogue epilogue) {
    this.spec = spec;
    this.epilogue = epilogue;
    aRow = 4 * spec.ars();
    aStep = 4 * spec.acs();
    bStep = 4 * spec.brs();
    bColumn = 4 * spec.bcs();
    cRow = 4 * spec.ldc();
    n = spec.n();
    k = spec.k();
    ownBytes = ownBytes(spec.m(), k, width);
    packB = bColumn != 4 || (strips(spec.m()) > FEW_STRIPS && k > FEW_TERMS);
    int left = spec.m() % ROWS;
    lone = !packB && k <= FEW_TERMS && left <= FEW_ROWS && epilogue.pieces() == 0 ? left : 0;
    m = spec.m() - lone;
    isNarrow = n <= width / 2 && (aStep == 4 || aRow == 4);
    packA = !isNarrow && !(aStep == 4 && panels(n) <= FEW_PANELS);
    endsNarrow = !packA && n % width > 0 && n % width <= width / 2;
  }

  /** Whether rows of C are final as soon as they are computed, rather than gone over again. */
  static boolean isOneSlab(int m, int n, int k, int width) {
    int packed = (n + width - 1) / width * width;
    return n <= SLAB_COLUMNS && k <= slabTerms(m, n, packed);
  }

  /** What a worker's rows need before an epilogue takes them. */
  static long rowsBytes(int n) {
    return 4L * (Epilogue.ELEMENTS + (long) STRIPS * ROWS * n) + 63 & -64;
  }

  static long scratchBytes(int m, int n, int k, int width, int threads) {
    return slabBytes(m, n, k, width) + threads * ownBytes(m, k, width);
  }

  /**
   * Of the larger slab: that of the last columns, if they are fewer, can be of so many more terms.
   */
  private static long slabBytes(int m, int n, int k, int width) {
    int last = n % SLAB_COLUMNS;
    long first = slabBytes(m, n, k, Math.min(n, SLAB_COLUMNS), width);
    return last == 0 ? first : Math.max(first, slabBytes(m, n, k, last, width));
  }

  private static long slabBytes(int m, int n, int k, int columns, int width) {
    int packed = Math.max(1, (columns + width - 1) / width) * width;
    return 4L * packed * Math.min(k, slabTerms(m, n, packed));
  }

  /** A worker's packed strips and, after them, a tile for the edges of C. */
  private static long ownBytes(int rows, int k, int width) {
    return stripsBytes(rows, k) + 4L * ROWS * width + 63 & -64;
  }

  /** The strips that are packed at a time. */
  private static long stripsBytes(int rows, int k) {
    return Math.min(STRIPS, strips(rows)) * stripBytes(Math.min(k, DEPTH));
  }

  /**
   * From one packed strip to the next: room for two numbers more, and an odd number of cache lines,
   * so that strips packed side by side do not all fall into the same sets of a cache.
   */
  private static long stripBytes(int terms) {
    return ((4L * ROWS * terms + 8 + 63) / 64 | 1) * 64;
  }

  private static int strips(int rows) {
    return (rows + ROWS - 1) / ROWS;
  }

  private int panels(int columns) {
    return (columns + width - 1) / width;
  }

  /**
   * The whole product; {@code workers} take part when it is large enough.
   *
   * @param scratch address of {@link #scratchBytes} bytes, 64-byte aligned
   */
  void run(
      TileKernel tiles,
      Workers workers,
      long addressA,
      long addressB,
      long addressC,
      long scratch) {
    int threads = (long) spec.m() * n * k < WORTH_SHARING ? 1 : workers.threads();
    run(tiles, workers, threads, addressA, addressB, addressC, scratch);
  }

  /** The same by the caller alone. */
  void runAlone(
      TileKernel tiles,
      Workers workers,
      long addressA,
      long addressB,
      long addressC,
      long scratch) {
    run(tiles, workers, 1, addressA, addressB, addressC, scratch);
  }

  private void run(
      TileKernel tiles,
      Workers workers,
      int threads,
      long addressA,
      long addressB,
      long addressC,
      long scratch) {
    kernel = tiles;
    a = addressA;
    b = addressB;
    c = addressC;
    slab = scratch;
    own = scratch + slabBytes(spec.m(), n, k, width);
    for (column = 0; column < n; column = columnEnd) {
      columnEnd = Math.min(n, column + SLAB_COLUMNS);
      int packed = panels(columnEnd - column) * width;
      int terms = slabTerms(spec.m(), n, packed);
      for (term = 0; term < k; term = termEnd) {
        termEnd = Math.min(k, term + terms);
        slab(workers, threads);
      }
    }
  }

  /** Terms of a slab of so many columns. */
  private static int slabTerms(int m, int n, int packed) {
    int most = (long) m * n <= SMALL_RESULT ? NEAR_SLAB : SLAB;
    return Math.max(DEPTH, most / packed / DEPTH * DEPTH);
  }

  private void slab(Workers workers, int threads) {
    int length = termEnd - term;
    int blocks = (length + DEPTH - 1) / DEPTH;
    depth = (length + blocks - 1) / blocks + 3 & -4;
    blocks = (length + depth - 1) / depth;
    groups = (panels(columnEnd - column) + PANELS - 1) / PANELS;
    int tasks = blocks * groups;
    boolean shared = threads > 1 && (long) length * (columnEnd - column) >= WORTH_SHARING_PACKING;
    if (shared) {
      workers.run(tasks, packing);
    } else {
      for (int index = 0; index < tasks; index++) {
        packTask(index, 0);
      }
    }
    int strips = strips(m);
    if (threads == 1) {
      chunks = Math.max(1, epilogue.pieces());
      for (int chunk = 0; chunk < chunks; chunk++) {
        rows(chunk, 0);
      }
      loneRows(0);
    } else if (epilogue.pieces() > 0) {
      chunks = epilogue.pieces();
      workers.run(chunks, computing);
    } else {
      int whole = (strips + STRIPS - 1) / STRIPS;
      int even = (whole + threads - 1) / threads * threads;
      int most = Math.max(threads, strips / CHUNK_STRIPS / threads * threads);
      chunks = Math.min(strips, Math.max(even, Math.min(most, CHUNKS_PER_THREAD * threads)));
      workers.run(lone > 0 ? chunks + 1 : chunks, computing);
    }
  }

  private int blockTerms(int block) {
    return Math.min(depth, termEnd - term - block * depth);
  }

  private long packedPanel(int block, int panel) {
    int panels = panels(columnEnd - column);
    return slab + 4L * width * ((long) block * depth * panels + (long) panel * blockTerms(block));
  }

  private void packTask(int index, int worker) {
    packPanels(index / groups, index % groups * PANELS);
  }

  private void packPanels(int block, int firstPanel) {
    int panels = Math.min(PANELS, panels(columnEnd - column) - firstPanel);
    int whole = Math.min(panels, (columnEnd - column) / width - firstPanel);
    int terms = blockTerms(block);
    long from =
        b + (term + (long) block * depth) * bStep + (column + (long) firstPanel * width) * bColumn;
    long to = packedPanel(block, firstPanel);
    long panelBytes = 4L * width * terms;
    int done = packB ? 0 : whole;
    if (packB && bColumn == 4) {
      Packing.packSideBySide(
          kernel, from, bStep, whole * width, whole, width, terms, to, panelBytes);
      done = whole;
    }
    for (int i = done; i < panels; i++) {
      int columns = Math.min(width, columnEnd - column - (firstPanel + i) * width);
      long source = from + (long) i * width * bColumn;
      Packing.pack(kernel, source, bColumn, bStep, columns, terms, to + i * panelBytes, width);
    }
  }

  /** One chunk of rows against the slab; the one after the last is of the lone rows. */
  private void rows(int chunk, int worker) {
    if (chunk == chunks) {
      loneRows(worker);
      return;
    }
    int from = Epilogue.start(m, ROWS, chunks, chunk) / ROWS;
    int to = strips(Epilogue.start(m, ROWS, chunks, chunk + 1));
    int finished = from;
    for (int strip = from; strip < to; strip += STRIPS) {
      int count = Math.min(STRIPS, to - strip);
      long rows = rowsFrom(finished * ROWS, worker);
      for (int block = 0; term + block * depth < termEnd; block++) {
        block(strip, count, block, own + worker * ownBytes, rows);
      }
      int end = strip + count;
      if (end == to || (long) (end - finished) * ROWS * n >= Epilogue.ELEMENTS) {
        finish(finished * ROWS, Math.min(m, end * ROWS), chunk, worker);
        finished = end;
      }
    }
  }

  /** Where row 0 would lie, if C is written to or row {@code first} is a worker's first. */
  private long rowsFrom(int first, int worker) {
    return epilogue.isOnC() ? c : epilogue.rows() + worker * rowsBytes(n) - first * cRow;
  }

  /** Hands rows on that the last slab has gone over. */
  private void finish(int from, int to, int chunk, int worker) {
    if (columnEnd == n && termEnd == k && to > from) {
      epilogue.task().run((long) from * n, (long) to * n, chunk, worker);
    }
  }

  /** The rows beyond whole strips; all their terms are in one slab. */
  private void loneRows(int worker) {
    long rows = rowsFrom(m, worker);
    for (int row = m; row < m + lone; row++) {
      long target = rows + row * cRow + 4L * column;
      if (!spec.accumulate()) {
        Memory.zero(target, 4L * (columnEnd - column));
      }
      long x = a + row * aRow;
      if (aStep != 4) {
        long gathered = own + worker * ownBytes;
        Packing.pack(kernel, x, aRow, aStep, 1, k, gathered, 1);
        x = gathered;
      }
      kernel.blocks().combine(x, b + 4L * column, bStep, target, columnEnd - column, k);
    }
    finish(m, m + lone, 0, worker);
  }

  private void block(int strip, int count, int block, long mine, long to) {
    int terms = blockTerms(block);
    packStrips(strip, count, terms, term + block * depth, mine);
    int strips = Math.min(count, m / ROWS - strip);
    int panels = (columnEnd - column) / width;
    if ((long) panels * width * terms <= ROW_OF_PANELS) {
      for (int s = 0; s < strips; s++) {
        tiles(strip + s, 1, block, 0, panels, mine + s * stripBytes(terms), to);
      }
      edges(strip, strips, count, block, 0, panels, mine, to);
    } else {
      for (int panel = 0; panel < panels; panel++) {
        tiles(strip, strips, block, panel, 1, mine, to);
        edges(strip, strips, count, block, panel, panel + 1, mine, to);
      }
    }
    edges(strip, 0, count, block, panels, panels(columnEnd - column), mine, to);
  }

  /** Whole tiles: one strip along panels, or several along one panel. */
  private void tiles(
      int strip, int strips, int block, int panel, int panels, long packed, long to) {
    int terms = blockTerms(block);
    int from = term + block * depth;
    long x = packA ? packed : a + strip * ROWS * aRow + from * aStep;
    long y =
        packB ? packedPanel(block, panel) : b + from * bStep + 4L * (column + (long) panel * width);
    long stepB = packB ? 4L * width : bStep;
    long target = to + strip * ROWS * cRow + 4L * (column + (long) panel * width);
    boolean start = spec.accumulate() || from > 0;
    long startRow = start ? cRow : 0;
    long nextA = strips == 1 ? 0 : packA ? stripBytes(terms) : ROWS * aRow;
    long nextB = strips > 1 ? 0 : packB ? 4L * width * terms : 4L * width;
    long nextC = strips == 1 ? 4L * width : ROWS * cRow;
    for (int i = 0; i < strips * panels; i++) {
      long startAt = start ? target : MatMul.ZEROS;
      if (packA) {
        kernel.loops().tile(x, 4L * ROWS, y, stepB, startAt, startRow, target, cRow, terms);
      } else {
        kernel.loops().rows(x, aRow, aStep, y, stepB, startAt, startRow, target, cRow, terms);
      }
      x += nextA;
      y += nextB;
      target += nextC;
    }
  }

  /** Tiles over an edge of C. */
  private void edges(
      int strip, int from, int count, int block, int panel, int panelEnd, long mine, long to) {
    for (int p = panel; p < panelEnd; p++) {
      int whole = from;
      if (endsNarrow && column + (p + 1) * width > n) {
        whole = Math.max(from, Math.min(count, m / ROWS - strip));
        for (int s = from; s < whole; s++) {
          narrow(strip + s, block, p, mine, to);
        }
      }
      for (int s = whole; s < count; s++) {
        edge(strip + s, mine + s * stripBytes(blockTerms(block)), block, p, mine, to);
      }
    }
  }

  /** A whole strip of the last panel of C, which is half as wide as a tile or less. */
  private void narrow(int strip, int block, int panel, long mine, long to) {
    int from = term + block * depth;
    int row = strip * ROWS;
    int first = column + panel * width;
    int columns = n - first;
    long y = packedPanel(block, panel);
    long stepB = 4L * width;
    long x = a + row * aRow + from * aStep;
    long target = to + row * cRow + 4L * first;
    boolean start = spec.accumulate() || from > 0;
    if (columns == width / 2) {
      long startAt = start ? target : MatMul.ZEROS;
      long startRow = start ? cRow : 0;
      kernel
          .loops()
          .narrow(x, aRow, aStep, y, stepB, startAt, startRow, target, cRow, blockTerms(block));
      return;
    }
    long edge = mine + stripsBytes(spec.m(), k);
    long edgeRow = 2L * width;
    if (start) {
      kernel.blocks().copy(target, cRow, edge, edgeRow, ROWS, columns);
    }
    long startAt = start ? edge : MatMul.ZEROS;
    long startRow = start ? edgeRow : 0;
    kernel
        .loops()
        .narrow(x, aRow, aStep, y, stepB, startAt, startRow, edge, edgeRow, blockTerms(block));
    kernel.blocks().copy(edge, edgeRow, target, cRow, ROWS, columns);
  }

  private void packStrips(int strip, int count, int terms, int from, long mine) {
    long first = a + strip * (long) ROWS * aRow + from * aStep;
    long stripBytes = stripBytes(terms);
    int whole = Math.min(count, m / ROWS - strip);
    int done = packA ? 0 : whole;
    if (packA && aRow == 4) {
      int lines = m - strip * ROWS;
      Packing.packSideBySide(kernel, first, aStep, lines, whole, ROWS, terms, mine, stripBytes);
      done = whole;
    }
    for (int s = done; s < count; s++) {
      int rows = Math.min(ROWS, m - (strip + s) * ROWS);
      long source = first + s * (long) ROWS * aRow;
      Packing.pack(kernel, source, aRow, aStep, rows, terms, mine + s * stripBytes, ROWS);
    }
  }

  /** A tile over an edge of C, computed beside it. */
  private void edge(int strip, long packedA, int block, int panel, long mine, long to) {
    int terms = blockTerms(block);
    int from = term + block * depth;
    int row = strip * ROWS;
    int first = column + panel * width;
    int rows = Math.min(ROWS, m - row);
    int columns = Math.min(width, columnEnd - first);
    boolean direct = !packB && columns == width;
    long panelB = direct ? b + from * bStep + 4L * first : packedPanel(block, panel);
    long stepB = direct ? bStep : 4L * width;
    long target = to + row * cRow + 4L * first;
    boolean start = spec.accumulate() || from > 0;
    long edge = mine + stripsBytes(spec.m(), k);
    long edgeRow = 4L * width;
    if (start) {
      kernel.blocks().copy(target, cRow, edge, edgeRow, rows, columns);
    }
    long startAt = start ? edge : MatMul.ZEROS;
    long startRow = start ? edgeRow : 0;
    if (packA || rows < ROWS) {
      kernel
          .loops()
          .tile(packedA, 4L * ROWS, panelB, stepB, startAt, startRow, edge, edgeRow, terms);
    } else {
      long inPlace = a + row * aRow + from * aStep;
      kernel
          .loops()
          .rows(inPlace, aRow, aStep, panelB, stepB, startAt, startRow, edge, edgeRow, terms);
    }
    kernel.blocks().copy(edge, edgeRow, target, cRow, rows, columns);
  }
}
