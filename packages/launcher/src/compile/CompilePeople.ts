import type { LaunchRejected } from "@runplane/api"
import {
  type DirectoryPerson,
  isAssignee,
  type PeopleContext,
  type PeopleFault,
  PeopleText,
  peopleFaults,
  readPeople,
  type SignInKind
} from "@runplane/domain"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { LaunchBlock } from "../catalog/PackDocuments.ts"
import type { JsonObject } from "../common/Json.ts"
import { compilationFailed } from "../common/LaunchErrors.ts"
import { interpolate } from "./Placeholders.ts"

/** What the service knows of people: which agents are persons, and the groups of the pack's directory. */
export interface KnownPeople {
  /** Undefined where the catalog of agents is not known. */
  readonly isPerson: ((agentRef: string) => boolean) | undefined
  /** Undefined where groups come from tokens. */
  readonly groups: ReadonlySet<string> | undefined
  /** The people of the pack's directory. */
  readonly persons?: ReadonlyArray<DirectoryPerson> | undefined
  /** Undefined where the service is not known. */
  readonly signIn?: SignInKind | undefined
}

/** Whether a person takes part in a launch, or is meant to. */
export const hasSeats = ({ participants, people }: LaunchBlock, isPerson: KnownPeople["isPerson"]): boolean =>
  people !== undefined || (isPerson !== undefined && participants.some(({ agentRef }) => isPerson(agentRef)))

/** As texts of JSON: a seat has nothing else. */
const encodePeople = Schema.encodeSync(Schema.toCodecJson(PeopleText))

/** The seats of a launch with its inputs filled in; undefined without any. Each refusal names its field. */
export const compilePeople = (
  launch: LaunchBlock,
  inputs: JsonObject,
  initiator: string | undefined,
  known: KnownPeople
): Result.Result<PeopleText | undefined, LaunchRejected> =>
  Result.gen(function* () {
    if (!hasSeats(launch, known.isPerson)) return undefined
    const { people: filled } = yield* interpolate({ people: encodePeople(launch.people ?? {}) }, inputs)
    const people = yield* Result.mapError(readPeople(filled), refusal)
    const faults = [...assigneeFaults(people), ...peopleFaults(people, seatContext(launch, initiator, known))]
    const errors = faults.filter(({ level }) => level === "error")
    return errors.length === 0 ? people : yield* Result.fail(refusal(errors))
  })

/** What seats are checked against, without a policy. */
export const seatContext = (
  { maxSuspendMs, modeName, participants, ttlMs }: LaunchBlock,
  initiator: string | undefined,
  { groups, isPerson, persons, signIn }: KnownPeople
): PeopleContext => ({
  modeName,
  ttlMs,
  maxSuspendMs,
  initiator,
  participants: participants.map(({ id }) => id),
  seats: isPerson && participants.flatMap(({ agentRef, id }) => (isPerson(agentRef) ? [id] : [])),
  policy: undefined,
  groups,
  persons,
  signIn
})

/** Values of placeholders that name neither a group nor a person. */
const assigneeFaults = (people: PeopleText): ReadonlyArray<PeopleFault> =>
  Object.entries(people).flatMap(([seat, { assign, escalate = [] }]) => [
    ...namesIn(seat, ["assign"], assign),
    ...escalate.flatMap(({ to }, step) => namesIn(seat, ["escalate", `${step}`, "to"], to))
  ])

const namesIn = (seat: string, keys: ReadonlyArray<string>, names: ReadonlyArray<string>) =>
  names.flatMap((name, index): ReadonlyArray<PeopleFault> => {
    if (isAssignee(name)) return []
    const at = [seat, ...keys, `${index}`]
    return [{ level: "error", at, message: `people.${at.join(".")}: "${name}" is neither group:<id> nor person:<id>` }]
  })

const refusal = (faults: ReadonlyArray<PeopleFault>) =>
  compilationFailed(
    faults
      .map(({ at, message }) => (message.startsWith("people.") ? `launch.${message}` : `${pathOf(at)}: ${message}`))
      .join("; ")
  )

const pathOf = (at: ReadonlyArray<string>) => ["launch.people", ...at].join(".")
