import { LedgerEntry, Seal } from "@runplane/domain"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { usageProblem } from "../../CliFailure.ts"
import { plainText } from "../../narrative/PlainText.ts"
import { bytesOf } from "../common/Download.ts"

/** Largest file with seals. */
const MOST_BYTES = 1024 * 1024 * 1024

/** `--seal`, for all that checks histories. */
export const sealFlag = Flag.String("seal").pipe(
  Flag.withDescription("A seal that was kept: the answer of GET /runs/:id/seal, or a file of SEAL_HEADS_FILE"),
  Flag.optional
)

const decodeSeal = Schema.decodeUnknownResult(Schema.fromJsonString(Seal))
const decodePublished = Schema.decodeUnknownResult(
  Schema.fromJsonString(Schema.Struct({ ...LedgerEntry.fields, seal: Schema.optionalKey(Seal) }))
)

/** The seal of a run in a file: the only one, or the last of its published ones. */
export const keptSeal = Effect.fnUntraced(function* (file: string, runId: string) {
  const text = Buffer.from(yield* bytesOf(file, MOST_BYTES)).toString("utf8")
  const only = decodeSeal(text)
  if (Result.isSuccess(only)) {
    if (only.success.runId === runId) return only.success
    return yield* usageProblem(`the seal is of the run ${plainText(only.success.runId)}`)
  }
  let last: Seal | undefined
  for (const line of text.split("\n")) {
    if (line === "") continue
    const published = decodePublished(line)
    if (Result.isFailure(published)) {
      return yield* usageProblem(
        `${file} holds no seal as GET /runs/:id/seal answers it, or as SEAL_HEADS_FILE gets it`
      )
    }
    const { seal } = published.success
    if (seal?.runId === runId && seal.events >= (last?.events ?? 0)) last = seal
  }
  return last ?? (yield* usageProblem(`${file} holds no seal of the run ${runId}`))
})
