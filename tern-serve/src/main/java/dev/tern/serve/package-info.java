/**
 * The protocols of a server of scores: the bytes of a request's body and a version of a model in, a
 * {@link dev.tern.serve.Reply} out. They know no HTTP. Users of Tern start at {@code
 * dev.tern.serve.http.ModelServer}; what is public here is for that package.
 */
@org.jspecify.annotations.NullMarked
package dev.tern.serve;
