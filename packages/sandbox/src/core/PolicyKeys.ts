import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

type Sections = Readonly<Record<string, ReadonlyArray<string> | typeof ANYTHING>>

/** A section whose keys are names of participants, not rules. */
const ANYTHING = "anything"

/** Sections of every mode. */
const COMMON: Sections = { commitment: ["authority", "designated_roles"], audit: ["level"] }

/** The rules each mode has beyond the common ones, by section; deeper ones by their path (runtime-wire section 9.3). */
const BY_MODE: Readonly<Record<string, Sections>> = {
  "macp.mode.decision.v1": {
    commitment: ["authority", "designated_roles", "require_vote_quorum", "allow_decline_over_approval"],
    voting: ["algorithm", "threshold", "quorum", "weights"],
    "voting.quorum": ["type", "value"],
    "voting.weights": ANYTHING,
    objection_handling: ["critical_severity_vetoes", "veto_threshold", "critical_objection_action"],
    evaluation: ["minimum_confidence", "required_before_voting"]
  },
  "macp.mode.proposal.v1": {
    acceptance: ["criterion"],
    counter_proposal: ["max_rounds"],
    rejection: ["terminal_on_any_reject"]
  },
  "macp.mode.task.v1": { assignment: ["allow_reassignment_on_reject"], completion: ["require_output"] },
  "macp.mode.handoff.v1": { acceptance: ["implicit_accept_timeout_ms"] },
  "macp.mode.quorum.v1": {
    threshold: ["type", "value"],
    abstention: ["counts_toward_quorum", "interpretation"]
  }
}

const decodeObject = Schema.decodeUnknownOption(Schema.Record(Schema.String, Schema.Unknown))
const decodeText = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

/**
 * The keys of a rules text that the target mode does not have, as paths; a policy for every mode (`*`) may use those of
 * any. Keys that begin with `_` or `$` are annotations and legal at every level, except among weights, where every key
 * is a participant (runtime-wire section 9.6).
 */
export const unknownRuleKeys = (rules: string, mode: string): ReadonlyArray<string> => {
  const known = mode === "*" ? Object.values(BY_MODE) : [BY_MODE[mode] ?? {}]
  return unknownIn(Option.getOrUndefined(decodeText(rules)), "", [COMMON, ...known])
}

const unknownIn = (value: unknown, path: string, known: ReadonlyArray<Sections>): ReadonlyArray<string> => {
  const object = Array.isArray(value) ? undefined : Option.getOrUndefined(decodeObject(value))
  if (object === undefined) return []
  return Object.entries(object).flatMap(([key, inner]) => {
    if (key.startsWith("_") || key.startsWith("$")) return []
    const here = path === "" ? key : `${path}.${key}`
    if (!isKnown(path, key, known)) return [here]
    return known.some((sections) => sections[here] === ANYTHING) ? [] : unknownIn(inner, here, known)
  })
}

const isKnown = (path: string, key: string, known: ReadonlyArray<Sections>): boolean =>
  known.some((sections) => {
    if (path === "") return Object.hasOwn(sections, key)
    const keys = sections[path]
    return keys !== undefined && keys !== ANYTHING && keys.includes(key)
  })
