/**
 * Scores over a network: a server of models, the protocols that it speaks, and its limits.
 *
 * <p>Protocols know no HTTP: they take the bytes of a body and give bytes. {@code HttpFront} is the
 * only type that knows the HTTP library.
 */
@org.jspecify.annotations.NullMarked
package dev.tern.serve;
