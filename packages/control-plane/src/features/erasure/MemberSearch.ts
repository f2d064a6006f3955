import { badRequest, erasureConflict, type NewErasure, type RemainingText } from "@runplane/api"
import {
  copyFinder,
  eitherFinder,
  eventMembers,
  foundInEvent,
  foundInFrame,
  frameMembers,
  type PlannedMember,
  type RunId,
  servedEvent,
  shortenedFinder,
  type TextFinder,
  textFinder,
  textsIn,
  withoutLine
} from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { TextLog } from "../../event-log/erasure/ErasableLog.ts"
import type { ErasedArtifacts, RunTexts } from "../../event-log/erasure/RunTexts.ts"
import type { SaltedText } from "../../event-log/erasure/SaltedTexts.ts"

/** What an erasure of a run finds in its log. */
export interface FoundInLog {
  /** In the order of the log: those of events, then those of raw frames. */
  readonly members: ReadonlyArray<PlannedMember>
  readonly kept: ReadonlyArray<PlannedMember & Pick<RemainingText, "why">>
  /** Finds the text, and copies of the values of the members, outside of the log. */
  readonly finder: TextFinder
  readonly artifacts: ErasedArtifacts
}

const KEPT = "the decision is computed with it, or it identifies something"
const SAME_VALUE = "another member has the same value; name it to erase it"
const UNREADABLE = "it cannot be read, so none of its members can be erased"

const DIGEST = "/data/contentSha256"

const decodeArtifact = Schema.decodeUnknownResult(
  Schema.fromJsonString(
    Schema.Struct({ type: Schema.Literal("artifact.created"), data: Schema.Struct({ artifactId: Schema.String }) })
  )
)

const text = new TextDecoder()

/** The artifact that an event is about. */
const artifactOf = (event: Uint8Array): string | undefined =>
  Result.match(decodeArtifact(text.decode(event)), {
    onFailure: () => undefined,
    onSuccess: ({ data }) => data.artifactId
  })

const decodeJson = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Json))

/** The texts in the values of members, as the texts of their JSON. */
const valuesIn = (members: ReadonlyArray<string>): ReadonlyArray<string> =>
  members.flatMap((member) => {
    const value = Result.getOrUndefined(decodeJson(member))
    return value === undefined ? [] : textsIn(value)
  })

interface Sources {
  readonly log: TextLog
  readonly artifactsWith: RunTexts["artifactsWith"]
  readonly runId: RunId
}

/** Searches a text in the whole log of a run. */
export const searchText = Effect.fnUntraced(function* ({ artifactsWith, log, runId }: Sources, searched: string) {
  const finder = textFinder(searched)
  const emptied = yield* artifactsWith({ finder, runId })
  const artifacts = new Map<string, Set<string>>()
  const members: Array<PlannedMember> = []
  const kept: Array<FoundInLog["kept"][number]> = []
  const values: Array<string> = []
  yield* log.eachEvent(runId, ({ bytes, index }) => {
    const { erased, text: event } = servedEvent(bytes)
    const found = foundInEvent(finder, event)
    const own = eventMembers(event)
    const gone = new Set(erased.map(({ pointer }) => pointer))
    const artifact = artifactOf(event)
    const isEmptied = artifact !== undefined && emptied.has(artifact) && own.has(DIGEST) && !gone.has(DIGEST)
    const pointers = new Set([...found.erasable, ...(isEmptied ? [DIGEST] : [])])
    for (const [pointer, value] of own) {
      if (!pointers.has(pointer)) continue
      members.push({ target: "event", index, pointer })
      values.push(value)
    }
    if (artifact !== undefined && pointers.size > 0) artifacts.set(artifact, pointers)
    for (const pointer of found.kept) {
      kept.push({ target: "event", index, pointer, why: own.size === 0 && pointer === "" ? UNREADABLE : KEPT })
    }
  })
  yield* log.eachFrame(runId, ({ bytes, index }) => {
    const found = foundInFrame(finder, bytes)
    for (const pointer of found.erasable) members.push({ target: "frame", index, pointer })
    for (const pointer of found.kept) kept.push({ target: "frame", index, pointer, why: KEPT })
  })
  const found: FoundInLog = {
    ...{ members, kept, artifacts },
    finder: eitherFinder(finder, shortenedFinder(valuesIn(values)))
  }
  return found
})

/**
 * Finds the members that a caller names, and the raw frames that have their values. Copies of a value in other members
 * stay, and are named.
 */
export const searchMembers = Effect.fnUntraced(function* (
  { log, runId }: Sources,
  named: NonNullable<NewErasure["members"]>
) {
  const values: Array<string> = []
  const artifacts = new Map<string, Set<string>>()
  const wanted = new Map(named.map((member) => [keyOf(member), member]))
  const positions = (target: PlannedMember["target"]) =>
    [...new Set(named.filter((member) => member.target === target).map(({ index }) => index))].toSorted((a, b) => a - b)
  const take = (target: PlannedMember["target"], row: SaltedText) =>
    Effect.gen(function* () {
      const { erased, text: bytes } = target === "event" ? servedEvent(row.bytes) : { erased: [], text: row.bytes }
      const own = target === "event" ? eventMembers(bytes) : frameMembers(bytes)
      const members: Array<PlannedMember> = []
      for (const { index, pointer } of named.filter((one) => one.target === target && one.index === row.index)) {
        const value = own.get(pointer)
        if (value === undefined)
          return yield* erasureConflict(`${target} ${index} has no erasable member ${pointer}: ${KEPT}`)
        const isGone =
          erased.some((member) => member.pointer === pointer) ||
          (typeof row.salts !== "string" && row.salts[pointer] === undefined)
        if (isGone) return yield* erasureConflict(`${pointer} of ${target} ${index} is erased already`)
        const artifact = target === "event" ? artifactOf(bytes) : undefined
        if (artifact !== undefined) artifacts.set(artifact, (artifacts.get(artifact) ?? new Set()).add(pointer))
        values.push(value)
        members.push({ target, index, pointer })
      }
      return members
    })
  const takeAll = Effect.fnUntraced(function* (target: PlannedMember["target"]) {
    const members: Array<PlannedMember> = []
    const missing = yield* log.eachAt(target, runId, positions(target), (page) =>
      Effect.map(
        Effect.forEach(page, (row) => take(target, row)),
        (found) => void members.push(...found.flat())
      )
    )
    if (missing !== undefined) return yield* badRequest(`members: the run has no ${target} ${missing}`)
    return members
  })
  const ofEvents = yield* takeAll("event")
  const ofFrames = yield* takeAll("frame")
  // What a passkey has signed has the text of a person without the line that the launch service adds.
  const texts = valuesIn(values)
  const finder = copyFinder([...texts, ...texts.map(withoutLine)])
  const kept: Array<FoundInLog["kept"][number]> = []
  yield* log.eachEvent(runId, ({ bytes, index }) => {
    const found = foundInEvent(finder, servedEvent(bytes).text)
    for (const [pointers, why] of [
      [found.erasable, SAME_VALUE],
      [found.kept, KEPT]
    ] as const) {
      for (const pointer of pointers) {
        const member = { target: "event" as const, index, pointer }
        if (!wanted.has(keyOf(member))) kept.push({ ...member, why })
      }
    }
  })
  const copies: Array<PlannedMember> = []
  yield* log.eachFrame(runId, ({ bytes, index }) => {
    for (const pointer of foundInFrame(finder, bytes).erasable) {
      const member = { target: "frame" as const, index, pointer }
      if (!wanted.has(keyOf(member))) copies.push(member)
    }
  })
  const frames = [...ofFrames, ...copies].toSorted((one, other) => one.index - other.index)
  const found: FoundInLog = { members: [...ofEvents, ...frames], kept, finder, artifacts }
  return found
})

const keyOf = ({ index, pointer, target }: PlannedMember): string => `${target} ${index} ${pointer}`
