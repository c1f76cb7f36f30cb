/**
 * The best items for users, by the vectors of a model of two towers. All items are compared, so
 * what is found is exact.
 *
 * <pre>
 * rows of items   {@link dev.tern.internal.search.ItemSet}      a number and a vector for each
 * rows of users   {@link dev.tern.internal.search.UserSearch}   a vector, compared with those of all items
 * </pre>
 *
 * <p>An item set that is no longer added to serves any number of searches at once.
 */
package dev.tern.internal.search;
