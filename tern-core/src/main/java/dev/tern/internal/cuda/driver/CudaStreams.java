package dev.tern.internal.cuda.driver;

/** Streams, which do their work in order, and events, which mark places in streams. */
public final class CudaStreams {
  private static final int NON_BLOCKING = 1;
  private static final int DISABLE_TIMING = 2;
  private static final int EXTERNAL = 1;

  private final CudaCall create;
  private final CudaCall synchronize;
  private final CudaCall query;
  private final CudaCall waitEvent;
  private final CudaCall destroy;
  private final CudaCall createEvent;
  private final CudaCall record;
  private final CudaCall recordWith;
  private final CudaCall queryEvent;
  private final CudaCall synchronizeEvent;
  private final CudaCall elapsed;
  private final CudaCall destroyEvent;

  CudaStreams(CudaFunctions functions) {
    create = functions.of("cuStreamCreateWithPriority", "LII");
    synchronize = functions.of("cuStreamSynchronize", "L");
    query = functions.of("cuStreamQuery", "L");
    waitEvent = functions.of("cuStreamWaitEvent", "LLI");
    destroy = functions.of("cuStreamDestroy_v2", "L");
    createEvent = functions.of("cuEventCreate", "LI");
    record = functions.of("cuEventRecord", "LL");
    recordWith = functions.of("cuEventRecordWithFlags", "LLI");
    queryEvent = functions.of("cuEventQuery", "L");
    synchronizeEvent = functions.of("cuEventSynchronize", "L");
    elapsed = functions.ofEither("cuEventElapsedTime_v2", "cuEventElapsedTime", "LLL");
    destroyEvent = functions.of("cuEventDestroy_v2", "L");
  }

  /**
   * A stream that does not wait for the default one.
   *
   * @param priority lower numbers go first; 0 is the lowest
   */
  public long create(int priority) {
    return create.answer(
        "a stream of priority %d", priority, out -> create.call(out, NON_BLOCKING, priority));
  }

  /** Waits until all work of a stream is done. Faults of that work come out here. */
  public void synchronize(long stream) {
    synchronize.check(synchronize.call(stream), "the work of a stream");
  }

  /** Whether all work of a stream is done. */
  public boolean isDone(long stream) {
    return isDone(query, query.call(stream), "the state of a stream");
  }

  /** Has later work of a stream wait for an event. */
  public void waitFor(long stream, long event) {
    waitEvent.check(waitEvent.call(stream, event, 0), "a stream to wait for an event");
  }

  /** Ends a stream; work that it has is still done. */
  public void destroy(long stream) {
    destroy.check(destroy.call(stream), "the end of a stream");
  }

  /** An event; {@code timed} ones can be subtracted, others cost less. */
  public long createEvent(boolean timed) {
    return createEvent.answer("an event", out -> createEvent.call(out, timed ? 0 : DISABLE_TIMING));
  }

  /** Marks the place behind the work that a stream has now; the event's earlier mark is lost. */
  public void record(long event, long stream) {
    record.check(record.call(event, stream), "a mark in a stream");
  }

  /** Marks a place in a graph that is being recorded: each of its launches sets the mark anew. */
  public void recordInGraph(long event, long stream) {
    recordWith.check(recordWith.call(event, stream, EXTERNAL), "a mark in a graph");
  }

  /** Whether the work before an event is done; true for one that was never recorded. */
  public boolean isEventDone(long event) {
    return isDone(queryEvent, queryEvent.call(event), "the state of an event");
  }

  /** Waits until the work before an event is done. */
  public void synchronizeEvent(long event) {
    synchronizeEvent.check(synchronizeEvent.call(event), "the work before an event");
  }

  /** Milliseconds from one timed event to another; both must be done. */
  public float elapsed(long from, long to) {
    long bits = elapsed.answer("the time between events", out -> elapsed.call(out, from, to));
    return Float.intBitsToFloat((int) bits);
  }

  /** Ends an event. */
  public void destroyEvent(long event) {
    destroyEvent.check(destroyEvent.call(event), "the end of an event");
  }

  private static boolean isDone(CudaCall call, int code, String asked) {
    if (code != CudaErrors.NOT_READY) {
      call.check(code, asked);
    }
    return code == 0;
  }
}
