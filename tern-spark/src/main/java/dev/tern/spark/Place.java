package dev.tern.spark;

import dev.tern.exchange.Mesh;
import dev.tern.exchange.MeshOptions;
import dev.tern.exchange.MeshPort;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;

/**
 * The place of a worker among all of a stage, which they tell each other by Spark.
 *
 * @param all where workers listen, by rank
 * @param newest the checkpoint that rank 0 found: all go on from that
 */
record Place(MeshPort port, List<SocketAddress> all, Optional<String> newest) {
  /** A worker that is alive may read rows or write a checkpoint for so long. */
  private static final Duration DEADLINE = Duration.ofHours(2);

  private static final List<String> ENCRYPTING =
      List.of("spark.network.crypto.enabled", "spark.ssl.enabled", "spark.io.encryption.enabled");

  /**
   * Opens a port, and exchanges what there is to tell.
   *
   * @param newest name of the checkpoint that this worker would go on from, or nothing
   */
  static Place open(BarrierTaskContext context, byte[] secret, String newest) {
    int rank = context.partitionId();
    MeshOptions options =
        MeshOptions.of(rank, context.getTaskInfos().length, secret)
            .run(0, context.stageAttemptNumber())
            .encrypted(isEncrypting())
            .deadline(DEADLINE);
    String host = host(context.getTaskInfos()[rank].address());
    MeshPort port = MeshPort.open(options, List.of(new InetSocketAddress(host, 0)));
    try {
      int number = ((InetSocketAddress) port.address()).getPort();
      List<SocketAddress> all = new ArrayList<>();
      String[] told = context.allGather(host + ":" + number + " " + newest);
      for (String each : told) {
        String address = each.substring(0, each.indexOf(' '));
        int colon = address.lastIndexOf(':');
        int other = Integer.parseInt(address.substring(colon + 1));
        all.add(new InetSocketAddress(address.substring(0, colon), other));
      }
      String first = told[0].substring(told[0].indexOf(' ') + 1);
      return new Place(port, all, Optional.of(first).filter(name -> !name.isEmpty()));
    } catch (RuntimeException | Error e) {
      port.close();
      throw e;
    }
  }

  /** Whether Spark encrypts what its processes send. */
  private static boolean isEncrypting() {
    SparkConf conf = SparkEnv.get().conf();
    return ENCRYPTING.stream().anyMatch(key -> conf.getBoolean(key, false));
  }

  /** The host of an address that may end in a port. */
  private static String host(String address) {
    return address.replaceFirst(":\\d+$", "");
  }

  /** Connects with all others. */
  Mesh connect() {
    try {
      return port.connect(all);
    } catch (RuntimeException | Error e) {
      port.close();
      throw e;
    }
  }
}
