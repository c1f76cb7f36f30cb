/**
 * From a {@link dev.tern.internal.ir.Program} to a {@link dev.tern.internal.plan.Plan}: which ops
 * one kernel computes together, in which order, and where every value lies in one arena. {@link
 * dev.tern.internal.plan.Planner} does it, and {@link dev.tern.internal.plan.PlanCache} keeps
 * plans. The runtime and the sessions run plans.
 *
 * <pre>
 * Lowering               every movement of data becomes a copy; views are free after it
 * Fusion                 elementwise ops and reductions over one space become groups
 * InKernelRecomputation  a cheap value is computed where it is read, not stored
 * ProductFusion          a product joins the group that alone reads it
 * GroupOrder             updates and what frees memory come first
 * StepBuilder            groups become steps; a result takes the memory of what dies
 * Storages               greedy by size: one offset for each storage
 * BudgetPlanner          only where that is too much: drops values and computes them again
 * EpilogueFusion         a kernel runs on the rows of a product as they become final
 * </pre>
 */
@NullMarked
package dev.tern.internal.plan;

import org.jspecify.annotations.NullMarked;
