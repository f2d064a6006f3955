import { assignableNames } from "@runplane/domain"
import type { PeopleDocument } from "../catalog/PackDocuments.ts"
import type { SignedIn } from "../people/Answers.ts"

type People = PeopleDocument["people"]

const packOf = (scenarioRef: string) => scenarioRef.split("/")[0] ?? ""

/** A person of a directory as Slack vouches for it: in the groups of that directory, and in no others. */
const personOf = (id: string, people: People, scenarioRef: string): SignedIn => ({
  id,
  groups: [],
  packGroups: new Map([[packOf(scenarioRef), people[id]?.groups ?? []]]),
  proof: "slack",
  channel: "slack"
})

/** The person of the directory with this member id; undefined for none, and for several. */
export const personOfMember = (people: People, member: string, scenarioRef: string): SignedIn | undefined => {
  const found = Object.entries(people).filter(([, { slack }]) => slack === member)
  const [id] = found[0] ?? []
  return id === undefined || found.length > 1 ? undefined : personOf(id, people, scenarioRef)
}

/** A person of the directory with its member id; undefined for one that has none. */
export const memberOf = (people: People, id: string, scenarioRef: string) => {
  const member = Object.hasOwn(people, id) ? people[id]?.slack : undefined
  return member === undefined ? undefined : { member, person: personOf(id, people, scenarioRef) }
}

/** The persons with a member id whom these names mean: `person:` and `group:` with an id. */
export const membersAmong = (people: People, names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const wanted = new Set(names)
  return Object.entries(people).flatMap(([id, { groups = [], slack }]) =>
    slack !== undefined && assignableNames({ id, groups }).some((name) => wanted.has(name)) ? [id] : []
  )
}
