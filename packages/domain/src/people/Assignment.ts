/** A person who reads an item, or answers it. */
export interface Person {
  /** The stable id: the subject of a token, or the name of a key. Never a name or an address. */
  readonly id: string
  readonly groups: ReadonlyArray<string>
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

/** What a person may do with the items of a seat: four eyes before anything else. */
export const rightOf = ({ groups, id }: Person, assigned: Assigned): Right => {
  const { answeredBy, assign, distinctFrom, requester } = assigned
  const names = new Set([`person:${id}`, ...groups.map((group) => `group:${group}`)])
  if (!assign.some((name) => names.has(name))) return "not assigned"
  const isDistinctFrom = (seat: string) => distinctFrom?.includes(seat) ?? true
  if (requester === id && isDistinctFrom("requester")) return "is the requester"
  const holds = [...answeredBy].some(([seat, persons]) => isDistinctFrom(seat) && persons.includes(id))
  return holds ? "holds another seat" : "answer"
}
