/** A person who reads an item, or answers it. */
export interface Person {
  /** The stable id: the subject of a token, or the name of a key. Never a name or an address. */
  readonly id: string
  readonly groups: ReadonlyArray<string>
  /** Groups that the directories of packs give it: they count for the scenarios of that pack alone. */
  readonly packGroups?: ReadonlyMap<string, ReadonlyArray<string>> | undefined
  /** The only person of a service without sign-in: it is assigned to every item. */
  readonly isLocal?: boolean | undefined
}

/** What of a session decides who may answer for a seat. */
export interface Assigned {
  /** `person:<id>` and `group:<id>`. */
  readonly assign: ReadonlyArray<string>
  /** Seats, and `requester`, whose person may not answer; undefined: all of them. */
  readonly distinctFrom: ReadonlyArray<string> | undefined
  readonly requester: string | undefined
  /** The persons who have answered for the other seats of the session, by seat. */
  readonly answeredBy: ReadonlyMap<string, ReadonlyArray<string>>
}

/** Whether a person may answer for a seat, or why not. An assigned person sees the item in either case. */
export type Right = "answer" | "not assigned" | "is the requester" | "holds another seat"

/** The names under which a person is assigned to a seat. */
export const assignableNames = ({ groups, id }: Pick<Person, "id" | "groups">): ReadonlyArray<string> => [
  `person:${id}`,
  ...groups.map((group) => `group:${group}`)
]

/** The pack of a scenario reference. */
const packOf = (scenarioRef: string) => scenarioRef.split("/")[0] ?? ""

/** The person with the groups that count in a scenario. */
export const personIn = (person: Person, scenarioRef: string): Person => {
  const more = person.packGroups?.get(packOf(scenarioRef)) ?? []
  return more.length === 0 ? person : { ...person, groups: [...person.groups, ...more] }
}

/** What a person may do with the items of a seat: four eyes before anything else. */
export const rightOf = (person: Person, assigned: Assigned): Right => {
  const { answeredBy, assign, distinctFrom, requester } = assigned
  const { id } = person
  const names = new Set(assignableNames(person))
  if (person.isLocal !== true && !assign.some((name) => names.has(name))) return "not assigned"
  const isDistinctFrom = (seat: string) => distinctFrom?.includes(seat) ?? true
  if (requester === id && isDistinctFrom("requester")) return "is the requester"
  const holds = [...answeredBy].some(([seat, persons]) => isDistinctFrom(seat) && persons.includes(id))
  return holds ? "holds another seat" : "answer"
}

const WHY_NOT: Readonly<Record<Exclude<Right, "answer">, string>> = {
  "not assigned": "not assigned to this item",
  "is the requester": "the requester of the run, who answers none of its questions",
  "holds another seat": "the person of another seat of this session, and the seats need different persons"
}

/** Why a person may not answer, as the end of a sentence about it: "you are ...", "ben is ...". */
export const whyNotText = (right: Exclude<Right, "answer">): string => WHY_NOT[right]
