import { writeFileSync } from "node:fs"
import { join } from "node:path"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, layer } from "@effect/vitest"
import type { JsonObject, RunId } from "@runplane/domain"
import { type Chance, chanceOf } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { EventLog } from "../../../src/event-log/EventLog.ts"
import { opened, RISK, said } from "../../support/Committee.ts"
import { testSealKey } from "../../support/ControlPlane.ts"
import { endRun } from "../../support/EndedRuns.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { createRun } from "../../support/Runs.ts"
import { eraseMembers, indexOf } from "./Erasures.ts"
import { evidenceOf, keysOf } from "./EvidenceRuns.ts"
import { hasPython, runPython, temporary } from "./Verifier.ts"

/** Bundles that are made and checked, and bits that are changed in one. */
const BUNDLES = Number(process.env["EVIDENCE_BUNDLES"] ?? 40)
const FLIPS = Number(process.env["EVIDENCE_FLIPS"] ?? 2_000)

const scripts = join(import.meta.dirname, "../../../../verify/test")

const TEXTS = [
  ...["plain", 'with "quotes" and \\', "line\nbreak\u2028and\u2029more", "\u{1f600} \u{10ffff}", "\u0001\u007f\t", ""],
  ...["-0", "1e400", "\u0065\u0301", '{"not":"an object"}', "{}", "a/b~c~1", "\ud83d alone", "ключ"]
]

const randomValue = (chance: Chance, depth: number): unknown => {
  const kind = chance.below(depth > 2 ? 4 : 6)
  if (kind === 0) return chance.pick(TEXTS)
  if (kind === 1) return chance.pick([0, -1, 0.1, 1e21, 1.5e-7, 12_345_678.9, 2 ** 53, chance.real()])
  if (kind === 2) return chance.pick([true, false, null])
  if (kind === 3) return chance.pick([[], {}])
  if (kind === 4) return Array.from({ length: chance.below(4) }, () => randomValue(chance, depth + 1))
  return Object.fromEntries(TEXTS.slice(0, chance.below(6)).map((name) => [name, randomValue(chance, depth + 1)]))
}

const randomPayload = (chance: Chance): JsonObject =>
  JSON.parse(
    JSON.stringify({
      ...Object.fromEntries(TEXTS.filter(() => chance.happens(0.3)).map((name) => [name, randomValue(chance, 0)])),
      reason: `reason ${chance.pick(TEXTS)}`,
      vote: chance.pick(["APPROVE", "REJECT"])
    })
  )

/** A run of either version, open or ended, marked or not, with members erased or not. */
const randomRun = Effect.fnUntraced(function* (chance: Chance) {
  const version = chance.happens(0.2) ? 1 : 2
  const runId: RunId = yield* createRun({ chain: version })
  const log = yield* EventLog
  const events = Array.from({ length: 1 + chance.below(5) }, () => {
    const draft = said("proposal.updated", "Vote", RISK, { vote: "APPROVE", reason: "" })
    return { ...draft, recorded: { data: { ...draft.recorded.data, decodedPayload: randomPayload(chance) } } }
  })
  yield* log.record({ runId, events: [...opened, ...events] })
  if (chance.happens(0.5)) {
    const body = { kind: "report", label: "a report", inline: { amount: chance.real(), note: 'with "quotes" \u2028' } }
    assert.strictEqual((yield* call("POST", `/runs/${runId}/artifacts`, { body })).status, 201)
  }
  for (let mark = 0; chance.happens(0.5) && mark < 5; mark++) {
    const body = { target: { kind: "run" }, name: "quality", source: "human", value: chance.real() * 100 }
    assert.strictEqual((yield* call("POST", `/runs/${runId}/marks`, { body })).status, 201)
  }
  const hasEnded = chance.happens(0.8)
  if (hasEnded) yield* endRun(runId)
  if (version === 2 && chance.happens(0.6)) {
    const index = yield* indexOf(runId, '"type":"proposal.updated"')
    yield* eraseMembers(runId, index, ["/data/decodedPayload/reason"], testSealKey)
  }
  return { hasEnded, runId }
})

/** Changes an event in the rows, as a writer of the database can. */
const spoil = (runId: RunId) =>
  Effect.flatMap(
    PgClient.PgClient,
    (sql) => sql`
      UPDATE canonical_events SET event = replace(event::text, '"modeName":"macp', '"modeName":"mapc')::json
      WHERE run_id = ${runId}::uuid AND index = 1`
  )

describe.runIf(hasPython)("verify.py", () => {
  layer(layerTestService(), { excludeTestServices: true, timeout: "30 minutes" })((it) => {
    it.effect(
      `accepts ${BUNDLES} bundles of random runs, refuses the spoilt ones among them, and finds ${FLIPS} changed bits`,
      () =>
        Effect.gen(function* () {
          const folder = yield* temporary
          const keys = join(folder, "keys.json")
          writeFileSync(keys, yield* keysOf)
          for (let number = 0; number < BUNDLES; number++) {
            const chance = chanceOf(58, number)
            const { hasEnded, runId } = yield* randomRun(chance)
            // Without a seal nothing proves what the rows had before the bundle.
            const isBad = hasEnded && chance.happens(0.1)
            if (isBad) yield* spoil(runId)
            writeFileSync(join(folder, `${number}${isBad ? ".bad" : ""}.zip`), yield* evidenceOf(runId))
          }
          const many = yield* runPython([join(scripts, "many.py"), folder, keys])
          assert.strictEqual(many.code, 0, many.output)
          process.stdout.write(many.output)
          const one = join(folder, "one.zip")
          const { runId } = yield* randomRun(chanceOf(59, 1))
          writeFileSync(one, yield* evidenceOf(runId))
          for (const more of [[], ["--resealed"]]) {
            const flips = yield* runPython([join(scripts, "flips.py"), one, keys, String(FLIPS), ...more])
            assert.strictEqual(flips.code, 0, flips.output)
            process.stdout.write(flips.output)
          }
        }).pipe(Effect.scoped),
      1_800_000
    )
  })
})
