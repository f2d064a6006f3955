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
