/**
 * gRPC without a library of it: statuses, methods, the fields of a request's head, and the bytes
 * around a message. It knows no HTTP library; {@code dev.tern.serve.http} does, for which this is
 * public.
 */
@org.jspecify.annotations.NullMarked
package dev.tern.serve.grpc;
