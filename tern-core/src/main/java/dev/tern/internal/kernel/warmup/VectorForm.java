package dev.tern.internal.kernel.warmup;

import dev.tern.internal.kernel.VectorSupport;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * A kernel in two forms that give the same bits: the scalar form serves until {@link Warmup} has
 * had the vector form compiled. There is one for the process. Any thread may ask for {@link
 * #active}; the warm-up thread alone exchanges the form.
 *
 * @param <K> the interface of the kernel
 */
public final class VectorForm<K> {
  /** Most times that code in use is replaced, so that a busy machine does not keep the JIT busy. */
  private static final int MOST_WITHDRAWALS = 3;

  /**
   * The vector form, and how to run it for the JIT.
   *
   * @param kind the interface of the kernel
   * @param type the vector form; has a constructor without parameters
   * @param driver makes memory to run kernels on
   */
  public record Code<K>(Class<K> kind, Class<? extends K> type, Function<Arena, Driver<K>> driver) {
    K fresh() {
      return kind.cast(HiddenClasses.copyOf(type));
    }
  }

  /**
   * Runs a kernel, see {@link Warmup.Round}.
   *
   * @param enter makes one of the calls of an entry
   */
  public record Driver<K>(Consumer<K> enter, Consumer<K> small, Consumer<K> large) {
    /** Runs the same in rounds of both sizes. */
    public Driver(Consumer<K> enter, Consumer<K> run) {
      this(enter, run, run);
    }
  }

  /** Each is one entry more: with 20,000 calls C2 compiles a method though others wait for it. */
  private static final int BUSY_ROUNDS = 100;

  private final Code<K> code;
  private final K scalar;
  private final Runnable changed;
  private volatile K active;
  private volatile boolean pending;

  /** Uses the scalar form until a {@link Trial} of the vector form is adopted. */
  VectorForm(Code<K> code, K scalar, Runnable changed) {
    this.code = code;
    this.scalar = scalar;
    this.changed = changed;
    active = scalar;
  }

  /**
   * Starts to make the vector form ready, if there are vectors.
   *
   * @param changed runs on the warm-up thread after each exchange of the form in use
   */
  public static <K> VectorForm<K> of(Code<K> code, K scalar, Runnable changed) {
    VectorForm<K> form = new VectorForm<>(code, scalar, changed);
    if (VectorSupport.available() && Warmup.EAGER) {
      form.active = code.fresh();
    } else if (VectorSupport.available()) {
      form.pending = true;
      Warmup.enqueue(form::trial);
    }
    return form;
  }

  /** The fastest form that is ready. */
  public K active() {
    return active;
  }

  /** Whether the vector form is being made ready for the first time. */
  public boolean isPending() {
    return pending;
  }

  /** Whether the vector form is in use. */
  public boolean isVector() {
    return active != scalar;
  }

  private Optional<Trial> trial() {
    try {
      return Optional.of(new Trial());
    } catch (RuntimeException | Error e) {
      pending = false;
      throw e;
    }
  }

  private void use(K kernel) {
    active = kernel;
    pending = false;
    changed.run();
  }

  /** Runs the vector form in turn with kernels that do nothing, until it is compiled. */
  final class Trial implements Warmup.Candidate {
    private final List<K> turns = new ArrayList<>();
    private final Arena arena = Arena.ofConfined();
    private final Driver<K> driver = code.driver().apply(arena);
    private int withdrawals;

    Trial() {
      turns.add(code.fresh());
      turns.addAll(HiddenClasses.idle(code.kind()));
    }

    @Override
    public void round(Warmup.Round round) {
      switch (round) {
        case ENTRY -> {
          for (int call = 0; call < Warmup.ENTRIES; call++) {
            run(driver.enter());
          }
        }
        case PROBE, SMALL -> run(driver.small());
        case LARGE -> run(driver.large());
      }
    }

    private void run(Consumer<K> driver) {
      for (int i = 0; i < turns.size(); i++) {
        driver.accept(turns.get(i));
      }
    }

    @Override
    public int busyRounds() {
      return BUSY_ROUNDS;
    }

    @Override
    public boolean isEntered() {
      return false;
    }

    @Override
    public void adopt() {
      use(turns.get(0));
      if (!isWatched()) {
        arena.close();
      }
    }

    @Override
    public boolean isWatched() {
      return withdrawals < MOST_WITHDRAWALS;
    }

    @Override
    public void withdraw() {
      withdrawals++;
      use(scalar);
    }

    @Override
    public void renew() {
      turns.set(0, code.fresh());
    }

    @Override
    public void giveUp() {
      pending = false;
      arena.close();
    }
  }
}
