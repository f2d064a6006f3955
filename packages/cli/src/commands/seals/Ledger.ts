import type { ListedLedgerEntry } from "@runplane/api"
import { LedgerEntry, ledgerHeadOf, type Mismatch, walkLedger } from "@runplane/domain"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { usageProblem } from "../../CliFailure.ts"
import { connection, withControlPlane } from "../../Connection.ts"
import { printFacts } from "../../Output.ts"
import { bytesOf } from "../common/Download.ts"
import { allowFlag, checkBy, keysFlag, keysOf, keysText, refuseMismatch, sha256, UNSIGNED } from "./SealKeys.ts"

/** Entries of one request. */
const PAGE = 500
/** Largest file of published entries. */
const MOST_BYTES = 1024 * 1024 * 1024

const decodePublished = Schema.decodeUnknownEffect(Schema.fromJsonString(LedgerEntry))

/** The published hashes of a file of `SEAL_HEADS_FILE`, by number. */
const publishedHashes = Effect.fnUntraced(function* (file: string) {
  const lines = Buffer.from(yield* bytesOf(file, MOST_BYTES))
    .toString("utf8")
    .split("\n")
    .filter((line) => line !== "")
  const hashes = new Map<number, string>()
  for (const [index, line] of lines.entries()) {
    const entry = yield* Effect.mapError(decodePublished(line), () =>
      usageProblem(`${file}: line ${index + 1} is not an entry of a ledger as SEAL_HEADS_FILE gets it`)
    )
    hashes.set(entry.number, ledgerHeadOf(sha256, entry).hash)
  }
  return hashes
})

/** `isAllowed`: entries without a MAC of the key are accepted. Without a key nothing is vouched for. */
const contentMismatch = (
  { content, kind, lacks, number, subject, vouched }: ListedLedgerEntry,
  isAllowed: boolean
): Mismatch | undefined => {
  const mismatch = (why: string): Mismatch => ({ ok: false, index: number, why: `the ${kind} ${subject} ${why}` })
  if (content === "changed") return mismatch("was changed")
  if (content === "missing" && lacks === "mark") return mismatch("records a mark that its run does not have any more")
  if (content === "missing") return mismatch("is missing")
  return vouched || isAllowed
    ? undefined
    : mismatch("was not written by a process with the key (--allow-unproven accepts that)")
}

/** Faults of a line; JSON has all. */
const MOST_LISTED = 20

const faultText = ({ index, why }: Mismatch): string => (index === undefined ? why : `entry ${index}: ${why}`)

/** The first fault with all of them, and what the check did not see. */
const refused = (faults: ReadonlyArray<Mismatch>, unchecked?: string) => {
  const [first = { ok: false, why: "unknown" } as const] = faults
  const more = faults.length > MOST_LISTED ? `; and ${faults.length - MOST_LISTED} more faults` : ""
  return { ...first, faults, note: `${more}${unchecked === undefined ? "" : `; ${unchecked}`}` }
}

/** `runplane ledger verify` (docs/reference/seal.md#ledger). */
const verify = Command.make(
  "verify",
  {
    keys: keysFlag,
    allowUnproven: allowFlag,
    published: Flag.String("published").pipe(
      Flag.withDescription("What was published outside of the database: a file of SEAL_HEADS_FILE"),
      Flag.optional
    )
  },
  ({ allowUnproven, keys: source, published }) =>
    Effect.gen(function* () {
      const trusted = yield* keysOf(source)
      const check = checkBy(trusted)
      const hashes = Option.isSome(published) ? yield* publishedHashes(published.value) : new Map<number, string>()
      const found = yield* withControlPlane(({ api }) =>
        Effect.gen(function* () {
          const walk = walkLedger(sha256, check)
          const faults: Array<Mismatch> = []
          let unsigned = 0
          while (true) {
            const page = yield* api.ledger.list({ query: { after: walk.head().number, limit: PAGE } })
            for (const entry of page.data) {
              const state = walk.take(entry)
              // Later entries cannot be compared with a chain that is broken.
              if (typeof state !== "string")
                return refused([...faults, state], "the entries behind it were not checked")
              if (state === "unsigned") unsigned += 1
              const known = hashes.get(entry.number)
              if (known !== undefined && known !== walk.head().hash) {
                faults.push({ ok: false, index: entry.number, why: "it is not the entry that was published" })
              }
              const mismatch = contentMismatch(entry, allowUnproven || state === "unsigned")
              if (mismatch !== undefined) faults.push(mismatch)
            }
            if (page.unlisted === undefined) continue
            const { number } = walk.head()
            const cut = [...hashes.keys()].find((published) => published > number)
            if (cut !== undefined) {
              faults.push({ ok: false, index: number + 1, why: `missing; entry ${cut} was published` })
            }
            const { auditEntries, seals, tombstones } = page.unlisted
            if (auditEntries + seals + tombstones > 0) {
              const counts = `${seals} seals, ${tombstones} tombstones and ${auditEntries} audit entries`
              faults.push({ ok: false, why: `${counts} have no entry` })
            }
            if (faults.length > 0) return refused(faults)
            return { ok: true, entries: number, hash: walk.head().hash, unsigned } as const
          }
        })
      )
      const checked: typeof found =
        found.ok && found.unsigned > 0 && Option.isSome(source)
          ? refused([{ ok: false, why: `${found.unsigned} entries are not signed` }])
          : found
      if (!checked.ok) {
        const { baseUrl } = (yield* connection).controlPlane
        const { faults, note, ...first } = checked
        const text = { ...first, why: [first.why, ...faults.slice(1, MOST_LISTED).map(faultText)].join("; ") + note }
        return yield* refuseMismatch({ subject: "the ledger", unit: "entry", keys: source, baseUrl }, text, {
          ...first,
          faults
        })
      }
      yield* printFacts(
        [
          ["Ledger", `${checked.entries} entries, without a gap`],
          ["Head", checked.hash],
          ["Signed", checked.unsigned === 0 ? "every entry" : UNSIGNED],
          ["Keys", keysText(trusted)],
          ["Contents", "every seal, tombstone and audit entry since its first entry is there as it was"],
          ["Not proven", hashes.size === 0 ? "that its end was not cut: compare it with --published" : undefined]
        ],
        checked
      )
    })
).pipe(Command.withDescription("Check the chain of all seals, tombstones and audit entries"))

/** `runplane ledger ...` */
export const ledger = Command.make("ledger").pipe(
  Command.withDescription("The chain of all seals, tombstones and audit entries"),
  Command.withSubcommands([verify])
)
