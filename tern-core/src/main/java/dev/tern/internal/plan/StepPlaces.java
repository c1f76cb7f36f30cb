package dev.tern.internal.plan;

import dev.tern.internal.plan.Step.Place;
import dev.tern.internal.plan.Step.Rows;
import dev.tern.internal.plan.Step.Strided;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * The places of a step: which it reads and writes, and the same step at other places. One walk over
 * a step serves all of these: it replaces each place by what a function for places of its kind
 * returns.
 */
final class StepPlaces {
  private final UnaryOperator<Place> read;
  private final UnaryOperator<Place> written;
  private final UnaryOperator<Place> scratch;

  private StepPlaces(
      UnaryOperator<Place> read, UnaryOperator<Place> written, UnaryOperator<Place> scratch) {
    this.read = read;
    this.written = written;
    this.scratch = scratch;
  }

  /** The places that a step reads. */
  static List<Place> reads(Step step) {
    List<Place> found = new ArrayList<>();
    new StepPlaces(noting(found), place -> place, place -> place).walk(step);
    return found;
  }

  /** The places that a step writes, each as a whole or in part; {@link #reads} has none of them. */
  static List<Place> writes(Step step) {
    List<Place> found = new ArrayList<>();
    new StepPlaces(place -> place, noting(found), place -> place).walk(step);
    return found;
  }

  /** The places, all in one storage, whose content matters during the step alone. */
  static List<Place> scratch(Step step) {
    List<Place> found = new ArrayList<>();
    new StepPlaces(place -> place, place -> place, noting(found)).walk(step);
    return found;
  }

  /** The same step with its places moved. */
  static Step move(Step step, UnaryOperator<Place> to, UnaryOperator<Place> scratchTo) {
    return new StepPlaces(to, to, scratchTo).walk(step);
  }

  private static UnaryOperator<Place> noting(List<Place> found) {
    return place -> {
      found.add(place);
      return place;
    };
  }

  private Step walk(Step step) {
    return switch (step) {
      case Step.Fused s -> fused(s);
      case Step.MatMul s -> matmul(s);
      case Step.MatMulThen s -> matmulThen(s);
      case Step.Gather s ->
          new Step.Gather(
              rows(s.table(), read), numbers(s.index()), written.apply(s.out()), s.width());
      case Step.ScatterAdd s ->
          new Step.ScatterAdd(
              numbers(s.index()), read.apply(s.values()), rows(s.out(), written), s.width());
      case Step.SegmentReduce s ->
          new Step.SegmentReduce(
              s.kind(),
              rows(s.values(), read),
              rows(s.offsets(), read),
              written.apply(s.out()),
              s.width());
      case Step.Index s ->
          new Step.Index(
              s.op(),
              s.inputs().stream().map(this::input).toList(),
              written.apply(s.out()),
              s.count());
      case Step.Copy s -> new Step.Copy(read.apply(s.in()), written.apply(s.out()), s.bytes());
      case Step.Uniform s ->
          new Step.Uniform(read.apply(s.seed()), s.stream(), written.apply(s.out()), s.count());
      case Step.Cast s ->
          new Step.Cast(
              strided(s.in(), read), s.from(), strided(s.out(), written), s.to(), s.sizes());
      case Step.DotInteraction s ->
          new Step.DotInteraction(
              read.apply(s.x()), s.gradient().map(read), written.apply(s.out()), s.sizes());
      case Step.PairSums s ->
          new Step.PairSums(
              read.apply(s.x()), s.gradient().map(read), written.apply(s.out()), s.sizes());
      case Step.Gru s ->
          new Step.Gru(
              s.isGradient(),
              s.inputs().stream().map(read).toList(),
              rows(s.offsets(), read),
              written.apply(s.out()),
              s.states());
    };
  }

  private Step.Fused fused(Step.Fused s) {
    int loads = s.spec().loads().size();
    List<Place> operands = new ArrayList<>();
    for (int i = 0; i < s.operands().size(); i++) {
      operands.add((i < loads ? read : written).apply(s.operands().get(i)));
    }
    boolean hasPartials = s.loops().partialElements() > 0;
    return s.at(operands, hasPartials ? scratch.apply(s.partials()) : new Place(0, 0));
  }

  private Step.MatMul matmul(Step.MatMul s) {
    return new Step.MatMul(
        strided(s.a(), read),
        strided(s.b(), read),
        strided(s.c(), written),
        s.sizes(),
        new Step.Scratch(scratch.apply(s.scratch().place()), s.scratch().bytes()));
  }

  /** What the kernel reads of the product is made by this step, so it counts as no read. */
  private Step.MatMulThen matmulThen(Step.MatMulThen s) {
    Place rows = s.product().c().place();
    UnaryOperator<Place> product = s.passesRows() ? scratch : written;
    StepPlaces inside =
        new StepPlaces(
            place -> place.equals(rows) ? product.apply(place) : read.apply(place),
            place -> place.equals(rows) ? product.apply(place) : written.apply(place),
            scratch);
    return new Step.MatMulThen(inside.matmul(s.product()), inside.fused(s.then()), s.passesRows());
  }

  private static Strided strided(Strided elements, UnaryOperator<Place> to) {
    return new Strided(to.apply(elements.place()), elements.strides());
  }

  private static Rows rows(Rows rows, UnaryOperator<Place> to) {
    return new Rows(to.apply(rows.place()), rows.rows());
  }

  private Step.RowNumbers numbers(Step.RowNumbers index) {
    return new Step.RowNumbers(
        read.apply(index.place()), index.type(), index.count(), index.gaps());
  }

  private Step.Index.Input input(Step.Index.Input in) {
    return new Step.Index.Input(read.apply(in.place()), in.type(), in.count(), in.width());
  }
}
