package dev.tern.bench;

import java.util.List;

/** {@code bench SUITE [options]}: runs one suite and prints its results. */
public final class Main {
  private Main() {}

  public static void main(String[] args) {
    List<String> rest = args.length == 0 ? List.of() : List.of(args).subList(1, args.length);
    String suite = args.length == 0 ? "list" : args[0];
    try {
      switch (suite) {
        case "train" -> TrainBench.run(rest);
        case "list" -> System.out.println("train  whole training steps of the models");
        default ->
            throw new IllegalArgumentException(
                "bench: got the suite " + suite + ", expected one that bench list names");
      }
    } catch (IllegalArgumentException e) {
      System.err.println(e.getMessage());
      System.exit(2);
    }
  }
}
