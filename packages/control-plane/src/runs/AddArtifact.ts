import { type Artifact, artifactConflict, artifactOfLauncher, type NewArtifact, runNotFound } from "@runplane/api"
import {
  A2A_TURN,
  artifactCreated,
  PEOPLE_ANSWER,
  PEOPLE_ITEM,
  PEOPLE_QUESTION,
  type RunId,
  SHADOW_ACTS,
  turnCalls
} from "@runplane/domain"
import { ControlPlaneSettings, readSettings, ServiceSettings } from "@runplane/server"
import * as Effect from "effect/Effect"
import { EventLog } from "../event-log/EventLog.ts"
import { ArtifactRepository } from "../event-log/runs/ArtifactRepository.ts"
import { RunRepository } from "../event-log/runs/RunRepository.ts"
import { contentDigest } from "../event-log/seal/HashChain.ts"
import { AuditTrail, type Caller } from "../platform/audit/AuditTrail.ts"
import { Prices } from "../platform/deployment/Prices.ts"
import { Redactor } from "../platform/deployment/Redactor.ts"
import { Ids } from "../platform/Ids.ts"
import { isoNow } from "../platform/IsoNow.ts"
import { makePeopleFacts } from "./PeopleFacts.ts"
import { withoutUnprovable } from "./RedactedAnswer.ts"

const settings = { launcher: ControlPlaneSettings.LAUNCHER_KEY_NAME, keys: ServiceSettings.AUTH_API_KEYS }

/** Kinds of artifacts that only the launch service adds: what it says of people, agents and shadows is believed. */
const OF_LAUNCHER: ReadonlySet<string> = new Set([PEOPLE_ITEM, PEOPLE_ANSWER, PEOPLE_QUESTION, A2A_TURN, SHADOW_ACTS])

/** Adds artifacts of callers. The artifact, its event and its audit entry commit together. */
export const makeAddArtifact = Effect.gen(function* () {
  const artifacts = yield* ArtifactRepository
  const audit = yield* AuditTrail
  const ids = yield* Ids
  const log = yield* EventLog
  const people = yield* makePeopleFacts
  const prices = yield* Prices
  const redactor = yield* Redactor
  const repository = yield* RunRepository
  const { keys, launcher } = yield* readSettings(settings)

  /** The launch service by its key; without keys each caller is it. A token is the credential of a person. */
  const isLauncher = ({ actor }: Caller): boolean =>
    actor.actorType === "anonymous" ||
    (actor.actorType === "api-key" && (actor.actorId === launcher || keys.length === 1))

  const redacted = ({ inline, kind, label, uri }: NewArtifact) => ({
    kind,
    label: redactor.text(label),
    ...(uri !== undefined && { uri: redactor.text(uri) }),
    ...(inline !== undefined && { inline: redactedContent(kind, inline) })
  })

  const redactedContent = (kind: string, inline: NonNullable<NewArtifact["inline"]>) => {
    const content = redactor.payload(inline, "json")
    return kind === PEOPLE_ANSWER ? withoutUnprovable(redactor, inline, content) : content
  }

  /** The artifact of a key, if the run has it; fails when it is another one. */
  const earlier = Effect.fnUntraced(function* (runId: RunId, key: string, given: ReturnType<typeof redacted>) {
    const first = yield* artifacts.byKey(runId, key)
    if (first === undefined) return undefined
    return isSame(first, given) ? first : yield* artifactConflict(key)
  })

  return Effect.fn("RunManagement.addArtifact")(function* (reference: string, artifact: NewArtifact, caller: Caller) {
    const { idempotencyKey, kind } = artifact
    if (OF_LAUNCHER.has(kind) && !isLauncher(caller)) return yield* artifactOfLauncher(kind)
    const runId = yield* repository.resolve(reference)
    if (runId === undefined) return yield* runNotFound(reference)
    const given = redacted(artifact)
    const first = idempotencyKey === undefined ? undefined : yield* earlier(runId, idempotencyKey, given)
    if (first !== undefined) return first
    const { called, ...facts } = yield* people(runId, artifact)
    const id = yield* ids.uuid
    // The time of this process; the log stores the event, and the artifact, at the time of the database.
    const ts = yield* isoNow
    let stored: Artifact = { id, runId, ...given, createdAt: ts }
    const { inline, label, uri } = given
    const also = Effect.fnUntraced(function* (at: string) {
      stored = { ...stored, createdAt: at }
      yield* artifacts.insert(stored, idempotencyKey)
      const details = { runId, kind, label }
      yield* audit.record({ caller, action: "artifact.create", resource: "artifact", resourceId: id, details, at })
    })
    const contentSha256 = inline === undefined ? undefined : contentDigest(JSON.stringify(inline))
    const event = artifactCreated(
      ts,
      { artifactId: id, kind, label, uri, contentSha256, ...facts },
      "observability-controller"
    )
    const calls = called === undefined ? [] : turnCalls(called, ts, prices)
    return yield* log.record({ runId, events: [event, ...calls], also }).pipe(
      Effect.map(() => stored),
      Effect.catchTags({
        RunNotFound: () => Effect.fail(runNotFound(reference)),
        // Two requests of one key: the index refuses the second, which is answered with the first.
        AppendFailed: (failed) =>
          Effect.flatMap(
            idempotencyKey === undefined ? Effect.succeed(undefined) : earlier(runId, idempotencyKey, given),
            (first) => (first === undefined ? Effect.fail(failed) : Effect.succeed(first))
          )
      })
    )
  })
})

const isSame = (first: Artifact, { inline, kind, label, uri }: Omit<Artifact, "id" | "runId" | "createdAt">): boolean =>
  first.kind === kind &&
  first.label === label &&
  first.uri === uri &&
  JSON.stringify(first.inline) === JSON.stringify(inline)
