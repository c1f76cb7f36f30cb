/** The consumer as a module. */
module example {
  requires dev.tern.core;
  requires dev.tern.files;
  requires dev.tern.serve;
  requires java.net.http;
  requires jdk.incubator.vector;
}
