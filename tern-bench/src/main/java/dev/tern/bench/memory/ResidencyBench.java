package dev.tern.bench.memory;

import dev.tern.bench.Arguments;
import dev.tern.bench.Machine;
import dev.tern.bench.Result;
import dev.tern.bench.fuzz.MemoryFuzz;
import dev.tern.internal.memory.BlockArena;
import dev.tern.internal.remat.Foresight;
import dev.tern.internal.remat.Policy;
import dev.tern.internal.remat.Recipes;
import dev.tern.internal.remat.Residency;
import dev.tern.internal.remat.StorageMemory;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * What a {@link Residency} adds to an op, in an arena so full that nearly every op evicts: time by
 * runs of ops, recomputation included, with more and more live tensors. Nothing is computed. Twice
 * as many tensors are referred to as the arena holds; sizes differ by up to eight times; one op in
 * eight reads a tensor made long ago.
 */
public final class ResidencyBench {
  private static final int[] LIVE = {1_000, 10_000, 100_000};
  private static final int LARGEST = 8;
  private static final long UNIT = 64;
  private static final int CHAIN = 16;

  /** As rehearsals choose: by h_DTR_eq's costs and the next use of each tensor. */
  private static final Policy DTR = new Policy("dtr", Policy.Neighbourhood.SETS, 1, 1, 1, true);

  private final Policy policy;
  private final int live;
  private final SplittableRandom random = new SplittableRandom(7);
  private final Recipes recipes = new Recipes();
  private final BlockArena arena;
  private final Residency residency;
  private long runs;
  private int released;

  private ResidencyBench(Policy policy, int live) {
    this.policy = policy;
    this.live = live;
    arena = new BlockArena(UNIT * (LARGEST + 1) / 2 * live);
    Foresight foresight = policy.usesNext() ? new Periodic(live) : Foresight.NONE;
    StorageMemory space = new StorageMemory.Placed(arena, foresight);
    residency = new Residency(recipes, space, policy, foresight, (_, _) -> runs++);
  }

  /** Each tensor is used again at some time within as many ops as there are tensors. */
  private record Periodic(int live) implements Foresight {
    @Override
    public double nextUse(int storage, int op) {
      return op + 1 + MemoryFuzz.mix(31L * storage + op / live) % live;
    }

    @Override
    public double time(int op) {
      return op;
    }
  }

  public static void run(List<String> args) {
    Map<String, String> defaults = new TreeMap<>();
    defaults.put("--ops", "200000");
    defaults.put("--runs", "5");
    Arguments arguments = Arguments.parse("residency", args, defaults);
    if (!arguments.json()) {
      System.out.println(Machine.line());
    }
    ChainBench.run().forEach(result -> print(result, arguments.json()));
    int ops = arguments.positive("--ops");
    int runs = arguments.positive("--runs");
    for (Policy policy : List.of(Policy.H_DTR_EQ, DTR)) {
      for (int live : LIVE) {
        print(new ResidencyBench(policy, live).measure(ops, runs), arguments.json());
      }
    }
  }

  private static void print(Result result, boolean json) {
    System.out.println(json ? result.toJson() : result.toText());
  }

  private Result measure(int ops, int number) {
    steps(Math.max(ops, 3 * live));
    List<Double> nanos = new ArrayList<>();
    long evictions = residency.evictions();
    for (int i = 0; i < number; i++) {
      long before = runs;
      long start = System.nanoTime();
      steps(ops);
      nanos.add((System.nanoTime() - start) / (double) (runs - before));
    }
    if (residency.evictions() - evictions < (long) ops * number / 2) {
      throw new IllegalStateException("residency bench: got few evictions, expected them always");
    }
    String name =
        String.format(Locale.ROOT, "run an op, evictions, %s, %d live", policy.name(), live);
    return new Result("residency", name, 1, nanos, "ns/op", "", List.of());
  }

  private void steps(int count) {
    for (int i = 0; i < count; i++) {
      step();
    }
  }

  private void step() {
    int made = recipes.values();
    int op = recipes.addOp(1 + random.nextInt(8), true, reads(made));
    recipes.addOutput(UNIT * random.nextInt(1, LARGEST + 1));
    residency.run(op);
    if (made - released >= 2 * live) {
      residency.release(released++);
    }
  }

  /** Chains of recomputation end at ops that read nothing. */
  private int[] reads(int made) {
    if (made % CHAIN == 0) {
      return new int[0];
    }
    int near = made - 1 - random.nextInt(made % CHAIN);
    return random.nextInt(8) == 0
        ? new int[] {near, released + random.nextInt(made - released)}
        : new int[] {near};
  }
}
