package dev.tern.bench;

import dev.tern.bench.device.DeviceBench;
import dev.tern.bench.endtoend.EndToEnd;
import dev.tern.bench.exchange.ExchangeBench;
import dev.tern.bench.exchange.RankBench;
import dev.tern.bench.exchange.RankCrashBench;
import dev.tern.bench.fuzz.FuzzBench;
import dev.tern.bench.memory.AllocatorBench;
import dev.tern.bench.memory.BudgetBench;
import dev.tern.bench.memory.CheckedBench;
import dev.tern.bench.memory.ResidencyBench;
import dev.tern.bench.parity.ParityBench;
import dev.tern.bench.scoring.OnnxBench;
import dev.tern.bench.scoring.ScoreBench;
import dev.tern.bench.serve.ServeBench;
import dev.tern.bench.serve.ServiceBench;
import dev.tern.bench.tables.CrashBench;
import dev.tern.bench.tables.RowPolicyBench;
import dev.tern.bench.tables.SnapshotBench;
import dev.tern.bench.tables.SoakBench;
import dev.tern.bench.tables.TableBench;
import dev.tern.bench.tables.TierBench;
import java.util.List;

/** {@code bench SUITE [options]}: runs one suite and prints its results. */
public final class Main {
  private static final String SUITES =
      """
      accuracy  elementwise functions on every float there is
      allocator  off-heap blocks: time, and memory that recorded steps hold
      budget  deep models in a share of the memory that their steps take
      checked  what the checked mode of memory costs while it is off
      coldstart  how fast fresh processes come to train at full speed
      crash  training killed at random moments, resumed, to the same bytes
      data  files of every format into batches, beside a plain copy
      device  products of matrices on a CUDA device
      end-to-end  train, publish, serve, train on, kill and begin again, to the bit
      exchange  ranks of one training: sums, exchanges, with and without encryption
      fuzz  random programs against the plain evaluation, within bounds
      matmul  products of the shapes that the models have, and odd ones
      pointwise  elementwise expressions, each one kernel
      layers  layers of CTR models, forward and backward
      onnx  exported models of every type, in ONNX Runtime
      parity  losses of every model, step by step beside PyTorch
      rank-crash  ranks killed or halted at random moments, resumed, to the same bytes
      ranks  training steps of several ranks of one thread, beside one alone
      residency  tensors under a budget that evicts all the time
      rows  tables that admit and evict, on a Zipf stream
      score  rows scored in this process, beside ONNX Runtime
      serve  requests over HTTP and gRPC to a server in a process of its own
      service  a server under updates, overload, slow callers, a stop
      session  ops one by one, and gradients in a share of their memory
      snapshot  checkpoints of a large table, written and read
      soak  threads that use one table in every way, for minutes
      stress  what tables promise to threads, by jcstress
      table  embedding tables: find, insert, pool, update
      tier  a table larger than its memory, beside one in memory; its store beside RocksDB
      train  whole training steps of the models
      """;

  private Main() {}

  public static void main(String[] args) {
    List<String> rest = args.length == 0 ? List.of() : List.of(args).subList(1, args.length);
    String suite = args.length == 0 ? "list" : args[0];
    try {
      switch (suite) {
        case "allocator" -> AllocatorBench.run(rest);
        case "budget" -> BudgetBench.run(rest);
        case "tier" -> TierBench.run(rest);
        case "train" -> TrainBench.run(rest);
        case "matmul" -> MatMulBench.run(rest);
        case "pointwise" -> PointwiseBench.run(rest);
        case "layers" -> LayersBench.run(rest);
        case "table" -> TableBench.run(rest);
        case "accuracy" -> AccuracyBench.run(rest);
        case "checked" -> CheckedBench.run(rest);
        case "coldstart" -> ColdStartBench.run(rest);
        case "crash" -> CrashBench.run(rest);
        case "device" -> DeviceBench.run(rest);
        case "data" -> DataBench.run(rest);
        case "end-to-end" -> EndToEnd.run(rest);
        case "exchange" -> ExchangeBench.run(rest);
        case "fuzz" -> FuzzBench.run(rest);
        case "rank-crash" -> RankCrashBench.run(rest);
        case "ranks" -> RankBench.run(rest);
        case "residency" -> ResidencyBench.run(rest);
        case "rows" -> RowPolicyBench.run(rest);
        case "onnx" -> OnnxBench.run(rest);
        case "parity" -> ParityBench.run(rest);
        case "score" -> ScoreBench.run(rest);
        case "serve" -> ServeBench.run(rest);
        case "service" -> ServiceBench.run(rest);
        case "session" -> SessionBench.run(rest);
        case "snapshot" -> SnapshotBench.run(rest);
        case "soak" -> SoakBench.run(rest);
        case "stress" -> StressBench.run(rest);
        case "list" -> System.out.print(SUITES);
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
