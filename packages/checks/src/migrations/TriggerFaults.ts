// A trigger is work that no import and no manifest shows. Those at the end of all migrations are declared, each with a
// reason, and a new one without a reason fails.
import { KEPT_TRIGGERS, type KeptTrigger } from "../declaration/Triggers.ts"
import { read, trackedFiles } from "../Repository.ts"

/** A trigger as the migrations name it: `<name> on <table>`. */
const labelOf = ({ name, table }: Pick<KeptTrigger, "name" | "table">) => `${name} on ${table}`

/** The triggers that exist after these statements, in their order. */
export const triggersOf = (migrations: ReadonlyArray<string>): ReadonlyArray<string> => {
  const found = new Set<string>()
  for (const sql of migrations) {
    const code = sql.replace(/--.*$/gm, "")
    const steps = code.matchAll(
      /\b(?:(CREATE(?:\s+OR\s+REPLACE)?(?:\s+CONSTRAINT)?)|(DROP))\s+TRIGGER\s+(?:IF\s+EXISTS\s+)?(\w+)([^;]*?)\bON\s+([\w.]+)|\bDROP\s+TABLE\s+(?:IF\s+EXISTS\s+)?([\w\s,]+)/gi
    )
    for (const [, create, drop, name = "", , table = "", tables] of steps) {
      if (create !== undefined) found.add(labelOf({ name, table }))
      if (drop !== undefined) found.delete(labelOf({ name, table }))
      for (const gone of tables?.split(",") ?? []) {
        for (const label of found) if (label.endsWith(` on ${gone.trim().split(/\s/)[0]}`)) found.delete(label)
      }
    }
  }
  return [...found]
}

/** One text for each trigger without a declared reason, and for each reason without a trigger. */
export const faultsOf = (triggers: ReadonlyArray<string>, kept: ReadonlyArray<KeptTrigger>): ReadonlyArray<string> => [
  ...triggers
    .filter((label) => !kept.some((each) => labelOf(each) === label))
    .map((label) => `the trigger ${label} has no reason: use a port, or declare why it stays`),
  ...kept
    .map(labelOf)
    .filter((label) => !triggers.includes(label))
    .map((label) => `the trigger ${label} does not exist any more: remove it from the declaration`)
]

/** The faults of the triggers of migrations/. */
export const triggerFaults = (): ReadonlyArray<string> => {
  const files = trackedFiles().filter((file) => /^migrations\/.*\.sql$/.test(file))
  return faultsOf(triggersOf(files.toSorted().map(read)), KEPT_TRIGGERS)
}
