package dev.tern.internal.cuda.text;

import dev.tern.internal.plan.Step;
import java.util.List;
import java.util.SortedSet;

/** The loops of a kernel: indices {@code x0, x1, ...}, of which some are those of the thread. */
final class LoopText {
  /** So many loads are in flight at once; sums take their terms in order all the same. */
  private static final String UNROLLED = "#pragma unroll 8";

  private final Step.Loops loops;
  private final SortedSet<Integer> apart;
  private final SortedSet<Integer> inOrder;
  private final boolean isOneRow;
  private final int rank;

  /**
   * @param apart loops whose indices threads take apart
   * @param inOrder loops that each thread runs through in order
   * @param isOneRow whether the one loop is a row whose chunks threads take
   */
  LoopText(
      Step.Loops loops, SortedSet<Integer> apart, SortedSet<Integer> inOrder, boolean isOneRow) {
    this.loops = loops;
    this.apart = apart;
    this.inOrder = inOrder;
    this.isOneRow = isOneRow;
    rank = loops.sizes().length;
  }

  boolean isOneRow() {
    return isOneRow;
  }

  String size(int axis) {
    return axis == 0 ? "n0" : loops.sizes()[axis] + "u";
  }

  /** Opens the loop over a thread's shares, and takes the indices of one apart. */
  void open(Lines lines, FusedLaunch launch) {
    boolean lanes = launch.form() == FusedLaunch.Form.LANE;
    int width = launch.form() == FusedLaunch.Form.FOUR_ELEMENTS ? 4 : 1;
    String shares =
        (launch.isPerIndex() ? "n0 * " : "")
            + launch.inner()
            + "u"
            + (width > 1 ? " / 4u" : "")
            + (launch.isPerChunk() ? " * chunks" : "");
    String thread = "blockIdx.x * blockDim.x + threadIdx.x";
    if (lanes) {
      lines.add("const u32 lane = threadIdx.x & 15;");
      lines.open(
          "for (u32 g = (%s) >> 4; g < %s; g += gridDim.x * blockDim.x >> 4)", thread, shares);
    } else {
      lines.open("for (u32 g = %s; g < %s; g += gridDim.x * blockDim.x)", thread, shares);
    }
    indices(lines, launch.isPerChunk(), width);
  }

  private void indices(Lines lines, boolean isPerChunk, int width) {
    lines.add("u32 x = g;");
    List<Integer> innermostFirst = apart.reversed().stream().toList();
    for (int axis : innermostFirst) {
      boolean isLast = axis == apart.getFirst() && !isPerChunk;
      int each = axis == rank - 1 ? width : 1;
      String times = each > 1 ? " * 4u" : "";
      if (isLast) {
        lines.add("const u32 x%d = x%s;", axis, times);
      } else {
        String size = each > 1 ? loops.sizes()[axis] / 4 + "u" : size(axis);
        lines.add("const u32 x%d = x %% %s%s;", axis, size, times);
        lines.add("x /= %s;", size);
      }
    }
    if (isPerChunk) {
      lines.add("const u32 chunk = x;");
      lines.add("const u64 units = (n0 + (u64)unit - 1) / unit;");
      lines.add("const u32 from = (u32)min((u64)n0, units * chunk / chunks * unit);");
      lines.add("const u32 to = (u32)min((u64)n0, units * (chunk + 1) / chunks * unit);");
    } else if (isOneRow) {
      lines.add("const u32 from = 0, to = n0;");
    }
  }

  /** The loops in order; the innermost is unrolled unless it holds a row. */
  void openInOrder(Lines lines, boolean holdsRow) {
    for (int axis : inOrder) {
      if (axis == inOrder.getLast() && !holdsRow) {
        lines.add(UNROLLED);
      }
      String from = axis == 0 ? "from" : "0";
      String to = axis == 0 ? "to" : size(axis);
      lines.open("for (u32 x%d = %s; x%d < %s; x%d++)", axis, from, axis, to, axis);
    }
  }

  void closeInOrder(Lines lines) {
    inOrder.forEach(axis -> lines.close());
  }

  /**
   * The loop over a row by 16 threads; all rows begin at lane 0, and so do chunks of one.
   *
   * @param stores whether it stores: loads then wait for earlier stores
   */
  void openRow(Lines lines, boolean stores) {
    if (!stores) {
      lines.add(UNROLLED);
    }
    if (isOneRow) {
      lines.open("for (u32 j = from + lane; j < to; j += 16)");
    } else {
      lines.open("for (u32 j = lane; j < %s; j += 16)", size(rank - 1));
    }
  }

  /**
   * The number of an operand's element.
   *
   * @param j the index of the inner loop, or empty where that has a name as other loops
   */
  String at(int operand, String j) {
    return at(operand, j, false);
  }

  /** The same without the loops that are taken in order: these do not move a reduced result. */
  String apart(int operand, String j) {
    return at(operand, j, true);
  }

  private String at(int operand, String j, boolean onlyApart) {
    StringBuilder sum = new StringBuilder();
    for (int axis = 0; axis < rank; axis++) {
      int stride = loops.strides()[operand][axis];
      boolean isRow = axis == rank - 1 && !j.isEmpty();
      if (stride == 0
          || !isRow && !apart.contains(axis) && (onlyApart || !inOrder.contains(axis))) {
        continue;
      }
      String index = isRow ? j : "x" + axis;
      sum.append(sum.isEmpty() ? "" : " + ")
          .append(stride == 1 ? index : index + " * " + stride + "u");
    }
    return sum.isEmpty() ? "0u" : sum.toString();
  }
}
