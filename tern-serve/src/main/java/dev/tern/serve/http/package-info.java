/**
 * A server of models over HTTP and gRPC: {@link dev.tern.serve.http.ModelServer}, its options and
 * limits.
 *
 * <p>The types whose names begin with {@code Http} are the only ones that know the HTTP library.
 */
@org.jspecify.annotations.NullMarked
package dev.tern.serve.http;
