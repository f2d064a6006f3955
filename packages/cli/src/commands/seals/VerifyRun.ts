import { walkRun } from "@runplane/api"
import { doubtsOf, type HistoryProof, type Verification, walkSealed } from "@runplane/domain"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { connection, withControlPlane } from "../../Connection.ts"
import { printFacts } from "../../Output.ts"
import { keptSeal, sealFlag } from "./KeptSeals.ts"
import {
  allowFlag,
  checkBy,
  erasedText,
  eventsUnder,
  keysFlag,
  keysOf,
  keysText,
  minChainFlag,
  refuseMismatch,
  sha256,
  UNSIGNED,
  unprovenBy
} from "./SealKeys.ts"

/** `runplane runs verify` (docs/reference/seal.md#verify). */
export const verifyRun = Command.make(
  "verify",
  {
    run: Argument.String("run").pipe(Argument.withDescription("Id of the run, or of its session")),
    seal: sealFlag,
    keys: keysFlag,
    minChain: minChainFlag,
    allowUnproven: allowFlag
  },
  ({ allowUnproven, keys: source, minChain, run, seal: kept }) =>
    Effect.gen(function* () {
      const trusted = yield* keysOf(source)
      const check = checkBy(trusted)
      const { found, seal } = yield* withControlPlane(({ api }) =>
        Effect.gen(function* () {
          const last = yield* api.seals.seal({ params: { id: run } })
          const seal = Option.isSome(kept) ? yield* keptSeal(kept.value, last.runId) : last
          // A later seal covers the events behind a kept one.
          const most = Option.isSome(kept) ? seal.events : undefined
          const walk = (proof: HistoryProof) => walkSealed(sha256, check, seal, { ...proof, minChain })
          return { seal, found: yield* walkRun(api, { seal, walk, most }) }
        })
      )
      const unsigned: Verification = { ok: false, why: "its seal is not signed" }
      const isUnsigned = found.ok && found.signature === "unsigned" && Option.isSome(source)
      const checked = isUnsigned ? unsigned : found.ok ? (unprovenBy(seal, allowUnproven, trusted) ?? found) : found
      if (!checked.ok) {
        const { baseUrl } = (yield* connection).controlPlane
        const subject = `run ${seal.runId}`
        return yield* refuseMismatch({ subject, unit: "event", keys: source, baseUrl }, checked, {
          runId: seal.runId,
          ...checked
        })
      }
      const { algorithm, events, head, keyId, sealedAt } = seal
      yield* printFacts(
        [
          ["Run", seal.runId],
          ["Events", eventsUnder(seal)],
          ["Sealed", `at ${sealedAt}`],
          ["Seal", checked.signature === "valid" ? `signed by ${keyId}` : UNSIGNED],
          ["Keys", keysText(trusted)],
          ["Erased", erasedText(checked.erased)],
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
