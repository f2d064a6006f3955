import { generateKeyPairSync } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, layer } from "@effect/vitest"
import { eventBytes, eventErasure, type RunId, storedSalts, textFinder } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { sealKeyOf } from "../../../src/platform/ledger/SealKeys.ts"
import { sha256 } from "../../../src/platform/Sha256.ts"
import { appendMessages } from "../../support/Appends.ts"
import { testSealKey } from "../../support/ControlPlane.ts"
import { endRun } from "../../support/EndedRuns.ts"
import { layerTestService } from "../../support/HttpService.ts"
import { createRun, readLog } from "../../support/Runs.ts"
import { eraseText, PERSON, personRun } from "../erasure/PersonRuns.ts"
import { eraseMembers, indexOf, writeEvent } from "./Erasures.ts"
import { decidedRun, evidenceOf, keysOf } from "./EvidenceRuns.ts"
import { filesIn, hasPython, verify } from "./Verifier.ts"

const REASON = "/data/decodedPayload/reason"
const PROPOSAL_ID = "/data/decodedPayload/rationale"

if (!hasPython) process.stdout.write("python3 of 3.9 or later is absent: the verifier of evidence is not run\n")

const verdictOn = (runId: string, flags: ReadonlyArray<string> = []) =>
  Effect.gen(function* () {
    return yield* verify(yield* evidenceOf(runId), { keys: yield* keysOf, flags })
  })

/** A run whose vote of risk has a text that can be erased, and its position. */
const votedRun = Effect.gen(function* () {
  const runId = yield* decidedRun()
  return { runId, index: yield* indexOf(runId, '"type":"proposal.updated"') }
})

const eventAt = (runId: RunId, index: number) =>
  Effect.map(readLog(runId), ({ events }) => {
    const row = events[index - 1]
    return { text: row?.event ?? "", salts: storedSalts(row?.salts ?? null) }
  })

/** A value as a writer of the database erases it: gone with its salt, and no entry. */
const removeWithoutEntry = Effect.fnUntraced(function* (runId: RunId, index: number) {
  const { salts, text } = yield* eventAt(runId, index)
  const erasure = salts === undefined ? undefined : eventErasure(sha256, eventBytes(text), salts, REASON)
  assert(erasure !== undefined)
  const emptied = text.replace(/"reason":"no arrears[^"]*"/, '"reason":""')
  assert.notStrictEqual(emptied, text)
  yield* writeEvent(runId, index, emptied, JSON.stringify(erasure.salts))
})

describe.runIf(hasPython)("verify.py on version 2 of the chain", () => {
  layer(layerTestService(), { excludeTestServices: true })((it) => {
    it.effect("accepts a bundle whose run has a salt for each event and frame", () =>
      Effect.gen(function* () {
        const { runId } = yield* votedRun
        const files = filesIn(yield* evidenceOf(runId))
        const lines = (name: string) => files.get(name)?.toString().trimEnd().split("\n") ?? []
        assert.strictEqual(lines("salts/events.jsonl").length, lines("events.jsonl").length)
        assert.strictEqual(lines("salts/frames.jsonl").length, lines("frames.jsonl").length)
        const { code, output } = yield* verdictOn(runId, ["--min-chain", "2"])
        assert.strictEqual(code, 0, output)
      })
    )

    it.effect("accepts erased texts with their entries, of which the value is gone", () =>
      Effect.gen(function* () {
        const { index, runId } = yield* votedRun
        const before = yield* verdictOn(runId)
        assert.strictEqual(before.code, 0, before.output)
        yield* eraseMembers(runId, index, [REASON], testSealKey)
        const files = filesIn(yield* evidenceOf(runId))
        const event = files.get("events.jsonl")?.toString().split("\n")[index - 1] ?? ""
        assert.include(event, '"reason":""')
        assert.include(event, `"erased":[{"pointer":"${REASON}"`)
        assert.lengthOf(JSON.parse(files.get("erasures.json")?.toString() ?? "").entries, 1)
        const manifest = JSON.parse(files.get("manifest.json")?.toString() ?? "")
        assert.deepInclude(manifest.runs[0], { chain: 2, erasures: 1 })
        const { code, output } = yield* verdictOn(runId)
        assert.strictEqual(code, 0, output)
      })
    )

    it.effect("accepts what the service erases of events, frames, artifacts and marks, and has none of it", () =>
      Effect.gen(function* () {
        const runId = yield* personRun()
        const { erased } = yield* eraseText(runId)
        const files = filesIn(yield* evidenceOf(runId))
        const entries: ReadonlyArray<{ readonly target: string }> = JSON.parse(
          files.get("erasures.json")?.toString() ?? ""
        ).entries
        assert.lengthOf(entries, erased.members)
        assert.sameMembers([...new Set(entries.map(({ target }) => target))], ["event", "frame"])
        assert.deepInclude(JSON.parse(files.get("retention.json")?.toString() ?? "").run, {
          erasedMembers: erased.members
        })
        const isPerson = textFinder(PERSON)
        for (const [name, bytes] of files) {
          // An audit entry is not erased, as the answer says.
          if (name !== "audit.jsonl") assert.isFalse(isPerson(bytes.toString()), name)
        }
        const { code, output } = yield* verdictOn(runId, ["--min-chain", "2"])
        assert.strictEqual(code, 0, output)
        assert.include(output, "its bytes are erased")
      })
    )

    it.effect("accepts version 1, unless version 2 is demanded", () =>
      Effect.gen(function* () {
        const runId = yield* createRun({ chain: 1 })
        yield* appendMessages(runId, 3, 3)
        yield* endRun(runId)
        const files = filesIn(yield* evidenceOf(runId))
        assert.isFalse(files.has("salts/events.jsonl"))
        const { code, output } = yield* verdictOn(runId)
        assert.strictEqual(code, 0, output)
        const refused = yield* verdictOn(runId, ["--min-chain", "2"])
        assert.strictEqual(refused.code, 1)
        assert.include(refused.output, "REFUSED  seal.json: the chain is of version 1")
      })
    )

    const forgeries: ReadonlyArray<
      readonly [string, (runId: RunId, index: number) => Effect.Effect<unknown, unknown, PgClient.PgClient>, RegExp]
    > = [
      [
        "erases a value without an entry",
        removeWithoutEntry,
        /events\.jsonl, event \d+: \/data\/.* has neither a salt/
      ],
      [
        "moves an erased member to another pointer",
        Effect.fnUntraced(function* (runId, index) {
          yield* eraseMembers(runId, index, [REASON], testSealKey)
          const sql = yield* PgClient.PgClient
          yield* sql`UPDATE run_erasures SET pointer = ${PROPOSAL_ID} WHERE run_id = ${runId}::uuid`
        }),
        /erasures\.json: its signed end is not that of its entries/
      ],
      [
        "swaps two erased values",
        Effect.fnUntraced(function* (runId, index) {
          const pointers = [REASON, "/data/decodedPayload/llm"]
          yield* eraseMembers(runId, index, pointers, testSealKey)
          const sql = yield* PgClient.PgClient
          yield* sql`
            UPDATE run_erasures AS e SET digest = o.digest FROM run_erasures o
            WHERE e.run_id = ${runId}::uuid AND o.run_id = e.run_id AND o.position <> e.position`
        }),
        /erasures\.json: its signed end|erasures\.json: entry \d is not linked/
      ],
      [
        "changes a salt",
        Effect.fnUntraced(function* (runId, index) {
          const sql = yield* PgClient.PgClient
          yield* sql`
            UPDATE canonical_events SET seed = decode(repeat('ab', 16), 'hex')
            WHERE run_id = ${runId}::uuid AND index = ${index}`
        }),
        /events\.jsonl, event \d+: it does not fit the chain|seal\.json/
      ],
      [
        "removes the entry of an erasure",
        Effect.fnUntraced(function* (runId, index) {
          yield* eraseMembers(runId, index, [REASON], testSealKey)
          const sql = yield* PgClient.PgClient
          yield* sql`DELETE FROM run_erasures WHERE run_id = ${runId}::uuid`
          yield* sql`DELETE FROM run_erasure_ends WHERE run_id = ${runId}::uuid`
        }),
        /events\.jsonl, event \d+: what it shows as erased is not what the erasures have/
      ],
      [
        "signs the end of the erasures with another key",
        Effect.fnUntraced(function* (runId, index) {
          yield* eraseMembers(runId, index, [REASON], sealKeyOf(generateKeyPairSync("ed25519").privateKey))
        }),
        /erasures\.json \(end\) is signed by key/
      ],
      [
        "signs the end of the erasures with no key",
        Effect.fnUntraced(function* (runId, index) {
          yield* eraseMembers(runId, index, [REASON], undefined)
        }),
        /erasures\.json \(end\) is not signed/
      ],
      [
        "sets the chain to version 1",
        Effect.fnUntraced(function* (runId) {
          const sql = yield* PgClient.PgClient
          yield* sql`UPDATE run_heads SET chain_version = 1 WHERE run_id = ${runId}::uuid`
          yield* sql`
            UPDATE run_seals SET seal = (seal::jsonb - 'chain')::json WHERE run_id = ${runId}::uuid`
        }),
        /seal\.json|events\.jsonl, event \d+/
      ]
    ]
    for (const [how, forge, fault] of forgeries) {
      it.effect(`finds a writer of the database who ${how}`, () =>
        Effect.gen(function* () {
          const { index, runId } = yield* votedRun
          yield* forge(runId, index)
          const { code, output } = yield* verdictOn(runId)
          assert.strictEqual(code, 1, output)
          assert.match(output, fault)
        })
      )
    }
  })
})
