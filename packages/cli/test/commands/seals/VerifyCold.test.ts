import { createHash, generateKeyPairSync, sign } from "node:crypto"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { fileTarget, openTableFile } from "@runplane/archive"
import {
  type ArchiveRow,
  type ArchiveTable,
  archivePath,
  type ColdRun,
  chainNext,
  chainStart,
  digestedEvent,
  digestedNext,
  digestedStart,
  eventBytes,
  eventRow,
  makeSeal
} from "@runplane/domain"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { TestConsole } from "effect/testing"
import { clientCommands, exitCodeOf, root, runCli } from "../../../src/index.ts"

const RUN = "5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10"
const OTHER = "5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a11"
const GONE = "5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a12"
const AT = "2026-07-01T10:00:00.000Z"

const sha256 = (...parts: ReadonlyArray<Uint8Array>) => {
  const hash = createHash("sha256")
  for (const part of parts) hash.update(part)
  return hash.digest()
}
const { privateKey, publicKey } = generateKeyPairSync("ed25519")
const signer = { keyId: "key-1", sign: (message: Uint8Array) => sign(null, message, privateKey) }
const jwk = { ...publicKey.export({ format: "jwk" }), alg: "EdDSA", use: "sig", kid: "key-1", firstUsedAt: "then" }

const textsOf = (runId: string, from: number) =>
  Array.from({ length: 30 }, (_, at) => {
    const ids = { id: `e${at}`, runId, seq: from + at * 2, index: at + 1 }
    const source = { kind: "control-plane", name: "runplane" }
    return JSON.stringify({
      ...ids,
      schemaVersion: 3,
      ts: AT,
      type: "run.started",
      source,
      data: { text: "naïve 🦊" }
    })
  })

const texts = textsOf(RUN, 10)
const head = texts.reduce((before, text) => chainNext(sha256, before, eventBytes(text)), chainStart(sha256, RUN))
const seal = makeSeal(
  { runId: RUN, events: texts.length, head, sealedAt: AT, frames: null, late: false, provenAfter: 0 },
  signer
)

const runRow: ColdRun = {
  ...{ cell: "main", version: 1, run_id: RUN, status: "completed", mode: "live", mode_name: "m", runtime_kind: "rust" },
  ...{ runtime_version: null, session_id: "s", trace_id: "t", source_kind: null, source_ref: null },
  ...{ scenario_ref: null, environment: null, policy_version: null, tags: [], error_code: null, error_message: null },
  ...{ created_at: 0, updated_at: 0, started_at: null, ended_at: null, archived_at: null, duration_ms: null },
  ...{ first_seq: 10, last_seq: 68, events: 30, history_gap: false, declined: false, intent: null },
  ...{ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0, cost_usd: 0, guessed_cost_usd: 0, signals: 0 },
  ...{ decisions: 0, run: "{}", metrics: null, seal: JSON.stringify(seal) },
  erasures: null
}

/** The same run in version 2 of the chain. */
const seeds = texts.map((_, at) => createHash("md5").update(`${at}`).digest().toString("base64url"))
const digestedSeal = makeSeal(
  {
    ...{ runId: RUN, events: texts.length, sealedAt: AT, frames: null, late: false, provenAfter: 0, chain: 2 },
    head: texts.reduce(
      (before, text, at) =>
        digestedNext(sha256, before, Result.getOrThrow(digestedEvent(sha256, eventBytes(text), seeds[at] ?? ""))),
      digestedStart(sha256, RUN)
    )
  },
  signer
)

/** An archive of the run and of another one, whose events alternate, in files of 20 positions. */
const archive = Effect.fnUntraced(function* (
  change: (texts: ReadonlyArray<string>) => ReadonlyArray<string> = (same) => same,
  { row = runRow, salts = [] }: { readonly row?: ColdRun; readonly salts?: ReadonlyArray<string> } = {}
) {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "runplane-verify-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true }))
  )
  const target = fileTarget(folder)
  const put = <Table extends ArchiveTable>(
    table: Table,
    from: number,
    to: number,
    rows: ReadonlyArray<ArchiveRow<Table>>
  ) => {
    const file = openTableFile(table)
    for (const row of rows) file.add(row, 100)
    return target.put(archivePath({ table, day: "2026-07-01", cell: "main", from, to }), file.finish())
  }
  const events = [...change(texts), ...textsOf(OTHER, 11)].map((text) => {
    const { index, runId, seq } = JSON.parse(text)
    return eventRow("main", {
      seq,
      runId,
      index,
      ts: Date.parse(AT),
      type: "run.started",
      text,
      salts: (runId === RUN && salts[index - 1]) || null
    })
  })
  for (const from of [1, 21, 41, 61, 81]) {
    const rows = events.filter(({ seq }) => seq >= from && seq < from + 20).toSorted((a, b) => a.seq - b.seq)
    yield* put("events", from, from + 19, rows)
  }
  yield* put("runs", 1, 1, [row, { ...runRow, run_id: OTHER, seal: null }])
  const tombstone = {
    cell: "main",
    version: 2,
    status: "failed",
    events: 0,
    deleted_at: 0,
    deleted_by: "x",
    seal: null
  }
  yield* put("tombstones", 2, 2, [{ ...tombstone, run_id: GONE }])
  writeFileSync(join(folder, "keys.json"), JSON.stringify({ keys: [jwk] }))
  return folder
})

const verify = Effect.fnUntraced(function* (folder: string, run: string, ...args: ReadonlyArray<string>) {
  const before = (yield* TestConsole.logLines).length
  const line = ["verify", "--archive", `file://${folder}`, run, "--keys", join(folder, "keys.json"), ...args]
  const program = runCli(root.pipe(Command.withSubcommands(clientCommands)), line)
  const outcome = yield* Effect.result(Effect.provide(program, NodeServices.layer))
  const text = (yield* TestConsole.logLines).slice(before).join("\n")
  return Result.isSuccess(outcome)
    ? { code: 0, text, complaint: "" }
    : { code: exitCodeOf(outcome.failure), text, complaint: String(outcome.failure.message) }
})

describe("runplane verify --archive", () => {
  it.effect("accepts a run whose events fit its seal, in files with those of others", () =>
    Effect.gen(function* () {
      const folder = yield* archive()
      const { code, complaint, text } = yield* verify(folder, RUN.toUpperCase())
      assert.strictEqual(complaint, "")
      assert.strictEqual(code, 0)
      assert.include(text, "30, as they were sealed")
      assert.include(text, "signed by key-1")
      const json = JSON.parse((yield* verify(folder, RUN, "--json")).text)
      assert.deepInclude(json, { runId: RUN, ok: true, events: 30, signature: "valid", archive: `file://${folder}` })
    })
  )

  it.effect("checks version 2 of the chain with the salts of the files", () =>
    Effect.gen(function* () {
      const row = { ...runRow, seal: JSON.stringify(digestedSeal) }
      const kept = yield* archive(undefined, { row, salts: seeds })
      const json = JSON.parse((yield* verify(kept, RUN, "--json", "--min-chain", "2")).text)
      assert.deepInclude(json, { ok: true, events: 30, signature: "valid", erased: 0 })
      const unsalted = yield* archive(undefined, { row, salts: seeds.with(4, "") })
      assert.include((yield* verify(unsalted, RUN)).complaint, "from event 5 on: its salts are missing")
      const altered = yield* archive((all) => all.with(2, (all[2] ?? "").replace("naïve", "naive")), {
        row,
        salts: seeds
      })
      assert.include((yield* verify(altered, RUN)).complaint, "the events do not end in the head that was sealed")
      const first = yield* verify(yield* archive(), RUN, "--min-chain", "2")
      assert.include(first.complaint, "its chain is of version 1, and version 2 is required")
    })
  )

  it.effect("names the event that is missing, or changed", () =>
    Effect.gen(function* () {
      const missing = yield* verify(yield* archive((all) => all.filter((_, at) => at !== 14)), RUN)
      assert.deepInclude(missing, {
        code: 1,
        complaint: `run ${RUN} does not fit from event 15 on: it is event 16 of its run`
      })
      const changed = yield* verify(yield* archive((all) => all.map((text) => text.replace("naïve", "naive"))), RUN)
      assert.include(changed.complaint, "the events do not end in the head that was sealed")
      const cut = yield* verify(yield* archive((all) => all.slice(0, 20)), RUN)
      assert.include(cut.complaint, "from event 21 on: missing")
    })
  )

  it.effect("says what it cannot check", () =>
    Effect.gen(function* () {
      const folder = yield* archive()
      assert.include((yield* verify(folder, OTHER)).complaint, "has no seal in the archive: name one with --seal")
      assert.include((yield* verify(folder, GONE)).complaint, `run ${GONE} was deleted at 1970-01-01`)
      assert.include((yield* verify(folder, "none")).complaint, "has no run none")
      writeFileSync(join(folder, "runs/dt=2026-07-01/main-0000000000000001-0000000000000001.parquet"), "not Parquet")
      const unreadable = yield* verify(folder, RUN)
      assert.deepInclude(unreadable, { code: 1 })
      assert.include(unreadable.complaint, "cannot be read")
    })
  )
})
