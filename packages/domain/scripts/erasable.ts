import { writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { CANONICAL_EVENT_TYPES, ERASABLE_IN_FRAMES, type ErasureRule, erasableData } from "../src/index.ts"

/** Writes the erasable members of events and raw frames to `docs/reference`, or to the file given as the argument. */
const rules = new Map<string, string>()

/** The name of a rule; equal rules have one name. */
const nameOf = (rule: ErasureRule): string => {
  if (typeof rule === "string") return rule
  const written =
    "each" in rule
      ? { each: nameOf(rule.each) }
      : {
          others: rule.others,
          members: Object.fromEntries(
            [...rule.members].map(([name, of]): [string, string] => [name, nameOf(of)]).toSorted()
          )
        }
  const text = JSON.stringify(written)
  const name = rules.get(text) ?? `rule-${rules.size + 1}`
  rules.set(text, name)
  return name
}

const events = Object.fromEntries(CANONICAL_EVENT_TYPES.map((type) => [type, nameOf(erasableData(type))]))
const frames = Object.fromEntries([...ERASABLE_IN_FRAMES].map(([kind, rule]) => [kind, nameOf(rule)]))
const unlisted = nameOf(erasableData(""))
const document = {
  title: "Erasable members of events and raw frames, version 2 of the chain",
  ...{ events, frames, unlisted },
  rules: Object.fromEntries([...rules].map(([text, name]): [string, unknown] => [name, JSON.parse(text)]))
}
writeFileSync(
  process.argv[2] ?? fileURLToPath(new URL("../../../docs/reference/erasable.json", import.meta.url)),
  `${JSON.stringify(document, undefined, 2)}\n`
)
