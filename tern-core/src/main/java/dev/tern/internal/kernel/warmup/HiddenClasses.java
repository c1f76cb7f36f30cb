package dev.tern.internal.kernel.warmup;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeBuilder;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/** Kernels in classes of their own, which the JIT compiles separately. */
public final class HiddenClasses {
  private static final int IDLE = 3;

  private HiddenClasses() {}

  /**
   * An instance of a class file of the package of {@code neighbour}, made by the constructor
   * without parameters.
   */
  public static Object define(Class<?> neighbour, byte[] code) {
    try {
      Constructor<?> constructor =
          MethodHandles.privateLookupIn(neighbour, MethodHandles.lookup())
              .defineHiddenClass(code, true)
              .lookupClass()
              .getDeclaredConstructor();
      constructor.setAccessible(true);
      return constructor.newInstance();
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("cannot define a class beside " + neighbour.getName(), e);
    }
  }

  /**
   * An instance of a copy of {@code type}. HotSpot may leave a method for good in a low tier or in
   * code that boxes vectors; the copy is compiled afresh.
   */
  public static Object copyOf(Class<?> type) {
    String file = type.getName().substring(type.getPackageName().length() + 1) + ".class";
    try (InputStream code = type.getResourceAsStream(file)) {
      if (code == null) {
        throw new IllegalStateException("found no class file of " + type);
      }
      return define(type, code.readAllBytes());
    } catch (IOException e) {
      throw new IllegalStateException("cannot copy " + type, e);
    }
  }

  /**
   * Kernels that do nothing, each of a class of its own. A call that runs them in turn with a real
   * kernel has too many receivers to be inlined, so the JIT compiles the kernel separately.
   *
   * @param kind an interface whose methods return nothing
   */
  public static <K> List<K> idle(Class<K> kind) {
    ClassDesc self = ClassDesc.of(kind.getPackageName(), "Idle" + kind.getSimpleName());
    byte[] code =
        ClassFile.of(ClassFile.StackMapsOption.DROP_STACK_MAPS)
            .build(
                self,
                type -> {
                  type.withInterfaceSymbols(desc(kind));
                  type.withFlags(ClassFile.ACC_FINAL | ClassFile.ACC_SUPER);
                  type.withMethodBody(
                      ConstantDescs.INIT_NAME,
                      ConstantDescs.MTD_void,
                      ClassFile.ACC_PUBLIC,
                      HiddenClasses::constructor);
                  for (Method method : kind.getMethods()) {
                    if (Modifier.isAbstract(method.getModifiers())) {
                      type.withMethodBody(
                          method.getName(),
                          typeOf(method),
                          ClassFile.ACC_PUBLIC,
                          CodeBuilder::return_);
                    }
                  }
                });
    return Stream.generate(() -> kind.cast(define(kind, code))).limit(IDLE).toList();
  }

  /** Writes a constructor without parameters. */
  public static void constructor(CodeBuilder code) {
    code.aload(0);
    code.invokespecial(ConstantDescs.CD_Object, ConstantDescs.INIT_NAME, ConstantDescs.MTD_void);
    code.return_();
  }

  private static MethodTypeDesc typeOf(Method method) {
    return MethodTypeDesc.of(
        ConstantDescs.CD_void,
        Arrays.stream(method.getParameterTypes()).map(HiddenClasses::desc).toList());
  }

  /** The descriptor of a class that has a name. */
  public static ClassDesc desc(Class<?> type) {
    return type.describeConstable().orElseThrow();
  }
}
