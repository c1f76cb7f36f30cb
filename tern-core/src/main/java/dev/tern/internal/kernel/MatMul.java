package dev.tern.internal.kernel;

import dev.tern.internal.memory.Memory;
import dev.tern.internal.runtime.Workers;

/**
 * Matrix product {@code C = A B} or {@code C += A B} of F32 matrices with any strides.
 *
 * <p>How it works: B is packed once into panels as wide as a tile and {@value #DEPTH} deep, padded
 * with zeros; then each task takes a band of rows and, for each stretch of {@value #DEPTH} along k
 * and each panel, runs the tile kernel down its rows, so that a panel stays in the first-level
 * cache. A is read in place where its rows are dense and packed otherwise; tiles over the edge go
 * through a small buffer. Every element takes its {@code k} terms in ascending order by fused
 * multiply-add, so neither the vector length nor the number of threads shows in the result.
 */
public final class MatMul {
  private static final int DEPTH = 256;
  private static final int ROWS = TileKernel.ROWS;
  private static final int BAND_LIMIT = 96;
  private static final int BANDS = 16;
  private static final long SMALL = 1 << 16;
  private static final int LINE = 256;

  private MatMul() {}

  /** Bytes of scratch that {@link #run} needs for a product of these sizes. */
  public static long scratchBytes(int m, int n, int k, int threads) {
    return LINE + packedBytes(n, k) + (long) threads * workerBytes();
  }

  private static long packedBytes(int n, int k) {
    int columns = Tiles.columns();
    long panels = (n + columns - 1L) / columns;
    return panels * columns * k * Float.BYTES;
  }

  /** A packed band of A, then a tile of C. */
  private static long workerBytes() {
    return ((long) BAND_LIMIT * DEPTH + (long) ROWS * Tiles.columns()) * Float.BYTES;
  }

  /**
   * Runs the product.
   *
   * @param a address of A; element (i, p) is {@code a + 4 (i ars + p acs)}
   * @param b address of B; element (p, j) is {@code b + 4 (p brs + j bcs)}
   * @param c address of C; element (i, j) is {@code c + 4 (i ldc + j)}
   * @param accumulate whether C's old values are added to
   * @param scratch address of {@link #scratchBytes} bytes, 64-byte aligned
   */
  public static void run(
      Workers workers,
      long a,
      long ars,
      long acs,
      long b,
      long brs,
      long bcs,
      long c,
      long ldc,
      int m,
      int n,
      int k,
      boolean accumulate,
      long scratch) {
    if (m == 0 || n == 0) {
      return;
    }
    if (k == 0) {
      for (int i = 0; i < m && !accumulate; i++) {
        Memory.zero(c + 4 * i * ldc, 4L * n);
      }
      return;
    }
    Memory.zero(scratch, LINE);
    Product product =
        new Product(Tiles.active(), a, ars, acs, b, brs, bcs, c, ldc, m, n, k, accumulate, scratch);
    int bands = product.bands();
    if ((long) m * n * k <= SMALL) {
      for (int panel = 0; panel < product.panels(); panel++) {
        product.pack(panel);
      }
      for (int band = 0; band < bands; band++) {
        product.band(band, 0);
      }
      return;
    }
    workers.run(product.panels(), (panel, worker) -> product.pack(panel));
    workers.run(bands, product::band);
  }

  /** One product under way. */
  private record Product(
      TileKernel kernel,
      long a,
      long ars,
      long acs,
      long b,
      long brs,
      long bcs,
      long c,
      long ldc,
      int m,
      int n,
      int k,
      boolean accumulate,
      long scratch) {
    int panels() {
      return (n + kernel.columns() - 1) / kernel.columns();
    }

    private long packed() {
      return scratch + LINE;
    }

    /** Rows of a band: about {@value #BANDS} bands, whole tiles, small enough for the cache. */
    private int bandRows() {
      int tiles = (m + ROWS - 1) / ROWS;
      return Math.min(BAND_LIMIT, (tiles + BANDS - 1) / BANDS * ROWS);
    }

    int bands() {
      return (m + bandRows() - 1) / bandRows();
    }

    /** Address of panel {@code panel} at depth {@code from}, a multiple of {@value #DEPTH}. */
    private long panelAt(int panel, int from) {
      int columns = kernel.columns();
      int depth = Math.min(DEPTH, k - from);
      return packed() + 4L * columns * ((long) panels() * from + (long) panel * depth);
    }

    void pack(int panel) {
      int columns = kernel.columns();
      int first = panel * columns;
      int width = Math.min(columns, n - first);
      for (int from = 0; from < k; from += DEPTH) {
        int depth = Math.min(DEPTH, k - from);
        long target = panelAt(panel, from);
        long source = b + 4 * (from * brs + first * bcs);
        if (width < columns) {
          Memory.zero(target, 4L * columns * depth);
        }
        if (bcs == 1) {
          kernel.copy(source, 4 * brs, target, 4L * columns, depth, width);
        } else {
          transpose(source, 4 * brs, 4 * bcs, target, 4L * columns, depth, width);
        }
      }
    }

    /** Copies column by column: each source column lies along k. */
    private static void transpose(
        long source,
        long rowStep,
        long columnStep,
        long target,
        long targetRow,
        int rows,
        int columns) {
      for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
          float value = Memory.getFloat(source + i * rowStep + j * columnStep);
          Memory.setFloat(target + i * targetRow + 4L * j, value);
        }
      }
    }

    void band(int band, int worker) {
      int first = band * bandRows();
      int rows = Math.min(bandRows(), m - first);
      long own = packed() + packedBytes(n, k) + worker * workerBytes();
      for (int from = 0; from < k; from += DEPTH) {
        int depth = Math.min(DEPTH, k - from);
        boolean dense = acs == 1;
        if (!dense || rows % ROWS != 0) {
          packBand(first, rows, from, depth, dense, own);
        }
        for (int panel = 0; panel < panels(); panel++) {
          for (int row = 0; row < rows; row += ROWS) {
            tile(first, row, rows, from, depth, panel, dense, own);
          }
        }
      }
    }

    /** Packs tiles of A as k-major sixes; of dense rows only the last, incomplete tile. */
    private void packBand(int first, int rows, int from, int depth, boolean dense, long own) {
      for (int row = dense ? rows / ROWS * ROWS : 0; row < rows; row += ROWS) {
        long target = own + 4L * row * depth;
        int height = Math.min(ROWS, rows - row);
        if (height < ROWS) {
          Memory.zero(target, 4L * ROWS * depth);
        }
        long source = a + 4 * ((first + row) * ars + from * acs);
        for (int p = 0; p < depth; p++) {
          for (int i = 0; i < height; i++) {
            float value = Memory.getFloat(source + 4 * (i * ars + p * acs));
            Memory.setFloat(target + 4L * (p * ROWS + i), value);
          }
        }
      }
    }

    private void tile(
        int first, int row, int rows, int from, int depth, int panel, boolean dense, long own) {
      int columns = kernel.columns();
      int height = Math.min(ROWS, rows - row);
      int width = Math.min(columns, n - panel * columns);
      boolean inPlace = dense && height == ROWS;
      long left = inPlace ? a + 4 * ((first + row) * ars + from) : own + 4L * row * depth;
      long leftRow = inPlace ? 4 * ars : 4;
      long leftStep = inPlace ? 4 : 4L * ROWS;
      long right = panelAt(panel, from);
      long out = c + 4 * ((first + row) * ldc + panel * columns);
      boolean fresh = from == 0 && !accumulate;
      long rightStep = 4L * columns;
      if (height == ROWS && width == columns) {
        long start = fresh ? scratch : out;
        kernel.tile(
            left,
            leftRow,
            leftStep,
            right,
            rightStep,
            start,
            fresh ? 0 : 4 * ldc,
            out,
            4 * ldc,
            depth);
        return;
      }
      long edge = own + 4L * BAND_LIMIT * DEPTH;
      if (!fresh) {
        kernel.copy(out, 4 * ldc, edge, rightStep, height, width);
      }
      long start = fresh ? scratch : edge;
      kernel.tile(
          left,
          leftRow,
          leftStep,
          right,
          rightStep,
          start,
          fresh ? 0 : rightStep,
          edge,
          rightStep,
          depth);
      kernel.copy(edge, rightStep, out, 4 * ldc, height, width);
    }
  }
}
