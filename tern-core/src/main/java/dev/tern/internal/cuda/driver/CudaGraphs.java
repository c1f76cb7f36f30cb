package dev.tern.internal.cuda.driver;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Graphs: the work of a stream, recorded once and launched as a whole many times. */
public final class CudaGraphs {
  private static final int THREAD_LOCAL = 1;

  /** How many recordings the thread has begun and not ended. */
  private static final ThreadLocal<int[]> RECORDING = ThreadLocal.withInitial(() -> new int[1]);

  private final CudaCall begin;
  private final CudaCall end;
  private final CudaCall instantiate;
  private final CudaCall upload;
  private final CudaCall launch;
  private final CudaCall nodes;
  private final CudaCall setKernel;
  private final CudaCall destroyInstance;
  private final CudaCall destroy;

  CudaGraphs(CudaFunctions functions) {
    begin = functions.of("cuStreamBeginCapture_v2", "LI");
    end = functions.of("cuStreamEndCapture", "LL");
    instantiate = functions.of("cuGraphInstantiateWithFlags", "LLL");
    upload = functions.of("cuGraphUpload", "LL");
    launch = functions.of("cuGraphLaunch", "LL");
    nodes = functions.of("cuGraphGetNodes", "LLL");
    setKernel = functions.of("cuGraphExecKernelNodeSetParams_v2", "LLL");
    destroyInstance = functions.of("cuGraphExecDestroy", "L");
    destroy = functions.of("cuGraphDestroy", "L");
  }

  /** Records the work that this thread gives a stream from now on, instead of doing it. */
  public void begin(long stream) {
    begin.check(begin.call(stream, THREAD_LOCAL), "the start of a graph");
    RECORDING.get()[0]++;
  }

  /** Whether this thread is recording, so that it may neither ask for memory nor about events. */
  public static boolean isRecording() {
    return RECORDING.get()[0] > 0;
  }

  /** Ends a recording, whether it fails or not; returns the graph. */
  public long end(long stream) {
    int[] recordings = RECORDING.get();
    recordings[0] = Math.max(0, recordings[0] - 1);
    return end.answer("the end of a graph", out -> end.call(stream, out));
  }

  /** Makes a graph ready for launches; the graph itself is not needed after that. */
  public long instantiate(long graph) {
    return instantiate.answer("an instance of a graph", out -> instantiate.call(out, graph, 0L));
  }

  /** Puts an instance on the device before its first launch. */
  public void upload(long instance, long stream) {
    upload.check(upload.call(instance, stream), "a graph to be put on the device");
  }

  /** Has a stream do the work of an instance. */
  public void launch(long instance, long stream) {
    launch.check(launch.call(instance, stream), "the launch of a graph");
  }

  /** The nodes of a graph, one for each piece of work, in no certain order. */
  public long[] nodes(long graph) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment count = arena.allocate(JAVA_LONG);
      nodes.check(nodes.call(graph, 0L, count.address()), "the number of a graph's nodes");
      MemorySegment out = arena.allocate(JAVA_LONG, Math.max(1, count.get(JAVA_LONG, 0)));
      nodes.check(
          nodes.call(graph, out.address(), count.address()),
          "%d nodes of a graph",
          count.get(JAVA_LONG, 0));
      return out.asSlice(0, 8 * count.get(JAVA_LONG, 0)).toArray(JAVA_LONG);
    }
  }

  /** Gives a kernel of an instance other parameters or another grid. */
  public void setKernel(
      long instance, long node, long kernel, CudaGrid grid, MemorySegment parameters) {
    try (Arena arena = Arena.ofConfined()) {
      long params = CudaStructs.kernelNode(arena, kernel, grid, parameters).address();
      int code = setKernel.call(instance, node, params);
      if (code != 0) {
        throw setKernel.failed(code, grid.toString());
      }
    }
  }

  /** Ends an instance. */
  public void destroyInstance(long instance) {
    destroyInstance.check(destroyInstance.call(instance), "the end of a graph's instance");
  }

  /** Ends a graph; its instances live on. */
  public void destroy(long graph) {
    destroy.check(destroy.call(graph), "the end of a graph");
  }
}
