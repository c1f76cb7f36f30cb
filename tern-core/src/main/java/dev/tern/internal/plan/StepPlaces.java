package dev.tern.internal.plan;

import dev.tern.internal.plan.Step.Place;
import dev.tern.internal.plan.Step.Rows;
import dev.tern.internal.plan.Step.Strided;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/** Which places a step reads and writes, and the same step at other places. */
final class StepPlaces {
  private StepPlaces() {}

  /** The places that a step reads. */
  static List<Place> reads(Step step) {
    return switch (step) {
      case Step.Fused s -> s.operands().subList(0, loads(s));
      case Step.MatMul s -> List.of(s.a().place(), s.b().place());
      case Step.MatMulThen s ->
          Stream.concat(reads(s.product()).stream(), reads(s.then()).stream())
              .filter(place -> !place.equals(s.product().c().place()))
              .toList();
      case Step.Gather s -> List.of(s.table().place(), s.index().place());
      case Step.ScatterAdd s -> List.of(s.index().place(), s.values());
      case Step.SegmentReduce s -> List.of(s.values().place(), s.offsets().place());
      case Step.Index s -> s.inputs().stream().map(Step.Index.Input::place).toList();
      case Step.Copy s -> List.of(s.in());
      case Step.Uniform s -> List.of(s.seed());
      case Step.Cast s -> List.of(s.in().place());
      case Step.DotInteraction s -> List.of(s.x());
      case Step.DotInteractionGradient s -> List.of(s.x(), s.gradient());
      case Step.PairSums s -> List.of(s.x());
      case Step.PairSumsGradient s -> List.of(s.x(), s.gradient());
    };
  }

  /** The places that a step writes, each as a whole or in part; {@link #reads} has none of them. */
  static List<Place> writes(Step step) {
    return switch (step) {
      case Step.Fused s -> s.operands().subList(loads(s), s.operands().size());
      case Step.MatMul s -> List.of(s.c().place());
      case Step.MatMulThen s ->
          s.passesRows()
              ? writes(s.then())
              : Stream.concat(writes(s.product()).stream(), writes(s.then()).stream())
                  .distinct()
                  .toList();
      case Step.Gather s -> List.of(s.out());
      case Step.ScatterAdd s -> List.of(s.out().place());
      case Step.SegmentReduce s -> List.of(s.out());
      case Step.Index s -> List.of(s.out());
      case Step.Copy s -> List.of(s.out());
      case Step.Uniform s -> List.of(s.out());
      case Step.Cast s -> List.of(s.out().place());
      case Step.DotInteraction s -> List.of(s.out());
      case Step.DotInteractionGradient s -> List.of(s.out());
      case Step.PairSums s -> List.of(s.out());
      case Step.PairSumsGradient s -> List.of(s.out());
    };
  }

  /** The place whose content matters during the step alone. */
  static Optional<Place> scratch(Step step) {
    return switch (step) {
      case Step.Fused s when s.loops().partialElements() > 0 -> Optional.of(s.partials());
      case Step.MatMul s -> Optional.of(s.scratch().place());
      case Step.MatMulThen s -> Optional.of(s.product().scratch().place());
      default -> Optional.empty();
    };
  }

  /** The same step with its places moved. */
  static Step move(Step step, UnaryOperator<Place> to, UnaryOperator<Place> scratchTo) {
    return switch (step) {
      case Step.Fused s -> fused(s, to, scratchTo);
      case Step.MatMul s -> matmul(s, to, scratchTo);
      case Step.MatMulThen s -> {
        Place rows = s.product().c().place();
        UnaryOperator<Place> all =
            place ->
                s.passesRows() && place.equals(rows) ? scratchTo.apply(place) : to.apply(place);
        yield new Step.MatMulThen(
            matmul(s.product(), all, scratchTo), fused(s.then(), all, scratchTo), s.passesRows());
      }
      case Step.Gather s ->
          new Step.Gather(
              rows(s.table(), to), numbers(s.index(), to), to.apply(s.out()), s.width());
      case Step.ScatterAdd s ->
          new Step.ScatterAdd(
              numbers(s.index(), to), to.apply(s.values()), rows(s.out(), to), s.width());
      case Step.SegmentReduce s ->
          new Step.SegmentReduce(
              s.kind(), rows(s.values(), to), rows(s.offsets(), to), to.apply(s.out()), s.width());
      case Step.Index s ->
          new Step.Index(
              s.op(),
              s.inputs().stream()
                  .map(in ->
                      new Step.Index.Input(to.apply(in.place()), in.type(), in.count(), in.width()))
                  .toList(),
              to.apply(s.out()),
              s.count());
      case Step.Copy s -> new Step.Copy(to.apply(s.in()), to.apply(s.out()), s.bytes());
      case Step.Uniform s ->
          new Step.Uniform(to.apply(s.seed()), s.stream(), to.apply(s.out()), s.count());
      case Step.Cast s ->
          new Step.Cast(strided(s.in(), to), s.from(), strided(s.out(), to), s.to(), s.sizes());
      case Step.DotInteraction s ->
          new Step.DotInteraction(to.apply(s.x()), to.apply(s.out()), s.sizes());
      case Step.DotInteractionGradient s ->
          new Step.DotInteractionGradient(
              to.apply(s.x()), to.apply(s.gradient()), to.apply(s.out()), s.sizes());
      case Step.PairSums s -> new Step.PairSums(to.apply(s.x()), to.apply(s.out()), s.sizes());
      case Step.PairSumsGradient s ->
          new Step.PairSumsGradient(
              to.apply(s.x()), to.apply(s.gradient()), to.apply(s.out()), s.sizes());
    };
  }

  private static Step.Fused fused(
      Step.Fused s, UnaryOperator<Place> to, UnaryOperator<Place> scratchTo) {
    return s.at(
        s.operands().stream().map(to).toList(), scratch(s).map(scratchTo).orElse(new Place(0, 0)));
  }

  private static Step.MatMul matmul(
      Step.MatMul s, UnaryOperator<Place> to, UnaryOperator<Place> scratchTo) {
    return new Step.MatMul(
        strided(s.a(), to),
        strided(s.b(), to),
        strided(s.c(), to),
        s.sizes(),
        new Step.Scratch(scratchTo.apply(s.scratch().place()), s.scratch().bytes()));
  }

  private static Strided strided(Strided elements, UnaryOperator<Place> to) {
    return new Strided(to.apply(elements.place()), elements.strides());
  }

  private static Rows rows(Rows rows, UnaryOperator<Place> to) {
    return new Rows(to.apply(rows.place()), rows.rows());
  }

  private static Step.RowNumbers numbers(Step.RowNumbers index, UnaryOperator<Place> to) {
    return new Step.RowNumbers(to.apply(index.place()), index.type(), index.count(), index.gaps());
  }

  private static int loads(Step.Fused step) {
    return step.spec().loads().size();
  }
}
