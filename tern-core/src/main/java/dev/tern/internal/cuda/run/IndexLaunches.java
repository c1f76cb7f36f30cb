package dev.tern.internal.cuda.run;

import dev.tern.base.DType;
import dev.tern.internal.cuda.driver.CudaGrid;
import dev.tern.internal.ir.Op;
import dev.tern.internal.plan.Step;
import java.util.List;
import java.util.Locale;

/** The launches that compute whole numbers about sequences, rule by rule as {@code IndexRules}. */
final class IndexLaunches {
  private static final CudaGrid ONE_BLOCK = CudaGrid.of(1, Launches.THREADS);

  private final Launches launches;
  private final StepAddresses at;
  private final ErrorWords errors;

  IndexLaunches(Launches launches, StepAddresses at, ErrorWords errors) {
    this.launches = launches;
    this.at = at;
    this.errors = errors;
  }

  void add(Step.Index step) {
    List<Step.Index.Input> inputs = step.inputs();
    Step.Index.Input first = inputs.getFirst();
    Step.Index.Input last = inputs.getLast();
    Op.Index op = step.op();
    switch (op.rule()) {
      case OFFSETS -> running(step, first);
      case SHIFT -> shift(step, first);
      case NOT_AMONG -> notAmong(step, first, last);
      case SCALE -> scale(step, first);
      case STARTS -> {
        check(op, first, op.size());
        starts(step, first, inputs.get(1), inputs.get(2));
      }
      case KEPT_LENGTHS, KEPT, CELLS, LARGEST -> {
        check(op, last, first.count());
        ofRows(step, first, last);
      }
      case LENGTHS, SEQUENCES, POSITIONS, MIRROR, RANGES, HEADS, ALL, TAILS, WINDOWS -> {
        check(op, last, op.size());
        ofOffsets(step, first, last);
      }
    }
  }

  private void check(Op.Index op, Step.Index.Input offsets, int rows) {
    checkOffsets(op.rule().text(), at.of(offsets.place()), offsets.count(), rows);
  }

  /** Checks that offsets start with 0, never descend and stay within the rows. */
  void checkOffsets(String op, long offsets, int count, int rows) {
    long word =
        errors.add((place, value) ->
            wrong(
                "%s: got offset %d at place %d, expected %s; give valid lengths and room",
                op,
                value,
                place,
                place == 0 ? "0" : "at least the one before and at most " + rows));
    launches.add("check_offsets", count, offsets, count, rows, word);
  }

  private static IllegalArgumentException wrong(String pattern, Object... values) {
    return new IllegalArgumentException(String.format(Locale.ROOT, pattern, values));
  }

  private void running(Step.Index step, Step.Index.Input lengths) {
    long word =
        errors.add((place, value) ->
            wrong(
                "%s: got length %d at place %d, expected 0 or more, below 2^31 in all",
                step.op().rule().text(), value, place));
    launches.add(
        "index_offsets",
        ONE_BLOCK,
        at.of(lengths.place()),
        at.of(step.out()),
        lengths.count(),
        word);
  }

  private void shift(Step.Index step, Step.Index.Input numbers) {
    int by = step.op().size();
    long word =
        errors.add((place, value) ->
            wrong(
                "%s: got offset %d at place %d, expected 0 to %d; give valid offsets",
                step.op().rule().text(), value, place, Integer.MAX_VALUE - by));
    launches.add(
        "index_shift",
        numbers.count(),
        at.of(numbers.place()),
        at.of(step.out()),
        numbers.count(),
        by,
        word);
  }

  private void scale(Step.Index step, Step.Index.Input offsets) {
    Op.Index op = step.op();
    check(op, offsets, Integer.MAX_VALUE);
    long word =
        errors.add((place, value) ->
            wrong(
                "reshape: got %d numbers up to sequence %d, expected rows of %d; choose a"
                    + " divisor",
                value, place, op.width()));
    launches.add(
        "index_scale",
        offsets.count(),
        at.of(offsets.place()),
        at.of(step.out()),
        offsets.count(),
        op.size(),
        op.width(),
        word);
  }

  private void starts(
      Step.Index step,
      Step.Index.Input offsets,
      Step.Index.Input firsts,
      Step.Index.Input lengths) {
    int sequences = offsets.count() - 1;
    long word =
        errors.add((place, value) ->
            wrong(
                "slice: got %d rows of sequence %d, expected a part of its rows; change them",
                value, place));
    launches.add(
        "index_starts",
        sequences,
        at.of(offsets.place()),
        at.of(firsts.place()),
        at.of(lengths.place()),
        at.of(step.out()),
        sequences,
        word);
  }

  private void ofOffsets(Step.Index step, Step.Index.Input first, Step.Index.Input last) {
    Op.Index op = step.op();
    long offsets = at.of(last.place());
    int sequences = last.count() - 1;
    long out = at.of(step.out());
    switch (op.rule()) {
      case LENGTHS -> launches.add("index_lengths", sequences, offsets, out, sequences);
      case HEADS, ALL, TAILS -> ends(op, offsets, sequences, out);
      case WINDOWS ->
          launches.add(
              "index_windows",
              (long) op.size() * op.width(),
              offsets,
              sequences,
              out,
              op.size(),
              op.width());
      default ->
          launches.add(
              "index_rows",
              op.size(),
              List.of(
                      Op.Index.Rule.SEQUENCES,
                      Op.Index.Rule.POSITIONS,
                      Op.Index.Rule.MIRROR,
                      Op.Index.Rule.RANGES)
                  .indexOf(op.rule()),
              at.of(first.place()),
              offsets,
              sequences,
              out,
              op.size());
    }
  }

  private void ends(Op.Index op, long offsets, int sequences, long out) {
    boolean isAll = op.rule() == Op.Index.Rule.ALL;
    long word =
        isAll
            ? errors.add((place, value) ->
                wrong(
                    "pad: got %d rows in sequence %d, expected at most %d; pad to more, or"
                        + " drop rows first",
                    value, place, op.width()))
            : 0;
    launches.add(
        "index_ends",
        (long) sequences * Math.max(1, op.width()),
        op.rule() == Op.Index.Rule.TAILS ? 1 : 0,
        isAll ? 1 : 0,
        offsets,
        sequences,
        out,
        op.width(),
        word);
  }

  private void ofRows(Step.Index step, Step.Index.Input first, Step.Index.Input last) {
    Op.Index op = step.op();
    long values = at.of(first.place());
    long offsets = at.of(last.place());
    int sequences = last.count() - 1;
    long out = at.of(step.out());
    int rows = first.count();
    switch (op.rule()) {
      case KEPT_LENGTHS ->
          launches.add(
              "index_kept_lengths",
              sequences,
              values,
              marks(first.type()),
              rows,
              offsets,
              out,
              sequences);
      case KEPT ->
          launches.add(
              "index_kept", ONE_BLOCK, values, marks(first.type()), rows, offsets, sequences, out);
      case CELLS -> {
        long word =
            errors.add((place, value) ->
                new IndexOutOfBoundsException(
                    String.format(
                        Locale.ROOT,
                        "cells: got column %d at row %d, expected 0 to %d",
                        value,
                        place,
                        op.width() - 1)));
        launches.add(
            "index_cells",
            rows,
            values,
            wide(first.type()),
            offsets,
            sequences,
            out,
            rows,
            op.width(),
            word);
      }
      default ->
          launches.add(
              "index_largest",
              (long) sequences * first.width(),
              values,
              offsets,
              out,
              sequences,
              first.width(),
              rows,
              op.width());
    }
  }

  private void notAmong(Step.Index step, Step.Index.Input ids, Step.Index.Input others) {
    launches.add(
        "index_not_among",
        ids.count(),
        at.of(ids.place()),
        wide(ids.type()),
        at.of(others.place()),
        wide(others.type()),
        ids.count(),
        others.count(),
        at.of(step.out()));
  }

  static int wide(DType type) {
    return type == DType.I64 ? 1 : 0;
  }

  private static int marks(DType type) {
    return type.isFloatLike() ? 0 : type == DType.I64 ? 2 : 1;
  }
}
