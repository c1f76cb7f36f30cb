/**
 * What is computed, apart from how. A {@link dev.tern.internal.ir.Node} is an {@link
 * dev.tern.internal.ir.Op} on other nodes; {@link dev.tern.internal.ir.Nodes} and {@link
 * dev.tern.internal.ir.Sequences} make nodes and check their shapes. A {@link
 * dev.tern.internal.ir.Program} lists nodes, each after its inputs, with the outputs and the new
 * contents of variables. {@link dev.tern.internal.ir.Gradients} adds the nodes of a backward pass.
 * {@link dev.tern.internal.ir.Reference} evaluates a program plainly, for tests.
 */
@NullMarked
package dev.tern.internal.ir;

import org.jspecify.annotations.NullMarked;
