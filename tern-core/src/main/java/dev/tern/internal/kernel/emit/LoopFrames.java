package dev.tern.internal.kernel.emit;

import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.TypeKind;
import java.lang.classfile.attribute.StackMapFrameInfo;
import java.lang.classfile.attribute.StackMapFrameInfo.ObjectVerificationTypeInfo;
import java.lang.classfile.attribute.StackMapFrameInfo.SimpleVerificationTypeInfo;
import java.lang.classfile.attribute.StackMapFrameInfo.VerificationTypeInfo;
import java.lang.classfile.attribute.StackMapTableAttribute;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Writes loops and their stack map frames, which say what locals hold at each label (JVMS 4.7.4).
 * The class-file library could find the frames from the code, but by a large method that keeps the
 * JIT busy for half a second when a process starts, while every kernel waits.
 *
 * <p>Frames name only the locals that live across labels. The operand stack is empty at each label.
 */
final class LoopFrames {
  private final CodeBuilder code;
  private final List<StackMapFrameInfo> frames = new ArrayList<>();
  private TreeMap<Integer, VerificationTypeInfo> locals = new TreeMap<>();

  LoopFrames(CodeBuilder code) {
    this.code = code;
  }

  /** From here on the local at {@code slot} holds a value of the type. */
  void assigned(int slot, ClassDesc type) {
    TypeKind kind = TypeKind.from(type);
    locals.put(
        slot,
        switch (kind) {
          case INT -> SimpleVerificationTypeInfo.INTEGER;
          case LONG -> SimpleVerificationTypeInfo.LONG;
          case FLOAT -> SimpleVerificationTypeInfo.FLOAT;
          case REFERENCE -> ObjectVerificationTypeInfo.of(type);
          default -> throw new AssertionError("kernel: got a local of " + kind);
        });
  }

  /** Stores into a local that lives across labels. */
  void store(ClassDesc type, int slot) {
    code.storeLocal(TypeKind.from(type), slot);
    assigned(slot, type);
  }

  /** A loop; {@code test} jumps to the label that it is given when the loop is over. */
  void loop(Consumer<Label> test, Runnable body) {
    Label head = code.newLabel();
    Label end = code.newLabel();
    bind(head);
    test.accept(end);
    TreeMap<Integer, VerificationTypeInfo> atTest = new TreeMap<>(locals);
    body.run();
    code.goto_(head);
    locals = atTest;
    bind(end);
    // Two frames must not be at one place.
    code.nop();
  }

  /** A loop that counts a new local from 0, by {@code step}, up to the int local {@code limit}. */
  void count(int step, int limit, Runnable body) {
    int index = code.allocateLocal(TypeKind.INT);
    code.iconst_0();
    store(ConstantDescs.CD_int, index);
    loop(
        end -> code.iload(index).iload(limit).if_icmpge(end),
        () -> {
          body.run();
          code.iinc(index, step);
        });
  }

  /** Returns from the method, which has no result, if the int local is below {@code least}. */
  void returnBelow(int least, int local) {
    Label go = code.newLabel();
    code.iload(local).loadConstant(least).if_icmpge(go);
    code.return_();
    bind(go);
    // Two frames must not be at one place.
    code.nop();
  }

  /** Adds the frames to the method; called at its end. */
  void write() {
    code.with(StackMapTableAttribute.of(frames));
  }

  private void bind(Label label) {
    code.labelBinding(label);
    List<VerificationTypeInfo> types = new ArrayList<>();
    int next = 0;
    for (Map.Entry<Integer, VerificationTypeInfo> local : locals.entrySet()) {
      for (; next < local.getKey(); next++) {
        types.add(SimpleVerificationTypeInfo.TOP);
      }
      types.add(local.getValue());
      boolean wide = local.getValue() == SimpleVerificationTypeInfo.LONG;
      next += wide ? 2 : 1;
    }
    frames.add(StackMapFrameInfo.of(label, types, List.of()));
  }
}
