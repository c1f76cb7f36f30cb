package dev.tern.serve.http;

import jdk.jfr.Category;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;

/** A request that took long, in recordings of Java Flight Recorder. */
@Name("dev.tern.serve.Request")
@Label("Request")
@Category("Tern")
@Threshold("10 ms")
@StackTrace(false)
final class RequestEvent extends Event {
  @Label("Model")
  String model = "";

  @Label("Version")
  String version = "";

  @Label("Status")
  int status;

  @Label("Status of gRPC")
  String grpc = "";

  @Label("Bytes of the body")
  int bytes;

  /** Ends the event, and records it where it took long. */
  void commit(String servedModel, String servedVersion, int code, String grpcStatus, int received) {
    end();
    if (shouldCommit()) {
      model = servedModel;
      version = servedVersion;
      status = code;
      grpc = grpcStatus;
      bytes = received;
      commit();
    }
  }
}
