/** A trigger of the database that stays, with its reason. */
export interface KeptTrigger {
  readonly name: string
  readonly table: string
  readonly why: string
}

/**
 * The triggers of the schema. A feature follows the core by a port (`control-plane/src/Feature.ts`); a trigger may stay
 * when it keeps rows that follow from its table alone, as an index does.
 */
export const KEPT_TRIGGERS: ReadonlyArray<KeptTrigger> = [
  {
    name: "runs_note_archive",
    table: "runs",
    why: "nine statements of three folders change the row of an ended run; a forgotten call would leave an old version in files"
  },
  {
    name: "run_seals_note_archive",
    table: "run_seals",
    why: "a seal is a column of the archived run; the statement of an append inserts it, and a read that completes a chain"
  },
  { name: "runs_label", table: "runs", why: "an index: the labels in the metadata of a run, for searches" },
  { name: "runs_label_again", table: "runs", why: "the same index, when the metadata change" },
  {
    name: "canonical_events_forget_blocks",
    table: "canonical_events",
    why: "an index: the counts of event blocks, which a deletion makes wrong"
  },
  { name: "runs_note_change", table: "runs", why: "an index: ended runs that the sums have to add again" },
  {
    name: "items_note",
    table: "people.items",
    why: "an index: the transaction of the last change; a dozen statements change an item, and a forgotten note loses one"
  },
  { name: "seats_note", table: "people.seats", why: "the same index, of a seat with its session" },
  { name: "runs_forget_insights", table: "runs", why: "the same index, and the key events of deleted runs" }
]
