package dev.tern.cli.board;

import dev.tern.cli.config.ConfigException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tern board}: a live page about runs. */
@Command(
    name = "board",
    description = "Serves a page with the live curves of runs, side by side.",
    mixinStandardHelpOptions = true)
public final class BoardCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(
      arity = "0..*",
      paramLabel = "RUN",
      description =
          "Folders of runs, a folder of such folders, or patterns as in 'runs/*'. Folders of runs"
              + " and patterns take in runs that begin later.")
  private List<String> runs = List.of();

  @Option(
      names = "--port",
      paramLabel = "PORT",
      defaultValue = "" + Board.PORT,
      description = "The port to listen at; 0 for any free one (default ${DEFAULT-VALUE}).")
  private int port = Board.PORT;

  @Option(
      names = "--host",
      paramLabel = "HOST",
      defaultValue = Board.HOST,
      description =
          "The name or address to listen at (default ${DEFAULT-VALUE}, which this machine alone"
              + " reaches).")
  private String host = Board.HOST;

  @Option(
      names = "--server",
      paramLabel = "URL",
      description =
          "Also show what a server of tern serve says at /metrics, as in http://127.0.0.1:8000; may"
              + " be given several times.")
  private List<String> servers = List.of();

  @Option(
      names = "--server-token-file",
      paramLabel = "FILE",
      description = "A file whose first line is a token that these servers know.")
  private @Nullable Path token;

  @Option(names = "--wait", description = "Wait for runs whose folders are not there yet.")
  private boolean wait;

  @Override
  public Integer call() throws InterruptedException {
    if (runs.isEmpty() && servers.isEmpty()) {
      throw new ConfigException(
          "board: got neither a run nor --server, expected some of them, as in tern board runs");
    }
    WatchedServers watched = new WatchedServers(servers, Optional.ofNullable(token));
    try (Board board = Board.start(runs, wait, new Board.InetName(host, port), watched)) {
      announce(board, spec.commandLine().getOut(), spec.commandLine().getErr());
      if (!servers.isEmpty()) {
        spec.commandLine().getOut().println("servers " + String.join(", ", servers));
        spec.commandLine().getOut().flush();
      }
      new CountDownLatch(1).await(); // Until the process is told to end.
      return 0;
    }
  }

  /** Says where the board is, and warns where others can reach it. */
  static void announce(Board board, PrintWriter out, PrintWriter err) {
    if (board.isOpenToOthers()) {
      err.println(
          "warning: --host: whoever reaches this machine can read these runs, there is no password;"
              + " to look from elsewhere by SSH, leave --host out and forward the port");
      err.flush();
    }
    int count = board.runCount();
    out.println("board of " + count + (count == 1 ? " run at " : " runs at ") + board.url());
    out.flush();
  }
}
