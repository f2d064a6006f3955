/**
 * The numbers of all advisory locks on the database. Locks with one key and locks with two keys never meet, so the same
 * number may have both uses. `migrations/0001_schema.sql` holds the numbers that its functions lock.
 */

// Locks with one key.

/** Processes that migrate at the same time wait for each other. */
export const MIGRATION_LOCK = 7_266_421
/**
 * The sums over the log: a transaction that deletes events shares it, and a fold of tallies or a count of event blocks
 * needs it alone. Also in the schema.
 */
export const TALLY_LOCK = 7_266_422
/** One process at a time numbers the entries of the ledger. */
export const LEDGER_LOCK = 7_245_031

/** One process at a time changes the files of the archive. */
export const ARCHIVE_LOCK = 7_266_424

// First keys of locks with two.

/** A live process; the second key is its number. */
export const PRESENCE_LOCKS = 7_266_422
/** An open append; the second key is the last number of the log before it. Only in the schema. */
export const APPEND_LOCKS = 7_266_423
/**
 * A shard of effect/cluster, which derives the number from the prefix of its tables; the second key is
 * `FIRST_SHARD_LOCK` plus the shard.
 */
export const SHARD_LOCKS = 2_839_596_291
export const FIRST_SHARD_LOCK = 1_000_000
