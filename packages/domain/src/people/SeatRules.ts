import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import { standardMode } from "../insight/Act.ts"

/** A mode in which a person can hold a seat. */
export type SeatMode = "decision" | "quorum" | "handoff"

export const SEAT_MODES: ReadonlyArray<SeatMode> = ["decision", "quorum", "handoff"]

/** The mode of a seat that a mode id names; undefined for one in which no person can hold a seat. */
export const seatMode = (modeName: string): SeatMode | undefined => {
  const mode = standardMode(modeName)
  return SEAT_MODES.find((one) => one === mode)
}

/** What a person may do, as a scenario names it. A `vote` approves or rejects. */
export const SeatAct = Schema.Literals([
  "evaluate",
  "object",
  "vote",
  "abstain",
  "approve",
  "reject",
  "accept",
  "decline"
])
export type SeatAct = typeof SeatAct.Type

/** The acts of each mode; the last column are those of a seat that names none. */
export const ACTS_OF_MODE: Readonly<Record<SeatMode, ReadonlyArray<SeatAct>>> = {
  decision: ["evaluate", "object", "vote", "abstain"],
  quorum: ["approve", "reject", "abstain"],
  handoff: ["accept", "decline"]
}
const USUAL_ACTS: Readonly<Record<SeatMode, ReadonlyArray<SeatAct>>> = {
  decision: ["vote", "abstain"],
  quorum: ["approve", "reject", "abstain"],
  handoff: ["accept", "decline"]
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const DURATION = /^([1-9]\d{0,6})(s|m|h|d)$/

/** A time such as `90s`, `30m`, `4h` or `2d`, in milliseconds; undefined for another text. */
export const durationMs = (text: string): number | undefined => {
  const parts = DURATION.exec(text)
  const unit = UNITS[parts?.[2] ?? ""]
  return parts === null || unit === undefined ? undefined : Number(parts[1]) * unit
}

const Duration = Schema.String.check(
  Schema.makeFilter((text: string) => durationMs(text) !== undefined, { expected: "a time such as 90s, 30m, 4h or 2d" })
)

/** `group:` and `person:` with a stable id, or a placeholder of the inputs, which gives one of them at the launch. */
const ASSIGNEE = /^(?:(?:group|person):(?:[^\s{}]+|\{\{.+\}\})|\{\{.+\}\})$/
const RESOLVED = /^(?:group|person):[^\s{}]+$/
const MAX_ASSIGNEE = 300
const Assignee = Schema.String.check(
  Schema.isMaxLength(MAX_ASSIGNEE),
  Schema.makeFilter((text: string) => ASSIGNEE.test(text), { expected: "group:<id>, person:<id>, or a placeholder" })
)
/** Whether a text names a group or a person, without a placeholder. */
export const isAssignee = (text: string): boolean => RESOLVED.test(text)

const Assignees = Schema.Array(Assignee).check(Schema.isMinLength(1, { expected: "at least one group or person" }))

/** Steps of an escalation, and names of one. */
const MAX_STEPS = 10
export const MAX_STEP_NAMES = 50

const optional = Schema.optionalKey

/** One entry of `people:` as an author writes it. */
export const SeatText = Schema.Struct({
  ask: optional(Schema.Literals(["always", "pivotal"])),
  when: optional(Schema.Literals(["proposed", "evaluated", "others-voted"])),
  reveal: optional(Schema.Literals(["after", "before"])),
  acts: optional(Schema.Array(SeatAct).check(Schema.isMinLength(1, { expected: "at least one act" }))),
  assign: Assignees,
  distinctFrom: optional(Schema.Array(Schema.NonEmptyString)),
  deadline: optional(Duration),
  escalate: optional(
    Schema.Array(
      Schema.Struct({
        after: Duration,
        to: Assignees.check(Schema.isMaxLength(MAX_STEP_NAMES, { expected: `at most ${MAX_STEP_NAMES} names` }))
      })
    ).check(Schema.isMaxLength(MAX_STEPS, { expected: `at most ${MAX_STEPS} steps` }))
  ),
  onDeadline: optional(Schema.Literals(["nothing", "abstain", "reject"])),
  stale: optional(Schema.Literals(["proposal", "record"])),
  reason: optional(Schema.Literals(["required", "optional"])),
  proof: optional(Schema.Literals(["session", "fresh", "passkey"])),
  wait: optional(Schema.Literals(["open", "suspend"])),
  /** What a mail about its questions contains: a link, or the text of the proposal too. */
  notify: optional(Schema.Struct({ content: Schema.Literals(["link", "full"]) }))
})
export type SeatText = typeof SeatText.Type

/** The keys of an entry, for checks of unknown ones. */
export const SEAT_KEYS: ReadonlyArray<string> = Object.keys(SeatText.fields)

/** `people:` of a launch, by participant id. */
export const PeopleText = Schema.Record(Schema.String, SeatText).annotate({
  identifier: "PeopleText",
  description: "The rules of the seats of people, by participant id",
  // A key that is lost could be the one that keeps a person from answering.
  parseOptions: { onExcessProperty: "error" }
})
export type PeopleText = typeof PeopleText.Type

/** What a seat follows: an entry of `people:` with every default applied. Times are milliseconds. */
export interface SeatRules {
  readonly ask: "always" | "pivotal"
  readonly when: "proposed" | "evaluated" | "others-voted"
  readonly reveal: "after" | "before"
  readonly acts: ReadonlyArray<SeatAct>
  readonly assign: ReadonlyArray<string>
  /** Undefined: the requester and the persons of every other seat of the session. */
  readonly distinctFrom: ReadonlyArray<string> | undefined
  /** From the opening of the item on; undefined: as long as the session lives. */
  readonly deadlineMs: number | undefined
  readonly escalate: ReadonlyArray<{ readonly afterMs: number; readonly to: ReadonlyArray<string> }>
  readonly onDeadline: "nothing" | "abstain" | "reject"
  readonly stale: "proposal" | "record"
  readonly reason: "required" | "optional"
  readonly proof: "session" | "fresh" | "passkey"
  readonly wait: "open" | "suspend"
}

/** The rules of a seat in a session of this mode. */
export const seatRules = (mode: SeatMode, text: SeatText): SeatRules => ({
  ask: text.ask ?? "always",
  when: text.when ?? (mode === "decision" ? "evaluated" : "proposed"),
  reveal: text.reveal ?? "after",
  acts: text.acts ?? USUAL_ACTS[mode],
  assign: text.assign,
  distinctFrom: text.distinctFrom,
  deadlineMs: text.deadline === undefined ? undefined : durationMs(text.deadline),
  escalate: (text.escalate ?? []).map(({ after, to }) => ({ afterMs: durationMs(after) ?? 0, to })),
  onDeadline: text.onDeadline ?? "nothing",
  stale: text.stale ?? "proposal",
  reason: text.reason ?? "required",
  proof: text.proof ?? "session",
  wait: text.wait ?? "open"
})

/** One thing that is wrong with `people:`, with the keys that lead to it. */
export interface PeopleFault {
  readonly level: "error" | "warning"
  readonly at: ReadonlyArray<string>
  readonly message: string
}

const decode = Schema.decodeUnknownResult(PeopleText, { errors: "all", onExcessProperty: "error" })
const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** All faults of a member of a launch, each with its field. */
export const faultsIn =
  (member: "people" | "a2a") =>
  ({ issue }: Schema.SchemaError): ReadonlyArray<PeopleFault> =>
    format(issue).issues.map(({ message, path = [] }) => {
      const at = path.map((part) => String(typeof part === "object" ? part.key : part))
      return { level: "error", at, message: `${member}${at.map((key) => `.${key}`).join("")}: ${message}` }
    })

/** Reads `people:`; the failures are all of its faults, each with its field. */
export const readPeople = (value: unknown): Result.Result<PeopleText, ReadonlyArray<PeopleFault>> =>
  Result.mapError(decode(value), faultsIn("people"))
