import { execFile, spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, layer } from "@effect/vitest"
import { draftEvent } from "@runplane/domain"
import { tools } from "@runplane/mcp"
import * as Effect from "effect/Effect"
import { EventLog } from "../../../src/event-log/EventLog.ts"
import { appendMessages } from "../../support/Appends.ts"
import { AT, COST, commits, LEAD, opened, RISK, recorded, votes } from "../../support/Committee.ts"
import { endRun } from "../../support/EndedRuns.ts"
import { baseUrl, layerTestService } from "../../support/HttpService.ts"
import { connect } from "./Clients.ts"

const GUIDE = join(import.meta.dirname, "../../../../../docs/guides/mcp.md")
const MAX_RESULT_BYTES = 40_000

/** A Python with the official SDK: that of MCP_PYTHON, else python3; undefined without the package `mcp`. */
const python = [process.env["MCP_PYTHON"], "python3"].find(
  (name) => name !== undefined && spawnSync(name, ["-c", "from mcp import Client"]).status === 0
)

const usage = (model: string, sender: string, estimatedCostUsd: number) =>
  draftEvent(
    "llm.call.completed",
    {
      ts: AT,
      subject: { kind: "signal", id: `${model}-${sender}` },
      source: { kind: "runtime", name: "rust-runtime" }
    },
    {
      sender,
      decodedPayload: { model, promptTokens: 900, completionTokens: 100, totalTokens: 1_000, estimatedCostUsd }
    }
  )

/** Runs of a committee: most approve; in one of them the risk analyst rejects. */
const fleet = Effect.gen(function* () {
  const calls = [usage("gpt-4o", RISK, 0.01), usage("gpt-4o-mini", COST, 0.002)]
  const yes = recorded(...opened, ...calls, votes(RISK, "APPROVE"), votes(COST, "APPROVE"), commits)
  const approved = yield* Effect.all(Array.from({ length: 6 }, () => Effect.tap(yes, endRun)))
  const split = recorded(
    ...opened,
    ...calls,
    votes(RISK, "REJECT"),
    votes(COST, "APPROVE"),
    votes(LEAD, "APPROVE"),
    commits
  )
  const open = yield* recorded(...opened, votes(RISK, "APPROVE"))
  return { approved, split: yield* Effect.tap(split, endRun), open }
})

// docs/reference/mcp.md#bounds
layer(layerTestService({ settings: { LOG_LEVEL: "error", MCP_CONFIRM: "human" } }), { excludeTestServices: true })(
  "answers over MCP",
  (it) => {
    it.effect("answer ten questions about a fleet within 60 kB", () =>
      Effect.gen(function* () {
        const { approved, open, split } = yield* fleet
        const { call } = yield* connect(yield* baseUrl)
        let bytes = 0
        const ask = Effect.fnUntraced(function* (name: string, input: Record<string, unknown> = {}) {
          const answer = yield* call(name, input)
          assert.isFalse(answer.isError, answer.text)
          bytes += answer.bytes
          return answer.content
        })
        const id = (run: { readonly id: string }) => run.id

        // 1. Which runs are there, and how many?
        const runs = yield* ask("runs_search", { limit: 50 })
        assert.strictEqual(runs.total, 8)
        assert.sameMembers(runs.rows.map(id), [...approved, split, open])
        // 2. Which of them are still open?
        assert.deepStrictEqual((yield* ask("runs_search", { q: "-status:cancelled" })).rows.map(id), [open])
        // 3. How did the split run decide, and who disagreed?
        const state = yield* ask("run_get", { runId: split })
        assert.deepInclude(state.votes[0], { for: 2, against: 1 })
        // 4. Why?
        const why = yield* ask("decision_explain", { runId: split })
        assert.match(why.summary, /^carried by 2 of 3/)
        assert.strictEqual(why.verdict, "Approved")
        assert.deepInclude(why.seats, { participantId: COST, vote: "for", pivotal: true })
        // 5. Would it have decided so without the cost analyst?
        assert.isTrue((yield* ask("decision_what_if", { runId: split, without: [COST] })).changed)
        // 6. What can still become of the open run?
        const forecast = yield* ask("decision_forecast", { runId: open })
        assert.include(JSON.stringify(forecast.outcomes), "possible")
        // 7. Where did the split run leave the usual path?
        const compared = yield* ask("runs_compare", { left: approved[0], right: split })
        assert.strictEqual(compared.divergence.participantId, RISK)
        // 8. How stable are the decisions?
        const stability = yield* ask("stability", {})
        assert.isAtLeast(stability.n, 7)
        // 9. Which model costs most, and which agent spends it?
        const models = yield* ask("cost_summary", { groupBy: "model" })
        assert.deepInclude(models.rows[0], { model: "gpt-4o", runs: 7, calls: 7 })
        assert.closeTo(models.rows[0].costUsd, 0.07, 1e-9)
        assert.strictEqual((yield* ask("cost_summary", { groupBy: "agent" })).rows[0].agent, RISK)
        // 10. Which runs would a larger majority have ended otherwise?
        const backtest = yield* ask("policy_backtest", {
          policy: { mode: "macp.mode.decision.v1", rules: { voting: { algorithm: "majority", threshold: 0.9 } } }
        })
        assert.deepInclude(backtest, { examined: 8, flipped: 1 })
        assert.deepStrictEqual(
          backtest.rows.map(({ runId }: { readonly runId: string }) => runId),
          [split]
        )

        assert.isAtMost(bytes, 60_000)
      })
    )

    it.effect("judge the decision with the mark correct, by a flag in words as well", () =>
      Effect.gen(function* () {
        const runId = yield* Effect.tap(recorded(...opened, votes(RISK, "APPROVE"), commits), endRun)
        const { call } = yield* connect(yield* baseUrl)
        const judged = yield* call("mark_add", { runId, name: "correct", value: "Yes" })
        assert.isFalse(judged.isError, judged.text)
        assert.deepInclude(judged.content, { name: "correct", value: true })
        const refused = yield* call("mark_add", { runId, name: "correct", value: "splendid" })
        assert.isTrue(refused.isError)
        assert.include(refused.text, "value of correct must be true, false, or an action")
      })
    )

    it.effect("stay within their bytes for the largest run, page by page", () =>
      Effect.gen(function* () {
        const runId = yield* recorded(...opened, votes(RISK, "APPROVE"), votes(COST, "APPROVE"))
        yield* appendMessages(runId, 300, 50, "\u0001é".repeat(1_000))
        const log = yield* EventLog
        for (let round = 0; round < 4; round += 1) {
          const many = Array.from({ length: 50 }, (_, index) =>
            votes(`agent://${round}-${index}-${"x".repeat(500)}`, "APPROVE")
          )
          yield* log.record({ runId, events: many })
        }
        yield* log.record({ runId, events: [commits] })
        yield* endRun(runId)
        const { attempt, call, client } = yield* connect(yield* baseUrl)
        const inputs: Readonly<Record<string, Record<string, unknown>>> = {
          runs_search: { limit: 50 },
          run_events: { runId, limit: 100 },
          decision_what_if: { runId, without: [RISK] },
          runs_compare: { left: runId, right: runId },
          cost_summary: { groupBy: "agent" },
          fleet_tail: { afterSeq: 0, limit: 100 },
          policy_get: { policyId: "unknown" },
          policy_backtest: {
            policy: { mode: "macp.mode.decision.v1", rules: { voting: { algorithm: "unanimous" } } }
          }
        }
        const read = tools.filter(({ access, launches }) => access === "viewer" && launches !== true)
        for (const { name } of read) {
          const answer = yield* call(name, inputs[name] ?? { runId })
          assert.isAtMost(answer.bytes, MAX_RESULT_BYTES, name)
          for (const row of answer.content.rows ?? [])
            assert.isAtMost(Buffer.byteLength(JSON.stringify(row)), 300, name)
          for (const { text } of answer.content.said ?? []) assert.isAtMost(text.length, 500, name)
        }
        const record = yield* call("decision_explain", { runId, format: "record" })
        assert.isAtMost(record.bytes, MAX_RESULT_BYTES)
        for (const path of ["", "/state", "/story", "/decision.md", "/events"]) {
          const { contents } = yield* attempt(() => client.readResource({ uri: `runplane://runs/${runId}${path}` }))
          assert.isAtMost(Buffer.byteLength(JSON.stringify(contents)), MAX_RESULT_BYTES * 1.5, path)
        }

        // The pages of a list are the whole list.
        const seen: Array<number> = []
        let afterSeq = 0
        for (;;) {
          const page = yield* call("run_events", { runId, afterSeq, limit: 100 })
          seen.push(...page.content.rows.map(({ index }: { readonly index: number }) => index))
          if (page.content.nextCursor === undefined || page.content.rows.length === 0) break
          afterSeq = page.content.nextCursor
        }
        assert.deepStrictEqual(
          seen,
          Array.from({ length: seen.length }, (_, index) => index + 1)
        )
        assert.isAbove(seen.length, 500)
      })
    )

    it.effect("refuse actions of clients without forms where only a person confirms, and a fifth call at a time", () =>
      Effect.gen(function* () {
        const runId = yield* recorded(...opened)
        const { call } = yield* connect(yield* baseUrl)
        const refused = yield* call("run_cancel", { runId, confirmToken: "any" })
        assert.match(refused.text, /^CONFIRMATION_NEEDS_PERSON/)
        const waits = yield* Effect.all(
          Array.from({ length: 5 }, () => call("run_wait", { runId, timeoutMs: 2_000 })),
          { concurrency: "unbounded" }
        )
        const failed = waits.filter(({ isError }) => isError)
        assert.match(
          failed.map(({ text }) => text).join("\n"),
          /^TOO_MANY_CALLS: 4 calls of this key are in progress[^\n]*$/
        )
        assert.strictEqual(waits.filter(({ content }) => content.id === runId && content.ended === false).length, 4)
      })
    )

    const title = "serve the program of the guide by the SDK of Python, in both revisions"
    if (python === undefined) process.stderr.write(`not tried: ${title} needs Python with the package mcp\n`)
    else {
      it.effect(title, () =>
        Effect.gen(function* () {
          const [, block = ""] = /```python\n([\s\S]*?)```/.exec(readFileSync(GUIDE, "utf8")) ?? []
          const program = block.replace("http://127.0.0.1:3001", yield* baseUrl)
          for (const mode of ["auto", "legacy"]) {
            const code = program.replace('/mcp")', `/mcp", mode="${mode}")`)
            assert.include(code, mode)
            const { stdout } = yield* Effect.promise(() => promisify(execFile)(python, ["-c", code]))
            assert.match(stdout, /^\w+ - carried by /)
          }
        })
      )
    }
  }
)
