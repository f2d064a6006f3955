import {
  type BoundPolicy,
  DEFAULT_POLICY,
  DEFAULT_POLICY_ID,
  type PeopleFault,
  peopleFaults,
  turnFaults
} from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Path from "effect/Path"
import * as Result from "effect/Result"
import type { LaunchPlan } from "../catalog/Catalog.ts"
import { groupsIn, personsIn } from "../catalog/Catalog.ts"
import { DIRECTORY_KEYS, unknownKeys } from "../catalog/KnownKeys.ts"
import { decodePart, PeopleDocument } from "../catalog/PackDocuments.ts"
import { PEOPLE_FILE } from "../catalog/PeopleFile.ts"
import { hasSeats, type KnownPeople, seatContext } from "../compile/CompilePeople.ts"
import { hasRemotes, type KnownRemotes, turnContext } from "../compile/CompileRemote.ts"
import type { CheckedPolicies } from "./CheckedPolicies.ts"
import { errorIn, type Finding, failureIn, findingAt } from "./Finding.ts"
import type { PacksFolder } from "./PacksFolder.ts"
import type { CheckedScenario } from "./ScenarioChecks.ts"

/** The groups and the people of a pack's directory, and what is wrong with its file. */
export const readDirectory = Effect.fnUntraced(function* (packs: PacksFolder, directory: string) {
  const path = yield* Path.Path
  const file = path.join(directory, PEOPLE_FILE)
  const nothing: Pick<KnownPeople, "groups" | "persons"> & { readonly findings: ReadonlyArray<Finding> } = {
    groups: undefined,
    findings: []
  }
  if (!(yield* packs.exists(file))) return nothing
  const reading = yield* packs.read(file)
  if ("problem" in reading) return { ...nothing, findings: [errorIn(reading.file, reading.problem)] }
  const document = reading.content ?? null
  const keys = unknownKeys(document, DIRECTORY_KEYS).map((fault) => findingAt(reading, fault))
  const read = decodePart(PeopleDocument, document, reading.file, "")
  return Result.isFailure(read)
    ? { ...nothing, findings: [...keys, failureIn(reading, read.failure)] }
    : { groups: groupsIn(read.success.people), persons: personsIn(read.success.people), findings: keys }
})

/** What is known of the agents of scenarios, and of their people. */
export interface KnownSeats extends KnownPeople {
  readonly isRemote: KnownRemotes
}

/** What is wrong with the seats of people and the turns of agents, in the scenario and in each template. Pure. */
export const peopleFindings = (
  { source, templates, version }: CheckedScenario,
  known: KnownSeats,
  { policies }: CheckedPolicies
): ReadonlyArray<Finding> => {
  const own = faultsOf(version.base, known, policies)
  const said = new Set(own.map(({ message }) => message))
  const say = (from: typeof source, block: ReadonlyArray<string>) => (fault: SeatFault) =>
    findingAt(from, { level: fault.level, at: [...block, fault.key, ...fault.at], message: fault.message })
  return [
    ...own.map(say(source, ["spec", "launch"])),
    ...templates.flatMap(({ source, template }) =>
      faultsOf(template.plan, known, policies)
        .filter(({ message }) => !said.has(message))
        .map(say(source, ["spec", "overrides", "launch"]))
    )
  ]
}

/** A fault with the block that has it. */
interface SeatFault extends PeopleFault {
  readonly key: "people" | "a2a"
}

const faultsOf = (
  { launch }: LaunchPlan,
  known: KnownSeats,
  policies: CheckedPolicies["policies"]
): ReadonlyArray<SeatFault> => {
  const { a2a = {}, people = {}, policyVersion = DEFAULT_POLICY_ID } = launch
  const policy: BoundPolicy | undefined =
    policyVersion === DEFAULT_POLICY_ID ? DEFAULT_POLICY : policies.get(policyVersion)?.bound
  const initiator = launch.initiatorParticipantId ?? launch.participants[0]?.id
  const ofPeople = hasSeats(launch, known.isPerson)
    ? peopleFaults(people, { ...seatContext(launch, initiator, known), policy })
    : []
  const ofTurns = hasRemotes(launch, known.isRemote)
    ? turnFaults(a2a, turnContext(launch, initiator, known.isRemote, policy))
    : []
  return [
    ...ofPeople.map((fault) => ({ ...fault, key: "people" as const })),
    ...ofTurns.map((fault) => ({ ...fault, key: "a2a" as const }))
  ]
}
