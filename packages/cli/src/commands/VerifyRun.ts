import type { ControlPlaneClient } from "@runplane/api"
import { doubtsOf, elementsOf, type Mismatch, type Seal, type Verification, walkSealed } from "@runplane/domain"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { failed, failedAndPrinted } from "../CliFailure.ts"
import { withControlPlane } from "../Connection.ts"
import { printedAsJson, printFacts } from "../Output.ts"
import { plainText } from "../story/PlainText.ts"
import { keptSeal, sealFlag } from "./KeptSeals.ts"
import {
  adviceOn,
  allowFlag,
  checkBy,
  eventsUnder,
  keysFlag,
  keysOf,
  sha256,
  UNSIGNED,
  unprovenBy
} from "./SealKeys.ts"

/** Events of one request: as many of a megabyte each still fit into memory. */
const PAGE = 200

type Api = ControlPlaneClient["Service"]["api"]

/** The texts of the next events of a run, and the seq of the next page; undefined after the last one. */
const nextTexts = Effect.fnUntraced(function* (api: Api, run: string, afterSeq: number) {
  const query = { afterSeq, limit: PAGE }
  const [answer, response] = yield* api.events.list({
    params: { id: run },
    query,
    responseMode: "decoded-and-response"
  })
  const events = "data" in answer ? answer.data : answer
  const last = events.at(-1)
  // As they came, byte by byte: the chain is over that.
  return last && { texts: [...elementsOf(new Uint8Array(yield* response.arrayBuffer))], lastSeq: last.seq }
})

/** Reads the history of a run from its first event on, and checks it against a seal, one page at a time. */
const walkRun = Effect.fnUntraced(function* (
  api: Api,
  seal: Seal,
  check: Parameters<typeof walkSealed>[1],
  /** A kept seal is not the last one: a later seal covers the later events. */
  isKept: boolean
): Effect.fn.Return<Verification, Effect.Error<ReturnType<typeof nextTexts>>> {
  const walk = walkSealed(sha256, check, seal)
  let taken = 0
  let page = yield* nextTexts(api, seal.runId, 0)
  while (page !== undefined) {
    for (const text of page.texts) {
      if (isKept && taken === seal.events) return walk.end()
      const mismatch: Mismatch | undefined = walk.take(text)
      if (mismatch !== undefined) return mismatch
      taken += 1
    }
    page = yield* nextTexts(api, seal.runId, page.lastSeq)
  }
  return walk.end()
})

/** `runplane runs verify` (docs/reference/seal.md#verify). */
export const verifyRun = Command.make(
  "verify",
  {
    run: Argument.String("run").pipe(Argument.withDescription("Id of the run, or of its session")),
    seal: sealFlag,
    keys: keysFlag,
    allowUnproven: allowFlag
  },
  ({ allowUnproven, keys: source, run, seal: kept }) =>
    Effect.gen(function* () {
      const check = checkBy(yield* keysOf(source))
      const { found, seal } = yield* withControlPlane(({ api }) =>
        Effect.gen(function* () {
          const last = yield* api.seals.seal({ params: { id: run } })
          const seal = Option.isSome(kept) ? yield* keptSeal(kept.value, last.runId) : last
          return { seal, found: yield* walkRun(api, seal, check, Option.isSome(kept)) }
        })
      )
      const unsigned: Verification = { ok: false, why: "its seal is not signed" }
      const isUnsigned = found.ok && found.signature === "unsigned" && Option.isSome(source)
      const checked = isUnsigned ? unsigned : found.ok ? (unprovenBy(seal, allowUnproven) ?? found) : found
      if (!checked.ok) {
        if (yield* printedAsJson({ runId: seal.runId, ...checked })) return yield* failedAndPrinted
        const fault = checked.index === undefined ? "does not fit" : `does not fit from event ${checked.index} on`
        return yield* failed(`run ${seal.runId} ${fault}: ${plainText(checked.why)}${adviceOn(checked, source)}`)
      }
      const { algorithm, events, head, keyId, sealedAt } = seal
      yield* printFacts(
        [
          ["Run", seal.runId],
          ["Events", eventsUnder(seal)],
          ["Sealed", `at ${sealedAt}`],
          ["Seal", checked.signature === "valid" ? `signed by ${keyId}` : UNSIGNED],
          ["Not proven", "the data beside the events: verify an export for that"]
        ],
        {
          runId: seal.runId,
          ...checked,
          seal: { algorithm, events, head, keyId, sealedAt },
          unproven: doubtsOf(seal)
        }
      )
    })
).pipe(Command.withDescription("Check the whole history of a run, of any length, against its seal"))
