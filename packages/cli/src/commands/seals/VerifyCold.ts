import { type ArchiveFault, findColdRun, readColdEvents } from "@runplane/archive"
import {
  type ChainVersion,
  chainVersionOf,
  doubtsOf,
  eventBytes,
  Seal,
  storedSalts,
  type Verification,
  type Walk,
  walkSealed
} from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { CliFailure, EXIT_CODES, failed } from "../../CliFailure.ts"
import { plainText } from "../../narrative/PlainText.ts"
import { printFacts } from "../../Output.ts"
import { openArchive } from "../archive/ArchiveAccess.ts"
import { keptSeal } from "./KeptSeals.ts"
import {
  checkBy,
  erasedText,
  eventsUnder,
  keysOf,
  keysText,
  refuseMismatch,
  sha256,
  UNSIGNED,
  unprovenBy
} from "./SealKeys.ts"

const decodeSeal = Schema.decodeUnknownEffect(Schema.fromJsonString(Seal))

const asFailure = ({ kind, message }: ArchiveFault) =>
  kind === "unreachable" ? new CliFailure({ reason: message, code: EXIT_CODES.unreachable }) : failed(message)

/** What `--archive`, `--seal`, `--keys` and `--allow-unproven` say. */
export interface ColdCheck {
  readonly archive: string
  readonly run: string
  readonly seal: Option.Option<string>
  readonly keys: Option.Option<string>
  readonly minChain: ChainVersion
  readonly allowUnproven: boolean
}

/** `runplane verify --archive URL RUN`: the events of the files against the last seal, offline. */
export const verifyCold = Effect.fnUntraced(function* (given: ColdCheck) {
  const trusted = yield* keysOf(given.keys)
  const check = checkBy(trusted)
  const target = yield* openArchive(given.archive)
  const run = given.run.toLowerCase()
  const found = yield* Effect.mapError(findColdRun(target, run), asFailure)
  if (found._tag === "Missing") return yield* failed(`${target.url} has no run ${plainText(given.run)}`)
  if (found._tag === "Deleted") {
    return yield* failed(`run ${run} was deleted at ${new Date(found.deletedAt).toISOString()}`)
  }
  const cold = found.run
  const seal = yield* sealOf(given, cold.run_id, cold.seal)
  // A later seal covers the events behind a kept one, and an erasure can be of these.
  const proof = { minChain: given.minChain, ...(cold.erasures !== null && { erasures: eventBytes(cold.erasures) }) }
  const walked = yield* Effect.mapError(walk(target, cold, walkSealed(sha256, check, seal, proof), seal), asFailure)
  const isUnsigned = walked.ok && walked.signature === "unsigned" && Option.isSome(given.keys)
  const unsigned: Verification = { ok: false, why: "its seal is not signed" }
  const checked = isUnsigned
    ? unsigned
    : walked.ok
      ? (unprovenBy(seal, given.allowUnproven, trusted) ?? walked)
      : walked
  if (!checked.ok) {
    const document = { runId: run, archive: target.url, ...checked }
    return yield* refuseMismatch({ subject: `run ${run}`, unit: "event", keys: given.keys }, checked, document)
  }
  const { algorithm, events, head, keyId, sealedAt } = seal
  yield* printFacts(
    [
      ["Archive", target.url],
      ["Run", run],
      ["Events", eventsUnder(seal)],
      ["Sealed", `at ${sealedAt}`],
      ["Seal", checked.signature === "valid" ? `signed by ${keyId}` : UNSIGNED],
      ["Keys", keysText(trusted)],
      ["Erased", erasedText(checked.erased)],
      ["Not proven", "the columns beside the events, and the row of the run"]
    ],
    {
      ...{ runId: run, archive: target.url, ...checked },
      seal: { algorithm, events, head, keyId, sealedAt },
      unproven: doubtsOf(seal)
    }
  )
})

const sealOf = Effect.fnUntraced(function* ({ seal: kept }: ColdCheck, runId: string, text: string | null) {
  if (Option.isSome(kept)) return yield* keptSeal(kept.value, runId)
  if (text === null) return yield* failed(`run ${runId} has no seal in the archive: name one with --seal`)
  const seal = yield* Effect.mapError(decodeSeal(text), () => failed(`the seal of run ${runId} cannot be read`))
  return seal.runId === runId ? seal : yield* failed(`the seal is of the run ${plainText(seal.runId)}`)
})

const walk = Effect.fnUntraced(function* (
  target: Effect.Success<ReturnType<typeof openArchive>>,
  run: Parameters<typeof readColdEvents>[1],
  chain: Walk<Verification & { readonly ok: true }>,
  seal: Seal
) {
  let mismatch: Verification | undefined
  let taken = 0
  yield* readColdEvents(target, run, (events) =>
    Effect.sync(() => {
      for (const { event, salts } of events) {
        // A later seal covers the events behind a kept one.
        if (mismatch !== undefined || taken >= seal.events) return
        taken += 1
        mismatch = chain.take(eventBytes(event), chainVersionOf(seal) === 1 ? undefined : storedSalts(salts))
      }
    })
  )
  return mismatch ?? chain.end()
})
