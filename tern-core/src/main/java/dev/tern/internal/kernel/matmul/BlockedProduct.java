package dev.tern.internal.kernel.matmul;

import dev.tern.base.Workers;
import dev.tern.internal.memory.Memory;
import java.util.Arrays;

/**
 * One matrix product, cut into blocks:
 *
 * <pre>
 * for each slab of B, at most SLAB numbers: columns, then terms
 *   pack B into panels as wide as a tile     // tasks: a block of terms, four panels
 *   for each chunk of rows of C              // tasks
 *     for each STRIPS strips of rows
 *       for each block of terms              // Part
 *         pack A into strips as high as a tile
 *         for each strip and panel: a tile   // 6 rows x 2 vectors
 * </pre>
 *
 * <p>Every element of C belongs to one task. Blocks of terms are taken in order, each from the sums
 * that the block before left in C. So neither the cut nor the number of threads changes a bit.
 *
 * <p>Packing is left out where it does not pay: rows of A are read in place when there are few
 * panels, rows of B when there are few strips or few terms. With few terms, the few rows of C
 * beyond whole strips (lone rows) are combinations of rows of B, computed by a task of their own.
 */
final class BlockedProduct {
  private static final int ROWS = TileLoops.ROWS;

  /** Most terms in a block. */
  private static final int DEPTH = 512;

  /**
   * Most terms in a block where many strips take turns at a panel of B, which is then 32 KiB with
   * vectors of 512 bits: it stays in a first-level cache of 48 KiB beside a strip.
   */
  private static final int NEAR_DEPTH = 256;

  /** Strips of A packed at a time, half of a second-level cache. */
  private static final int STRIPS = 16;

  // Numbers in a slab. Each slab reads and writes all of C. If C has at most SMALL_RESULT numbers,
  // slabs are smaller and stay in a second-level cache.
  private static final int SLAB = 1 << 20;
  private static final int NEAR_SLAB = 1 << 18;
  private static final int SMALL_RESULT = 1 << 19;

  /** Columns of B packed at a time. */
  static final int SLAB_COLUMNS = 4096;

  /** With fewer multiplications, a second thread costs more than it saves. */
  private static final long WORTH_SHARING = 200_000;

  /** With fewer numbers to pack, one thread packs them. */
  private static final int WORTH_SHARING_PACKING = 1 << 17;

  /** Panels packed by one task, which so reads longer pieces of a row of B. */
  private static final int PANELS = 4;

  /** Most chunks for each thread, so that none waits long for another at the end. */
  private static final int CHUNKS_PER_THREAD = 8;

  /** Fewest strips in a chunk, which read a panel of B from the first-level cache. */
  static final int CHUNK_STRIPS = 8;

  /** Numbers in packed panels that fit into the first-level cache, beside a strip. */
  private static final int ROW_OF_PANELS = 7168;

  private static final int FEW_STRIPS = 4;
  private static final int FEW_PANELS = 2;

  /** Most terms for which a panel of B in place fits into a few sets of the first-level cache. */
  private static final int FEW_TERMS = 16;

  /** Most rows of few terms that cost less one by one than as a strip. */
  private static final int FEW_ROWS = 3;

  private final ProductSpec spec;
  private final Workers workers;
  private final Epilogue epilogue;
  private final int width = TileKernels.columns();
  private final Packing stripsOfA;
  private final Packing panelsOfB;
  private final Packing rowOfA;
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

  /** The packed panels of all slabs, one slab after another; 0 where each run packs B. */
  private final long panelsAt;

  private final boolean packA;

  /** Whether the last columns of C are at most half a tile. */
  private final boolean endsNarrow;

  // Strides of whole tiles, then of tiles over an edge of C, which are computed beside C. A strip
  // of few rows is always packed; of B, the last panel alone may be packed.
  private final TileStrides whole;
  private final TileStrides narrow;
  private final TileStrides narrowBeside;
  private final TileStrides packed;
  private final TileStrides packedStrip;
  private final TileStrides packedPanel;
  private final TileStrides inPlace;

  private final Part[] parts;
  private final Workers.Task packing = this::packTask;
  private final Workers.Task computing = this::rows;

  // The product at hand.
  private TileKernel kernel = TileKernels.active();
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

  /**
   * The product.
   *
   * @param workers take part when the product is large enough
   * @param epilogue runs on rows as they become final. Except for {@link Epilogue#NONE}, C must be
   *     dense; if the epilogue is not on C, the product must be {@link #isOneSlab}
   */
  BlockedProduct(ProductSpec spec, Workers workers, Epilogue epilogue) {
    this(spec, workers, epilogue, 0);
  }

  /**
   * A product with a B that never changes.
   *
   * @param panelsAt where {@link #packPanels} writes its panels, once for all runs
   */
  BlockedProduct(ProductSpec spec, Workers workers, Epilogue epilogue, long panelsAt) {
    this.panelsAt = panelsAt;
    this.spec = spec;
    this.workers = workers;
    this.epilogue = epilogue;
    aRow = 4 * spec.ars();
    aStep = 4 * spec.acs();
    bStep = 4 * spec.brs();
    bColumn = 4 * spec.bcs();
    cRow = 4 * spec.ldc();
    n = spec.n();
    k = spec.k();
    stripsOfA = new Packing(aRow, aStep, ROWS);
    panelsOfB = new Packing(bColumn, bStep, width);
    rowOfA = new Packing(aRow, aStep, 1);
    ownBytes = ownBytes(spec.m(), k, width);
    packB = panelsAt != 0 || bColumn != 4 || (strips(spec.m()) > FEW_STRIPS && k > FEW_TERMS);
    int left = spec.m() % ROWS;
    lone = !packB && k <= FEW_TERMS && left <= FEW_ROWS && epilogue.pieces() == 0 ? left : 0;
    m = spec.m() - lone;
    boolean isNarrow = n <= width / 2 && (aStep == 4 || aRow == 4);
    packA = !isNarrow && !(aStep == 4 && panels(n) <= FEW_PANELS);
    endsNarrow = n % width > 0 && n % width <= width / 2;
    long panel = 4L * width;
    whole = strides(packA, packB ? panel : bStep, cRow);
    narrow = strides(packA, panel, cRow);
    narrowBeside = strides(packA, panel, panel / 2);
    packed = strides(true, panel, panel);
    packedStrip = strides(true, bStep, panel);
    packedPanel = strides(false, panel, panel);
    inPlace = strides(false, bStep, panel);
    parts = new Part[workers.threads()];
    Arrays.setAll(parts, Part::new);
  }

  private TileStrides strides(boolean isStripPacked, long toB, long toC) {
    return isStripPacked
        ? new TileStrides(4, 4L * ROWS, toB, toC, spec.accumulate())
        : new TileStrides(aRow, aStep, toB, toC, spec.accumulate());
  }

  /** Whether one slab holds all of B, so that rows of C are final as soon as they are computed. */
  static boolean isOneSlab(int m, int n, int k, int width) {
    int packed = (n + width - 1) / width * width;
    return n <= SLAB_COLUMNS && k <= slabTerms(m, n, packed);
  }

  /** Bytes of the rows that a worker keeps until an epilogue takes them. */
  static long rowsBytes(int n) {
    return 4L * (Epilogue.ELEMENTS + (long) STRIPS * ROWS * n) + 63 & -64;
  }

  static long scratchBytes(int m, int n, int k, int width, int threads) {
    return slabBytes(m, n, k, width) + threads * ownBytes(m, k, width);
  }

  /** Bytes of the largest slab; a slab of the last columns, which may be fewer, has more terms. */
  private static long slabBytes(int m, int n, int k, int width) {
    int last = n % SLAB_COLUMNS;
    long first = slabBytes(m, n, k, Math.min(n, SLAB_COLUMNS), width);
    return last == 0 ? first : Math.max(first, slabBytes(m, n, k, last, width));
  }

  private static long slabBytes(int m, int n, int k, int columns, int width) {
    int packed = Math.max(1, (columns + width - 1) / width) * width;
    return 4L * packed * Math.min(k, slabTerms(m, n, packed));
  }

  /** Bytes of a worker's packed strips and, after them, a tile for the edges of C. */
  private static long ownBytes(int rows, int k, int width) {
    return stripsBytes(rows, k) + 4L * ROWS * width + 63 & -64;
  }

  /** Bytes of the strips that are packed at a time. */
  private static long stripsBytes(int rows, int k) {
    return Math.min(STRIPS, strips(rows)) * Packing.stripBytes(Math.min(k, DEPTH));
  }

  private static int strips(int rows) {
    return (rows + ROWS - 1) / ROWS;
  }

  private int panels(int columns) {
    return (columns + width - 1) / width;
  }

  /** Computes the product; {@code scratch} has {@link #scratchBytes} bytes, 64-byte aligned. */
  void run(TileKernel tiles, long addressA, long addressB, long addressC, long scratch) {
    int threads = (long) spec.m() * n * k < WORTH_SHARING ? 1 : workers.threads();
    run(threads, tiles, addressA, addressB, addressC, scratch);
  }

  /** Does the same by the caller's thread alone. */
  void runAlone(TileKernel tiles, long addressA, long addressB, long addressC, long scratch) {
    run(1, tiles, addressA, addressB, addressC, scratch);
  }

  private void run(int threads, TileKernel tiles, long toA, long toB, long toC, long scratch) {
    kernel = tiles;
    a = toA;
    b = toB;
    c = toC;
    slab = panelsAt == 0 ? scratch : panelsAt;
    own = scratch + slabBytes(spec.m(), n, k, width);
    for (column = 0; column < n; column = columnEnd) {
      columnEnd = Math.min(n, column + SLAB_COLUMNS);
      int terms = slabTerms(spec.m(), n, panels(columnEnd - column) * width);
      for (term = 0; term < k; term = termEnd) {
        termEnd = Math.min(k, term + terms);
        cutSlab();
        if (panelsAt == 0) {
          packSlab(threads);
        }
        rowsOfSlab(threads);
        slab += panelsAt == 0 ? 0 : slabBytes();
      }
    }
  }

  /** The order in which {@link #packPanels} packs B. */
  PackedOrder packedOrder() {
    int panels = panels(n / SLAB_COLUMNS * SLAB_COLUMNS) + panels(n % SLAB_COLUMNS);
    int terms = slabTerms(spec.m(), n, panels(Math.min(n, SLAB_COLUMNS)) * width);
    return new PackedOrder(n, k, spec.brs(), spec.bcs(), terms, 4L * width * panels * k);
  }

  /** Packs all of B, for all products of this {@link #packedOrder} with the same panels. */
  void packPanels(TileKernel tiles, long addressB) {
    kernel = tiles;
    b = addressB;
    slab = panelsAt;
    for (column = 0; column < n; column = columnEnd) {
      columnEnd = Math.min(n, column + SLAB_COLUMNS);
      int terms = slabTerms(spec.m(), n, panels(columnEnd - column) * width);
      for (term = 0; term < k; term = termEnd) {
        termEnd = Math.min(k, term + terms);
        cutSlab();
        packSlab(1);
        slab += slabBytes();
      }
    }
  }

  private long slabBytes() {
    return 4L * width * panels(columnEnd - column) * (termEnd - term);
  }

  /** Terms of a slab with {@code packed} columns. */
  private static int slabTerms(int m, int n, int packed) {
    int most = (long) m * n <= SMALL_RESULT ? NEAR_SLAB : SLAB;
    return Math.max(DEPTH, most / packed / DEPTH * DEPTH);
  }

  private void cutSlab() {
    int length = termEnd - term;
    // A matrix packed once serves any number of rows.
    int deepest = panelsAt != 0 || strips(m) > STRIPS ? NEAR_DEPTH : DEPTH;
    int blocks = (length + deepest - 1) / deepest;
    depth = (length + blocks - 1) / blocks + 3 & -4;
    groups = (panels(columnEnd - column) + PANELS - 1) / PANELS;
  }

  private void packSlab(int threads) {
    int length = termEnd - term;
    int tasks = (length + depth - 1) / depth * groups;
    boolean shared = threads > 1 && (long) length * (columnEnd - column) >= WORTH_SHARING_PACKING;
    if (shared) {
      workers.run(tasks, packing);
    } else {
      for (int index = 0; index < tasks; index++) {
        packTask(index, 0);
      }
    }
  }

  private void rowsOfSlab(int threads) {
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
      int strips = strips(m);
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

  private long panelAt(int block, int panel) {
    int panels = panels(columnEnd - column);
    return slab + 4L * width * ((long) block * depth * panels + (long) panel * blockTerms(block));
  }

  /** Packs a few panels of a block. */
  private void packTask(int index, int worker) {
    int block = index / groups;
    int first = index % groups * PANELS;
    int panels = Math.min(PANELS, panels(columnEnd - column) - first);
    int full = Math.min(panels, (columnEnd - column) / width - first);
    int terms = blockTerms(block);
    long from =
        b + (term + (long) block * depth) * bStep + (column + (long) first * width) * bColumn;
    long to = panelAt(block, first);
    int done = packB ? 0 : full;
    if (packB && bColumn == 4) {
      panelsOfB.packSideBySide(kernel, from, full * width, full, terms, to);
      done = full;
    }
    for (int i = done; i < panels; i++) {
      int columns = Math.min(width, columnEnd - column - (first + i) * width);
      long source = from + (long) i * width * bColumn;
      panelsOfB.pack(kernel, source, columns, terms, to + i * panelsOfB.groupBytes(terms));
    }
  }

  /** Multiplies one chunk of rows with the slab; the chunk after the last is the lone rows. */
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
        parts[worker].run(strip, count, block, rows);
      }
      int end = strip + count;
      if (end == to || (long) (end - finished) * ROWS * n >= Epilogue.ELEMENTS) {
        finish(finished * ROWS, Math.min(m, end * ROWS), chunk, worker);
        finished = end;
      }
    }
  }

  /** Where row 0 lies: in C, or so that row {@code first} is the first that the worker keeps. */
  private long rowsFrom(int first, int worker) {
    return epilogue.isOnC() ? c : epilogue.rows() + worker * rowsBytes(n) - first * cRow;
  }

  /** Hands rows to the epilogue once they are final. */
  private void finish(int from, int to, int chunk, int worker) {
    if (columnEnd == n && termEnd == k && to > from) {
      epilogue.task().run((long) from * n, (long) to * n, chunk, worker);
    }
  }

  /** Rows beyond whole strips; all their terms are in one slab. */
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
        rowOfA.pack(kernel, x, 1, k, gathered);
        x = gathered;
      }
      kernel.blocks().combine(x, b + 4L * column, bStep, target, columnEnd - column, k);
    }
    finish(m, m + lone, 0, worker);
  }

  /** Strips of rows that a worker computes against a block of the slab; one for each worker. */
  private final class Part {
    private final int worker;
    private int strip;
    private int count;
    private int block;
    private int terms;

    /** The first term. */
    private int from;

    // Addresses of packed strips of A, of the tile for edges of C, of row 0 of C.
    private long strips;
    private long edge;
    private long rows;

    Part(int worker) {
      this.worker = worker;
    }

    /** Strips {@code firstStrip} to {@code firstStrip + stripCount - 1}. */
    void run(int firstStrip, int stripCount, int blockAtHand, long firstRow) {
      strip = firstStrip;
      count = stripCount;
      block = blockAtHand;
      terms = blockTerms(block);
      from = term + block * depth;
      strips = own + worker * ownBytes;
      edge = strips + stripsBytes(spec.m(), k);
      rows = firstRow;
      pack();
      int full = Math.min(count, m / ROWS - strip);
      int panels = (columnEnd - column) / width;
      if ((long) panels * width * terms <= ROW_OF_PANELS) {
        for (int s = 0; s < full; s++) {
          tiles(s, 1, 0, panels);
        }
        edges(full, 0, panels);
      } else {
        for (int panel = 0; panel < panels; panel++) {
          tiles(0, full, panel, 1);
          edges(full, panel, panel + 1);
        }
      }
      edges(0, panels, panels(columnEnd - column));
    }

    private void pack() {
      long first = a + strip * (long) ROWS * aRow + from * aStep;
      int full = Math.min(count, m / ROWS - strip);
      int done = packA ? 0 : full;
      if (packA && aRow == 4) {
        stripsOfA.packSideBySide(kernel, first, m - strip * ROWS, full, terms, strips);
        done = full;
      }
      for (int s = done; s < count; s++) {
        int lines = Math.min(ROWS, m - (strip + s) * ROWS);
        stripsOfA.pack(kernel, first + s * (long) ROWS * aRow, lines, terms, stripAt(s));
      }
    }

    private long stripAt(int s) {
      return strips + s * Packing.stripBytes(terms);
    }

    private long rowAt(int row) {
      return a + row * aRow + from * aStep;
    }

    /** Whole tiles: one strip along panels, or several strips along one panel. */
    private void tiles(int s, int stripCount, int panel, int panels) {
      int row = (strip + s) * ROWS;
      long first = column + (long) panel * width;
      long x = packA ? stripAt(s) : rowAt(row);
      long y = packB ? panelAt(block, panel) : b + from * bStep + 4L * first;
      long target = rows + row * cRow + 4L * first;
      TileStrides strides = whole.further(from > 0);
      long nextA = stripCount == 1 ? 0 : packA ? Packing.stripBytes(terms) : ROWS * aRow;
      long nextB = stripCount > 1 ? 0 : packB ? 4L * width * terms : 4L * width;
      long nextC = stripCount == 1 ? 4L * width : ROWS * cRow;
      for (int i = 0; i < stripCount * panels; i++) {
        if (packA) {
          kernel.loops().tile(strides, x, y, target, terms);
        } else {
          kernel.loops().rows(strides, x, y, target, terms);
        }
        x += nextA;
        y += nextB;
        target += nextC;
      }
    }

    /** Tiles over an edge of C: strips from {@code first} on, along some panels. */
    private void edges(int first, int panel, int panelEnd) {
      for (int p = panel; p < panelEnd; p++) {
        int s = first;
        if (endsNarrow && column + (p + 1) * width > n) {
          for (int full = Math.min(count, m / ROWS - strip); s < full; s++) {
            narrow(s, p);
          }
        }
        for (; s < count; s++) {
          edge(s, p);
        }
      }
    }

    /** A whole strip of the last panel of C, which is at most half as wide as a tile. */
    private void narrow(int s, int panel) {
      int row = (strip + s) * ROWS;
      int first = column + panel * width;
      int columns = n - first;
      long x = packA ? stripAt(s) : rowAt(row);
      long y = panelAt(block, panel);
      long target = rows + row * cRow + 4L * first;
      if (columns == width / 2) {
        kernel.loops().narrow(narrow.further(from > 0), x, y, target, terms);
        return;
      }
      TileStrides strides = narrowBeside.further(from > 0);
      copyStart(strides, target, ROWS, columns);
      kernel.loops().narrow(strides, x, y, edge, terms);
      kernel.blocks().copy(edge, strides.cRow, target, cRow, ROWS, columns);
    }

    /** A tile over an edge of C, computed beside it. */
    private void edge(int s, int panel) {
      int row = (strip + s) * ROWS;
      int first = column + panel * width;
      int height = Math.min(ROWS, m - row);
      int columns = Math.min(width, columnEnd - first);
      boolean direct = !packB && columns == width;
      long y = direct ? b + from * bStep + 4L * first : panelAt(block, panel);
      long target = rows + row * cRow + 4L * first;
      boolean isPacked = packA || height < ROWS;
      TileStrides inPanel = isPacked ? packed : packedPanel;
      TileStrides inRows = isPacked ? packedStrip : inPlace;
      TileStrides strides = (direct ? inRows : inPanel).further(from > 0);
      copyStart(strides, target, height, columns);
      if (isPacked) {
        kernel.loops().tile(strides, stripAt(s), y, edge, terms);
      } else {
        kernel.loops().rows(strides, rowAt(row), y, edge, terms);
      }
      kernel.blocks().copy(edge, strides.cRow, target, cRow, height, columns);
    }

    /** Copies the elements of C that the sums of a tile beside it start from. */
    private void copyStart(TileStrides strides, long target, int height, int columns) {
      if (strides.accumulates) {
        kernel.blocks().copy(target, cRow, edge, strides.cRow, height, columns);
      }
    }
  }
}
