import { doubtsOf, type ExportVerification, verifyExport } from "@runplane/domain"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { plainText } from "../../narrative/PlainText.ts"
import { printFacts } from "../../Output.ts"
import { bytesOf } from "../common/Download.ts"
import {
  exportedReceipt,
  receiptAlone,
  receiptKeysFlag,
  receiptKeysIn,
  verifyReceiptAlone
} from "../receipts/VerifyReceipt.ts"
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
  type TrustedKeys,
  UNSIGNED,
  unprovenBy
} from "./SealKeys.ts"
import { signedAnswers, signedAnswersText } from "./SignedAnswers.ts"
import { verifyCold } from "./VerifyCold.ts"

/** Largest file that is read. Exports of 50,000 events are far below. */
const MOST_BYTES = 1024 * 1024 * 1024

/** With keys, a missing signature is a fault. */
const withSignatures = (found: ExportVerification, isAllowed: boolean, trusted: TrustedKeys): ExportVerification => {
  if (!found.ok) return found
  const unproven = unprovenBy(found.seal, isAllowed, trusted)
  if (unproven !== undefined) return unproven
  if (found.signature === "unsigned") return { ok: false, why: "its seal is not signed" }
  if (found.marks?.signature === "unsigned") return { ok: false, why: "its appendix of marks is not signed" }
  return found.exportSignature === "unsigned" ? { ok: false, why: "the export is not signed" } : found
}

/** One fact on several lines. */
const listed = (name: string, values: ReadonlyArray<string>) =>
  values.map((value, index): readonly [string, string] => [index === 0 ? name : "", value])

const LINE_FEED = 0x0a

/** `runplane verify` (docs/reference/seal.md#verify). */
export const verify = Command.make(
  "verify",
  {
    file: Argument.String("file").pipe(
      Argument.withDescription(
        "An export of a run, as JSON or as JSON lines; a receipt of a runtime; with --archive the id of a run"
      )
    ),
    archive: Flag.String("archive").pipe(
      Flag.withDescription("Check the run in this archive: file:///directory or s3://bucket/prefix"),
      Flag.optional
    ),
    seal: sealFlag,
    keys: keysFlag,
    receiptKeys: receiptKeysFlag,
    minChain: minChainFlag,
    allowUnproven: allowFlag
  },
  ({ allowUnproven, archive, file, keys: source, minChain, receiptKeys: receiptSource, seal: kept }) =>
    Effect.gen(function* () {
      if (Option.isSome(archive)) {
        return yield* verifyCold({
          archive: archive.value,
          run: file,
          seal: kept,
          keys: source,
          minChain,
          allowUnproven
        })
      }
      const whole = yield* bytesOf(file, MOST_BYTES)
      const receiptKeys = yield* receiptKeysIn(receiptSource)
      const single = receiptAlone(whole)
      if (single !== undefined) return yield* verifyReceiptAlone(file, single, receiptKeys)
      const trusted = yield* keysOf(source)
      const check = checkBy(trusted)
      const first = verifyExport(sha256, check, whole, { minChain })
      // A terminal and many editors end a text with a line feed, which is not part of a JSON export.
      const isEnded = !first.ok && whole.at(-1) === LINE_FEED
      const bytes = isEnded ? whole.subarray(0, -1) : whole
      const shorter = isEnded ? verifyExport(sha256, check, bytes, { minChain }) : first
      const alone = shorter.ok ? shorter : first
      const checked =
        alone.ok && Option.isSome(kept)
          ? verifyExport(sha256, check, bytes, { minChain, kept: yield* keptSeal(kept.value, alone.runId) })
          : alone
      const proven = Option.isSome(source) ? withSignatures(checked, allowUnproven, trusted) : checked
      const receipt = exportedReceipt(proven.ok ? proven.receipt : null, receiptKeys)
      const answers = signedAnswers(bytes)
      const fault = receipt.why ?? answers.why
      const found: ExportVerification = fault === undefined || !proven.ok ? proven : { ok: false, why: fault }
      if (!found.ok) {
        return yield* refuseMismatch({ subject: plainText(file), unit: "event", keys: source }, found, {
          file,
          ...found
        })
      }
      const { events, exportSignature, marks, notProven, runId, seal, signature } = found
      yield* printFacts(
        [
          ["File", `${file} is as it was exported`],
          ["Run", runId],
          ["Events", seal === null ? String(events) : eventsUnder(seal)],
          ["Sealed", seal === null ? "not yet: the run had not ended" : `at ${seal.sealedAt}`],
          ["Seal", signature === null ? undefined : signature === "valid" ? `signed by ${seal?.keyId}` : UNSIGNED],
          ["Keys", keysText(trusted)],
          ["Export", exportSignature === "valid" ? "signed" : UNSIGNED],
          [
            "Marks",
            marks === null
              ? undefined
              : `${marks.entries} additions and deletions, ${marks.signature === "valid" ? "signed" : UNSIGNED}`
          ],
          ["Erased", erasedText(found.erased)],
          ["Receipt", receipt.text],
          ["Answers", signedAnswersText(answers)],
          ...listed("As the events say", found.proven),
          ...listed("Not proven", notProven)
        ],
        {
          file,
          ...found,
          receipt: receipt.value,
          answers: { signed: answers.valid, erased: answers.erased },
          unproven: seal === null ? [] : doubtsOf(seal)
        }
      )
    })
).pipe(Command.withDescription("Check an exported or archived run against its seal, or a receipt, offline"))
