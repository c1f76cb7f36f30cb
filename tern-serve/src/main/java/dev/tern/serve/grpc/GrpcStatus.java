package dev.tern.serve.grpc;

/** How a call ended, by the number that gRPC has for it: that of its place. */
public enum GrpcStatus {
  OK,
  CANCELLED,
  UNKNOWN,
  INVALID_ARGUMENT,
  DEADLINE_EXCEEDED,
  NOT_FOUND,
  ALREADY_EXISTS,
  PERMISSION_DENIED,
  RESOURCE_EXHAUSTED,
  FAILED_PRECONDITION,
  ABORTED,
  OUT_OF_RANGE,
  UNIMPLEMENTED,
  INTERNAL,
  UNAVAILABLE,
  DATA_LOSS,
  UNAUTHENTICATED;

  /** The status of a call that HTTP would answer with a status of its own. */
  public static GrpcStatus of(int http) {
    return switch (http) {
      case 200 -> OK;
      case 400 -> INVALID_ARGUMENT;
      case 401 -> UNAUTHENTICATED;
      case 403 -> PERMISSION_DENIED;
      case 404 -> NOT_FOUND;
      case 408, 504 -> DEADLINE_EXCEEDED;
      case 409 -> ABORTED;
      case 413, 429, 431 -> RESOURCE_EXHAUSTED;
      case 415, 501 -> UNIMPLEMENTED;
      case 503 -> UNAVAILABLE;
      default -> INTERNAL;
    };
  }
}
