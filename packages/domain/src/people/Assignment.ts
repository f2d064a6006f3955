import { type Delegation, isInEffect } from "./escalate/PersonDelegation.ts"
import { assignableNames, type Person, personIn } from "./Person.ts"

/** What of a session decides who may answer for a seat. */
export interface Assigned {
  /** `person:<id>` and `group:<id>`. */
  readonly assign: ReadonlyArray<string>
  /** Seats, and `requester`, whose person may not answer; undefined: all of them. */
  readonly distinctFrom: ReadonlyArray<string> | undefined
  readonly requester: string | undefined
  /** The persons who have answered for the other seats of the session, and those for whom they did, by seat. */
  readonly answeredBy: ReadonlyMap<string, ReadonlyArray<string>>
}

/** Whether a person may answer for a seat, or why not. An assigned person sees the item in either case. */
export type Right = "answer" | "not assigned" | "is the requester" | "holds another seat" | "delegator may not"

/** What a person may do with the items of a seat by its own assignment: four eyes before anything else. */
export const rightOf = (person: Person, assigned: Assigned): Right => {
  const names = new Set(assignableNames(person))
  const isAssigned = person.isLocal === true || assigned.assign.some((name) => names.has(name))
  return isAssigned ? fourEyes(person.id, assigned) : "not assigned"
}

/** Whether the rules of distinct persons let one answer, assigned or not. */
export const fourEyes = (
  id: string,
  { answeredBy, distinctFrom, requester }: Omit<Assigned, "assign">
): Exclude<Right, "not assigned" | "delegator may not"> => {
  const isDistinctFrom = (seat: string) => distinctFrom?.includes(seat) ?? true
  if (requester === id && isDistinctFrom("requester")) return "is the requester"
  const holds = [...answeredBy].some(([seat, persons]) => isDistinctFrom(seat) && persons.includes(id))
  return holds ? "holds another seat" : "answer"
}

/** The right of a person, and the delegation that it has it by. */
export interface Standing {
  readonly right: Right
  /** Undefined for a right, and for a refusal, of the person itself. */
  readonly by: Delegation | undefined
}

/** Where and when a right is used. */
export interface Moment {
  readonly scenarioRef: string
  readonly unixMs: number
}

/**
 * What a person may do with an item, by itself or as a delegate. A delegation never gives more than its author may do
 * by itself at this moment: it has no right of another delegation in it, and four eyes count for both persons.
 */
export const standingOf = (
  person: Person,
  assigned: Assigned,
  delegations: ReadonlyArray<Delegation>,
  { scenarioRef, unixMs }: Moment
): Standing => {
  const own = rightOf(personIn(person, scenarioRef), assigned)
  if (own !== "not assigned") return { right: own, by: undefined }
  const received = delegations
    .filter((one) => one.to === person.id && one.by.id !== person.id && isInEffect(one, scenarioRef, unixMs))
    .map((by) => ({ by, right: rightOf(personIn(by.by, scenarioRef), assigned) }))
    .filter(({ right }) => right !== "not assigned")
  const [first] = received
  if (first === undefined) return { right: "not assigned", by: undefined }
  const eyes = fourEyes(person.id, assigned)
  if (eyes !== "answer") return { right: eyes, by: first.by }
  const usable = received.find(({ right }) => right === "answer")
  return usable ?? { right: "delegator may not", by: first.by }
}

const WHY_NOT: Readonly<Record<Exclude<Right, "answer">, string>> = {
  "not assigned": "not assigned to this item",
  "is the requester": "the requester of the run, who answers none of its questions",
  "holds another seat": "the person of another seat of this session, and the seats need different persons",
  "delegator may not": "the delegate of a person who may not answer it either"
}

/** Why a person may not answer, as the end of a sentence about it: "you are ...", "ben is ...". */
export const whyNotText = (right: Exclude<Right, "answer">): string => WHY_NOT[right]
