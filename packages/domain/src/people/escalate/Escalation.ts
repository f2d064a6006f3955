import { type Assigned, fourEyes, type Moment, type Right, rightOf } from "../Assignment.ts"
import { type Person, personIn } from "../Person.ts"
import type { SeatRules } from "../SeatRules.ts"
import { type Delegation, isInEffect } from "./PersonDelegation.ts"

type Steps = SeatRules["escalate"]

/** The steps of `escalate` in the order of their times, by their index. */
const inOrder = (steps: Steps): ReadonlyArray<number> =>
  steps.map((_, index) => index).sort((a, b) => (steps[a]?.afterMs ?? 0) - (steps[b]?.afterMs ?? 0) || a - b)

/** What of an open item its escalation depends on. */
export interface EscalatedItem {
  readonly openedAtUnixMs?: number | undefined
  /** The steps that were made. */
  readonly escalated?: ReadonlyArray<number> | undefined
}

/** The steps that are due and not made, the earliest first, and when the next one is. Times are elapsed ones. */
export const dueSteps = (
  steps: Steps,
  { escalated = [], openedAtUnixMs }: EscalatedItem,
  unixMs: number
): { readonly due: ReadonlyArray<number>; readonly wakeAtUnixMs: number | undefined } => {
  if (openedAtUnixMs === undefined) return { due: [], wakeAtUnixMs: undefined }
  const left = inOrder(steps).filter((step) => !escalated.includes(step))
  const at = (step: number) => openedAtUnixMs + (steps[step]?.afterMs ?? 0)
  const next = left.find((step) => at(step) > unixMs)
  return {
    due: left.filter((step) => at(step) <= unixMs),
    wakeAtUnixMs: next === undefined ? undefined : at(next)
  }
}

/** Who may answer after these steps: the persons and groups from before stay. */
export const assignedAfter = (
  assign: ReadonlyArray<string>,
  steps: Steps,
  escalated: ReadonlyArray<number>
): ReadonlyArray<string> => [...assign, ...escalated.flatMap((step) => steps[step]?.to ?? [])]

/** What a service knows of persons and their groups. */
export interface KnownPeople {
  /** Persons with their groups: of the directory of the pack, and those who have signed in. */
  readonly persons: ReadonlyArray<Pick<Person, "id" | "groups">>
  /** Where a group can have members that the service does not know; undefined: nowhere. */
  readonly elsewhere: "tokens" | "directory" | undefined
  /** Whether the service requires no sign-in: its one person is assigned to each item. */
  readonly isLocal: boolean
}

/** Whom persons and groups reach now. */
export interface Reached {
  /** `persons`: at least one who may answer is known; `unknown`: a group can have one elsewhere; `none`: no person. */
  readonly reach: "persons" | "unknown" | "none"
  /** Who may answer, as far as it is known. */
  readonly persons: ReadonlyArray<string>
  /** Groups whose other members, or all of them, the service cannot know. */
  readonly unknownGroups: ReadonlyArray<string>
  readonly elsewhere: KnownPeople["elsewhere"]
  /** Groups without a member. */
  readonly emptyGroups: ReadonlyArray<string>
  /** Persons whom the rules of distinct persons keep from answering. */
  readonly forbidden: ReadonlyArray<{ readonly person: string; readonly right: Exclude<Right, "answer"> }>
}

const PERSON = "person:"
const GROUP = "group:"

/** Whom these names reach. A named person counts as one that can sign in; whether it does is not known. */
export const reachOf = (to: ReadonlyArray<string>, known: KnownPeople, assigned: Omit<Assigned, "assign">): Reached => {
  if (known.isLocal) {
    return {
      ...{ reach: "persons", persons: ["local"], elsewhere: undefined },
      ...{ unknownGroups: [], emptyGroups: [], forbidden: [] }
    }
  }
  const found = new Set<string>()
  const groups: Array<string> = []
  const emptyGroups: Array<string> = []
  for (const name of to) {
    if (name.startsWith(PERSON)) found.add(name.slice(PERSON.length))
    if (!name.startsWith(GROUP)) continue
    const group = name.slice(GROUP.length)
    const members = known.persons.filter((one) => one.groups.includes(group))
    for (const { id } of members) found.add(id)
    groups.push(group)
    if (members.length === 0) emptyGroups.push(group)
  }
  const forbidden = [...found].flatMap((person) => {
    const right = fourEyes(person, assigned)
    return right === "answer" ? [] : [{ person, right }]
  })
  const persons = [...found].filter((id) => !forbidden.some(({ person }) => person === id))
  const isOpen = known.elsewhere !== undefined && groups.length > 0
  return {
    reach: persons.length > 0 ? "persons" : isOpen ? "unknown" : "none",
    persons,
    unknownGroups: isOpen ? groups : [],
    elsewhere: known.elsewhere,
    emptyGroups: isOpen ? [] : emptyGroups,
    forbidden
  }
}

const WHY: Readonly<Record<Exclude<Right, "answer">, string>> = {
  "not assigned": "is not assigned",
  "is the requester": "is the requester of the run",
  "holds another seat": "holds another seat of the session",
  "delegator may not": "is the delegate of a person who may not answer"
}

const ELSEWHERE: Readonly<Record<NonNullable<KnownPeople["elsewhere"]>, string>> = {
  tokens: "only a token can show one",
  directory: "the people.yaml of the pack cannot be read"
}

/** Why no person is known to be reached; undefined where one is. */
export const unreachedText = (reached: Reached): string | undefined => {
  const { elsewhere, emptyGroups, forbidden, reach, unknownGroups } = reached
  if (reach === "persons") return undefined
  return [
    ...forbidden.map(({ person, right }) => `${person} ${WHY[right]}`),
    ...emptyGroups.map((group) => `group:${group} has no member`),
    ...unknownGroups.map(
      (group) => `no member of group:${group} who may answer is known, and ${ELSEWHERE[elsewhere ?? "tokens"]}`
    )
  ].join("; ")
}

/** A delegation that gives no right, as its delegate may not answer. */
export interface RefusedDelegation {
  readonly delegation: Delegation
  readonly right: Exclude<Right, "answer">
}

/** What is known of the escalation of an item when it opens. */
export interface Opening {
  /** The steps that reach no person for sure. */
  readonly unreachable: ReadonlyArray<{ readonly step: number; readonly reached: Reached }>
  readonly refused: ReadonlyArray<RefusedDelegation>
  /** The step that a refused delegation makes at once; undefined without a refusal, and without a step. */
  readonly step: number | undefined
}

/** What the opening of an item shows: steps without a person, and delegations to persons who may not answer. */
export const openingOf = (
  rules: Pick<SeatRules, "escalate">,
  known: KnownPeople,
  assigned: Assigned,
  delegations: ReadonlyArray<Delegation>,
  moment: Moment
): Opening => {
  const unreachable = rules.escalate.flatMap(({ to }, step) => {
    const reached = reachOf(to, known, assigned)
    return reached.reach === "none" ? [{ step, reached }] : []
  })
  const refused = refusedDelegations(assigned, delegations, moment)
  const [first] = inOrder(rules.escalate)
  return { unreachable, refused, step: refused.length === 0 ? undefined : first }
}

/** The delegations of assigned persons to persons whom the rules of distinct persons keep from answering. */
export const refusedDelegations = (
  assigned: Assigned,
  delegations: ReadonlyArray<Delegation>,
  { scenarioRef, unixMs }: Moment
): ReadonlyArray<RefusedDelegation> =>
  delegations.flatMap((delegation) => {
    if (!isInEffect(delegation, scenarioRef, unixMs)) return []
    if (rightOf(personIn(delegation.by, scenarioRef), assigned) === "not assigned") return []
    const right = fourEyes(delegation.to, assigned)
    return right === "answer" ? [] : [{ delegation, right }]
  })
