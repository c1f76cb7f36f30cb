/**
 * The bytes of bodies, whatever the protocol: JSON and messages of Protocol Buffers, read and
 * written without an object for each value, and the error for a request that has no answer.
 */
@org.jspecify.annotations.NullMarked
package dev.tern.serve.wire;
