package dev.tern.internal.plan;

import dev.tern.internal.plan.Step.Place;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/** Which places a step reads and writes, and the same step at others. */
final class StepPlaces {
  private StepPlaces() {}

  /** The places that a step reads. */
  static List<Place> reads(Step step) {
    return switch (step) {
      case Step.Fused s -> s.operands().subList(0, loads(s));
      case Step.MatMul s -> List.of(s.a(), s.b());
      case Step.MatMulThen s ->
          Stream.concat(reads(s.product()).stream(), reads(s.then()).stream())
              .filter(place -> !place.equals(s.product().c()))
              .toList();
      case Step.Gather s -> List.of(s.table(), s.index());
      case Step.ScatterAdd s -> List.of(s.index(), s.values());
      case Step.SegmentReduce s -> List.of(s.values(), s.offsets());
      case Step.Index s -> s.inputs().stream().map(Step.Index.Source::place).toList();
      case Step.Copy s -> List.of(s.in());
      case Step.Uniform s -> List.of(s.seed());
      case Step.Cast s -> List.of(s.in());
      case Step.DotInteraction s -> List.of(s.x());
      case Step.DotInteractionGradient s -> List.of(s.x(), s.gradient());
      case Step.PairSums s -> List.of(s.x());
      case Step.PairSumsGradient s -> List.of(s.x(), s.gradient());
    };
  }

  /** The places that a step writes, each as a whole or in its part; reads see none of them. */
  static List<Place> writes(Step step) {
    return switch (step) {
      case Step.Fused s -> s.operands().subList(loads(s), s.operands().size());
      case Step.MatMul s -> List.of(s.c());
      case Step.MatMulThen s ->
          s.passesRows()
              ? writes(s.then())
              : Stream.concat(writes(s.product()).stream(), writes(s.then()).stream())
                  .distinct()
                  .toList();
      case Step.Gather s -> List.of(s.out());
      case Step.ScatterAdd s -> List.of(s.out());
      case Step.SegmentReduce s -> List.of(s.out());
      case Step.Index s -> List.of(s.out());
      case Step.Copy s -> List.of(s.out());
      case Step.Uniform s -> List.of(s.out());
      case Step.Cast s -> List.of(s.out());
      case Step.DotInteraction s -> List.of(s.out());
      case Step.DotInteractionGradient s -> List.of(s.out());
      case Step.PairSums s -> List.of(s.out());
      case Step.PairSumsGradient s -> List.of(s.out());
    };
  }

  /** The place whose content matters during the step alone. */
  static Optional<Place> scratch(Step step) {
    return switch (step) {
      case Step.Fused s when FusedBuilder.partialElements(s) > 0 -> Optional.of(s.partials());
      case Step.MatMul s -> Optional.of(s.scratch());
      case Step.MatMulThen s -> Optional.of(s.product().scratch());
      default -> Optional.empty();
    };
  }

  /** The same step with its places moved. */
  static Step move(Step step, UnaryOperator<Place> to, UnaryOperator<Place> scratchTo) {
    return switch (step) {
      case Step.Fused s -> fused(s, to, scratchTo);
      case Step.MatMul s -> matmul(s, to, scratchTo);
      case Step.MatMulThen s -> {
        Place rows = s.product().c();
        UnaryOperator<Place> all =
            place ->
                s.passesRows() && place.equals(rows) ? scratchTo.apply(place) : to.apply(place);
        yield new Step.MatMulThen(
            matmul(s.product(), all, scratchTo), fused(s.then(), all, scratchTo), s.passesRows());
      }
      case Step.Gather s ->
          new Step.Gather(
              to.apply(s.table()),
              s.rows(),
              to.apply(s.index()),
              s.indexType(),
              s.gaps(),
              to.apply(s.out()),
              s.count(),
              s.width());
      case Step.ScatterAdd s ->
          new Step.ScatterAdd(
              to.apply(s.index()),
              s.indexType(),
              s.gaps(),
              to.apply(s.values()),
              to.apply(s.out()),
              s.rows(),
              s.count(),
              s.width());
      case Step.SegmentReduce s ->
          new Step.SegmentReduce(
              s.kind(),
              to.apply(s.values()),
              to.apply(s.offsets()),
              to.apply(s.out()),
              s.rows(),
              s.count(),
              s.width());
      case Step.Index s ->
          new Step.Index(
              s.op(),
              s.inputs().stream()
                  .map(in ->
                      new Step.Index.Source(
                          to.apply(in.place()), in.type(), in.count(), in.width()))
                  .toList(),
              to.apply(s.out()),
              s.count());
      case Step.Copy s -> new Step.Copy(to.apply(s.in()), to.apply(s.out()), s.bytes());
      case Step.Uniform s ->
          new Step.Uniform(to.apply(s.seed()), s.stream(), to.apply(s.out()), s.count());
      case Step.Cast s ->
          new Step.Cast(
              to.apply(s.in()),
              s.from(),
              s.inStrides(),
              to.apply(s.out()),
              s.to(),
              s.outStrides(),
              s.sizes());
      case Step.DotInteraction s ->
          new Step.DotInteraction(to.apply(s.x()), to.apply(s.out()), s.batch(), s.n(), s.d());
      case Step.DotInteractionGradient s ->
          new Step.DotInteractionGradient(
              to.apply(s.x()), to.apply(s.gradient()), to.apply(s.out()), s.batch(), s.n(), s.d());
      case Step.PairSums s ->
          new Step.PairSums(to.apply(s.x()), to.apply(s.out()), s.batch(), s.n(), s.d());
      case Step.PairSumsGradient s ->
          new Step.PairSumsGradient(
              to.apply(s.x()), to.apply(s.gradient()), to.apply(s.out()), s.batch(), s.n(), s.d());
    };
  }

  private static Step.Fused fused(
      Step.Fused s, UnaryOperator<Place> to, UnaryOperator<Place> scratchTo) {
    return new Step.Fused(
        s.kernel(),
        s.operands().stream().map(to).toList(),
        s.sizes(),
        s.strides(),
        s.scalars(),
        s.reduced(),
        scratch(s).map(scratchTo).orElse(new Place(0, 0)),
        s.unit(),
        s.chunks());
  }

  private static Step.MatMul matmul(
      Step.MatMul s, UnaryOperator<Place> to, UnaryOperator<Place> scratchTo) {
    return new Step.MatMul(
        to.apply(s.a()),
        s.aStrides(),
        to.apply(s.b()),
        s.bStrides(),
        to.apply(s.c()),
        s.cStrides(),
        s.batch(),
        s.m(),
        s.n(),
        s.k(),
        scratchTo.apply(s.scratch()),
        s.scratchBytes());
  }

  private static int loads(Step.Fused step) {
    return step.kernel().spec().loads().size();
  }
}
