package dev.tern.exchange;

import java.io.IOException;
import java.nio.channels.Pipe;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Connects ranks of one process with pipes of the system; there is nobody to prove anything to. */
final class LocalLinks {
  private final MeshOptions options;
  private final Handshake handshake;
  private final @Nullable Link[][][] links;

  LocalLinks(MeshOptions options) {
    this.options = options;
    handshake = new Handshake(options);
    int ranks = options.ranks();
    links = new Link[ranks][ranks][Hello.LINKS];
  }

  List<Mesh> meshes() {
    connect();
    List<Mesh> meshes = new ArrayList<>();
    try {
      for (int p = 0; p < options.ranks(); p++) {
        meshes.add(new Mesh(options.rank(p), links[p]));
      }
      return meshes;
    } catch (RuntimeException | Error e) {
      meshes.forEach(Mesh::close);
      close();
      throw e;
    }
  }

  private void close() {
    for (Link[][] ofRank : links) {
      Link.close(ofRank);
    }
  }

  private void connect() {
    try {
      for (int high = 0; high < options.ranks(); high++) {
        for (int low = 0; low < high; low++) {
          for (int link = 0; link < Hello.LINKS; link++) {
            connect(high, low, link);
          }
        }
      }
    } catch (IOException e) {
      close();
      throw new MeshException(
          "exchange: got no pipes for %d ranks (%s), expected %d of them; raise the limit of open"
                  .formatted(
                      options.ranks(),
                      e.getMessage(),
                      2 * Hello.LINKS * options.ranks() * (options.ranks() - 1) / 2)
              + " files",
          -1,
          e);
    }
  }

  private void connect(int high, int low, int link) throws IOException {
    Pipe up = Pipe.open();
    Pipe down = Pipe.open();
    Handshake.Greeting greeting =
        new Handshake.Greeting(
            Hello.of(options.rank(high), low, link), Hello.of(options.rank(low), high, link));
    Wire ofHigh = new Wire(up.source(), down.sink(), up.source(), down.sink());
    Wire ofLow = new Wire(down.source(), up.sink(), down.source(), up.sink());
    links[high][low][link] = handshake.link(ofHigh, greeting, true);
    links[low][high][link] = handshake.link(ofLow, greeting, false);
  }
}
