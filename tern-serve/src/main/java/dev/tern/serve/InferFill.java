package dev.tern.serve;

import dev.tern.base.Shown;
import dev.tern.data.encode.RowFiller;
import dev.tern.serve.wire.JsonBody;
import dev.tern.serve.wire.RefusedException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import tools.jackson.core.JsonParser;

/** Puts the tensors of a request into the batch of its context. */
final class InferFill {
  private static final int NONE = InferInput.NONE;
  private static final VarHandle FLOAT =
      MethodHandles.byteArrayViewVarHandle(float[].class, ByteOrder.LITTLE_ENDIAN);

  private final RequestContext context;
  private final InferInputs inputs;
  private final byte[] body;
  private final int jsonEnd;

  /** Rows of the request, {@link #NONE} until a tensor says it. */
  private long rows = NONE;

  private boolean hasOnce;

  InferFill(RequestContext context, byte[] body, int jsonEnd) {
    this.context = context;
    inputs = context.inputs;
    this.body = body;
    this.jsonEnd = jsonEnd;
  }

  void clear() {
    rows = NONE;
    hasOnce = false;
    context.rows.clear();
    context.once.clear();
  }

  /** Finds the column that a tensor is of, by its name {@code text[from, from + length)}. */
  void name(InferInput input, char[] text, int from, int length) {
    RowFiller filler = context.filler;
    input.role = InferInput.Role.VALUES;
    input.column = filler.column(text, from, from + length);
    if (input.column != NONE) {
      input.name = filler.name(input.column);
      inputs.note(input.column, input.role); // A column that is filled twice is refused there.
      return;
    }
    String name = new String(text, from, length);
    input.name = Shown.line(JsonBody.shorten(name));
    for (InferInput.Role role : SUFFIXED) {
      if (input.column == NONE && name.endsWith(role.suffix)) {
        input.column = filler.column(name.substring(0, name.length() - role.suffix.length()));
        input.role = role;
      }
    }
    if (input.column == NONE) {
      throw new RefusedException(
          400,
          "column %s: got a value for it, expected a column of the model; leave it out"
              .formatted(input.name));
    }
    if (!inputs.note(input.column, input.role)) {
      throw new RefusedException(
          400, "%s: got it twice, expected it once; leave one out".formatted(input.name));
    }
  }

  private static final InferInput.Role[] SUFFIXED = {
    InferInput.Role.OFFSETS, InferInput.Role.WEIGHTS
  };

  /** Whether a tensor can be put into the batch without others. */
  boolean isReady(InferInput input) {
    return input.column != NONE
        && input.type != null
        && input.rank > 0
        && input.width == 1
        && input.role == InferInput.Role.VALUES
        && !input.once
        && !context.filler.takesLists(input.column)
        && (rows == NONE || rows == input.rows);
  }

  private void begin(long count) {
    RequestContext.requireRows(count);
    rows = count;
    context.filler.beginColumns(context.rows, (int) count);
  }

  /** Fills a column of one value a row. */
  void column(InferInput input, Flow flow) {
    if (rows == NONE) {
      begin(input.rows);
    }
    RowFiller filler = context.filler;
    requireKind(input);
    filler.beginColumn(input.column);
    singles(input, flow, filler);
    filler.endColumn(input.column);
    input.filled = true;
  }

  private static void singles(InferInput input, Flow flow, RowFiller filler) {
    int column = input.column;
    long count = 0;
    while (flow.next()) {
      if (count < input.rows) {
        if (flow.isMissing()) {
          filler.setMissing(column);
        } else {
          flow.set(filler, column);
        }
      }
      count++;
    }
    requireCount(input, count);
  }

  private static void requireCount(InferInput input, long count) {
    if (count != input.count()) {
      String what = input.type() == Datatype.BYTES ? "texts" : "numbers";
      throw new RefusedException(
          400,
          "%s: got %d %s, expected shape %s".formatted(input.name, count, what, input.shape()));
    }
  }

  private void requireKind(InferInput input) {
    RowFiller filler = context.filler;
    Datatype type = input.type();
    boolean fits =
        filler.slot(input.column) >= 0
            ? type.kind != Datatype.Kind.FLOATING
            : type != Datatype.BYTES || filler.takesTexts(input.column);
    if (!fits) {
      throw new RefusedException(
          400,
          "%s: got datatype %s, expected %s"
              .formatted(input.name, type, Metadata.datatype(filler, input.column)));
    }
  }

  /** Fills what waited, and ends the rows. */
  void finish() {
    if (rows == NONE) {
      begin(count());
    }
    for (int i = 0; i < inputs.size(); i++) {
      InferInput input = inputs.get(i);
      boolean known =
          input.role == InferInput.Role.VALUES
              || inputs.find(input.column, InferInput.Role.VALUES).column != NONE;
      if (!known) {
        throw new RefusedException(
            400, "%s: got it without the column itself, expected both".formatted(input.name));
      }
      if (input.role != InferInput.Role.VALUES && !context.filler.takesLists(input.column)) {
        throw new RefusedException(
            400,
            "%s: got it for a column of one value a row, expected the values alone; leave it out"
                .formatted(input.name));
      }
      if (!input.filled && input.role == InferInput.Role.VALUES) {
        fill(input);
      }
    }
    if (hasOnce) {
      context.onceFiller.endOnce();
      context.filler.beginRepeated(context.onceFiller);
    }
    context.filler.endColumns();
    if (hasOnce) {
      context.requireRepeated((int) rows);
      context.filler.endRepeated(context.once);
    }
  }

  /** The rows that the tensors say: of the first that is not for all rows. */
  private long count() {
    for (int i = 0; i < inputs.size(); i++) {
      InferInput input = inputs.get(i);
      if (input.role == InferInput.Role.VALUES && !input.once) {
        InferInput offsets = inputs.find(input.column, InferInput.Role.OFFSETS);
        return offsets.column == NONE ? input.rows : Math.max(0, offsets.rows - 1);
      }
    }
    return inputs.size() == 0 ? 0 : 1;
  }

  private void fill(InferInput input) {
    requireKind(input);
    RowFiller filler = context.filler;
    long expected = rows;
    if (input.once) {
      filler = context.onceFiller;
      expected = 1;
      if (!hasOnce) {
        filler.begin(context.once);
        hasOnce = true;
      }
    }
    InferInput offsets = inputs.find(input.column, InferInput.Role.OFFSETS);
    boolean ragged = offsets.column != NONE;
    long got = ragged ? Math.max(0, offsets.rows - 1) : input.rows;
    if (got != expected || input.rank > 1 && (ragged || !takesWidth(input))) {
      throw new RefusedException(
          400,
          "%s: got shape %s, expected %d rows%s"
              .formatted(
                  ragged ? offsets.name : input.name,
                  ragged ? offsets.shape() : input.shape(),
                  expected,
                  takesWidth(input) ? "" : " of one value"));
    }
    if (!input.once && fast(input)) {
      return;
    }
    if (!input.once) {
      filler.beginColumn(input.column);
    }
    read(input, filler, (int) expected);
    if (!input.once) {
      filler.endColumn(input.column);
    }
  }

  private boolean takesWidth(InferInput input) {
    return input.width == 1 || context.filler.takesLists(input.column);
  }

  private void read(InferInput input, RowFiller filler, int count) {
    if (input.contentsFrom != NONE) {
      values(input, new ContentsFlow(body, input), filler, count);
    } else if (input.binary != NONE) {
      values(input, new BinaryFlow(body, input), filler, count);
    } else {
      try (JsonParser json = JsonBody.parser(body, input.at, jsonEnd)) {
        json.nextToken();
        values(input, context.flow.begin(json, input, filler), filler, count);
      }
    }
  }

  private void values(InferInput input, Flow flow, RowFiller filler, int count) {
    InferInput offsets = inputs.find(input.column, InferInput.Role.OFFSETS);
    InferInput weights = inputs.find(input.column, InferInput.Role.WEIGHTS);
    boolean ragged = offsets.column != NONE;
    boolean weighted = weights.column != NONE;
    if (!ragged && !weighted && (input.rank == 1 || !filler.takesLists(input.column))) {
      singles(input, flow, filler);
      return;
    }
    int[] ends = ragged ? offsets(offsets, input) : new int[0];
    float[] factors = weighted ? weights(weights, input) : new float[0];
    int at = 0;
    for (int row = 0; row < count; row++) {
      int end = ragged ? ends[row + 1] : at + (int) input.width;
      filler.beginList(input.column);
      for (; at < end; at++) {
        if (!flow.next()) {
          requireCount(input, at);
        }
        if (!flow.isMissing()) {
          flow.add(filler, input.column);
          if (weighted) {
            filler.addWeight(factors[at]);
          }
        }
      }
      filler.endList();
    }
    while (flow.next()) {
      at++;
    }
    requireCount(input, at);
  }

  private int[] offsets(InferInput offsets, InferInput of) {
    if (!offsets.type().isWhole() || offsets.rank != 1 || of.rank != 1) {
      throw new RefusedException(
          400,
          "%s: got %s of shape %s, expected INT32 of one dimension, as %s"
              .formatted(offsets.name, offsets.type(), offsets.shape(), of.name));
    }
    requirePlausible(offsets);
    int[] ends = new int[(int) offsets.rows];
    int[] count = {0};
    each(
        offsets,
        flow -> {
          int end = flow.whole();
          int before = count[0] == 0 ? 0 : ends[count[0] - 1];
          if (end < before || end > of.rows || count[0] == 0 && end != 0) {
            throw new RefusedException(
                400,
                "%s: got %d at %d, expected offsets that rise from 0 to %d"
                    .formatted(offsets.name, end, count[0], of.rows));
          }
          ends[count[0]++] = end;
        });
    if (ends.length == 0 || ends[ends.length - 1] != of.rows) {
      throw new RefusedException(
          400,
          "%s: got %d values of %s behind the last offset, expected none"
              .formatted(
                  offsets.name, of.rows - (ends.length == 0 ? 0 : ends[ends.length - 1]), of.name));
    }
    return ends;
  }

  private float[] weights(InferInput weights, InferInput of) {
    if (weights.type().kind != Datatype.Kind.FLOATING || weights.count() != of.count()) {
      throw new RefusedException(
          400,
          "%s: got %s of shape %s, expected FP32 of shape %s"
              .formatted(weights.name, weights.type(), weights.shape(), of.shape()));
    }
    requirePlausible(weights);
    float[] factors = new float[(int) weights.count()];
    int[] count = {0};
    each(weights, flow -> factors[count[0]++] = flow.number());
    return factors;
  }

  /** A tensor of so many values takes as many bytes, so a body bounds the memory for them. */
  private void requirePlausible(InferInput input) {
    if (input.count() > body.length) {
      throw new RefusedException(
          400, "%s: got shape %s, expected as many values".formatted(input.name, input.shape()));
    }
  }

  private interface Each {
    void accept(Flow flow);
  }

  private void each(InferInput input, Each each) {
    if (input.contentsFrom != NONE) {
      each(input, new ContentsFlow(body, input), each);
    } else if (input.binary != NONE) {
      each(input, new BinaryFlow(body, input), each);
    } else {
      try (JsonParser json = JsonBody.parser(body, input.at, jsonEnd)) {
        json.nextToken();
        each(input, new JsonFlow().begin(json, input, context.filler), each);
      }
    }
  }

  private static void each(InferInput input, Flow flow, Each each) {
    long count = 0;
    while (flow.next()) {
      if (++count > input.count()) {
        requireCount(input, count);
      }
      each.accept(flow);
    }
    requireCount(input, count);
  }

  /** Fills a column from a binary tensor that is like the column in memory; false if it is not. */
  private boolean fast(InferInput input) {
    boolean plain =
        input.binary == input.count() * 8 && input.type == Datatype.INT64
            || input.binary == input.count() * 4 && input.type == Datatype.FP32;
    if (!plain || input.width != 1 || input.rows != rows || input.hasEmpty() || isRagged(input)) {
      return false;
    }
    if (input.type == Datatype.INT64) {
      context.filler.setIntegers(input.column, body, input.at);
      return true;
    }
    for (int i = 0; i < input.binary; i += 4) {
      if (!Float.isFinite((float) FLOAT.get(body, input.at + i))) {
        return false; // The other way says which it is.
      }
    }
    context.filler.setNumbers(input.column, body, input.at);
    return true;
  }

  private boolean isRagged(InferInput input) {
    return inputs.find(input.column, InferInput.Role.OFFSETS).column != NONE
        || inputs.find(input.column, InferInput.Role.WEIGHTS).column != NONE
        || input.rank > 1 && context.filler.takesLists(input.column);
  }
}
